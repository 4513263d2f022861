"""restart-before: was there no restart just before?"""

from __future__ import annotations

from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

STEPS = 50


def look(view: View) -> ProbeResult:
    """Steps that were recorded again, within 50 steps in front of the onset."""
    if not view.curves:
        return unknown(mark("nothing is recorded"))
    restarts = view.restarts
    if view.onset is None:
        if restarts:
            return bad(mark("it began again at step {step}"), restarts, step=restarts[-1])
        return ok(mark("it never began again"))
    near = tuple(step for step in restarts if view.onset - STEPS <= step <= view.onset + 1)
    if near:
        return bad(
            mark("it began again at step {step}, the trouble at step {onset}"), near, step=near[-1], onset=view.onset
        )
    return ok(mark("no restart in the {steps} steps before step {onset}"), steps=STEPS, onset=view.onset)


PROBE = Probe("restart-before", look)
