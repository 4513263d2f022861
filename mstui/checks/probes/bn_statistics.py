"""bn-statistics: do batch norm's running statistics move, as they do in training mode?"""

from __future__ import annotations

from mstui.checks.evidence.weight import bn_movement
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """Three records of a running mean or variance that agree to the last digit are still."""
    moved = bn_movement(view)
    if not moved:
        return unknown(mark("no running statistic of a normalisation has three records"))
    still = [name for name, moves in moved.items() if not moves]
    if still:
        return bad(mark("{layer} never moves; {n} of {total} such"), layer=still[0], n=len(still), total=len(moved))
    return ok(mark("all {total} running statistics move"), total=len(moved))


PROBE = Probe("bn-statistics", look)
