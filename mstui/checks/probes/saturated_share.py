"""saturated-share: do activations sit at their limits?"""

from __future__ import annotations

from mstui.checks.evidence.activation import HIGH_SATURATED, SATURATED, SPREADS, lasting
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

LEAST = 2


def look(view: View) -> ProbeResult:
    """Half of a layer's outputs at the limits, record after record."""
    limits = [each for each in view.of_statistic(*SATURATED) if len(each.good) >= LEAST]
    if not limits:
        if view.of_statistic(*SPREADS):
            return ok(mark("no recorded activation has limits"))
        return unknown(mark("no figures of activations are recorded"))
    stuck = [(float(each.good.max()), each.parameter) for each in limits if lasting(each, HIGH_SATURATED)]
    if stuck:
        share, layer = max(stuck)
        sentence = mark("{share:.1f} % of the outputs of {layer} are at their limits; {n} such layers")
        return bad(sentence, share=100.0 * share, layer=layer, n=len(stuck))
    highest = max(float(each.good.max()) for each in limits)
    return ok(mark("at most {share:.1f} % at the limits in {n} layers"), share=100.0 * highest, n=len(limits))


PROBE = Probe("saturated-share", look)
