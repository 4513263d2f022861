"""initial-statistics: are the initial weights sane?"""

from __future__ import annotations

from mstui.checks.evidence.weight import NOT_BY_FAN_IN, TOO_LARGE, TOO_SMALL, implied, initial_large, shows_start
from mstui.checks.measures import first_spreads
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """Each matrix at its first record against the rule of fan-in, and against 0."""
    spreads = first_spreads(view)
    if not spreads:
        return unknown(mark("no spread of a weight is recorded"))
    if not shows_start(view):
        return unknown(mark("the first record of the weights is not of the start"))
    seen = within = 0
    for name, spread, elements in spreads:
        if spread == 0.0 and not NOT_BY_FAN_IN.search(name.lower()):
            return bad(mark("{layer} is all 0 at its first record"), layer=name)
        times = implied(name, spread, elements, view)
        if times is None:
            continue
        seen += 1
        if times[0] > TOO_LARGE:
            return bad(
                mark("{layer} starts {times:.3g} times too wide, spread {spread:.2g}"),
                layer=name,
                times=times[0],
                spread=spread,
            )
        if times[1] < TOO_SMALL:
            return bad(mark("{layer} starts too narrow, spread {spread:.2g}"), layer=name, spread=spread)
        within += times[0] >= TOO_SMALL and times[1] <= TOO_LARGE
    if initial_large(view).value:
        return bad(mark("signals grow from layer to layer: the weights start too large"))
    if not seen:
        return unknown(mark("no recorded weight follows the rule of fan-in"))
    if within < seen:
        return unknown(mark("the shapes of the weights are not known well enough to tell"))
    return ok(mark("{n} matrices start within the rule of fan-in"), n=seen)


PROBE = Probe("initial-statistics", look)
