"""clip: are gradients clipped? Whether before or behind unscaling is for the script to tell."""

from __future__ import annotations

from mstui.checks.evidence.gradient import clip_declared, share_at_cap
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

CAPPED = 0.9


def look(view: View) -> ProbeResult:
    """What was declared, else norms that end at one cap."""
    said = clip_declared(view)
    if said is not None:
        if said:
            return ok(mark("declared as clipped"))
        return bad(mark("declared as not clipped"))
    share = share_at_cap(view)
    if share is None:
        return unknown(mark("nothing is declared, and too few gradient norms are recorded"))
    if share >= CAPPED:
        return ok(mark("{share:.0f} % of the norms end at one cap"), share=100.0 * share)
    return unknown(mark("nothing is declared, and the recorded norms show no cap"))


PROBE = Probe("clip", look)
