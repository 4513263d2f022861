"""late-slope: has it stopped improving at the end?"""

from __future__ import annotations

from mstui.checks.evidence.loss import fall_at_end
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

LEAST = 24
WORTHWHILE = 0.02


def look(view: View) -> ProbeResult:
    """A fall over the last fifth that is certain and worth while: then it has not."""
    loss = view.loss
    if loss is None or len(loss.good) < LEAST:
        return unknown(
            mark("{n} records of the loss, {least} are needed"), n=0 if loss is None else len(loss.good), least=LEAST
        )
    fall = fall_at_end(loss)
    sentence = mark("the loss fell by {fall:.3g} % over the last fifth")
    return (bad if fall > WORTHWHILE else ok)(sentence, fall=100.0 * fall)


PROBE = Probe("late-slope", look)
