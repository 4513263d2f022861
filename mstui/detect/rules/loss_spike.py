"""loss-spike: single points far above what the loss does otherwise.

The points come in blocks. Each block is held against the median and the scatter of the blocks before, on the plain
scale and, where all is positive, on the log scale as well: the smaller of both counts, since noise may be skewed. A
point must also stand out from the largest that was seen lately, since noise may have heavy tails. What follows a
spike decides how grave it is: back at once, or not.
"""

from __future__ import annotations

import math
from typing import List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui.detect.base import Case, Chunk, Context, Detector, Parameter, Rule, Subject
from mstui.detect.evaluations import LEAST_UNINFORMED, knows_something
from mstui.detect.naming import Objective
from mstui.detect.robust import median
from mstui.detect.robust import scatter as robust_scatter
from mstui.detect.scene import NEGLIGIBLE
from mstui.detect.sources import NETS, SIMULATED
from mstui.i18n import mark
from mstui.model.alerts import Evidence, Severity, Symptom
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role

SMALL_BLOCK, LARGE_BLOCK = 8, 1024
"""Points a block: at first, and at most."""
BLOCK_SHARE = 32
"""In between a block is a 32nd of the course."""
SAMPLE = 128
"""Points of a block that are kept, evenly taken: enough for its median and scatter."""
BLOCKS = 4
"""Blocks before that tell what is usual."""
READY = 16
"""Points from which on the usual is known."""
SURE = 64
"""Points from which on a spike of less than a multiple may be told from noise."""
TAIL_BLOCKS = 16
"""Blocks whose largest points are remembered."""
STAND_OUT = 1.25
"""Times the largest excess of those blocks."""
AFTER = 12
"""Points after which it is judged whether it came back."""
TAIL_OF_SIGNED = 4.0
"""Times the largest excess of late, for curves around 0: their noise has the heaviest tails (rewards, policies)."""
STAYS = 0.1
"""Of the first level: a rise that stays and is smaller is no loss worth a word."""
OFTEN, OFTEN_POINTS = 3, 1000
MIN_SCATTER = 1e-3
"""Of the level: no loss is known better than that."""


def block_size(count: int) -> int:
    """Points of the block that begins after `count` points."""
    return max(SMALL_BLOCK, min(LARGE_BLOCK, 1 << (count // BLOCK_SHARE).bit_length() >> 1))


class Usual(NamedTuple):
    """What the blocks before say."""

    level: float
    scatter: float
    log_level: float
    log_scatter: float
    """NaN where a value was not positive"""
    excess: float
    """largest point above the level of late"""


def level_and_scatter(blocks: Sequence[FloatArray]) -> Tuple[float, float]:
    """Median of all points, and their scatter around the line that the blocks' medians follow: a trend is no noise."""
    level = median(np.concatenate(blocks))
    slope = (median(blocks[-1]) - median(blocks[0])) / max(1, len(blocks) - 1)
    middle = (len(blocks) - 1) / 2
    rest = np.concatenate([each - slope * (place - middle) for place, each in enumerate(blocks)])
    return level, robust_scatter(rest, median(rest))


class LossSpike(Detector):
    """One training loss."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._case = Case(context, Symptom.LOSS_SPIKE)
        self._off = context.scene.objective(context.scope.tag) is Objective.REWARD
        self._begin()

    def _begin(self) -> None:
        self._count = 0
        self._part: FloatArray = np.empty(0)
        self._blocks: List[FloatArray] = []
        self._excesses: List[float] = []
        self._usual: Optional[Usual] = None
        self._start = math.nan
        self._last_candidate = -(10**9)
        self._raised_at: Optional[int] = None
        self._raised: Optional[Usual] = None
        self._after: List[float] = []
        self._spikes: List[int] = []

    def points(self, chunk: Chunk) -> None:
        """Take the points block by block."""
        if self._off:
            return
        good = chunk.good()
        begin = 0
        while begin < len(good):
            size = block_size(self._count - len(self._part))
            take = min(size - len(self._part), len(good) - begin)
            end = begin + take
            self._piece(good.values[begin:end], good.steps[begin:end], good.walls[begin:end])
            begin = end
            if len(self._part) == size:
                self._close()

    def _piece(self, values: FloatArray, steps: IntArray, walls: FloatArray) -> None:
        """Points of one block: look only where one is above the bar."""
        usual = self._usual
        if usual is not None and (self._raised_at is not None or float(values.max()) > self._bar(usual)):
            for index in range(len(values)):
                self._one(usual, float(values[index]), int(steps[index]), float(walls[index]), self._count + index)
        self._part = np.concatenate((self._part, values))
        self._count += len(values)

    def _bar(self, usual: Usual) -> float:
        return usual.level + max(self.context["sigmas"] * usual.scatter, self.context["share"] * abs(usual.level))

    def _one(self, usual: Usual, value: float, step: int, wall: float, position: int) -> None:
        if self._raised_at is not None:
            self._follow(value, step, wall, position)
        excess = value - usual.level
        z = excess / usual.scatter
        if math.isfinite(usual.log_level) and value > 0.0:
            z = min(z, (math.log(value) - usual.log_level) / usual.log_scatter)
        # Ratios to a level that is hardly different from 0 mean nothing.
        apart = math.isfinite(usual.log_level) or usual.level > 3.0 * usual.scatter
        times = value / usual.level if apart and usual.level > 0 else 0.0
        if not apart:
            z = min(z, z * excess / max(TAIL_OF_SIGNED * usual.excess, 1e-300))
        if not apart and len(self._excesses) < TAIL_BLOCKS:
            return
        if (
            z < self.context["sigmas"]
            or excess < self.context["share"] * abs(usual.level)
            or excess < STAND_OUT * usual.excess
            or excess < self.context["material"] * abs(self._start)
        ):
            return
        together = position - self._last_candidate <= 4 and position >= SURE
        alone = z >= 2 * self.context["sigmas"] and excess >= (1.0 if position >= SURE else 2.0) * abs(usual.level)
        alone = alone or times >= self.context["huge"]
        self._last_candidate = position
        if not (together or alone):
            return
        if self._raised_at is None:
            self._raised_at, self._raised, self._after = position, usual, []
            if value > self.context["counts"] * abs(self._start):
                self._spikes = [each for each in (*self._spikes, position) if each > position - OFTEN_POINTS]
        severity = Severity.WATCH
        lost = times >= self.context["huge"] and value > self._nothing(step)
        if lost or len(self._spikes) >= OFTEN:
            severity = Severity.WARN
        shown = Evidence(
            mark("{value:.4g} at step {step}; the level before was {level:.4g}"),
            {"value": value, "step": step, "level": usual.level},
        )
        self._case.hit(severity, step, step, wall, shown)

    def _nothing(self, step: int) -> float:
        """The loss of knowing nothing: what it began with, unless it knew something then already."""
        start = abs(self._start)
        if start < LEAST_UNINFORMED and knows_something(self.context.scene, self.context.scope.rank_id, step):
            return LEAST_UNINFORMED + start
        return start

    def _follow(self, value: float, step: int, wall: float, position: int) -> None:
        """After a spike: is it back?"""
        before = self._raised
        if before is None or self._raised_at is None or position == self._raised_at:
            return
        self._after.append(value)
        if len(self._after) < AFTER:
            return
        level = median(np.array(self._after[-AFTER // 2 :]))
        least = max(self.context["share"] * abs(before.level), STAYS * abs(self._start))
        back = before.level + max(3.0 * before.scatter, least)
        if level > back:
            shown = Evidence(
                mark("{n} points after the spike the level is {now:.4g}, before it {level:.4g}"),
                {"n": len(self._after), "now": level, "level": before.level},
            )
            self._case.hit(Severity.WARN, step, step, wall, shown)
        else:
            self._case.clear(step, wall, Evidence(mark("back at its level")))
        self._raised_at = None

    def _close(self) -> None:
        """A block is full: what is usual is known anew."""
        block = self._part
        self._part = np.empty(0)
        if math.isnan(self._start):
            self._start = math.copysign(max(abs(median(block)), NEGLIGIBLE), median(block))
        usual = self._usual
        if usual is not None:
            kept = block[block <= usual.level + max(2 * self.context["sigmas"] * usual.scatter, abs(usual.level))]
            if len(kept) < len(block) // 2:
                kept = block  # a new level, not a spike
            # The excess that noise reaches is measured where no spike was.
            self._excesses = [*self._excesses[1 - TAIL_BLOCKS :], float(kept.max()) - usual.level]
            block = kept
        self._blocks = [*self._blocks[1 - BLOCKS :], block[:: -(-len(block) // SAMPLE)]]
        if self._count < READY:
            return
        self.judged = True
        level, scatter = level_and_scatter(self._blocks)
        scatter = max(scatter, MIN_SCATTER * abs(level), 1e-300)
        log_level, log_scatter = math.nan, math.nan
        if min(float(each.min()) for each in self._blocks) > 0.0:
            log_level, log_scatter = level_and_scatter([np.log(each) for each in self._blocks])
            log_scatter = max(log_scatter, MIN_SCATTER)
        excess = max(self._excesses, default=0.0)
        self._usual = Usual(level, scatter, log_level, log_scatter, excess)

    def segment(self, step: int) -> None:
        """Begin anew."""
        self._case.clear(step, 0.0)
        self._begin()


def _watches(subject: Subject, _tag: str) -> bool:
    return subject.role is Role.LOSS


RULE = Rule(
    name="loss-spike",
    title=mark("Loss spike"),
    symptoms=(Symptom.LOSS_SPIKE,),
    make=LossSpike,
    needs=mark("a training loss with at least 16 points"),
    watches=_watches,
    parameters=(
        Parameter(
            "sigmas",
            6.0,
            mark("robust standard deviations"),
            mark("noise of batches has heavy tails"),
            mark("OLMo-core, SkipStepOptimizer: 6 deviations of 128 points"),
        ),
        Parameter("share", 0.15, mark("of the level"), mark("less is no harm"), SIMULATED),
        Parameter("material", 0.02, mark("of the first level"), mark("near zero every ratio is large"), SIMULATED),
        Parameter(
            "counts",
            0.5,
            mark("of the first level"),
            mark("smaller ones are forgotten, however many"),
            NETS,
        ),
        Parameter(
            "huge",
            10.0,
            mark("times the level"),
            mark("an ordinary odd batch does not reach it"),
            mark("Megatron-LM: 10 times the largest of 100"),
        ),
    ),
    false_alarms=(mark("batches of very uneven length or difficulty"),),
)
