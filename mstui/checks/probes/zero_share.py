"""zero-share: are activations and gradients alive, and activations off their limits?"""

from __future__ import annotations

from typing import List, Tuple

from mstui.checks.evidence.activation import HIGH_SATURATED, HIGH_ZEROS, SATURATED, ZEROS, lasting
from mstui.checks.evidence.gradient import fades, zero_shares
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

ALL_ZERO = 0.999
LEAST = 2


def look(view: View) -> ProbeResult:
    """The worst layer: zeros of activations, their limits, gradients that are exactly 0."""
    zeros = [each for each in view.of_statistic(*ZEROS) if len(each.good) >= LEAST]
    limits = [each for each in view.of_statistic(*SATURATED) if len(each.good) >= LEAST]
    dead: List[Tuple[float, str]] = [
        (float(each.good.max()), each.parameter)
        for each in zeros
        if lasting(each, HIGH_ZEROS) and not _later(view, int(each.good_steps[int((each.good >= HIGH_ZEROS).argmax())]))
    ]
    if dead:
        share, layer = max(dead)
        sentence = mark("{share:.1f} % of the outputs of {layer} are 0; {n} such layers")
        return bad(sentence, share=100.0 * share, layer=layer, n=len(dead))
    stuck = [(float(each.good.max()), each.parameter) for each in limits if lasting(each, HIGH_SATURATED)]
    if stuck:
        share, layer = max(stuck)
        return bad(
            mark("{share:.1f} % of the outputs of {layer} are at their limits"), share=100.0 * share, layer=layer
        )
    still = [
        name for name, share in zero_shares(view).items() if share >= ALL_ZERO and not view.declared.is_frozen(name)
    ]
    if still:
        return bad(mark("the gradient of {layer} is 0; {n} such"), layer=still[0], n=len(still))
    if not zeros and not limits:
        return unknown(mark("no figures of activations are recorded"))
    if fades(view).value:
        return unknown(mark("activations are alive, yet next to no gradient reaches the first layer"))
    highest = max((float(each.good.max()) for each in zeros), default=0.0)
    return ok(mark("at most {share:.1f} % zeros in {n} layers"), share=100.0 * highest, n=len(zeros) or len(limits))


def _later(view: View, step: int) -> bool:
    """Did it come behind the onset? Then it is what the trouble did, no reason of it."""
    return view.onset is not None and step > view.onset


PROBE = Probe("zero-share", look)
