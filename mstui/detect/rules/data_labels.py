"""data-imbalance-s: classes of very unequal size, told by a histogram of the labels where a script records one."""

from __future__ import annotations

import re

from mstui.detect.base import Case, Context, Detector, Parameter, Rule, Subject
from mstui.detect.scene import Series
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.histogram import Histogram

LABELS = re.compile(r"(?:^|[/_.])(?:labels?|targets?)(?:$|[/_.])")


class DataLabels(Detector):
    """One histogram of labels; its records are added up."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.DATA_IMBALANCE)
        self._counts: dict[float, int] = {}
        self.waits = Evidence(mark("not enough labels yet"))

    def histogram(self, series: Series, histogram: Histogram) -> None:  # noqa: ARG002
        """Add the labels of one record. Labels that are no whole numbers from 0 on are targets of a regression."""
        stats = histogram.stats
        if stats.non_finite or stats.minimum < 0 or stats.minimum % 1 or stats.maximum % 1 or stats.maximum >= 1000:
            return
        for left, count in zip(histogram.lefts.tolist(), histogram.counts.tolist()):
            if count > 0:
                self._counts[round(left, 6)] = self._counts.get(round(left, 6), 0) + count
        total = sum(self._counts.values())
        if len(self._counts) < 2 or total < self.context["labels"]:
            return
        self.judged = True
        largest, smallest = max(self._counts.values()), min(self._counts.values())
        if largest > self.context["ratio"] * smallest:
            shown = Evidence(
                mark("the largest class has {times:.0f} times the labels of the smallest, among {total} labels"),
                {"times": largest / smallest, "total": total},
            )
            self._case.hit(Severity.WATCH, stats.step, stats.step, stats.wall_time, shown)
        else:
            self._case.clear(stats.step, stats.wall_time)


def _histograms(_subject: Subject, tag: str) -> bool:
    return LABELS.search(tag.lower()) is not None


RULE = Rule(
    name="data-labels",
    title=mark("Classes are imbalanced"),
    symptoms=(Symptom.DATA_IMBALANCE,),
    make=DataLabels,
    needs=mark("a histogram of the labels, recorded by the script"),
    histograms=_histograms,
    parameters=(
        Parameter(
            "labels",
            500.0,
            mark("labels"),
            mark("fewer say little of a class"),
            mark("Amazon SageMaker Debugger, built-in rules: 500 labels"),
        ),
        Parameter(
            "ratio",
            10.0,
            mark("largest over smallest class"),
            mark("the small class is hardly seen"),
            mark("Amazon SageMaker Debugger, built-in rules: imbalance of 10"),
        ),
    ),
    false_alarms=(mark("data whose classes are unequal by nature"), mark("more classes than a histogram has buckets")),
)
