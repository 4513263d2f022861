"""grad-explode from single parameters: a gradient that is NaN or infinite, where nothing tells of all gradients.

A probe such as msprobe's records each parameter and no norm of all of them. Where there is one, grad-explode speaks;
where a loss scaler watches, a step with such gradients is left out, and the overflow rules count those.
"""

from __future__ import annotations

import re
from typing import Tuple

from mstui.detect.base import Case, Chunk, Context, Detector, Rule, Subject
from mstui.detect.streaks import Streak
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

CALM = 20
"""Points without such a value after which it is over."""
COUNT = "nans"
FIGURES = ("norm", "l2", "l2_norm", "mean", "max", COUNT)
"""Of the same gradient, the first of these that is recorded is judged: each tells of a NaN, earlier ones of more."""

_OF_A_GRADIENT = re.compile(
    rf"(?P<of>(?:actv_|unreduced_|reduced_|pre_|post_)?(?:grads?|gradients?)(?:_unreduced|_reduced)?|local)"
    rf"_(?P<figure>{'|'.join(FIGURES)})"
)
_TOLD_ELSEWHERE = (Role.GRAD_NORM, Role.OVERFLOW, Role.LOSS_SCALE)


class GradNonfinite(Detector):
    """One figure of one parameter's gradient."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.GRAD_EXPLODE)
        self._streak = Streak(1, CALM)
        subject = context.series.subject if context.series is not None else Subject(Role.PARAMETER)
        self._parameter = subject.parameter
        self._better, self._counts = _place(subject.statistic)

    def points(self, chunk: Chunk) -> None:
        """Look at each change between values that are numbers and values that are none."""
        scene, rank_id = self.context.scene, self.context.scope.rank_id
        if any(scene.of_role(rank_id, role) for role in _TOLD_ELSEWHERE):
            return
        self.judged = True
        bad = chunk.values > 0.0 if self._counts else ~chunk.finite
        if not self._streak.open and (not bad.any() or self._is_told_better()):
            return
        for turn in self._streak.feed(bad, chunk.steps):
            step, wall, value = int(chunk.steps[turn.at]), float(chunk.walls[turn.at]), float(chunk.values[turn.at])
            if turn.bad:
                self._case.hit(Severity.ERROR, step, step, wall, self._shown(value, step))
            else:
                self._case.clear(step, wall, Evidence(mark("finite for {n} points"), {"n": CALM}))

    def _is_told_better(self) -> bool:
        """Is a figure recorded of the same gradient that says more?"""
        scene, rank_id = self.context.scene, self.context.scope.rank_id
        return any(
            each.subject.parameter == self._parameter
            for statistic in self._better
            for each in scene.of_statistic(rank_id, statistic)
        )

    def _shown(self, value: float, step: int) -> Evidence:
        tag = self.context.scope.tag
        if self._counts:
            return Evidence(
                mark("{n:.0f} values are NaN at step {step}, says {tag}"), {"n": value, "step": step, "tag": tag}
            )
        return Evidence(mark("{tag} is {value} at step {step}"), {"tag": tag, "value": str(value), "step": step})

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._streak.reset()


def _place(statistic: str) -> Tuple[Tuple[str, ...], bool]:
    """Statistics of the same gradient that say more than this one, and whether it is a count."""
    found = _OF_A_GRADIENT.fullmatch(statistic)
    if found is None:
        return (), False
    figure = found["figure"]
    better = FIGURES[: FIGURES.index(figure)]
    return tuple(f"{found['of']}_{each}" for each in better), figure == COUNT


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.PARAMETER and _OF_A_GRADIENT.fullmatch(subject.statistic) is not None


RULE = Rule(
    name="grad-nonfinite",
    title=mark("Gradients are NaN or infinite"),
    symptoms=(Symptom.GRAD_EXPLODE,),
    make=GradNonfinite,
    needs=mark("a figure of the gradients of single parameters, and neither the norm of all nor a loss scale"),
    watches=_watches,
    false_alarms=(
        mark("figures that are written as NaN where they were not computed"),
        mark("steps that a loss scaler leaves out, where its scale is not recorded"),
    ),
)
