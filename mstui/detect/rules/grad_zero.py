"""grad-zero: every element of a gradient is exactly 0, record after record.

A dead layer, a mask over everything, a parameter that is not connected to the loss. Embeddings and rows that a batch
does not use are no case: some of their elements are not 0.
"""

from __future__ import annotations

import numpy as np

from mstui.detect.base import Context, Parameter, Rule, Subject
from mstui.detect.scene import GRADIENT_NORMS
from mstui.detect.shares import Limit
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray
from mstui.model.roles import Role
from mstui.model.series import BoolArray


class GradZero(Limit):
    """One parameter. Zero from the very first record on is told after two records: no batch explains it."""

    def __init__(self, context: Context) -> None:
        layer = context.scope.layer

        def severity(_value: float, _step: int) -> Severity:
            return Severity.INFO if context.scene.is_frozen(layer) else Severity.ERROR

        def shown(_value: float, step: int) -> Evidence:
            return Evidence(
                mark("every gradient of {layer} is exactly 0 up to step {step}"), {"layer": layer, "step": step}
            )

        super().__init__(
            context,
            Symptom.GRAD_ZERO,
            lambda values: values == 0.0,
            int(context["records"]),
            shown,
            severity,
            self._born,
        )
        self._born_dead = True

    def _born(self, values: FloatArray) -> BoolArray:
        zero = np.logical_and.accumulate(values == 0.0) & self._born_dead
        self._born_dead = self._born_dead and bool(zero[-1])
        return zero


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic in GRADIENT_NORMS


RULE = Rule(
    name="grad-zero",
    title=mark("Gradients are all zero"),
    symptoms=(Symptom.GRAD_ZERO,),
    make=GradZero,
    needs=mark("norms of the gradients of single parameters"),
    watches=_watches,
    parameters=(
        Parameter(
            "records",
            5.0,
            mark("records in a row"),
            mark("a layer that is nearly dead passes something at every second record"),
            mark("mstui's own: the chance of it is 3 % then; MindInsight's rule for zeros looks at one"),
        ),
    ),
    false_alarms=(mark("branches that are trained in turns"), mark("experts that no token is sent to")),
)
