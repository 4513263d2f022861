"""data-scale-s, data-missing-s, data-imbalance-s: what figures of the input tell, where a script records them."""

from __future__ import annotations

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

RECORDS = 3
"""Records whose median is judged: one batch may be odd."""
MEANS = ("input_mean", "inputs_mean")
SPREADS = ("input_std", "inputs_std")
MISSING = ("input_nan", "inputs_nan", "input_nan_count", "inputs_nan_count", "input_non_finite", "input_nonfinite")


class DataInput(Detector):
    """One figure of the input."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._scale = Case(context, Symptom.DATA_SCALE)
        self._missing = Case(context, Symptom.DATA_MISSING)
        self._statistic = context.series.subject.statistic if context.series is not None else ""
        self._far = 0

    def points(self, chunk: Chunk) -> None:
        """Means far from 0 against the spread; anything missing."""
        good = chunk.good()
        if not chunk.whole:
            index = int((~chunk.finite).argmax())
            self._say_missing(chunk, index)
        if not len(good):
            return
        self.judged = True
        if self._statistic in MISSING:
            bad = good.values > 0.0
            if bad.any():
                self._say_missing(good, int(bad.argmax()))
            return
        if self._statistic not in MEANS:
            return
        for index, value in enumerate(good.values.tolist()):
            step = int(good.steps[index])
            self._far = self._far + 1 if abs(value) > self.context["mean"] * max(1.0, self._spread(step)) else 0
            if self._far >= RECORDS:
                shown = Evidence(
                    mark("the mean of the input is {value:.3g} at step {step}"), {"value": value, "step": step}
                )
                self._scale.hit(Severity.WATCH, step, step, float(good.walls[index]), shown)
            elif not self._far:
                self._scale.clear(step, float(good.walls[index]))

    def _spread(self, step: int) -> float:
        for statistic in SPREADS:
            for each in self.context.scene.of_statistic(self.context.scope.rank_id, statistic):
                value = each.at(step)
                if value is not None:
                    return value
        return 1.0

    def _say_missing(self, chunk: Chunk, index: int) -> None:
        step = int(chunk.steps[index])
        shown = Evidence(
            mark("{tag} is {value} at step {step}"),
            {"tag": self.context.scope.tag, "value": f"{float(chunk.values[index]):g}", "step": step},
        )
        self._missing.hit(Severity.WARN, step, step, float(chunk.walls[index]), shown)


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and subject.statistic in (*MEANS, *SPREADS, *MISSING)


RULE = Rule(
    name="data-input",
    title=mark("Figures of the input"),
    symptoms=(Symptom.DATA_SCALE, Symptom.DATA_MISSING),
    make=DataInput,
    needs=mark("mean, spread or number of missing values of the input, recorded by the script"),
    watches=_watches,
    parameters=(
        Parameter(
            "mean",
            2.0,
            mark("standard deviations, at least units"),
            mark("centred data have a mean near 0"),
            mark("mstui's own; SageMaker Debugger's rule has 0.2 over 500 images"),
        ),
    ),
    false_alarms=(mark("inputs that are ids or counts by design"),),
)
