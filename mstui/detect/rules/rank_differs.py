"""rank-differs: replicas of one net that are not equal: other figures of the same weight at the same step.

Only weights are compared. Gradients and losses are each rank's own; moving statistics and shards differ by design.
Equal weights have equal figures to the last bit, so that no scale of differences is needed: a tolerance for float32
sums.
"""

from __future__ import annotations

from typing import Dict, Optional, Tuple

import numpy as np

from mstui.detect.base import Breadth, Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.scene import Series
from mstui.detect.sources import CHECKED
from mstui.detect.streaks import Streak
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Scope, Severity, Symptom
from mstui.model.histogram import Histogram
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role

KEPT = 4096
"""Records of a tag that wait for other ranks."""
OWN = ("moving_mean", "moving_variance", "running_mean", "running_var")
"""Statistics that each rank keeps of its own data."""


class _Tag:
    """One weight over all ranks: what waits to be compared."""

    def __init__(self) -> None:
        self.rank_id: Optional[int] = None
        """the rank that others are held against: the one that came first"""
        self.steps: IntArray = np.empty(0, np.int64)
        self.figures: FloatArray = np.empty((0, 0))
        self.ahead: Dict[int, Tuple[IntArray, FloatArray, FloatArray]] = {}
        """records of other ranks that the first one has not reached"""


class RankDiffers(Detector):
    """All ranks of a run."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._tags: Dict[str, _Tag] = {}
        self._cases: Dict[str, Tuple[Case, Streak]] = {}
        self.waits = Evidence(mark("one rank only"))

    def points_of(self, series: Series, chunk: Chunk) -> None:
        """Norms of one weight of one rank."""
        self._take(series, chunk.steps, chunk.walls, chunk.values[:, np.newaxis])

    def histogram(self, series: Series, histogram: Histogram) -> None:
        """Histograms of one weight of one rank."""
        stats = histogram.stats
        figures = np.array([[stats.mean, stats.minimum, stats.maximum, float(stats.count)]])
        self._take(series, np.array([stats.step]), np.array([stats.wall_time]), figures)

    def _take(self, series: Series, steps: IntArray, walls: FloatArray, figures: FloatArray) -> None:
        parameter = series.subject.parameter
        if parameter.endswith(OWN):
            return
        tag = self._tags.setdefault(f"{series.tag} {figures.shape[1]}", _Tag())
        if tag.rank_id is None:
            tag.rank_id = series.rank_id
        if tag.rank_id == series.rank_id:
            tag.steps = np.concatenate((tag.steps, steps))[-KEPT:]
            tag.figures = np.concatenate((tag.figures, figures))[-KEPT:] if len(tag.figures) else figures[-KEPT:]
            for rank_id, (late, at, values) in sorted(tag.ahead.items()):
                self._compare(series.tag, parameter, tag, rank_id, late, at, values)
            return
        if series.rank_id in tag.ahead:
            late, at, values = tag.ahead[series.rank_id]
            steps, walls = np.concatenate((late, steps)), np.concatenate((at, walls))
            figures = np.concatenate((values, figures))
        self._compare(series.tag, parameter, tag, series.rank_id, steps, walls, figures)

    def _compare(
        self,
        name: str,
        parameter: str,
        tag: _Tag,
        rank_id: int,
        steps: IntArray,
        walls: FloatArray,
        figures: FloatArray,
    ) -> None:
        rest = steps > (int(tag.steps[-1]) if len(tag.steps) else -1)
        tag.ahead[rank_id] = (steps[rest][-KEPT:], walls[rest][-KEPT:], figures[rest][-KEPT:])
        places = np.searchsorted(tag.steps, steps[~rest])
        both = tag.steps[places] == steps[~rest] if len(places) else np.empty(0, bool)
        if not both.any():
            return
        self.judged = True
        ours, theirs = figures[~rest][both], tag.figures[places[both]]
        size = np.maximum(np.abs(ours), np.abs(theirs))
        with np.errstate(invalid="ignore"):
            odd = (np.abs(ours - theirs) > self.context["tolerance"] * size).any(axis=1)
        at, when = steps[~rest][both], walls[~rest][both]
        key = f"{name} {rank_id}"
        if key not in self._cases:
            scope = Scope(rank_id, name, parameter)
            self._cases[key] = (Case(self.context, Symptom.RANK_DIFFERS, scope), Streak(1, 1))
        case, streak = self._cases[key]
        for turn in streak.feed(odd, at):
            step, wall = int(at[turn.at]), float(when[turn.at])
            if not turn.bad:
                case.clear(step, wall, Evidence(mark("equal again")))
                continue
            shown = Evidence(
                mark("{layer} at step {step}: {one:.9g} on rank {first}, {two:.9g} on rank {second}"),
                {
                    "layer": parameter,
                    "step": step,
                    "one": float(theirs[turn.at, 0]),
                    "first": tag.rank_id or 0,
                    "two": float(ours[turn.at, 0]),
                    "second": rank_id,
                },
            )
            case.hit(Severity.ERROR, step, step, wall, shown)

    def segment(self, step: int) -> None:  # noqa: ARG002
        """What waits belongs to what was before."""
        self._tags = {}


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
        Parameter(
            "tolerance",
            1e-6,
            mark("of the figure"),
            mark("the order of summing may change the last bits"),
            CHECKED,
        ),
    ),
    false_alarms=(mark("weights that are cut into shards under one name"),),
)
