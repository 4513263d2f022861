"""crash: the process ended with an error, or a traceback ends its log."""

from __future__ import annotations

from typing import Optional

from mstui.detect.base import Breadth, Case, Context, Detector, Process, Rule
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.logs import EventKind, LogEvent

FATAL = frozenset(
    (EventKind.TRACEBACK, EventKind.OUT_OF_MEMORY, EventKind.WORKER_EXIT, EventKind.TASK_FAILED, EventKind.JOB_FAILED)
)
LONGEST_QUOTE = 160


class Crash(Detector):
    """The whole run."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.CRASH)
        self._last: Optional[LogEvent] = None
        self._told: Optional[LogEvent] = None
        """the words that the open case rests on"""
        self._step = 0

    def event(self, rank_id: int, event: LogEvent, step: int) -> None:  # noqa: ARG002
        """Keep the last fatal words."""
        self._step = max(self._step, step)
        if event.kind in FATAL:
            self._last = event

    def end(self, step: int, wall: float) -> None:  # noqa: ARG002
        """Keep the last step."""
        self._step = max(self._step, step)

    def clock(self, now: float, process: Process) -> None:
        """A traceback that a program survives is none; an exit code decides where there is one.

        A process that has ended does not come back: if the run's is not over any more, another one trains now.
        """
        if process.running is not False:
            if self._case.open:
                self._case.clear(self._step, now, Evidence(mark("the training was started again")))
                if self._last is self._told:  # words of the one before: they are no reason for how this one will end
                    self._last = None
            return
        self.judged = True
        code = process.exit_code
        if code == 0 or (code is None and self._last is None):
            return
        said = []
        if code is not None:
            said.append(Evidence(mark("the process ended with code {code}"), {"code": code}))
        if self._last is not None:
            said.append(Evidence(mark("the log says: {text}"), {"text": self._last.text[:LONGEST_QUOTE]}))
        self._told = self._last
        self._case.hit(Severity.CRITICAL, self._step, self._step, now, *said)


RULE = Rule(
    name="crash",
    title=mark("Training crashed"),
    symptoms=(Symptom.CRASH,),
    make=Crash,
    needs=mark("an ended process whose exit code or log can be seen"),
    breadth=Breadth.RUN,
    false_alarms=(mark("a script that ends itself with a code other than 0"),),
)
