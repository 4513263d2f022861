"""enough-run: is there a loss to judge?"""

from __future__ import annotations

from mstui.checks.probe_base import Probe, bad, ok
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """A loss, whatever its value."""
    loss = view.loss
    if loss is None or not len(loss):
        return bad(mark("no loss is recorded yet"))
    sentence = mark("{n} records of the loss, steps {first} to {last}")
    return ok(sentence, n=len(loss), first=int(loss.steps[0]), last=int(loss.steps[-1]))


PROBE = Probe("enough-run", look)
