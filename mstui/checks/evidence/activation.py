"""Evidence from activations: zeros, saturation, size from layer to layer."""

from __future__ import annotations

from typing import List, Optional

import numpy as np

from mstui.checks.curves import Curve
from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.measures import first_record, gradient_norms
from mstui.checks.view import View
from mstui.detect.robust import median
from mstui.i18n import _
from mstui.knowledge.ranking import Observation

ZEROS = ("act_zero_frac", "activation_zero_frac", "act_zero_ratio")
SATURATED = ("act_sat_frac", "activation_sat_frac")
SPREADS = ("act_std", "activation_std", "act_rms")
INPUT_SPREADS = ("input_std", "inputs_std")
RECORDS = 3
HIGH_ZEROS = 0.9
HIGH_SATURATED = 0.5
LARGE_SIGNAL = 10.0
FADED = 10.0
DEEP = 2
"""Saturating layers from which on they are hidden ones: one alone may be the output."""
SMALL_INPUT = 0.1
JUMP_RECORDS = 20
FIRST_NORMS = 3
"""The first norms tell what is usual where nothing comes before the jump."""
LOSS_JUMP, NORM_JUMP, UPDATE_JUMP = 2.0, 5.0, 0.3
"""Loss and norm: times their level before. Update: of the weight's size."""


def lasting(curve: Curve, limit: float) -> bool:
    """Was it at the limit for RECORDS records in a row, or all of a shorter record of two?"""
    values = curve.good
    if len(values) < RECORDS:
        return len(values) == RECORDS - 1 and bool((values >= limit).all())
    windows = np.lib.stride_tricks.sliding_window_view(values, RECORDS)
    return bool((windows >= limit).all(axis=1).any())


def _high(curves: List[Curve], limit: float) -> List[Curve]:
    return [each for each in curves if lasting(each, limit)]


def _dead(view: View) -> Optional[List[Curve]]:
    """Layers that give almost only zeros; None where nothing of it is recorded."""
    curves = [each for each in view.of_statistic(*ZEROS) if len(each.good) >= RECORDS - 1]
    return _high(curves, HIGH_ZEROS) if curves else None


def _zeros_high(view: View) -> Observation:
    dead = _dead(view)
    if dead is None:
        return UNKNOWN
    if not dead:
        return no()
    sentence = _("{share:.1f} % of the outputs of {layer} are 0")
    return yes(sentence, {"layer": dead[0].parameter}, share=100.0 * float(dead[0].good.max()), n=len(dead))


def _from_start(view: View) -> Observation:
    dead = _dead(view)
    if not dead:
        return UNKNOWN
    first = [float(each.good[0]) for each in dead]
    return told(max(first) >= HIGH_ZEROS, _("{share:.1f} % at the first record"), share=100.0 * max(first))


def _saturated(view: View) -> Observation:
    curves = [each for each in view.of_statistic(*SATURATED) if len(each.good) >= RECORDS - 1]
    if not curves:
        # Only saturating activations have the figure: where others are recorded there is none to be saturated.
        return no() if view.of_statistic(*SPREADS) else UNKNOWN
    high = _high(curves, HIGH_SATURATED)
    if not high:
        return no()
    sentence = _("{share:.1f} % of the outputs of {layer} are saturated")
    return yes(sentence, {"layer": high[0].parameter}, share=100.0 * median(high[0].good), n=len(high))


def _saturating(view: View) -> Observation:
    curves = view.of_statistic(*SATURATED)
    if len(curves) >= DEEP:
        return yes(_("{n} such layers"), n=len(curves))
    return no() if view.of_statistic(*SPREADS) else UNKNOWN


def _signal_large(view: View) -> Observation:
    curves = [each for each in view.of_statistic(*SPREADS) if len(each.good)]
    if not curves or not first_record(view, curves[0]):
        return UNKNOWN
    first = float(curves[0].good[0])
    sentence = _("spread {spread:.3g} behind {layer} at the first record")
    return told(first > LARGE_SIGNAL, sentence, {"layer": curves[0].parameter}, spread=first)


def _fades(view: View) -> Observation:
    firsts = [float(each.good[0]) for each in view.of_statistic(*SPREADS) if len(each.good)]
    if len(firsts) < DEEP:
        return UNKNOWN
    return told(
        firsts[0] >= FADED * firsts[-1] and firsts[0] > 0.0,
        _("spread {first:.2g} in the first layer, {last:.2g} in the last"),
        first=firsts[0],
        last=firsts[-1],
    )


def _input_small(view: View) -> Observation:
    curves = [each for each in view.of_statistic(*INPUT_SPREADS) if len(each.good)]
    if not curves:
        return UNKNOWN
    spread = median(curves[0].good)
    return told(spread < SMALL_INPUT, _("spread of the input {spread:.2g}"), spread=spread)


def _after_jump(view: View) -> Observation:
    dead = _dead(view)
    if not dead:
        return UNKNOWN
    later = [each for each in dead if each.good[0] < HIGH_ZEROS]
    if not later:
        return no()
    died = min(int(each.good_steps[int((each.good >= HIGH_ZEROS).argmax())]) for each in later)
    return told(_jumped(view, died), _("dead from step {step} on"), step=died)


def _jumped(view: View, died: int) -> bool:
    """Did loss, gradient or update jump within JUMP_RECORDS records in front of this step, or just at it?"""
    loss = view.loss
    if loss is not None and len(loss.good):
        begin = max(0, loss.number_of(died) - JUMP_RECORDS)
        near = loss.values[begin : loss.number_of(died) + 1]
        before = loss.good[: max(begin, 1)]
        if len(near) and (not bool(np.isfinite(near).all()) or float(near.max()) > LOSS_JUMP * median(before)):
            return True
    norms = gradient_norms(view)
    if norms is not None and len(norms.good):
        at = int(np.searchsorted(norms.steps, died, side="right"))
        near = norms.values[max(0, at - JUMP_RECORDS) : at]
        usual = median(norms.good[: max(FIRST_NORMS, at - JUMP_RECORDS)])
        if len(near) and (not bool(np.isfinite(near).all()) or float(near.max()) > NORM_JUMP * usual):
            return True
    updates = [each.between(0, died) for each in view.of_statistic("update_ratio")]
    return any(bool((each > UPDATE_JUMP).any()) for each in updates)


FAMILY = Family(
    "activation",
    {
        "zeros-high": _zeros_high, "zeros-from-start": _from_start, "saturated-high": _saturated,
        "saturating-in-depth": _saturating, "signal-large": _signal_large, "signal-fades": _fades,
        "input-small": _input_small, "zeros-after-jump": _after_jump,
    },
)  # fmt: skip
