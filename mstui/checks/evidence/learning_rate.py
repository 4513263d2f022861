"""Evidence from the learning rate: its size, its shape, and where in it the onset lies."""

from __future__ import annotations

from typing import NamedTuple, Optional

import numpy as np

from mstui.checks.curves import Curve
from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.view import View
from mstui.detect.rules.lr_anomaly import WARM_POINTS
from mstui.i18n import _
from mstui.knowledge.ranking import Observation
from mstui.model.alerts import Symptom

WINDOW = 20
LEAST = 4
"""Records below which a curve has no shape."""
TINY, TINY_PLAIN = 1e-6, 1e-4
"""Largest rate of a run that is tiny: for adaptive optimizers, and for plain SGD."""
HIGH_ADAPTIVE, HIGH_PLAIN = 1e-2, 0.5
PEAK_RECORDS, PEAK_SHARE = 10, 0.05
ROSE = 3.0
DECAYED = 0.01
END_TINY = 1e-3
CONSTANT = 1e-6
"""Relative spread below which a curve is constant: float32."""
IN_PHASE = 0.6
TURNS = 2
"""Times a cyclic rate comes up again."""
JUMPED = 3.0
LEAST_OF_PEAK = 1e-3
"""Of the peak: a rise from below it is the first step of a warm-up, or the way up again of a cycle."""
STEPPED = 0.2
NEAR = 3


class Leap(NamedTuple):
    """A rise of the learning rate from one record to the next that no usual schedule makes."""

    step: int
    before: float
    after: float


def _rate(view: View, least: int = LEAST) -> Optional[Curve]:
    curve = view.learning_rate
    return curve if curve is not None and len(curve.good) >= least and float(curve.good.max()) >= 0.0 else None


def _zero(view: View) -> Observation:
    rate = _rate(view)
    if rate is None:
        return UNKNOWN
    zeros = int((rate.good[1:] == 0.0).sum())
    first = int(rate.good_steps[1:][int((rate.good[1:] == 0.0).argmax())]) if zeros else 0
    return told(zeros > 1, _("0 in {n} records, from step {step} on") if zeros > 1 else "", n=zeros, step=first)


def _tiny(view: View) -> Observation:
    rate = _rate(view, 1)
    if rate is None:
        return UNKNOWN
    largest = float(rate.good.max())
    limit = TINY_PLAIN if view.declared.adaptive is False else TINY
    if largest < limit:
        return yes(_("largest learning rate {rate:.3g}"), rate=largest)
    # Between the two limits it depends on an optimizer that nobody names.
    return (
        no(_("largest learning rate {rate:.3g}"), rate=largest)
        if largest >= TINY_PLAIN or view.declared.optimizer
        else UNKNOWN
    )


def _high(view: View) -> Observation:
    rate = _rate(view, 1)
    if rate is None:
        return UNKNOWN
    largest = float(rate.good.max())
    limit = HIGH_ADAPTIVE if view.declared.adaptive else HIGH_PLAIN
    sentence = _("largest learning rate {rate:.3g}")
    if largest > limit:
        return yes(sentence, rate=largest)
    return no(sentence, rate=largest) if largest <= HIGH_ADAPTIVE or view.declared.optimizer else UNKNOWN


def _at_peak(view: View) -> Observation:
    rate = _rate(view)
    if rate is None or view.onset is None or leap(view) is not None:
        return UNKNOWN  # a peak that was jumped to is another story
    top = int(rate.good.argmax())
    if rate.good[top] <= rate.good[0] * (1.0 + CONSTANT):
        return no()
    reach = max(PEAK_RECORDS, int(PEAK_SHARE * len(rate.good)))
    at = int(np.searchsorted(rate.good_steps, view.onset))
    # A plateau after the rise is the peak as long as it lasts.
    last = int(np.flatnonzero(rate.good >= rate.good[top] * (1.0 - CONSTANT))[-1])
    return told(top - reach <= at <= last + reach, _("the peak is at step {step}"), step=int(rate.good_steps[top]))


def _rose(view: View) -> Observation:
    rate = _rate(view)
    if rate is None or view.onset is None:
        return UNKNOWN
    before = rate.before(view.onset + 1, WINDOW)
    if len(before) < 2:
        return UNKNOWN
    lowest = before.min()
    return told(
        bool(before[-1] >= ROSE * lowest and before[-1] > 0.0),
        _("{low:.2g} to {now:.2g}"),
        low=float(lowest),
        now=float(before[-1]),
    )


def _decayed(view: View) -> Observation:
    rate = _rate(view)
    if rate is None or view.span is None:
        return UNKNOWN
    peak, top = float(rate.good.max()), int(rate.good.argmax())
    if not peak > 0.0:
        return UNKNOWN
    below = rate.good < DECAYED * peak
    below[: top + 1] = False
    # It must stay below: a cycle comes up again.
    up = np.flatnonzero(~below)
    if not below.any() or up[-1] == len(below) - 1:
        return no()
    since = int(rate.good_steps[up[-1] + 1])
    first, last = view.span
    planned = view.declared.planned_steps or last - first + 1
    return told(since < first + planned / 2, _("below 1 % of its peak from step {step} on"), step=since)


def _end_tiny(view: View) -> Observation:
    rate = _rate(view)
    if rate is None or not float(rate.good.max()) > 0.0:
        return UNKNOWN
    now = float(rate.good[-1])
    return told(now < END_TINY * float(rate.good.max()), _("now {rate:.2g}"), rate=now)


def _constant(rate: Curve) -> bool:
    return float(np.ptp(rate.good)) <= CONSTANT * float(rate.good.max())


def _no_warmup(view: View) -> Observation:
    rate = _rate(view)
    if rate is None or leap(view) is not None:
        return UNKNOWN  # what leaps to its peak was neither warmed up nor begun there
    return told(bool(rate.good[0] >= rate.good.max() * (1.0 - CONSTANT)) and not _constant(rate))


def turns(rate: Curve) -> int:
    """How often it came up from below a half to above a half of its peak."""
    high = rate.good > 0.5 * rate.good.max()
    return int((high[1:] & ~high[:-1]).sum())


def _in_phase(view: View) -> Observation:
    rate, loss = _rate(view), view.loss
    if rate is None or loss is None or turns(rate) < TURNS:
        return no() if rate is not None and loss is not None else UNKNOWN
    _common, first, second = np.intersect1d(rate.good_steps, loss.good_steps, return_indices=True)
    ours, theirs = rate.good[first], loss.good[second]
    if len(ours) < WINDOW or not ours.std() > 0.0 or not theirs.std() > 0.0:
        return UNKNOWN
    alike = float(np.corrcoef(ours, theirs)[0, 1])
    return told(alike >= IN_PHASE, _("correlation with the loss {alike:.2f}"), alike=alike)


def _as_planned(view: View) -> Observation:
    """Only a constant plan can be held against the curve: other plans are declared by a name alone."""
    rate = _rate(view)
    plan = view.declared.text("lr_schedule").strip().lower()
    if rate is None or plan != "constant":
        return UNKNOWN
    value = view.declared.positive("learning_rate")
    same = _constant(rate) and (value is None or abs(float(rate.good[-1]) - value) <= 1e-3 * value)
    return told(same)


def leap(view: View) -> Optional[Leap]:
    """The leap that the incident is about, else the first one of the curve; None without any."""
    said = _said(view)
    if said is not None:
        return said
    rate = _rate(view)
    if rate is None or turns(rate) > TURNS:
        return None  # a schedule that comes up again and again is a cycle
    before, after = rate.good[:-1], rate.good[1:]
    highest = np.maximum.accumulate(before)
    # From next to nothing a warm-up sets out, and a cycle comes back to a height that it had: neither is a leap.
    risen = (before > LEAST_OF_PEAK * float(rate.good.max())) | (
        (np.arange(len(before)) + 1 >= WARM_POINTS) & (after > JUMPED * highest)
    )
    ups = np.flatnonzero((after > JUMPED * before) & (before > 0.0) & risen)
    ups = ups[ups >= LEAST]  # the first steps of a warm-up double and triple
    if len(ups) == 0 or len(ups) > TURNS:
        return None
    return Leap(int(rate.good_steps[ups[0] + 1]), float(before[ups[0]]), float(after[ups[0]]))


def _said(view: View) -> Optional[Leap]:
    """The alert's own leap: whatever threshold it was found with, evidence does not deny it."""
    for each in view.incident.happenings if view.incident is not None else ():
        for evidence in each.evidence if each.symptom is Symptom.LR_ANOMALY else ():
            before, now = evidence.numbers.get("before"), evidence.numbers.get("now")
            if isinstance(before, (int, float)) and isinstance(now, (int, float)) and now > before > 0.0:
                return Leap(each.step, float(before), float(now))
    return None


def _jump(view: View) -> Observation:
    found = leap(view)
    if found is None:
        return UNKNOWN if _rate(view) is None else no()
    sentence = _("it jumps from {before:.3g} to {after:.3g} at step {step}")
    return yes(sentence, before=found.before, after=found.after, step=found.step)


def _step_here(view: View) -> Observation:
    rate = _rate(view)
    if rate is None or view.onset is None:
        return UNKNOWN
    at = int(np.searchsorted(rate.good_steps, view.onset))
    near = rate.good[max(0, at - NEAR) : at + NEAR + 1]
    if len(near) < 2:
        return UNKNOWN
    changes = np.abs(np.diff(near)) / np.maximum(np.abs(near[:-1]), 1e-30)
    return told(bool((changes > STEPPED).any()))


FAMILY = Family(
    "learning-rate",
    {
        "lr-zero": _zero, "lr-tiny": _tiny, "lr-high": _high, "lr-at-peak": _at_peak, "lr-rose-before": _rose,
        "lr-decayed-early": _decayed, "lr-end-tiny": _end_tiny, "lr-no-warmup": _no_warmup, "lr-in-phase": _in_phase,
        "lr-as-planned": _as_planned, "lr-jump": _jump, "lr-step-here": _step_here,
    },
)  # fmt: skip
