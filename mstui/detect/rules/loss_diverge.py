"""loss-diverge: the loss has climbed away from its best and does not come back.

The level of the last points is held against the best level of the course. What counts is the share of all progress
that is lost again, and how far beyond the noise of neighbouring blocks it lies; epochs and schedules take back a
tenth.
"""

from __future__ import annotations

import math
from typing import Optional, Tuple

import numpy as np

from mstui.detect.base import Case, Context, Detector, Parameter, Rule, Subject
from mstui.detect.naming import Objective
from mstui.detect.robust import MEDIAN_COST, median, medians_of_rows, scatter_of_neighbours
from mstui.detect.sources import CHECKED, MEASURED
from mstui.detect.track import Track
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

LEAST = 12
"""Points from which on there is a course."""
PERSIST = 4
"""Ticks in a row."""
FRESH = 8
"""Points that must have come since the first of them: windows that share nearly all their points say the same."""
SIGMAS = 5.0
LEVEL_POINTS = 8
"""Points whose median is the present level, at least."""


class LossDiverge(Detector):
    """One training loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.LOSS_DIVERGE)
        self._ticks = 0
        self._onset = 0
        self._since = 0
        """points there were at the first of these ticks"""
        objective = context.scene.objective(context.scope.tag)
        self._off = objective in (Objective.ADVERSARIAL, Objective.UNORDERED, Objective.REWARD)
        if self._off:
            self.waits = Evidence(mark("the curve is not one that must fall"))

    def tick(self, track: Track) -> None:
        """Judge the present level."""
        if self._off or track.count < LEAST:
            return
        self.judged = True
        levels = self._levels(track)
        if levels is None:
            return
        now, best, start, noise = levels
        progress = max(start - best, 0.0)
        rise = now - best
        floor = max(SIGMAS * noise, self.context["rise"] * abs(best), self.context["rise"] * abs(start) / 2)
        beyond_start = now > start + max(SIGMAS * noise, self.context["above"] * abs(start))
        lost = rise > floor and rise > self.context["lost"] * progress
        # Where nothing was won nothing is lost: the best of many windows is only their luck.
        nothing_won = progress < max(self.context["rise"] * abs(start), SIGMAS * noise)
        if not lost or (nothing_won and not beyond_start):
            self._ticks = 0
            if self._case.open and rise < 0.5 * max(floor, self.context["lost"] * progress):
                self._case.clear(track.step, track.wall, self._shown(now, best, start))
            return
        if not self._ticks:
            self._onset = int(track.recent_steps(LEVEL_POINTS)[0])
            self._since = track.count
        self._ticks += 1
        if self._ticks < PERSIST or track.count - self._since < FRESH:
            return
        severity = Severity.WARN
        if rise > 0.5 * progress or beyond_start:
            severity = Severity.CRITICAL if now >= start - noise else Severity.ERROR
        self._case.hit(severity, self._onset, track.step, track.wall, self._shown(now, best, start))

    def _levels(self, track: Track) -> Optional[Tuple[float, float, float, float]]:
        """(present level, best level so far, first level, noise of such a level)"""
        blocks = track.blocks
        count = len(blocks)
        if count < LEAST // 2:
            return None
        wide = min(max(LEVEL_POINTS, track.count // 8), 256)
        now = median(track.recent(wide))
        part = max(3, math.ceil(wide / track.width))
        if count < 2 * part:
            return None
        windows = np.lib.stride_tricks.sliding_window_view(blocks[: max(part, count - part)], part)
        medians = medians_of_rows(windows)
        best = float(medians.min())
        start = max(float(medians[0]), best)
        if track.certainly_above_first(start):  # the first steps have thrown it up already
            start = track.first_level()
            best = min(best, start)
        # Noise may have grown since it began: what it is now counts for the level now.
        lately = scatter_of_neighbours(track.recent(2 * wide)) * math.sqrt(2.0 * MEDIAN_COST / wide)
        noise = max(scatter_of_neighbours(blocks) * math.sqrt(2.0 / part), lately)
        return now, best, start, noise

    def _shown(self, now: float, best: float, start: float) -> Evidence:
        return Evidence(
            mark("level {now:.4g}; it was {best:.4g} at its best and began at {start:.4g}"),
            {"now": now, "best": best, "start": start},
        )

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._ticks = 0


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS


RULE = Rule(
    name="loss-diverge",
    title=mark("Loss climbs away"),
    symptoms=(Symptom.LOSS_DIVERGE,),
    make=LossDiverge,
    needs=mark("a training loss that is supposed to fall"),
    watches=_watches,
    ticks=True,
    parameters=(
        Parameter(
            "rise",
            0.13,
            mark("of the best level"),
            mark("a cyclic learning rate takes back a tenth"),
            MEASURED,
        ),
        Parameter(
            "lost",
            0.25,
            mark("of the progress"),
            mark("a tenth is lost and won again at epochs' ends"),
            MEASURED,
        ),
        Parameter("above", 0.05, mark("above the first level"), mark("worse than knowing nothing"), CHECKED),
    ),
    false_alarms=(mark("a curriculum that makes the data harder"), mark("a change of the mix of data")),
)
