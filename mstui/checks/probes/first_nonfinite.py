"""first-nonfinite: are all recorded tensors finite, up to the loss itself?"""

from __future__ import annotations

from typing import List, Tuple

from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult
from mstui.model.roles import Role

COUNTED = ("nonfinite", "nan", "inf", "nan_count", "inf_count")
"""Last words of statistics that count values which are not finite."""


def look(view: View) -> ProbeResult:
    """The first step at which any statistic of a tensor is not finite, against the loss's own first."""
    seen, found = False, []
    for each in view.curves:
        if each.rank_id != view.rank or each.role not in (Role.PARAMETER, Role.GRAD_NORM):
            continue
        seen = True
        if each.statistic.endswith(COUNTED) and bool((each.good > 0.0).any()):
            found.append((int(each.good_steps[int((each.good > 0.0).argmax())]), each.tag))
        elif each.bad_step is not None:
            found.append((each.bad_step, each.tag))
    for statistic in ("weight", "gradient", "activation"):
        for name, several in view.histograms(statistic).items():
            seen = True
            found += [(one.stats.step, name) for one in several if one.stats.non_finite]
    return _said(view, found, seen=seen)


def _said(view: View, found: List[Tuple[int, str]], *, seen: bool) -> ProbeResult:
    loss_bad = view.loss.bad_step if view.loss is not None else None
    if not seen:
        return unknown(mark("no figures of weights, gradients or activations are recorded"))
    if not found:
        return ok(mark("everything recorded is finite"))
    step, tag = min(found)
    if loss_bad is not None and step >= loss_bad:
        if step > loss_bad:
            return unknown(mark("the loss at step {step} came first; tensors are recorded less often"), step=loss_bad)
        return ok(mark("the loss at step {step} was the first"), (loss_bad,), step=loss_bad)
    return bad(mark("{tag} at step {step} was the first"), (step,), tag=tag, step=step)


PROBE = Probe("first-nonfinite", look)
