"""Measurements that several families of evidence and several probes share. Each says of what it is None."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Tuple

import numpy as np

from mstui.checks.curves import Curve, smoothed
from mstui.checks.view import View
from mstui.detect.robust import median, scatter_of_neighbours
from mstui.model.histogram import Histogram
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role

RISE = 1.15
"""Growth over the records in front of an onset that counts as rising: batch noise does not reach it after smoothing."""
RISING_RECORDS = 3
SMOOTH = 3
"""Records that are averaged before a rise is looked for."""
LEAST_UNINFORMED, MOST_UNINFORMED = 0.6, 12.0
"""ln(classes) lies between these, for 2 classes and for a vocabulary of 160,000."""
EVEN = 0.06
"""Scatter of neighbouring first losses over their level: a net that knows nothing gives each batch ln(classes)."""
FIRST_POINTS = 12
GRADIENT_NORMS = ("grad_norm", "gradient_norm", "local_norm")
WEIGHT_NORMS = ("weight_norm", "param_norm", "weights_norm")
UPDATE_RATIOS = ("update_ratio", "update_to_weight")
STEADY_RECORDS = 3
"""Records that must agree before a weight is called static."""
LEAST_LAG = 8
"""Records an epoch below which an epoch has no pattern."""
LEAST_RISE = 4
LEAST_UPDATES = 4
REPEATED = 0.25
"""Of the largest distance of two evaluations: nearer ones with the same value are one."""
SAME_VALUE = 1e-4
FIRST_STEPS = 2
"""Steps from the start within which a record still shows initial values."""


def rising(values: FloatArray) -> bool:
    """Did these values grow towards their end, over three smoothed records or more?"""
    even = smoothed(values, SMOOTH)
    if len(even) <= RISING_RECORDS:
        last = values[-LEAST_RISE:]
        grew = len(last) == LEAST_RISE and bool((np.diff(last) > 0.0).all())
        return grew and float(last[-1]) > RISE * abs(float(last[0]))
    tail = even[-RISING_RECORDS - 1 :]
    return bool((np.diff(tail) > 0.0).all()) and float(tail[-1]) > RISE * float(np.abs(even).min())


@dataclass(frozen=True)
class Norms:
    """The norm of all gradients by step."""

    steps: IntArray
    values: FloatArray
    """NaN and infinities included"""

    def before(self, step: int, most: int) -> FloatArray:
        """The last finite ones in front of a step."""
        keep = np.isfinite(self.values) & (self.steps < step)
        return self.values[keep][-most:]

    @property
    def good(self) -> FloatArray:
        """Finite ones."""
        return np.asarray(self.values[np.isfinite(self.values)])


def gradient_norms(view: View) -> Optional[Norms]:
    """The recorded norm of all gradients, else that of all recorded parameters together; None without either."""
    whole = view.one(Role.GRAD_NORM)
    if whole is not None:
        return Norms(whole.steps, whole.values)
    parts = view.of_statistic(*GRADIENT_NORMS)
    if not parts:
        return None
    steps = parts[0].steps
    same = [each for each in parts if len(each.steps) == len(steps) and bool((each.steps == steps).all())]
    return Norms(steps, np.sqrt(np.sum([each.values**2 for each in same], axis=0)))


def uninformed_loss(view: View) -> Optional[float]:
    """Level of the first losses, where they look like those of a net that knows nothing (ln of some classes)."""
    loss = view.loss
    if loss is None or len(loss.good) < FIRST_POINTS:
        return None
    first = loss.good[:FIRST_POINTS]
    level = float(loss.began)
    even = scatter_of_neighbours(first) <= EVEN * level
    return level if LEAST_UNINFORMED <= level <= MOST_UNINFORMED and even else None


def epoch_lag(view: View, curve: Curve) -> Optional[int]:
    """Records of a curve in one epoch; None where the epoch is not known or too short for a pattern."""
    epoch = view.steps_per_epoch
    if epoch is None:
        held = view.one(Role.EVAL_METRIC) or view.one(Role.EVAL_LOSS)
        at = evaluations(held)[0] if held is not None else np.empty(0, np.int64)
        epoch = median(np.diff(at).astype(np.float64)) if len(at) >= 3 else None
    if epoch is None or not curve.gap > 0.0:
        return None
    lag = round(epoch / curve.gap)
    return lag if lag >= LEAST_LAG else None


def movement(view: View) -> Mapping[str, bool]:
    """Parameter -> did it ever change. Only those of which three records or more tell."""
    found: Dict[str, bool] = {}
    for each in view.of_statistic(*UPDATE_RATIOS):
        if len(each.good) >= STEADY_RECORDS - 1:
            found[each.parameter] = bool((each.good > 0.0).any())
    for each in view.of_statistic(*WEIGHT_NORMS):
        if len(each.good) >= STEADY_RECORDS and each.parameter not in found:
            found[each.parameter] = bool((np.diff(each.good) != 0.0).any())
    for parameter, histograms in view.histograms("weight").items():
        if len(histograms) >= STEADY_RECORDS and parameter not in found:
            seen = {(one.stats.minimum, one.stats.maximum, one.stats.mean, one.counts.tobytes()) for one in histograms}
            found[parameter] = len(seen) > 1
    return found


def still_lately(view: View) -> Mapping[str, bool]:
    """Parameter -> has it been exactly still over its last records, three or more."""
    found: Dict[str, bool] = {}
    for each in view.of_statistic(*UPDATE_RATIOS):
        if len(each.good) >= STEADY_RECORDS:
            found[each.parameter] = bool((each.good[-STEADY_RECORDS:] == 0.0).all())
    for each in view.of_statistic(*WEIGHT_NORMS):
        if len(each.good) >= STEADY_RECORDS and each.parameter not in found:
            found[each.parameter] = bool((np.diff(each.good[-STEADY_RECORDS:]) == 0.0).all())
    for parameter, histograms in view.histograms("weight").items():
        if len(histograms) >= STEADY_RECORDS and parameter not in found:
            seen = {
                (one.stats.minimum, one.stats.maximum, one.stats.mean, one.counts.tobytes())
                for one in histograms[-STEADY_RECORDS:]
            }
            found[parameter] = len(seen) == 1
    return found


def update_sizes(view: View) -> Mapping[str, FloatArray]:
    """Parameter -> finite update ratios, without the first record: the first step of an adaptive optimizer is odd.

    Where the incident began later in the run, only those in front of it: what follows is no reason of it.
    """
    found = {}
    for each in view.of_statistic(*UPDATE_RATIOS):
        values = each.good
        if view.onset is not None:
            before = int(np.searchsorted(each.good_steps, view.onset, side="right"))
            values = values[:before] if before >= LEAST_UPDATES else values
        if len(values) > 1:
            found[each.parameter] = values[1:]
    return found


def sudden_growth(view: View) -> Optional[float]:
    """Largest growth of a weight's size a step, over its size, that histograms prove; None without two of them."""
    most: Optional[float] = None
    for several in view.histograms("weight").values():
        sizes = [(one.stats.step, root_mean_square(one)) for one in several if one.stats.non_finite == 0]
        for (early, before), (late, after) in zip(sizes, sizes[1:]):
            if before > 0.0 and late > early:
                most = max(most or 0.0, abs(after - before) / before / (late - early))
    return most


def root_mean_square(one: Histogram) -> float:
    """Root mean square of the finite elements, each taken at the middle of its bucket."""
    total = float(one.counts.sum())
    centres = one.lefts + one.widths / 2.0
    return math.sqrt(float((one.counts * centres**2).sum()) / total) if total > 0.0 else 0.0


def evaluations(curve: Curve) -> Tuple[IntArray, FloatArray]:
    """Steps and finite values, one an evaluation: what a second source tells again a few steps apart is left out."""
    steps, values = curve.good_steps, curve.good
    if len(steps) < 3:
        return steps, values
    near = np.diff(steps) < REPEATED * float(np.diff(steps).max())
    again = np.concatenate(([False], near & (np.abs(np.diff(values)) <= SAME_VALUE * np.abs(values[1:]))))
    return steps[~again], values[~again]


def first_spreads(view: View) -> List[Tuple[str, float, int]]:
    """(parameter, root mean square, elements) of weights at their first record: of histograms, or norms and shapes."""
    found: Dict[str, Tuple[float, int]] = {}
    for parameter, histograms in view.histograms("weight").items():
        if histograms and histograms[0].stats.count > histograms[0].stats.non_finite:
            found[parameter] = root_mean_square(histograms[0]), histograms[0].stats.count
    for each in view.of_statistic(*WEIGHT_NORMS):
        shape = view.declared.shape(each.parameter)
        if len(each.good):
            # A norm is taken before the step, a histogram behind it: the norm is nearer to the start.
            number = int(np.prod(shape)) if shape and len(shape) >= 2 else found.get(each.parameter, (0.0, 0))[1]
            if number:
                found[each.parameter] = float(each.good[0]) / math.sqrt(number), number
    return [(name, *figures) for name, figures in found.items()]


def eval_pairs(view: View) -> List[Tuple[FloatArray, FloatArray]]:
    """(training, held-out) values of one metric at common steps."""
    pairs = []
    for own in view.of_role(Role.EVAL_METRIC, held_out=False):
        for other in view.of_role(Role.EVAL_METRIC, held_out=True):
            if kind_of(own.tag) == kind_of(other.tag):
                common, first, second = np.intersect1d(own.good_steps, other.good_steps, return_indices=True)
                if len(common):
                    pairs.append((own.good[first], other.good[second]))
    return pairs


def kind_of(tag: str) -> str:
    """What a metric's tag measures: its words without those that say on which data."""
    words = tag.lower().replace("/", "_").replace("-", "_").replace(".", "_").split("_")
    data = {"train", "training", "val", "valid", "validation", "eval", "evaluation", "test", "dev", "metric", "metrics"}
    kept = sorted(word for word in words if word and word not in data)
    return "_".join("accuracy" if word == "acc" else word for word in kept)


def is_share(tag: str) -> bool:
    """Is it a share of right answers: an accuracy?"""
    return "acc" in kind_of(tag) or "top1" in kind_of(tag)


def first_record(view: View, curve: Curve) -> bool:
    """Does the curve begin with the run, so that its first value shows initial ones?"""
    return view.span is not None and len(curve) > 0 and int(curve.steps[0]) <= view.span[0] + FIRST_STEPS


def share(values: FloatArray) -> FloatArray:
    """Accuracies between 0 and 1, whether they were recorded so or in percent."""
    finite = values[np.isfinite(values)]
    return values / 100.0 if len(finite) and float(finite.max()) > 1.0 else values


def step_times(view: View, rank_id: Optional[int] = None) -> FloatArray:
    """Seconds a step: recorded, else from wall times of the loss. Empty without two records."""
    own = view.one(Role.STEP_TIME, rank_id=rank_id)
    if own is not None and len(own.good) >= FIRST_POINTS:
        return own.good / (1000.0 if "ms" in own.tag.lower() or median(own.good) > 30.0 else 1.0)
    loss = view.one(Role.LOSS, rank_id=rank_id)
    if loss is None or len(loss) < 2:
        return np.empty(0)
    steps, walls = np.diff(loss.steps), np.diff(loss.walls)
    keep = (steps > 0) & (walls > 0.0) & np.isfinite(walls)
    return np.asarray(walls[keep] / steps[keep])
