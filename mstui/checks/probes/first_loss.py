"""first-loss: the first loss against a reference that a person entered, else against ln(classes)."""

from __future__ import annotations

import math

from mstui.checks.measures import first_record
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

TOLERANCE = 5e-3
"""Relative; documented for large models, and a printed loss has no more digits."""
THEORY = 0.3
"""Of ln(classes): usual initial values add a tenth or two."""


def look(view: View) -> ProbeResult:
    """Only a loss of the first steps is a first loss."""
    loss = view.loss
    if loss is None or not len(loss):
        return unknown(mark("no loss is recorded"))
    if not first_record(view, loss) or int(loss.steps[0]) > 1:
        return unknown(mark("the first recorded loss is that of step {step}"), step=int(loss.steps[0]))
    first, step = float(loss.values[0]), int(loss.steps[0])
    if not math.isfinite(first):
        return bad(mark("the first loss is {first}"), (step,), first=f"{first:g}")
    reference = view.declared.first_loss
    if reference is not None:
        sentence = mark("first loss {first:.6g}, reference {reference:.6g}")
        near = abs(first - reference) <= TOLERANCE * max(abs(reference), 1.0)
        return (ok if near else bad)(sentence, (step,), first=first, reference=reference)
    classes = view.declared.classes
    if classes is None:
        return unknown(mark("first loss {first:.4g}; number of classes and reference are not known"), first=first)
    sentence = mark("first loss {first:.4g}, ln({classes:.0f}) is {theory:.4g}")
    theory = math.log(classes)
    near = abs(first - theory) <= THEORY * theory
    return (ok if near else bad)(sentence, (step,), first=first, classes=classes, theory=theory)


PROBE = Probe("first-loss", look)
