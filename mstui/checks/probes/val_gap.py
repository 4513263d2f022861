"""val-gap: is the gap between training and validation steady?"""

from __future__ import annotations

import numpy as np

from mstui.checks.evidence.metric import gaps, minimum_passed
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

IN_A_ROW = 3
LEAST = IN_A_ROW + 1
GROWTH = 0.02
"""Of accuracy, or of the loss: sampling of some hundred samples does not give it."""


def look(view: View) -> ProbeResult:
    """Three evaluations in a row at which the gap grew."""
    found = gaps(view)
    if found is None or len(found) < LEAST:
        return unknown(
            mark("{n} evaluations beside the training, {least} are needed"),
            n=0 if found is None else len(found),
            least=LEAST,
        )
    grew = np.diff(found) > 0.0
    row, since = 0, 0
    for index, one in enumerate(grew.tolist()):
        row = row + 1 if one else 0
        if row >= IN_A_ROW and found[index + 1] - found[index + 1 - row] > GROWTH:
            since = index + 2 - row
            break
    else:
        row = 0
    first, last = float(found[0]), float(found[-1])
    if not row and minimum_passed(view).value:
        return bad(
            mark("the best evaluation lies behind: gap {first:.3f} at first, {last:.3f} now"), first=first, last=last
        )
    if row:
        return bad(
            mark("it grew from evaluation {since} on: {first:.3f} at first, {last:.3f} now"),
            since=since,
            first=first,
            last=last,
        )
    return ok(mark("{first:.3f} at first, {last:.3f} now"), first=first, last=last)


PROBE = Probe("val-gap", look)
