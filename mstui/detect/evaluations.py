"""What evaluations say of how much a net knows: accuracy held against the chance level that its loss implies.

An uninformed classifier has a loss of ln C and an accuracy of 1/C, so exp(-loss) stands in for a chance level that
nobody declared.
"""

from __future__ import annotations

import math
from typing import List, Optional

import numpy as np

from mstui.detect.robust import median, scatter_of_neighbours
from mstui.detect.scene import Scene, Series
from mstui.model.records import IntArray
from mstui.model.roles import Role

GOOD = 0.8
"""An accuracy from which on nobody guesses."""
EVERY_ONE = 128
"""Evaluations of which each one is looked at; from here on every second one, and half as many with each doubling."""
RECENT = 20
"""Points whose median is the level now."""
LEAST_UNINFORMED, MOST_UNINFORMED = 0.6, 12.0
"""ln C lies between these, for 2 classes and for a vocabulary of 160,000."""
MOST_LUCK = 0.07
"""of accuracy above chance: two binomial errors of some hundred samples"""
NOT_LEARNT = 0.8
"""Of the first level: a first evaluation above it has learnt next to nothing."""
UNIFORM = 0.03
"""Scatter of the first points over their level: a net that knows nothing gives every batch the same loss, ln C."""
LEAST_BEGUN, MOST_BEGUN = 8, 12
"""First points that tell that scatter."""
FELL = 0.7
"""Of the first level: what is below it at the first evaluation was learnt here."""
FAR_ABOVE = 1.7
"""times chance: known before the first evaluation"""


def worth_a_look(seen: int, length: int) -> IntArray:
    """Which of the next `length` evaluations, after `seen` of them, are looked at: all at first, then ever fewer.

    An evaluation at every step is a curve; a few hundred points of it tell what evaluations tell.
    """
    numbers = np.arange(seen, seen + length, dtype=np.int64)
    shift = np.maximum(0, np.frexp(numbers / EVERY_ONE)[1])
    return np.flatnonzero(numbers % (1 << shift.astype(np.int64)) == 0)


def shares(scene: Scene, rank_id: int, held_out: Optional[bool] = True) -> List[Series]:
    """Series of metrics that are shares of right answers: accuracies."""
    return [each for each in scene.of_role(rank_id, Role.EVAL_METRIC, held_out) if "acc" in each.tag.lower()]


def chance(scene: Scene, rank_id: int, step: int) -> Optional[float]:
    """The chance level that losses up to `step` imply; None where they imply none.

    The first level of the training loss is that of a net that knows nothing. Where it began too large to be one, the
    first evaluation stands in, then the level now: a net that was thrown back to guessing has come down to it.
    """
    for series in scene.of_role(rank_id, Role.LOSS):
        candidates: List[Optional[float]] = []
        began = series.start(step)
        if began is not None:
            began = min(began, float(series.first_values[0]))
        for held in scene.of_role(rank_id, Role.EVAL_LOSS):
            first = held.start(step, 1)
            # Dropout makes a training loss larger than that of a guess; an evaluation has none.
            if first is not None and began is not None and NOT_LEARNT * began < first < began:
                began = first
            candidates.append(first)
        candidates.insert(0, began)
        _steps, recent = series.upto(step, RECENT)
        finite = recent[np.isfinite(recent)]
        if len(finite):
            candidates.append(median(finite))
        for loss in candidates:
            if loss is not None and LEAST_UNINFORMED <= loss <= MOST_UNINFORMED:
                return math.exp(-loss)
    return None


def lift(scene: Scene, rank_id: int, step: int) -> Optional[float]:
    """Newest accuracy over the chance level; None without either."""
    for series in shares(scene, rank_id):
        value = series.at(step)
        if value is None or not math.isfinite(value):
            continue
        level = chance(scene, rank_id, step)
        if level is not None and level > 0.0:
            return value / level
    return None


def knows_something(scene: Scene, rank_id: int, step: int) -> Optional[bool]:
    """Was the net far above chance at its first evaluation already? None where no accuracy tells."""
    uniform = False
    for loss_series in scene.of_role(rank_id, Role.LOSS):
        begun = loss_series.first_values[: int(np.searchsorted(loss_series.first_steps, step, side="right"))][
            :MOST_BEGUN
        ]
        known = len(begun) >= LEAST_BEGUN and begun.min() > LEAST_UNINFORMED
        uniform = uniform or (known and scatter_of_neighbours(begun) < UNIFORM * median(begun))
    for series in shares(scene, rank_id):
        steps, values = series.first_steps, series.first_values
        if not len(steps) or int(steps[0]) > step:
            continue
        first = float(values[0])
        if first > 1.0:
            first /= 100.0
        if first >= GOOD:
            # Large batches have one loss each as well: then it counts whether it was learnt since.
            return not uniform or not _fell(scene, rank_id, int(steps[0]))
        if uniform:
            return False
        losses = [each.first_values[0] for each in scene.of_role(rank_id, Role.EVAL_LOSS) if len(each.first_values)]
        loss = float(losses[0]) if losses else None
        if loss is None or not LEAST_UNINFORMED <= loss <= MOST_UNINFORMED:
            return None
        began = [each.start(step) for each in scene.of_role(rank_id, Role.LOSS)]
        if any(each is not None and loss < FELL * each for each in began):
            return False
        return first > FAR_ABOVE * math.exp(-loss)
    return False if uniform else None


def _fell(scene: Scene, rank_id: int, step: int) -> bool:
    """Has the training loss lost a good part of its first level by then?"""
    for series in scene.of_role(rank_id, Role.LOSS):
        began = series.start(step)
        _steps, values = series.upto(step, RECENT)
        if began is None or not len(values) or not median(values) > FELL * began:
            return True
    return False


def guesses(scene: Scene, rank_id: int, step: int, factor: float, still: float) -> int:
    """How many of the last evaluations up to `step` were no better than guessing: accuracy and loss both say so."""
    level = chance(scene, rank_id, step)
    if level is None:
        return 0
    for series in shares(scene, rank_id):
        steps, values = series.upto(step, 64)
        count = 0
        for at, value in zip(steps[::-1].tolist(), values[::-1].tolist()):
            held = [each.at(at) for each in scene.of_role(rank_id, Role.EVAL_LOSS)]
            learnt = any(loss is not None and loss < still * -math.log(level) for loss in held)
            share = value / 100.0 if value > 1.0 else value
            if learnt or not share < level + min((factor - 1.0) * level, MOST_LUCK):
                break
            count += 1
        return count
    return 0
