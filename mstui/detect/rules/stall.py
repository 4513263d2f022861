"""stall: a process that runs and records nothing, for far longer than its own rhythm allows.

The rhythm is that of the run's own records by wall time. Before the second record a graph may still be compiling.
"""

from __future__ import annotations

from typing import Optional

import numpy as np

from mstui.detect.base import Breadth, Case, Chunk, Context, Detector, Parameter, Process, Rule, Subject
from mstui.detect.scene import Series
from mstui.detect.sources import CHECKED, HCCL
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray
from mstui.model.roles import Role

WINDOW = 256
"""Records whose distances are the rhythm."""


class Stall(Detector):
    """The whole run."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.STALL)
        self._last_wall: Optional[float] = None
        self._last_step = 0
        self._walls: FloatArray = np.empty(0)
        self._tag = ""
        self.waits = Evidence(mark("the process is not known to run"))

    def points_of(self, series: Series, chunk: Chunk) -> None:
        """The newest record, and the rhythm of the series that came first."""
        wall = float(chunk.walls[-1])
        if wall > 0 and (self._last_wall is None or wall > self._last_wall):
            self._last_wall, self._last_step = wall, int(chunk.steps[-1])
            if self._case.open:
                self._case.clear(self._last_step, wall, Evidence(mark("records come again")))
        if not self._tag and wall > 0:
            self._tag = f"{series.rank_id} {series.tag}"
        if wall > 0 and self._tag == f"{series.rank_id} {series.tag}":
            self._walls = np.concatenate((self._walls, chunk.walls[-WINDOW:]))[-WINDOW:]

    def clock(self, now: float, process: Process) -> None:
        """Hold the silence against the rhythm."""
        if process.running is not True or self._last_wall is None:
            return
        self.judged = True
        now = process.seen_at if process.seen_at is not None else now
        silence = now - self._last_wall
        gaps = np.diff(self._walls)
        gaps = gaps[gaps > 0]
        usual = float(np.median(gaps)) if len(gaps) else 0.0
        longest = float(np.quantile(gaps, 0.99)) if len(gaps) else 0.0
        limit = max(self.context["least"], self.context["gaps"] * usual, 3.0 * longest)
        if len(gaps) < 2:
            limit = max(limit, self.context["compile"])
        if silence <= limit:
            return
        shown = Evidence(
            mark("no record for {silence:.0f} s; the usual distance is {usual:.2g} s"),
            {"silence": silence, "usual": usual},
        )
        severity = Severity.ERROR if silence > 3.0 * limit else Severity.WARN
        self._case.hit(severity, self._last_step, self._last_step, now, shown)


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role in (Role.LOSS, Role.PARTIAL_LOSS, Role.GRAD_NORM, Role.LEARNING_RATE)


RULE = Rule(
    name="stall",
    title=mark("No progress"),
    symptoms=(Symptom.STALL,),
    make=Stall,
    needs=mark("a process that is known to run, and records with wall times"),
    watches=_watches,
    breadth=Breadth.RUN,
    parameters=(
        Parameter(
            "least",
            60.0,
            mark("s"),
            mark("shorter pauses are evaluations and checkpoints of small runs"),
            CHECKED,
        ),
        Parameter(
            "gaps",
            10.0,
            mark("usual distances"),
            mark("evaluation may take the time of some records"),
            CHECKED,
        ),
        Parameter("compile", 1800.0, mark("s"), mark("a large graph compiles for up to half an hour"), HCCL),
    ),
    false_alarms=(mark("a long evaluation or a large checkpoint, with nothing recorded meanwhile"),),
)
