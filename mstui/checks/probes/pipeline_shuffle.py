"""pipeline-shuffle: are the data shuffled, by the data set graph and by the course of the loss?"""

from __future__ import annotations

from mstui.checks.evidence.data import shuffles
from mstui.checks.evidence.rhythm import periodic, sawtooth
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """A shuffle in the graph that the loss does not belie; sorted data show in the loss whatever the graph says."""
    alike, teeth = periodic(view), sawtooth(view)
    found = shuffles(view)
    if teeth.value:
        return bad(mark("the loss sinks and jumps back {n:.0f} times, as with sorted data"), n=teeth.numbers["n"])
    if alike.value and found is not True:
        return bad(
            mark("the loss of an epoch is {alike:.2f} correlated with the one before"), alike=alike.numbers["alike"]
        )
    if found is False:
        return bad(mark("no shuffle in the data set graph"))
    if found:
        return ok(mark("the data set graph shuffles"))
    if alike.value is False:
        return unknown(mark("no data set graph that tells; the loss shows no pattern with the epoch"))
    return unknown(mark("no data set graph that tells, and no epochs in the record"))


PROBE = Probe("pipeline-shuffle", look)
