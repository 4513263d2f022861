"""Evidence from overflows, the loss scale and what is known of the precision."""

from __future__ import annotations

import re
from typing import Optional, Tuple

import numpy as np

from mstui.checks.curves import Curve
from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.view import View
from mstui.i18n import _, ngettext
from mstui.knowledge.ranking import Observation
from mstui.model.logs import EventKind
from mstui.model.roles import Role

BEFORE_STEPS = 20
ALL_STEPS = 20
ALL_SHARE = 0.95
WARM_UP = 100
"""Steps in which a dynamic scale may overflow while it finds its size."""
WARM_UP_SHARE = 0.25
"""of a run that is shorter than four times that"""
OFTEN = 0.01
OFTEN_LEAST = 2
PERIODS = 3
REGULAR = 0.25
"""Spread of the distances over their mean."""
QUIET_SHARE = 4
"""Last part of a run, a quarter, in which nothing may overflow."""
FLOOR = 1.0
CONSTANT_RECORDS = 50
EXTREME_FIRST, EXTREME_FIXED = 2.0**26, 2.0**16
FIRST_ATLAS = re.compile(r"(?:ascend)?910(?:a|pro)?(?![\d_b])|saturation", re.IGNORECASE)
OPERATORS = re.compile(r"\b(?:real_?div|div|log1?p?|r?sqrt|pow|xlogy|divnonan)\b", re.IGNORECASE)


def overflows(view: View) -> Optional[Tuple[np.ndarray, np.ndarray]]:  # type: ignore[type-arg]
    """(steps, did it overflow) of every record; None where overflow is not recorded at all."""
    curve = view.one(Role.OVERFLOW)
    if curve is not None and len(curve.good):
        return curve.good_steps, curve.good > 0.0
    scale = view.one(Role.LOSS_SCALE)
    if scale is not None and len(scale.good) > 1:
        return scale.good_steps[1:], np.diff(scale.good) < 0.0
    return None


def _scale(view: View) -> Optional[Curve]:
    curve = view.one(Role.LOSS_SCALE)
    return curve if curve is not None and len(curve.good) else None


def _before(view: View) -> Observation:
    if view.onset is None:
        return UNKNOWN
    found = overflows(view)
    if found is not None:
        steps, over = found
        near = (steps <= view.onset + 1) & (steps >= view.onset - BEFORE_STEPS)
        number = int(over[near].sum())
        sentence = ngettext(
            "{n} overflow in the {steps} steps before", "{n} overflows in the {steps} steps before", number
        )
        return told(number > 0, sentence, n=number, steps=BEFORE_STEPS)
    told_of = [
        each.event.step for each in view.events if each.event.kind is EventKind.OVERFLOW and each.event.step is not None
    ]
    if told_of:
        return told(any(view.onset - BEFORE_STEPS <= step <= view.onset + 1 for step in told_of))
    return UNKNOWN


def _all(view: View) -> Observation:
    found = overflows(view)
    if found is None or view.one(Role.OVERFLOW) is None or len(found[1]) < ALL_STEPS:
        return UNKNOWN
    most = float(np.mean(found[1]))
    lately = float(np.mean(found[1][-ALL_STEPS:]))
    return told(max(most, lately) >= ALL_SHARE, _("{share:.0f} % of the steps overflow"), share=100.0 * most)


def _after_warm_up(over: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return over[min(WARM_UP, int(WARM_UP_SHARE * len(over))) :]


def _often(view: View) -> Observation:
    found = overflows(view)
    if found is None or len(found[1]) < ALL_STEPS:
        return UNKNOWN
    rest = _after_warm_up(found[1])
    rate = float(np.mean(rest))
    return told(
        rate > OFTEN and int(rest.sum()) >= OFTEN_LEAST, _("{share:.1f} % of the steps overflow"), share=100.0 * rate
    )


def _periodic(view: View) -> Observation:
    found = overflows(view)
    if found is None:
        return UNKNOWN
    at = found[0][found[1]]
    if len(at) <= PERIODS:
        return no()
    distances = np.diff(at).astype(float)
    mean = float(distances.mean())
    return told(mean > 1.5 and float(distances.std()) <= REGULAR * mean, _("every {steps:.0f} steps"), steps=mean)


def _ends(view: View) -> Observation:
    found, scale = overflows(view), _scale(view)
    if found is None or not found[1].any() or len(found[1]) < ALL_STEPS:
        return UNKNOWN
    last = found[1][-max(1, len(found[1]) // QUIET_SHARE) :]
    fell = scale is not None and float(scale.good.min()) < float(scale.good[0])
    return told(not last.any() and fell)


def _floor(view: View) -> Observation:
    scale = _scale(view)
    if scale is None:
        return UNKNOWN
    lowest = float(scale.good.min())
    return told(lowest <= FLOOR and float(scale.good[0]) > FLOOR, _("lowest scale {scale:g}"), scale=lowest)


def _constant(view: View) -> Observation:
    scale = _scale(view)
    if scale is None:
        kind = view.declared.text("loss_scale_kind").lower()
        return told("fixed" in kind) if kind else UNKNOWN
    if len(scale.good) < CONSTANT_RECORDS and len(scale.good) < 2:
        return UNKNOWN
    changes = bool((scale.good != scale.good[0]).any())
    if not changes and len(scale.good) < CONSTANT_RECORDS:
        return UNKNOWN
    return told(not changes, _("loss scale {scale:g} throughout") if not changes else "", scale=float(scale.good[0]))


def _one(view: View) -> Observation:
    scale = _scale(view)
    if scale is not None:
        return told(bool((scale.good == FLOOR).all()))
    declared = view.declared.number("loss_scale", "loss_scale_value", "init_loss_scale")
    if declared is not None:
        return told(declared == FLOOR)
    # Half precision without any scale is the same as a scale of 1.
    return yes() if view.declared.half else UNKNOWN


def _extreme(view: View) -> Observation:
    scale = _scale(view)
    if scale is None:
        return UNKNOWN
    first = float(scale.good[0])
    fixed = not bool((scale.good != first).any())
    return told(
        first > EXTREME_FIRST or (fixed and first > EXTREME_FIXED), _("first loss scale {scale:g}"), scale=first
    )


def _present(view: View) -> Observation:
    if view.one(Role.LOSS_SCALE) is not None or view.one(Role.OVERFLOW) is not None:
        return yes()
    others = any(
        each.role in (Role.LEARNING_RATE, Role.GRAD_NORM, Role.PARAMETER) and each.rank_id == view.rank
        for each in view.curves
    )
    return no() if others else UNKNOWN


def half_precision(view: View) -> Optional[bool]:
    """Is anything computed in FP16, as far as facts, scales and overflows tell."""
    if view.declared.half is not None:
        return view.declared.half
    scale = _scale(view)
    scaled = scale is not None and bool((scale.good != FLOOR).any())
    return True if scaled or view.one(Role.OVERFLOW) is not None else None


def _half(view: View) -> Observation:
    return told(half_precision(view))


def _all_half(view: View) -> Observation:
    words = view.declared.text("mixed_precision", "amp_level").lower()
    if not words:
        return UNKNOWN
    whole = re.search(r"float16 in (\d+) of (\d+)", words)
    if whole is not None and "bfloat16" not in words:
        return told(whole[1] == whole[2])
    return told("o3" in words)


def _saturation(view: View) -> Observation:
    words = " ".join(
        view.declared.text(name)
        for name in ("device_name", "soc_version", "ms_ascend_check_overflow_mode", "overflow_mode", "card")
    ).strip()
    if words:
        return told(FIRST_ATLAS.search(words) is not None)
    target = view.declared.text("device_target").lower()
    # A CPU or GPU has no saturation mode; "Ascend" alone does not say which series.
    return no() if target in ("cpu", "gpu") else UNKNOWN


def _drop_off(view: View) -> Observation:
    said = view.declared.flag("drop_overflow_update")
    return UNKNOWN if said is None else told(not said)


def _first_op(view: View) -> Observation:
    kinds = (EventKind.PROBE_ALERT, EventKind.NAN_STOP, EventKind.NAN_WEIGHTS)
    for each in view.events:
        if each.event.kind in kinds:
            words = f"{each.event.text} {' '.join(each.event.fields.values())}"
            if each.event.kind is EventKind.PROBE_ALERT:
                return told(OPERATORS.search(words) is not None)
    return UNKNOWN


FAMILY = Family(
    "precision",
    {
        "overflow-before": _before, "overflow-all": _all, "overflow-often": _often, "overflow-periodic": _periodic,
        "overflow-ends": _ends, "scale-at-floor": _floor, "scale-constant": _constant, "scale-one": _one,
        "scale-extreme": _extreme, "scale-present": _present, "half-precision": _half, "all-half": _all_half,
        "saturation-hardware": _saturation, "drop-update-off": _drop_off, "first-bad-is-op": _first_op,
    },
)  # fmt: skip
