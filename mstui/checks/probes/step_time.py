"""step-time: are step times steady, and does nothing complain of slow reading?"""

from __future__ import annotations

import numpy as np

from mstui.checks.evidence.system import silence, slow_reading
from mstui.checks.measures import FIRST_POINTS, step_times
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.detect.robust import median
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

JITTER = 1.5
SILENT_GAPS, SILENT_S = 30.0, 60.0
"""Usual gaps between records, and seconds, of a silence that is no usual step."""
WARM_UP = 2
"""First steps, which compile."""


def look(view: View) -> ProbeResult:
    """The 95th percentile against the median."""
    said = slow_reading(view)
    if said.value:
        return bad(mark("the log complains of slow reading"))
    waiting = silence(view)
    if (
        view.process.running is not False
        and waiting is not None
        and waiting[0] > max(SILENT_GAPS * waiting[1], SILENT_S)
    ):
        return unknown(
            mark("nothing was written for {seconds:.0f} s; the steps before do not tell why"), seconds=waiting[0]
        )
    times = step_times(view)[WARM_UP:]
    if len(times) < FIRST_POINTS:
        return unknown(mark("{n} step times, {least} are needed"), n=len(times), least=FIRST_POINTS)
    middle, high = median(times), float(np.percentile(times, 95))
    if not middle > 0.0:
        return unknown(mark("records have no times that differ"))
    sentence = mark("median {median:.3g} s, 95th percentile {high:.3g} s")
    return (bad if high > JITTER * middle else ok)(sentence, median=middle, high=high)


PROBE = Probe("step-time", look)
