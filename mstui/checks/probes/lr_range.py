"""lr-range: is the learning rate sane at the onset (or now)?"""

from __future__ import annotations

import numpy as np

from mstui.checks.evidence.weight import update_large, update_small
from mstui.checks.measures import update_sizes
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.detect.robust import median
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

LEAST = 1e-7
MOST_ADAPTIVE, MOST_PLAIN = 1e-2, 1.0
"""Adam and its family; SGD and momentum, where 0.5 is used with large batches and warm-up."""
ZEROS = 2
UPDATES = (1e-4, 0.03)
"""Usual change of a weight a step over its size, of nets that learn."""


def look(view: View) -> ProbeResult:
    """Above 0, and below what the optimizer's family stands. A size between the families' bars needs the optimizer."""
    rate = view.learning_rate
    if rate is None or not len(rate.good):
        return unknown(mark("the learning rate is not recorded"))
    step = view.onset if view.onset is not None else int(rate.good_steps[-1])
    number = rate.number_of(step + 1)
    at = min(max(number - 1, 0), len(rate.good) - 1)
    value, here = float(rate.good[at]), int(rate.good_steps[at])
    lately = rate.good[max(0, at - ZEROS + 1) : at + 1]
    if len(lately) >= ZEROS and not lately.any():
        return bad(mark("it is 0 at step {step}"), (here,), step=here)
    if 0.0 < value < LEAST and rate.good.max() < LEAST:
        return bad(mark("{rate:.3g} at step {step}, never more"), (here,), rate=value, step=here)
    largest = float(rate.good.max())
    adaptive = view.declared.adaptive
    limit = MOST_PLAIN if adaptive is False else MOST_ADAPTIVE
    if value > MOST_PLAIN or (adaptive and value > MOST_ADAPTIVE):
        return bad(
            mark("{rate:.3g} at step {step}; usual is at most {limit:g}"), (here,), rate=value, step=here, limit=limit
        )
    sizes = [median(each[each > 0.0]) for each in update_sizes(view).values() if bool((each > 0.0).any())]
    if sizes:
        size = median(np.array(sizes))
        sane = UPDATES[0] <= size <= UPDATES[1] and not update_small(view).value and not update_large(view).value
        sentence = mark("{rate:.3g} at step {step}; steps change weights by {size:.2g} of their size")
        return (ok if sane else unknown)(sentence, rate=value, step=here, size=size)
    sentence = mark("{rate:.3g} at step {step}, largest {largest:.3g}: whether it suits this net is not recorded")
    return unknown(sentence, rate=value, step=here, largest=largest)


PROBE = Probe("lr-range", look)
