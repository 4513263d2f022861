"""scale-path: does the loss scale behave?"""

from __future__ import annotations

import numpy as np

from mstui.checks.evidence.precision import CONSTANT_RECORDS, half_precision
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult
from mstui.model.roles import Role

SEARCH_SHARE = 4
"""The search belongs to the first quarter of a run."""
OFTEN = 0.02
"""Halvings a record behind that: a window of 1000 steps gives one in a thousand."""
LEAST = 10


def look(view: View) -> ProbeResult:
    """Floor, halvings behind the start, a constant scale with overflows."""
    scale = view.one(Role.LOSS_SCALE)
    if scale is None or not len(scale.good):
        if half_precision(view) is False:
            return ok(mark("nothing is computed in FP16, so no scale is needed"))
        if view.declared.half:
            return bad(mark("FP16 without a loss scale on record"))
        return unknown(mark("the loss scale is not recorded"))
    values = scale.good
    lowest, first = float(values.min()), float(values[0])
    if first > 1.0 and lowest <= 1.0:
        step = int(scale.good_steps[int((values <= 1.0).argmax())])
        return bad(mark("it fell to {lowest:g} at step {step}"), (step,), lowest=lowest, step=step)
    if len(values) < LEAST:
        return unknown(mark("{n} records of it, {least} are needed"), n=len(values), least=LEAST)
    falls = np.diff(values) < 0.0
    over = view.one(Role.OVERFLOW)
    share = float(np.mean(over.good > 0.0)) if over is not None and len(over.good) else None
    if not falls.any() and not (np.diff(values) > 0.0).any():
        if share is not None and share > OFTEN:
            return bad(mark("constant at {scale:g} while {share:.0f} % of the steps overflow"),
                       scale=first, share=100.0 * share)  # fmt: skip
        if share is not None and len(values) >= CONSTANT_RECORDS:
            return ok(mark("constant at {scale:g}, without overflows"), scale=first)
        return unknown(
            mark("constant at {scale:g} in {n} records; overflow is not recorded"), scale=first, n=len(values)
        )
    late = falls[len(falls) // SEARCH_SHARE :]
    often = float(np.mean(late)) if len(late) else 0.0
    if often > OFTEN and int(late.sum()) > 1:
        return bad(mark("halved {n} times behind the first quarter"), n=int(late.sum()))
    times = int(falls.sum())
    sentence = mark("halved {n} times, {lowest:g} at the lowest")
    if times == 1:
        sentence = mark("halved once, {lowest:g} at the lowest")
    return ok(sentence, n=times, lowest=lowest)


PROBE = Probe("scale-path", look)
