"""overflow-rate: is overflow rare?"""

from __future__ import annotations

from typing import Tuple

import numpy as np

from mstui.checks.evidence.precision import WARM_UP, WARM_UP_SHARE, half_precision, overflows
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult
from mstui.model.logs import EventKind

RATE = 0.01
IN_A_ROW = 5
LEAST = 20
LEAST_RARE = 2
"""Overflows that are always too many are not one alone, whatever the share of a short run."""


def look(view: View) -> ProbeResult:
    """Share of overflowing records behind the first ones, and the longest row of them."""
    found = overflows(view)
    if found is None:
        said = sum(each.event.kind is EventKind.OVERFLOW for each in view.events)
        if said >= IN_A_ROW:
            return bad(mark("the log tells of {n} overflows"), n=said)
        if half_precision(view) is False:
            return ok(mark("nothing is computed in FP16"))
        return unknown(mark("neither overflow nor loss scale is recorded"))
    steps, over = found
    if len(over) < LEAST:
        return unknown(mark("{n} records of it, {least} are needed"), n=len(over), least=LEAST)
    skipped = min(WARM_UP, int(WARM_UP_SHARE * len(over)))
    rest = over[skipped:]
    row, since = _longest(rest)
    share = 100.0 * float(np.mean(rest))
    if row >= IN_A_ROW:
        step = int(steps[skipped + since])
        return bad(mark("{row} overflows in a row from step {step} on"), (step,), row=row, step=step)
    sentence = mark("{share:.1f} % of {n} records behind the first ones overflow")
    rare = share <= 100.0 * RATE or int(rest.sum()) < LEAST_RARE
    return (ok if rare else bad)(sentence, share=share, n=len(rest))


def _longest(over: np.ndarray) -> Tuple[int, int]:  # type: ignore[type-arg]
    """(length, index of its beginning) of the longest row of overflows."""
    longest, begin, length = 0, 0, 0
    for index, one in enumerate(over.tolist()):
        length = length + 1 if one else 0
        if length > longest:
            longest, begin = length, index - length + 1
    return longest, begin


PROBE = Probe("overflow-rate", look)
