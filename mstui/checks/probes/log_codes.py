"""log-codes: is the log free of known error codes?"""

from __future__ import annotations

from mstui.checks.evidence.system import silence
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult
from mstui.model.logs import EventKind

HARMLESS = frozenset(
    (
        *(EventKind.CHECKPOINT, EventKind.GRAPH_COMPILATION, EventKind.RANK_MAP, EventKind.STARTUP, EventKind.LOG_LOST),
        *(EventKind.OVERFLOW, EventKind.FAULT_TOLERANCE),
    )
)
"""What any healthy log tells as well; overflow has a check of its own."""
SILENT_GAPS, SILENT_S = 30.0, 60.0
"""Usual gaps between records, and seconds, of a silence that is no usual step."""
SHOWN = 100
"""Characters of a log's text in a sentence."""


def look(view: View) -> ProbeResult:
    """The first event that means trouble."""
    if not view.has_log:
        return unknown(mark("no log of the run is read"))
    grave = [each for each in view.events if each.event.kind not in HARMLESS]
    waiting = silence(view)
    if (
        not grave
        and view.process.running
        and waiting is not None
        and waiting[0] > max(SILENT_GAPS * waiting[1], SILENT_S)
    ):
        # A collective reports its time-out after half an hour: a log of a silent training is not clean yet.
        return unknown(mark("no known error code yet, {seconds:.0f} s after the last record"), seconds=waiting[0])
    if not grave:
        return ok(mark("no known error code in the log"))
    first = next((each for each in grave if each.event.code), grave[0]).event
    lines = first.text.strip().splitlines() or [first.kind.value]
    steps = () if first.step is None else (first.step,)
    text = f"{first.code} {lines[-1] if first.kind is EventKind.TRACEBACK else lines[0]}".strip()
    sentence = mark("{n} records, such as: {text}") if len(grave) > 1 else mark("one record: {text}")
    return bad(sentence, steps, n=len(grave), text=text[:SHOWN])


PROBE = Probe("log-codes", look)
