"""batch-recurrence: does the trouble return at the same place of each epoch?"""

from __future__ import annotations

from mstui.checks.evidence.rhythm import recurs
from mstui.checks.probe_base import Probe, bad, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """Only a return can be seen: that it does not return proves nothing where the data are shuffled."""
    found = recurs(view)
    if found.value:
        return bad(mark("the loss jumps at the same place of two epochs or more"))
    if found.value is False:
        return unknown(mark("no jump came twice at the same place of an epoch; shuffled data would hide it"))
    return unknown(mark("the steps of an epoch are not known, or too few are recorded"))


PROBE = Probe("batch-recurrence", look)
