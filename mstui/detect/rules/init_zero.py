"""init-all-zero: a weight matrix whose first record is nothing but zeros, so that its units all learn the same.

Only where it makes a difference: a zero among other, non-zero weights whose gradient is not 0 gets away from it at
the first step (last layers, LoRA's B, gates of residual branches), so the norm must still be 0 at the second record
or every weight of the net must begin at 0.
"""

from __future__ import annotations

from mstui.detect.base import Case, Chunk, Context, Detector, Rule, Subject
from mstui.detect.scene import Series
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.histogram import Histogram
from mstui.model.roles import Role


class InitZero(Detector):
    """One parameter."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.INIT_ALL_ZERO)
        self._seen = 0
        self._began_zero = False
        self._first_step = 0

    def points(self, chunk: Chunk) -> None:
        """Look at the first two norms."""
        for index in range(min(len(chunk), 2 - self._seen) if self._seen < 2 else 0):
            self._one(float(chunk.values[index]) == 0.0, int(chunk.steps[index]), float(chunk.walls[index]))

    def histogram(self, series: Series, histogram: Histogram) -> None:  # noqa: ARG002
        """Look at the first two histograms."""
        stats = histogram.stats
        if self._seen < 2:
            self._one(stats.minimum == 0.0 == stats.maximum and stats.count > 0, stats.step, stats.wall_time)

    def _one(self, zero: bool, step: int, wall: float) -> None:
        self._seen += 1
        self.judged = True
        layer = self.context.scope.layer
        if self._seen == 1:
            self._began_zero, self._first_step = zero, step
        if not (zero and self._began_zero) or self._exempt(layer):
            return
        if self._seen == 2 or self._all_zero(step):
            shown = Evidence(mark("every element of {layer} is 0 at step {step}"), {"layer": layer, "step": step})
            self._case.hit(Severity.ERROR, self._first_step, step, wall, shown)

    def _all_zero(self, step: int) -> bool:
        scope = self.context.scope
        norms = [each.at(step) for each in self.context.scene.of_statistic(scope.rank_id, "weight_norm")]
        return len(norms) > 1 and all(norm == 0.0 for norm in norms)

    @staticmethod
    def _exempt(layer: str) -> bool:
        """Parameters that rightly begin at 0."""
        last = layer.rsplit(".", 1)[-1].lower()
        return (
            last in ("bias", "beta", "moving_mean")
            or "lora_b" in layer.lower()
            or "mindpet_delta_lora_b" in layer.lower()
        )

    def segment(self, step: int) -> None:  # noqa: ARG002
        """What began once does not begin again."""
        self._seen = 2


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic == "weight_norm"


def _histograms(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic == "weight"


RULE = Rule(
    name="init-zero",
    title=mark("Weights start at zero"),
    symptoms=(Symptom.INIT_ALL_ZERO,),
    make=InitZero,
    needs=mark("norms or histograms of weights from the first steps on"),
    watches=_watches,
    histograms=_histograms,
    false_alarms=(mark("branches that are meant to begin at 0 and whose learning rate is still 0"),),
)
