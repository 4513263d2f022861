"""rank-differs: replicas of one net that are not equal: other figures of the same weight at the same step.

Only weights are compared. Gradients and losses are each rank's own; moving statistics and shards differ by design. Equal
weights have equal figures to the last bit, so that no scale of differences is needed: a tolerance for float32 sums.
"""

from __future__ import annotations

from typing import Dict, Optional, Tuple

from mstui.detect.base import Breadth, Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.scene import Series
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Scope, Severity, Symptom
from mstui.model.histogram import Histogram
from mstui.model.roles import Role

KEPT = 16
"""Steps of a tag that wait for other ranks."""
OWN = ("moving_mean", "moving_variance", "running_mean", "running_var")
"""Statistics that each rank keeps of its own data."""
INIT_STEPS = 2
"""Differences up to here were there from the start."""

Figures = Tuple[float, ...]


class RankDiffers(Detector):
    """All ranks of a run."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._waiting: Dict[str, Dict[int, Tuple[int, Figures]]] = {}
        self._cases: Dict[str, Case] = {}
        self._streaks: Dict[str, int] = {}
        self.waits = Evidence(mark("one rank only"))

    def points_of(self, series: Series, chunk: Chunk) -> None:
        """Norms of one weight of one rank."""
        for index, value in enumerate(chunk.values.tolist()):
            self._one(series, int(chunk.steps[index]), float(chunk.walls[index]), (value,))

    def histogram(self, series: Series, histogram: Histogram) -> None:
        """Histograms of one weight of one rank."""
        stats = histogram.stats
        self._one(series, stats.step, stats.wall_time, (stats.mean, stats.minimum, stats.maximum, float(stats.count)))

    def _one(self, series: Series, step: int, wall: float, figures: Figures) -> None:
        parameter = series.subject.parameter
        if parameter.endswith(OWN):
            return
        steps = self._waiting.setdefault(series.tag, {})
        other = steps.get(step)
        if other is None:
            if len(steps) >= KEPT:
                del steps[min(steps)]
            steps[step] = (series.rank_id, figures)
            return
        if other[0] == series.rank_id:
            return
        self.judged = True
        odd = self._difference(other[1], figures)
        if odd is None:
            self._streaks[series.tag] = 0
            case = self._cases.get(series.tag)
            if case is not None:
                case.clear(step, wall, Evidence(mark("equal again")))
            return
        count = self._streaks[series.tag] = self._streaks.get(series.tag, 0) + 1
        if count < self.context["records"] and step > INIT_STEPS:
            return
        case = self._cases.get(series.tag)
        if case is None:
            scope = Scope(series.rank_id, series.tag, parameter)
            case = self._cases[series.tag] = Case(self.context, Symptom.RANK_DIFFERS, scope)
        shown = Evidence(
            mark("{layer} at step {step}: {one:.9g} on rank {first}, {two:.9g} on rank {second}"),
            {"layer": parameter, "step": step, "one": odd[0], "first": other[0], "two": odd[1], "second": series.rank_id},
        )
        case.hit(Severity.ERROR, step, step, wall, shown)

    def _difference(self, one: Figures, two: Figures) -> Optional[Tuple[float, float]]:
        tolerance = self.context["tolerance"]
        for a, b in zip(one, two):
            if a != b and abs(a - b) > tolerance * max(abs(a), abs(b)):
                return a, b
        return None


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic == "weight_norm"


def _histograms(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic == "weight"


RULE = Rule(
    name="rank-differs",
    title=mark("Ranks disagree"),
    symptoms=(Symptom.RANK_DIFFERS,),
    make=RankDiffers,
    needs=mark("the same figures of weights from two ranks or more"),
    watches=_watches,
    histograms=_histograms,
    breadth=Breadth.RUN,
    parameters=(
        Parameter("tolerance", 1e-6, mark("of the figure"), mark("the order of summing may change the last bits"), "detectors.md D22"),
        Parameter("records", 1.0, mark("records in a row"), mark("replicas are equal or they are not"), "own corpus"),
    ),
    false_alarms=(mark("weights that are cut into shards under one name"),),
)  # fmt: skip
