"""loss-nan from the log: the first witness.

LossMonitor and others stop at a NaN before any summary has it.
"""

from __future__ import annotations

from mstui.detect.base import Breadth, Case, Context, Detector, Process, Rule
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.logs import EventKind, LogEvent

LONGEST_QUOTE = 160


class NanStop(Detector):
    """The logs of the whole run."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.LOSS_NAN)
        self._step = 0
        self._over = False
        """the training that stopped is known to have ended"""

    def event(self, rank_id: int, event: LogEvent, step: int) -> None:  # noqa: ARG002
        """A stop because of NaN."""
        self.judged = True
        self._step = max(self._step, step)
        if event.kind is EventKind.NAN_STOP:
            shown = Evidence(mark("the log says: {text}"), {"text": event.text[:LONGEST_QUOTE]})
            self._case.hit(Severity.CRITICAL, step, step, event.wall_time or 0.0, shown)
            self._over = False

    def clock(self, now: float, process: Process) -> None:
        """A process that has ended does not come back: if the run's is not over any more, another one trains now."""
        if process.running is False:
            self._over = True
        elif self._over and self._case.open:
            self._case.clear(self._step, now, Evidence(mark("the training was started again")))


RULE = Rule(
    name="nan-stop",
    title=mark("Stopped because of NaN"),
    symptoms=(Symptom.LOSS_NAN,),
    make=NanStop,
    needs=mark("a log in which something happened"),
    breadth=Breadth.RUN,
)
