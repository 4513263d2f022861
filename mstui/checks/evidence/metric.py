"""Evidence from evaluations: how they develop, and how far they lie from the training's own."""

from __future__ import annotations

import math
from typing import List, Optional, Tuple

import numpy as np

from mstui.checks.curves import Curve
from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.measures import eval_pairs, evaluations, is_share, kind_of, share, uninformed_loss
from mstui.checks.view import View
from mstui.detect.robust import median, scatter_of_neighbours
from mstui.i18n import _
from mstui.knowledge.ranking import Observation
from mstui.model.records import FloatArray
from mstui.model.roles import Role

LEAST = 3
"""Evaluations without which nothing develops."""
BACK = 2
"""Evaluations since the best one."""
NOISES = 2.0
WORSE = 0.02
"""Of the best value, where few evaluations tell no noise."""
GROWTH = 0.02
"""Growth of the gap, in accuracy, that sampling of some hundred samples does not give."""
GAP = 0.1
STEADY_GAP = 0.5
"""Change of the gap over its size."""
GOOD, PERFECT = 0.9, 0.99
CHANCE_FACTOR = 1.6
"""times 1/classes: a few hundred samples are that far off by chance"""
CLEARLY = 3.0
"""times chance: nobody guesses so well"""
JUMP = 0.2
SMOOTHER = 2.0
BELOW, ABOVE = 0.2, 0.05
ABOVE_LOSS = 0.8
"""Held-out loss over training loss, where no training accuracy is recorded: noise such as dropout makes the rest."""
ROUND = 0.02
SAME_CHANCE = 0.5
"""Natural logarithm of the factor by which an accuracy may be off chance."""
LEAST_CHANCE, MOST_CHANCE = 1e-5, 0.55
""" 1/classes, for a vocabulary of 100,000 and for 2 classes."""
FAR_ABOVE = 5.0
"""times chance"""


def _losses(view: View) -> Optional[Curve]:
    return view.one(Role.EVAL_LOSS, held_out=True) or view.one(Role.EVAL_LOSS)


def _metrics(view: View) -> Tuple[Curve, ...]:
    return view.of_role(Role.EVAL_METRIC, held_out=True) or view.of_role(Role.EVAL_METRIC)


def _shares(view: View, held_out: bool) -> Optional[FloatArray]:
    """Accuracies, where the name says on which data; None without."""
    for each in view.of_role(Role.EVAL_METRIC, held_out=held_out):
        if is_share(each.tag) and len(each.good):
            return share(evaluations(each)[1])
    return None


def minimum_passed(view: View) -> Observation:
    """Does the best evaluation lie behind, by more than noise?"""
    curve = _losses(view)
    rising_is_bad = curve is not None
    if curve is None:
        shares = _shares(view, held_out=True)
        values = None if shares is None else 1.0 - shares
    else:
        values = evaluations(curve)[1]
    if values is None or len(values) < LEAST:
        return UNKNOWN
    best = int(values.argmin())
    noise = scatter_of_neighbours(values[: best + 1]) if best > BACK else 0.0
    worse = float(values[-1]) - float(values[best])
    passed = len(values) - 1 - best >= BACK and worse > max(NOISES * noise * 0.5, WORSE * abs(float(values[best])))
    sentence = _("best evaluation {back} back, {best:.4g} against {now:.4g} now") if rising_is_bad else ""
    return told(passed, sentence, back=len(values) - 1 - best, best=float(values[best]), now=float(values[-1]))


def gaps(view: View) -> Optional[FloatArray]:
    """Training less held-out accuracy by evaluation; with losses only, held-out less training over the held-out one."""
    for own, other in eval_pairs(view):
        return share(own) - share(other)
    loss, held = view.loss, _losses(view)
    if loss is None or held is None:
        return None
    steps, values = evaluations(held)
    if len(steps) < LEAST:
        return None
    found: List[float] = []
    width = max(1.0, median(np.diff(steps).astype(np.float64)))
    for step, value in zip(steps.tolist(), values.tolist()):
        near = loss.between(int(step - width), int(step))
        near = near[np.isfinite(near)]
        if len(near) and value > 0.0:
            found.append((value - median(near)) / value)
    return np.array(found) if len(found) >= LEAST else None


def _growing(view: View) -> Observation:
    found = gaps(view)
    if found is None or len(found) < LEAST:
        return UNKNOWN
    early, late = median(found[:BACK]), median(found[-BACK:])
    return told(
        late > early + GROWTH and late > GAP / 2, _("gap {early:.3f} at first, {late:.3f} now"), early=early, late=late
    )


def _from_start(view: View) -> Observation:
    found = gaps(view)
    if found is None or len(found) < LEAST - 1:
        return UNKNOWN
    first, late = float(found[0]), median(found[-BACK:])
    present = first > GAP and abs(late - first) <= STEADY_GAP * first
    return told(present, _("gap {first:.3f} at the first evaluation, {late:.3f} now"), first=first, late=late)


def _train_good(view: View) -> Observation:
    return _train(view, GOOD)


def _train_perfect(view: View) -> Observation:
    return _train(view, PERFECT)


def _train(view: View, limit: float) -> Observation:
    shares = _shares(view, held_out=False)
    if shares is None:
        # A loss says it as well: exp(-loss) is the (geometric) mean probability of the right answer.
        loss = view.loss
        if loss is None or uninformed_loss(view) is None:
            return UNKNOWN
        return told(math.exp(-max(loss.level, 0.0)) >= limit)
    return told(float(shares[-1]) >= limit, _("training accuracy {value:.3f}"), value=float(shares[-1]))


def chance(view: View) -> Optional[float]:
    """Accuracy of guessing: of the declared classes, else of those that the first losses imply."""
    if view.declared.classes is not None:
        return 1.0 / view.declared.classes
    first = uninformed_loss(view)
    if first is not None:
        return math.exp(-first)
    # A loss that falls at once has no even level; its very first value is that of a net that knows nothing, if an
    # evaluation, or the first of them, says the same.
    held = _shares(view, held_out=True)
    if view.loss is None or held is None or not len(view.loss.good):
        return None
    guess = math.exp(-float(view.loss.good[0]))
    near = float(np.abs(np.log(np.maximum(held, 1e-6) / guess)).min()) < SAME_CHANCE
    return guess if LEAST_CHANCE <= guess <= MOST_CHANCE and near else None


def _train_chance(view: View) -> Observation:
    shares, level = _shares(view, held_out=False), chance(view)
    if shares is None or level is None:
        return UNKNOWN
    return told(
        float(shares[-1]) <= CHANCE_FACTOR * level,
        _("training accuracy {value:.3f}, chance {chance:.3f}"),
        value=float(shares[-1]),
        chance=level,
    )


def _eval_chance(view: View) -> Observation:
    held, level = _shares(view, held_out=True), chance(view)
    if held is None or level is None:
        return UNKNOWN
    own = _shares(view, held_out=False)
    if own is None and view.loss is None:
        return UNKNOWN
    better = float(own[-1]) > CLEARLY * level if own is not None else _learnt(view, level)
    return told(
        float(held[-1]) <= CHANCE_FACTOR * level and better,
        _("evaluation {value:.3f}, chance {chance:.3f}"),
        value=float(held[-1]),
        chance=level,
    )


def _learnt(view: View, level: float) -> bool:
    return view.loss is not None and view.loss.level < 0.6 * -math.log(level)


def _jumpy(view: View) -> Observation:
    held = _shares(view, held_out=True)
    own = _shares(view, held_out=False)
    if held is None or len(held) < LEAST:
        return UNKNOWN
    most = float(np.abs(np.diff(held)).max())
    fell = float(np.diff(held).min())
    calm = view.loss is not None and (math.isnan(view.loss.noise) or view.loss.noise < 0.5)
    if own is not None and len(own) >= LEAST:
        calm = float(np.abs(np.diff(own)).max()) * SMOOTHER < most or float(np.diff(own).min()) > fell / SMOOTHER
    # Only a fall is odd: every curve that learns jumps up.
    return told(fell < -JUMP / 2 and calm, _("the evaluation fell by {fall:.3f} at once"), fall=-fell)


def _below(view: View) -> Observation:
    found, held = gaps(view), _shares(view, held_out=True)
    if found is None or not len(found):
        return UNKNOWN
    usual = median(found[len(found) // 2 :])
    level = median(held[len(held) // 2 :]) if held is not None else 1.0
    worse = usual > BELOW or (usual > BELOW * max(level, 1e-9) and usual > GAP)
    early = median(found[: max(BACK, len(found) // 2)]) > GAP / 2
    return told(worse and early, _("evaluation {gap:.3f} below training"), gap=usual)


def _above(view: View) -> Observation:
    found = gaps(view)
    if eval_pairs(view) and found is not None:
        usual = median(found)
        if usual < -ABOVE:
            return yes(_("evaluation {gap:.3f} above training"), gap=-usual)
    loss, held = view.loss, _losses(view)
    if loss is not None and held is not None and len(held.good) >= LEAST - 1 and loss.level > 0.0:
        ratio = float(held.good[-1]) / loss.level
        return told(ratio < ABOVE_LOSS, _("evaluation loss {ratio:.3g} times the training loss"), ratio=ratio)
    return no() if found is not None else UNKNOWN


def _target(view: View) -> Observation:
    target = view.declared.target
    metrics = _metrics(view)
    if target is None or not metrics:
        return UNKNOWN
    wanted = kind_of(view.declared.text("target_metric").split(">")[0].split("<")[0].split("=")[0])
    curve = next((each for each in metrics if wanted and wanted in kind_of(each.tag)), metrics[0])
    if not len(curve.good):
        return UNKNOWN
    values = share(curve.good) if target <= 1.0 and is_share(curve.tag) else curve.good
    below = "<" in view.declared.text("target_metric")
    best = float(values.min() if below else values.max())
    met = best <= target if below else best >= target
    return told(met, _("best {best:.4g}, wanted {target:.4g}"), best=best, target=target)


def _majority(view: View) -> Observation:
    held = _shares(view, held_out=True)
    if held is None or len(held) < LEAST:
        return UNKNOWN
    declared = view.declared.positive("majority_share", "largest_class_share")
    if declared is not None:
        return told(abs(float(held[-1]) - declared) <= ROUND)
    level, own = chance(view), _shares(view, held_out=False)
    if level is None:
        return UNKNOWN
    if own is not None and len(own) >= LEAST:
        # A training set that is mostly one class is answered at once, by that class alone, which elsewhere is chance.
        at_once = float(own[0]) > FAR_ABOVE * level and float(held[0]) <= CHANCE_FACTOR * level
        if at_once and float(held.max()) > CHANCE_FACTOR * level:
            return yes(
                _("first evaluation {held:.3f} where training had {own:.3f}"), held=float(held[0]), own=float(own[0])
            )
    # Always the same answer gives always the same accuracy, to the last digit, above chance and far from right.
    if not bool((held[-LEAST:] == held[-1]).all()):
        return no()
    return told(CHANCE_FACTOR * level < float(held[-1]) < GOOD)


FAMILY = Family(
    "metric",
    {
        "validation-minimum-passed": minimum_passed, "gap-growing": _growing, "gap-from-start": _from_start,
        "train-metric-good": _train_good, "train-perfect": _train_perfect, "train-at-chance": _train_chance,
        "evaluation-at-chance": _eval_chance, "evaluation-jumpy": _jumpy, "evaluation-below-training": _below,
        "evaluation-above-training": _above, "target-met": _target, "majority-share": _majority,
    },
)  # fmt: skip
