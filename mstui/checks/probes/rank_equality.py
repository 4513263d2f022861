"""rank-equality: are the ranks equal at the first common record, and do they stay so?"""

from __future__ import annotations

from mstui.checks.evidence.parallel import DRIFTED, EQUAL, spreads
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """Weights alone must agree: losses and gradients are of each rank's own batch."""
    if len(view.ranks) < 2:
        return unknown(mark("one rank is recorded"))
    found = spreads(view)
    if not found:
        return unknown(mark("no figures of weights at a step that all ranks have"))
    first, last = found[0], found[-1]
    if first[1] > EQUAL:
        sentence = mark("weights differ by {spread:.2g} at step {step}, the first that all ranks have")
        return bad(sentence, (first[0],), spread=first[1], step=first[0])
    if last[1] > DRIFTED:
        step = next(step for step, spread in found if spread > EQUAL)
        sentence = mark("equal at step {first}, different from step {step} on, by {spread:.2g} at step {last}")
        return bad(sentence, (step,), first=first[0], step=step, spread=last[1], last=last[0])
    return ok(mark("equal at {n} steps, from {first} to {last}"), n=len(found), first=first[0], last=last[0])


PROBE = Probe("rank-equality", look)
