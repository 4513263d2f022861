"""act-saturated: most outputs of a tanh or sigmoid layer lie at its limits, record after record."""

from __future__ import annotations

from mstui.detect.base import Context, Detector, Parameter, Rule, Subject
from mstui.detect.shares import Limit
from mstui.detect.sources import CHECKED
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

GRAVE = 0.9
"""From here on next to no gradient passes."""


def _make(context: Context) -> Detector:
    layer = context.scope.layer
    return Limit(
        context,
        Symptom.ACT_SATURATED,
        lambda values: values >= context["share"],
        int(context["records"]),
        lambda value, step: Evidence(
            mark("{share:.1f} % of the outputs of {layer} are saturated at step {step}"),
            {"share": 100.0 * value, "layer": layer, "step": step},
        ),
        lambda value, _step: Severity.ERROR if value >= GRAVE else Severity.WARN,
        lambda values: values >= GRAVE,
    )


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic in ("act_sat_frac", "activation_sat_frac")


RULE = Rule(
    name="act-saturated",
    title=mark("Activation saturated"),
    symptoms=(Symptom.ACT_SATURATED,),
    make=_make,
    needs=mark("the share of saturated outputs of activations"),
    watches=_watches,
    parameters=(
        Parameter(
            "share",
            0.7,
            mark("of a layer's outputs"),
            mark("healthy tanh nets reach 0.6 and go on learning"),
            mark("mstui's own, measured on nets trained for it (bench/nets.py); SageMaker Debugger's rule has 0.5"),
        ),
        Parameter("records", 3.0, mark("records in a row"), mark("one batch may be odd"), CHECKED),
    ),
    false_alarms=(mark("gates that are meant to be open or shut"),),
)
