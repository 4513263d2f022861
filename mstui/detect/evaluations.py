"""What evaluations say of how much a net knows: accuracy held against the chance level that its loss implies.

An uninformed classifier has a loss of ln C and an accuracy of 1/C, so exp(-loss) stands in for a chance level that
nobody declared.
"""

from __future__ import annotations

import math
from typing import List, Optional

from mstui.detect.scene import Scene, Series
from mstui.model.roles import Role

GOOD = 0.8
"""An accuracy from which on nobody guesses."""
FAR_ABOVE = 2.5
"""times chance: known before the first evaluation"""


def shares(scene: Scene, rank_id: int, held_out: Optional[bool] = True) -> List[Series]:
    """Series of metrics that are shares of right answers: accuracies."""
    return [each for each in scene.of_role(rank_id, Role.EVAL_METRIC, held_out) if "acc" in each.tag.lower()]


def chance(scene: Scene, rank_id: int, step: int, first_loss: Optional[float]) -> Optional[float]:
    """The chance level that losses up to `step` imply; None where they imply none."""
    losses = [first_loss] if first_loss is not None else []
    for series in scene.of_role(rank_id, Role.EVAL_LOSS):
        _steps, values = series.upto(step, 64)
        losses.extend(values.tolist())
    for series in scene.of_role(rank_id, Role.LOSS):
        began = series.start(step)
        if began is not None:
            losses.append(began)
        if len(series.first_values):
            losses.append(float(series.first_values[0]))
    sane = [loss for loss in losses if math.isfinite(loss) and loss > 0.0]
    return math.exp(-min(sane)) if sane else None


def lift(scene: Scene, rank_id: int, step: int, first_loss: Optional[float]) -> Optional[float]:
    """Newest accuracy over the chance level; None without either."""
    for series in shares(scene, rank_id):
        value = series.at(step)
        if value is None or not math.isfinite(value):
            continue
        level = chance(scene, rank_id, step, first_loss)
        if level is not None and level > 0.0:
            return value / level
    return None


def knows_something(scene: Scene, rank_id: int, step: int) -> Optional[bool]:
    """Was the net far above chance at its first evaluation already? None where no accuracy tells."""
    for series in shares(scene, rank_id):
        steps, values = series.first_steps, series.first_values
        if not len(steps) or int(steps[0]) > step:
            continue
        first = float(values[0])
        if first > 1.0:
            first /= 100.0
        if first >= GOOD:
            return True
        losses = [each.first_values[0] for each in scene.of_role(rank_id, Role.EVAL_LOSS) if len(each.first_values)]
        loss = float(losses[0]) if losses else None
        if loss is None or not math.isfinite(loss) or loss <= 0.0:
            return None
        return first > FAR_ABOVE * math.exp(-loss)
    return None
