"""Evidence from the course of the loss, and from the place of the onset in it."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from mstui.checks.curves import Curve, slope_of, smoothed
from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.measures import gradient_norms, rising, uninformed_loss
from mstui.checks.view import View
from mstui.i18n import _, ngettext
from mstui.knowledge.ranking import Observation
from mstui.model.records import FloatArray

FIRST_RECORDS = 3
"""Records in which "from the start" happens."""
EARLY_RECORDS = 10
LATE_RECORDS = 100
WINDOW = 20
"""Records in front of an onset that tell how it came."""
LEAST_BEFORE = 4
"""Records in front of an onset without which nothing can be said of how it came."""
FELL = 0.9
"""Of where it began: below it, something had been learnt before the onset."""
AT_CHANCE = 0.02
"""Of ln(classes): the sampling error of a mean over a few batches."""
STILL_UNINFORMED = 0.05
"""Of the first level, where classes are not declared and the first level stands in for ln(classes)."""
BELOW_CHANCE = 0.4
"""Of ln(classes): deeper than that a loss is a trained one."""
FIRST_OFF = 0.3
"""Of ln(classes): usual initial values add a tenth or two to it."""
TIMES_CHANCE, TIMES_LEVEL = 5.0, 10.0
"""A first loss so many times ln(classes), or times the level reached later, comes from far too large logits."""
LARGEST_CHANCE = 23.0
"""ln of ten billion: no first loss of an uninformed classifier is larger."""
FP16_LARGEST = 65504.0
FP32_LARGEST = float(np.finfo(np.float32).max)
CLAMPED = 1e-3
JUMP_FROM = 0.01
"""Of the start: a loss below it may well reach 0 by itself."""
DECAY_RECORDS = 10
ISOLATED_RECORDS = 5
BAND = 4.0
"""Mean deviations beyond which a value is out of its band."""
RUNAWAY = 10.0
"""Times its first size: a loss that falls so far below 0 has no floor."""
STEEP = 3.0
"""Standard errors that make a slope certain."""
WORTHWHILE = 0.02
"""Fall over the last fifth, of the level, that makes going on worth while."""
WEAK = (0.02, 0.3)
FEW_POINTS = 12
"""Points below which the end of a curve has no shape."""


def _from_start(view: View) -> Observation:
    return _record(view, FIRST_RECORDS)


def _early(view: View) -> Observation:
    return _record(view, EARLY_RECORDS)


def _record(view: View, most: int) -> Observation:
    number = _number(view)
    if number is None:
        return UNKNOWN
    return told(number < most, _("it began at record {number} of the loss"), number=number + 1)


def _number(view: View) -> Optional[int]:
    """Records in front of the onset: of the loss, or of what shows the trouble, which may be recorded less often."""
    if view.onset is None:
        return None
    shown = () if view.incident is None else (view.incident.head.scope.tag,)
    curves = [each for each in view.curves if each.rank_id == view.rank and (each is view.loss or each.tag in shown)]
    return min((each.number_of(view.onset) for each in curves), default=None)


def _late(view: View) -> Observation:
    number = _number(view)
    if number is None or view.onset is None:
        return UNKNOWN
    epoch = view.steps_per_epoch
    late = number >= LATE_RECORDS or (epoch is not None and number >= EARLY_RECORDS and view.onset > epoch)
    return told(late, _("it began at record {number} of the loss"), number=number + 1)


def _before(view: View, curve: Optional[Curve], most: int = WINDOW) -> Optional[FloatArray]:
    """Values in front of the onset; None where there are too few."""
    if curve is None or view.onset is None:
        return None
    values = curve.before(view.onset, most)
    return values if len(values) >= LEAST_BEFORE else None


def _rising_before(view: View) -> Observation:
    values = _before(view, view.loss)
    return UNKNOWN if values is None else told(rising(values), _("loss {last:.4g} just before"), last=float(values[-1]))


def _abrupt(view: View) -> Observation:
    loss = _before(view, view.loss)
    if loss is None or view.onset is None:
        return UNKNOWN
    norms = gradient_norms(view)
    before = norms.before(view.onset, WINDOW) if norms is not None else loss[:0]
    grew = rising(loss) or (len(before) >= LEAST_BEFORE and rising(before))
    return told(not grew)


def _fell_before(view: View) -> Observation:
    loss = view.loss
    if _before(view, loss) is None or loss is None or view.onset is None or not loss.began > 0.0:
        return UNKNOWN
    # Had it ever learnt: what rose again before the onset had fallen all the same.
    even = smoothed(loss.before(view.onset, len(loss)), LEAST_BEFORE)
    level = float(even.min())
    return told(
        level < FELL * loss.began, _("loss fell from {began:.4g} to {level:.4g} before"), began=loss.began, level=level
    )


def _epoch_edge(view: View) -> Observation:
    epoch = view.steps_per_epoch
    if epoch is None or epoch < 2 or view.onset is None or view.loss is None or math.isnan(view.loss.gap):
        return UNKNOWN
    off = min(view.onset % epoch, epoch - view.onset % epoch)
    return told(off <= view.loss.gap and view.onset >= epoch, _("{off:g} steps from the edge of an epoch"), off=off)


def _at_chance(view: View) -> Observation:
    loss = view.loss
    if loss is None or len(loss.good) < FEW_POINTS:
        return UNKNOWN
    classes = view.declared.classes
    sentence = _("loss {level:.4g}, chance {chance:.4g}")
    if classes is not None:
        chance = math.log(classes)
        return told(abs(loss.level - chance) <= AT_CHANCE * chance, sentence, level=loss.level, chance=chance)
    began = uninformed_loss(view)
    if began is None:
        return UNKNOWN
    return told(abs(loss.level - began) <= STILL_UNINFORMED * began, sentence, level=loss.level, chance=began)


def _below_chance(view: View) -> Observation:
    loss, classes = view.loss, view.declared.classes
    if loss is None or classes is None or len(loss.good) < FEW_POINTS or certain_fall(loss) > 0.0:
        return UNKNOWN
    chance = math.log(classes)
    inside = (1.0 - BELOW_CHANCE) * chance < loss.level < (1.0 - AT_CHANCE) * chance
    return told(inside, _("loss settled at {level:.4g}, chance {chance:.4g}"), level=loss.level, chance=chance)


def _first_off(view: View) -> Observation:
    loss, classes = view.loss, view.declared.classes
    if loss is None or classes is None or not len(loss.good):
        return UNKNOWN
    chance, first = math.log(classes), float(loss.good[0])
    return told(
        abs(first - chance) > FIRST_OFF * chance,
        _("first loss {first:.4g}, chance {chance:.4g}"),
        first=first,
        chance=chance,
    )


def _first_huge(view: View) -> Observation:
    loss, classes = view.loss, view.declared.classes
    if loss is None or not len(loss.values):
        return UNKNOWN
    first = float(loss.values[0])
    if math.isnan(first):
        return UNKNOWN
    if math.isinf(first):
        return yes(_("the first loss is {first}"), first=first)
    huge = first > LARGEST_CHANCE
    if classes is not None:
        huge = first >= TIMES_CHANCE * math.log(classes)
    if len(loss.good) >= FEW_POINTS and loss.level > 0.0:
        fell = float(np.median(loss.good[FIRST_RECORDS : 3 * FEW_POINTS]))
        huge |= first >= TIMES_LEVEL * max(loss.level, fell)
    return told(huge, _("first loss {first:.4g}, later {level:.4g}"), first=first, level=loss.level)


def _negative(view: View) -> Observation:
    loss = view.loss
    if loss is None or not len(loss.good):
        return UNKNOWN
    lowest = float(loss.good.min())
    if lowest >= 0.0:
        return no()
    if view.loss is not None and float(loss.values[0]) < 0.0:
        # A density may be below 0 from the start; one that has no floor is a wrong sign.
        return yes(_("lowest loss {lowest:.4g}"), lowest=lowest) if lowest < RUNAWAY * loss.began else UNKNOWN
    known = any(word in view.declared.text("loss_function").lower() for word in ("entropy", "bce", "mse", "l1", "ctc"))
    # Without a name of the loss: one that began above 0 as a classifier's does, and passed 0, is odd as well.
    odd = known or uninformed_loss(view) is not None
    return told(True if odd else None, _("lowest loss {lowest:.4g}"), lowest=lowest)


def _minus_inf(view: View) -> Observation:
    return UNKNOWN if view.loss is None else told(bool(np.isneginf(view.loss.values).any()))


def _clamped(view: View) -> Observation:
    if view.loss is None or not len(view.loss.good):
        return UNKNOWN
    largest = float(np.abs(view.loss.good).max())
    near = any(abs(largest - limit) <= CLAMPED * limit for limit in (FP16_LARGEST, FP32_LARGEST))
    return told(near, _("largest loss {largest:.6g}"), largest=largest)


def _jump_to_zero(view: View) -> Observation:
    loss = view.loss
    if loss is None or len(loss.good) < 2 or not loss.began > 0.0:
        return UNKNOWN
    falls = (loss.good[1:] == 0.0) & (loss.good[:-1] > JUMP_FROM * loss.began)
    return told(bool(falls.any()))


def _decay_to_zero(view: View) -> Observation:
    loss = view.loss
    if loss is None or len(loss.good) < DECAY_RECORDS or not loss.began > 0.0:
        return UNKNOWN
    near = np.flatnonzero(loss.good <= JUMP_FROM * loss.began)
    smooth = not bool(_jump_to_zero(view).value)
    # The way down is what tells: a mask that empties the loss has none.
    return told(len(near) > 0 and int(near[0]) >= 3 and smooth and loss.level <= JUMP_FROM * loss.began)


def _isolated(view: View) -> Observation:
    before = _before(view, view.loss)
    if before is None or view.loss is None or view.onset is None:
        return UNKNOWN
    after = view.loss.between(view.onset, 2**62)
    if len(after) <= ISOLATED_RECORDS:
        return UNKNOWN
    middle = float(np.median(before))
    usual = float(np.abs(before - middle).mean())
    settled = after[ISOLATED_RECORDS:]
    jumped = (
        not bool(np.isfinite(after[:ISOLATED_RECORDS]).all())
        or float(after[:ISOLATED_RECORDS].max()) > middle + BAND * usual
    )
    if not jumped:
        return UNKNOWN
    return told(bool(np.isfinite(settled).all()) and float(np.median(settled)) <= middle + usual)


def _infinite(view: View) -> Observation:
    loss = view.loss
    if loss is None or loss.bad_step is None:
        return UNKNOWN
    number = int(np.isinf(loss.values).sum())
    return told(number > 0, ngettext("{n} infinite value", "{n} infinite values", number), n=number)


def certain_fall(loss: Curve) -> float:
    """Fall over the last fifth as a share of the level, where it is certain; 0 where it is not."""
    slope, error = slope_of(loss.end)
    level = abs(loss.level)
    fall = -slope * len(loss.end) / level if level > 0.0 else 0.0
    return fall if slope < -STEEP * error and fall > 0.0 else 0.0


def fall_at_end(loss: Curve) -> float:
    """Fall over the last fifth as a share of the level, where it is certain; 0 where it is not."""
    fall = certain_fall(loss)
    if (
        fall <= WORTHWHILE
        and len(loss.good) >= 2 * FEW_POINTS
        and len(loss.end) < LATE_RECORDS
        and abs(loss.level) > 0.0
    ):
        # A fifth of a short run is a dozen of noisy points: its last half tells more.
        slope, error = slope_of(loss.good[len(loss.good) // 2 :])
        if slope < -2 * STEEP * error:
            fall = -slope * len(loss.end) / abs(loss.level)
    return fall


def _still_falling(view: View) -> Observation:
    loss = view.loss
    if loss is None or len(loss.good) < FEW_POINTS:
        return UNKNOWN
    fall = fall_at_end(loss)
    return told(fall > WORTHWHILE, _("the loss fell by {fall:.3g} % over the last fifth"), fall=100.0 * fall)


def _weak(view: View) -> Observation:
    loss = view.loss
    if loss is None or len(loss.good) < FEW_POINTS or not loss.began > 0.0:
        return UNKNOWN
    fall = (loss.began - loss.level) / loss.began
    return told(WEAK[0] < fall < WEAK[1], _("the loss fell by {fall:.3g} % in all"), fall=100.0 * fall)


FAMILY = Family(
    "loss",
    {
        "onset-from-start": _from_start,
        "onset-early": _early,
        "onset-late": _late,
        "onset-abrupt": _abrupt,
        "onset-at-epoch-edge": _epoch_edge,
        "loss-rising-before": _rising_before,
        "loss-fell-before": _fell_before,
        "loss-at-chance": _at_chance,
        "loss-below-chance": _below_chance,
        "first-loss-off": _first_off,
        "first-loss-huge": _first_huge,
        "loss-negative": _negative,
        "loss-minus-inf": _minus_inf,
        "loss-clamped": _clamped,
        "loss-jump-to-zero": _jump_to_zero,
        "loss-decay-to-zero": _decay_to_zero,
        "loss-isolated": _isolated,
        "loss-infinite": _infinite,
        "loss-still-falling": _still_falling,
        "weak-progress": _weak,
    },
)
