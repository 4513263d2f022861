"""dead-relu: nearly all outputs of a ReLU layer are zero, record after record."""

from __future__ import annotations

from mstui.detect.base import Context, Detector, Parameter, Rule, Subject
from mstui.detect.shares import Limit
from mstui.detect.sources import CHECKED
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

WHOLLY = 0.999
"""From here on nothing gets through (MindInsight's limit)."""


def _make(context: Context) -> Detector:
    layer = context.scope.layer
    return Limit(
        context,
        Symptom.DEAD_RELU,
        lambda values: values >= context["share"],
        int(context["records"]),
        lambda value, step: Evidence(
            mark("{share:.1f} % of the outputs of {layer} are 0 at step {step}"),
            {"share": 100.0 * value, "layer": layer, "step": step},
        ),
        lambda value, _step: Severity.ERROR if value >= WHOLLY else Severity.WARN,
        lambda values: values >= WHOLLY,
    )


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic in (
        "act_zero_frac",
        "activation_zero_frac",
        "act_zero_ratio",
    )


RULE = Rule(
    name="dead-relu",
    title=mark("Dead ReLU"),
    symptoms=(Symptom.DEAD_RELU,),
    make=_make,
    needs=mark("the share of zeros of activations"),
    watches=_watches,
    parameters=(
        Parameter(
            "share",
            0.88,
            mark("of a layer's outputs"),
            mark("healthy nets here reach 0.82; 0.7 calls many of them ill"),
            mark("mstui's own, measured on its labelled trainings; MindInsight has 0.999, DeepDiagnosis 0.7"),
        ),
        Parameter("records", 3.0, mark("records in a row"), mark("one batch may be odd"), CHECKED),
    ),
    false_alarms=(mark("layers that are sparse by design: gates of experts, squared ReLU, masks"),),
)
