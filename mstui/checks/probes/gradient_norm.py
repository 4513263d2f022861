"""gradient-norm: was the gradient norm calm before?"""

from __future__ import annotations

import numpy as np

from mstui.checks.measures import gradient_norms, rising
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.detect.robust import median, scatter
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

RECORDS = 20
LEAST = 8
DEVIATIONS = 4.0
LEAST_TIMES = 2.0
"""Times the median: below it four small deviations are no unrest."""


def look(view: View) -> ProbeResult:
    """The records in front of the onset; the last ones of all where there is no incident."""
    norms = gradient_norms(view)
    if norms is None:
        return unknown(mark("the gradient norm is not recorded"))
    upto = view.onset if view.onset is not None else 2**62
    values = norms.before(upto, RECORDS)
    if len(values) < LEAST:
        return unknown(
            mark("{n} records of the gradient norm before it, {least} are needed"), n=len(values), least=LEAST
        )
    if not bool(np.isfinite(norms.values[norms.steps < upto]).all()):
        step = int(norms.steps[int((~np.isfinite(norms.values)).argmax())])
        return bad(mark("not finite at step {step}"), (step,), step=step)
    middle = median(values)
    largest = float(values.max())
    calm = largest <= max(middle + DEVIATIONS * scatter(values, middle), LEAST_TIMES * middle)
    if rising(values):
        return bad(mark("it rose to {last:.3g} before"), last=float(values[-1]), median=middle)
    sentence = mark("median {median:.3g}, largest {largest:.3g} in {n} records before")
    return (ok if calm else bad)(sentence, median=middle, largest=largest, n=len(values))


PROBE = Probe("gradient-norm", look)
