"""graph-connection: does every trained parameter feed the forward pass?"""

from __future__ import annotations

from mstui.checks.evidence.graph import disconnected
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """By the recorded graph alone: gradients of 0 are another check's."""
    loose = disconnected(view)
    if loose is None:
        return unknown(mark("no network graph with an optimizer is recorded"))
    if loose:
        sentence = mark("{layer} is trained and feeds nothing in the forward pass; {n} such")
        return bad(sentence, layer=loose[0], n=len(loose))
    return ok(mark("the forward pass reads every trained parameter"))


PROBE = Probe("graph-connection", look)
