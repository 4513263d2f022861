"""overflow-streak: step after step overflows, so none of them updates anything.

A dynamic loss scale looks for its size by overflows: a streak at the very start is its search, as long as every
overflow halves the scale and the scale began high.
"""

from __future__ import annotations

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.sources import CHECKED, MEASURED
from mstui.detect.streaks import Streak, Turn
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.roles import Role

RATE_WINDOW = 1000
RATE_FROM = 200
"""Points from which on a rate means something."""
SEARCH_POINTS = 26
"""Halvings from 2^24 to 1, and some."""
HIGH_SCALE = float(2**20)
"""A scale that begins here or higher is meant to be looked for."""


class Overflow(Detector):
    """The overflow flag of one rank."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.OVERFLOW_STREAK)
        self._often = Case(context, Symptom.OVERFLOW_STREAK)
        self._streak = Streak(int(context["streak"]), int(context["streak"]))
        self._deaf = Streak(int(context["deaf"]), int(context["streak"]))
        self._long = False
        """a streak of the long kind is on"""
        self._count = 0
        self._recent = 0.0

    def points(self, chunk: Chunk) -> None:
        """Count flags in a row, and their rate."""
        self.judged = True
        flags = ~(chunk.values == 0.0)
        if not flags.any() and not self._streak.open and not self._streak.length and not self._deaf.open:
            self._count += len(chunk)
            self._recent *= (1.0 - 1.0 / RATE_WINDOW) ** len(chunk)
            return
        steps, before = chunk.steps, self._count
        turns = [
            (turn, self._streak)
            for turn in self._streak.feed(flags, steps, lambda at, _n: self._searching(int(steps[at]), before + at))
        ]
        turns += [
            (turn, self._deaf)
            for turn in self._deaf.feed(
                flags, steps, lambda at, n: n > SEARCH_POINTS or not self._deaf_scale(int(steps[at]))
            )
        ]
        for turn, streak in sorted(turns, key=lambda each: each[0].at):
            self._turn(turn, streak, int(chunk.steps[turn.at]), float(chunk.walls[turn.at]))
        self._rate(flags, chunk)
        self._count += len(chunk)

    def _turn(self, turn: Turn, streak: Streak, step: int, wall: float) -> None:
        if streak is self._streak:
            self._long = turn.bad
        if not turn.bad:
            if not self._long:
                self._case.clear(step, wall, Evidence(mark("no overflow for {n} points"), {"n": streak.enough}))
        elif streak is self._deaf:
            shown = Evidence(
                mark("{n} steps in a row overflowed and the loss scale stayed as it was"), {"n": streak.needed}
            )
            self._case.hit(Severity.ERROR, turn.onset, step, wall, shown)
        else:
            shown = Evidence(
                mark("{n} steps in a row overflowed from step {step}: none of them changed a weight"),
                {"n": streak.needed, "step": turn.onset},
            )
            self._case.hit(Severity.ERROR, turn.onset, step, wall, shown)

    def _searching(self, step: int, position: int) -> bool:
        if position >= SEARCH_POINTS:
            return False
        scale = self.context.scene.one(self.context.scope.rank_id, Role.LOSS_SCALE)
        if scale is None:
            return True
        _steps, values = scale.upto(step, SEARCH_POINTS)
        falls = len(values) > 1 and values[-1] < values[0]
        return bool(len(values) and values[0] >= HIGH_SCALE and falls)

    def _deaf_scale(self, step: int) -> bool:
        """Does the scale not answer to overflows?"""
        scale = self.context.scene.one(self.context.scope.rank_id, Role.LOSS_SCALE)
        if scale is None:
            return False
        _steps, values = scale.upto(step, self._deaf.needed)
        return len(values) == self._deaf.needed and bool((values == values[0]).all())

    def _rate(self, flags: np.ndarray, chunk: Chunk) -> None:  # type: ignore[type-arg]
        keep = 1.0 - 1.0 / RATE_WINDOW
        last = -1
        for index in np.flatnonzero(flags).tolist():
            self._recent = self._recent * keep ** (index - last) + 1.0 / RATE_WINDOW
            last = index
            if self._count + index >= RATE_FROM and self._recent > self.context["rate"]:
                share = self._recent
                shown = Evidence(mark("{share:.1f} % of recent steps overflowed"), {"share": 100.0 * share})
                self._often.hit(
                    Severity.WARN, int(chunk.steps[index]), int(chunk.steps[index]), float(chunk.walls[index]), shown
                )
        self._recent *= keep ** (len(flags) - 1 - last)

    def segment(self, step: int) -> None:
        """Begin anew."""
        for case in (self._case, self._often):
            case.clear(step, 0.0)
        self._streak.reset()
        self._deaf.reset()
        self._long = False
        self._count, self._recent = 0, 0.0


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.OVERFLOW


RULE = Rule(
    name="overflow",
    title=mark("Overflow streak"),
    symptoms=(Symptom.OVERFLOW_STREAK,),
    make=Overflow,
    needs=mark("the overflow flag of each step"),
    watches=_watches,
    parameters=(
        Parameter(
            "streak",
            8.0,
            mark("steps in a row"),
            mark("eight halvings are a factor of 256: no batch needs that"),
            CHECKED,
        ),
        Parameter(
            "deaf",
            5.0,
            mark("steps in a row"),
            mark("a scale that does not answer is a fixed one that does not fit"),
            MEASURED,
        ),
        Parameter(
            "rate",
            0.1,
            mark("of the steps"),
            mark("healthy dynamic scaling skips one step in 1000 to 2000"),
            CHECKED,
        ),
    ),
    false_alarms=(mark("a scale that begins high and is recorded without its value"),),
)
