"""pipeline-normalise: are the inputs normalised, by the data set graph or by recorded figures of the input?"""

from __future__ import annotations

from mstui.checks.evidence.data import CENTRED, MEANS, SPREADS, WIDE, normalises
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """Figures of the input first: they say what arrives, the graph only what was asked for."""
    means = [each for each in view.of_statistic(*MEANS) if len(each.good)]
    spreads = [each for each in view.of_statistic(*SPREADS) if len(each.good)]
    if means:
        mean, spread = means[0].middle, spreads[0].middle if spreads else 1.0
        off = abs(mean) > CENTRED * max(1.0, spread) or spread > WIDE
        sentence = mark("mean of the input {mean:.3g}, spread {spread:.3g}")
        return (bad if off else ok)(sentence, mean=mean, spread=spread)
    found = normalises(view)
    operations = " > ".join(each.op_type for each in reversed(view.pipeline) if each.op_type)
    if found is None:
        if operations:
            return unknown(mark("the pipeline does not tell: {operations}"), operations=operations)
        return unknown(mark("no data set graph is recorded"))
    return (ok if found else bad)(mark("pipeline: {operations}"), operations=operations)


PROBE = Probe("pipeline-normalise", look)
