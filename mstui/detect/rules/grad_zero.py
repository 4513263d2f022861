"""grad-zero: every element of a gradient is exactly 0, record after record.

A dead layer, a mask over everything, a parameter that is not connected to the loss. Embeddings and rows that a batch does
not use are no case: some of their elements are not 0.
"""

from __future__ import annotations

from mstui.detect.base import Context, Detector, Parameter, Rule, Subject
from mstui.detect.shares import Limit
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role


def _make(context: Context) -> Detector:
    layer = context.scope.layer

    def severity(_value: float, _step: int) -> Severity:
        return Severity.INFO if context.scene.is_frozen(layer) else Severity.ERROR

    return Limit(
        context,
        Symptom.GRAD_ZERO,
        lambda values: values == 0.0,
        int(context["records"]),
        lambda _value, step: Evidence(
            mark("every gradient of {layer} is exactly 0 up to step {step}"), {"layer": layer, "step": step}
        ),
        severity,
    )


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic in ("grad_norm", "gradient_norm", "local_norm")


RULE = Rule(
    name="grad-zero",
    title=mark("Gradients are all zero"),
    symptoms=(Symptom.GRAD_ZERO,),
    make=_make,
    needs=mark("norms of the gradients of single parameters"),
    watches=_watches,
    parameters=(
        Parameter("records", 3.0, mark("records in a row"), mark("one batch may leave a layer out"), "MindInsight, tensor all zero"),
    ),
    false_alarms=(mark("branches that are trained in turns"), mark("experts that no token is sent to")),
)  # fmt: skip
