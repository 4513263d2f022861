"""What a rule may know besides its own series: the other series up to a step, and what was declared of the run.

Memory is bounded: each series keeps its last points and its first ones. A look never reaches beyond the step it
names.
"""

from __future__ import annotations

import math
from fnmatch import fnmatchcase
from typing import Dict, List, Mapping, Optional, Tuple

import numpy as np

from mstui.detect.base import Chunk, Subject
from mstui.detect.naming import Objective, is_held_out, objective_of
from mstui.detect.robust import median, scatter_of_neighbours
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role
from mstui.model.runs import Fact

KEPT = 1024
"""Points that a series of the whole run keeps for looks: the longest window that a rule asks for is 512."""
KEPT_OF_PARAMETER = 64
"""The same for one figure of one parameter, of which a run may have thousands."""
MOVED_KEPT = 256
"""Steps for which it is remembered whether weights moved."""
RECENT = 8
"""Points whose median is the level now."""
RATES = 512
"""Learning rates whose largest is the usual one."""
FADED = 0.1
"""Of the usual learning rate."""
LEFT = 0.02
"""Of the first level: what is left of a loss when all is learnt."""
PERFECT = 0.97
"""Accuracy of a net that has little left to learn."""
NEGLIGIBLE = 1e-3
"""A loss that nobody wants to be smaller, in the units that losses have: nats, or squares of scaled targets."""
GRADIENT_NORMS = ("grad_norm", "gradient_norm", "local_norm")
"""Statistics of a parameter that are norms of its gradient."""
IDLE = 1e-3
"""Of its weight's gradient: sums of what cancels leave 1e-8 to 1e-6 of it in float32, up to 1e-3 in float16. In a layer
that learns nothing both are small."""
FIRST_LEVEL = 16
"""First points that tell the level of no knowledge."""
LARGEST_LOG = 300.0
"""Beyond it noise means nothing any more, and floats end."""
FIRST = 64
"""Finite points kept from the beginning of a segment."""

_NO_INTS: IntArray = np.empty(0, np.int64)
_NO_FLOATS: FloatArray = np.empty(0, np.float64)


class Series:
    """One (rank, tag): its newest points, its first ones, and the chunk at hand."""

    def __init__(self, rank_id: int, tag: str, subject: Subject) -> None:
        self.rank_id = rank_id
        self.tag = tag
        self.subject = subject
        self.held_out = is_held_out(tag)
        """measured on data that is not trained on"""
        self.steps: IntArray = _NO_INTS
        self.last_wall = 0.0
        """wall time of the newest point"""
        self.values: FloatArray = _NO_FLOATS
        self.count = 0
        """points of this segment, the chunk at hand included"""
        self.first_steps: IntArray = _NO_INTS
        self.first_values: FloatArray = _NO_FLOATS
        self.segments: List[int] = []
        """steps at which later segments began"""
        self.restarts = 0
        """how many there were"""
        self.broken_at: Optional[int] = None
        """step of the first value of the segment that is not finite"""
        self._kept = KEPT_OF_PARAMETER if subject.role is Role.PARAMETER else KEPT

    def begin(self, chunk: Chunk) -> None:
        """Make a chunk visible to looks."""
        keep = self._kept
        self.steps = np.concatenate((self.steps[-keep:], chunk.steps))
        self.last_wall = float(chunk.walls[-1])
        self.values = np.concatenate((self.values[-keep:], chunk.values))
        self.count += len(chunk)
        if self.broken_at is None and not chunk.whole:
            self.broken_at = int(chunk.steps[int((~chunk.finite).argmax())])
        missing = FIRST - len(self.first_steps)
        if missing > 0:
            head = slice(None, None) if chunk.whole else chunk.finite
            self.first_steps = np.concatenate((self.first_steps, chunk.steps[head][:missing]))
            self.first_values = np.concatenate((self.first_values, chunk.values[head][:missing]))

    def trim(self) -> None:
        """Let go of what no look may ask for any more."""
        if len(self.steps) > 2 * self._kept:
            keep = self._kept
            self.steps = self.steps[-keep:].copy()
            self.values = self.values[-keep:].copy()

    def restart(self, step: int) -> None:
        """A new segment begins."""
        self.steps, self.values = _NO_INTS, _NO_FLOATS
        self.first_steps, self.first_values = _NO_INTS, _NO_FLOATS
        self.count = 0
        self.broken_at = None
        self.segments = [*self.segments[-7:], step]
        self.restarts += 1

    def upto(self, step: int, most: int) -> Tuple[IntArray, FloatArray]:
        """The last points, at most so many, that are not after `step`."""
        end = int(np.searchsorted(self.steps, step, side="right"))
        begin = max(0, end - min(most, self._kept))
        return self.steps[begin:end], self.values[begin:end]

    def between(self, after: int, upto: int) -> FloatArray:
        """Kept values with after < step <= upto."""
        begin, end = np.searchsorted(self.steps, (after, upto), side="right")
        return self.values[begin:end]

    def moved_at(self, step: int) -> bool:
        """Is there a record at this very step that differs from the one before?"""
        steps, values = self.upto(step, 2)
        return len(values) == 2 and int(steps[1]) == step and float(values[0]) != float(values[1])

    def at(self, step: int) -> Optional[float]:
        """The newest value that is not after `step`, finite or not; None when there is none."""
        end = int(np.searchsorted(self.steps, step, side="right"))
        return float(self.values[end - 1]) if end else None

    def uninformed(self, step: int) -> Optional[float]:
        """The level that it began at as a loss of no knowledge: not lower than the first point may lie by its noise.

        None where a positive level cannot be told.
        """
        end = min(FIRST_LEVEL, int(np.searchsorted(self.first_steps, step, side="right")))
        values = self.first_values[:end]
        if not end or float(values.min()) <= 0.0:
            return None
        noise = min(2.0 * scatter_of_neighbours(np.log(values)), LARGEST_LOG)
        return min(float(values[0]) * math.exp(noise), max(median(values), float(values[0])))

    def start(self, step: int, most: int = 5) -> Optional[float]:
        """Median of the first finite values, at most so many, as far as they are not after `step`."""
        end = min(most, int(np.searchsorted(self.first_steps, step, side="right")))
        return median(self.first_values[:end]) if end else None


class Scene:
    """All series of a run, and what was declared."""

    def __init__(self, objectives: Optional[Mapping[str, Objective]] = None) -> None:
        self.objectives: Mapping[str, Objective] = objectives or {}
        """by tag, as far as a person has said"""
        self.series: Dict[Tuple[int, str], Series] = {}
        self.facts: Mapping[str, Fact] = {}
        self.planned_steps: Optional[int] = None
        self.steps_per_epoch: Optional[float] = None
        self.frozen: Tuple[str, ...] = ()
        """what was declared frozen: names of parameters, of what holds them, or patterns with *"""
        self.accumulation = 1
        """steps that make one update"""
        self._by_role: Dict[Tuple[int, Role], List[Series]] = {}
        self._by_statistic: Dict[Tuple[int, str], List[Series]] = {}
        self._by_parameter: Dict[Tuple[int, str, str], Series] = {}
        self._moved: Dict[Tuple[int, int, int], bool] = {}

    def target(self, what: str) -> Optional[float]:
        """What a person declared to be aimed at: `target_accuracy`, `target_loss`."""
        for name in (f"target_{what}", f"custom/target_{what}"):
            fact = self.facts.get(name)
            if fact is None or isinstance(fact, bool):
                continue
            try:
                value = float(fact)
            except ValueError:
                continue
            if math.isfinite(value):
                return value
        return None

    def add(self, series: Series) -> None:
        """Take a series in."""
        self.series[series.rank_id, series.tag] = series
        self._by_role.setdefault((series.rank_id, series.subject.role), []).append(series)
        if series.subject.statistic:
            self._by_statistic.setdefault((series.rank_id, series.subject.statistic), []).append(series)
            key = series.rank_id, series.subject.statistic, series.subject.parameter
            self._by_parameter.setdefault(key, series)

    def objective(self, tag: str) -> Objective:
        """What a curve is supposed to do: a person's word, or what the name says."""
        return self.objectives.get(tag) or objective_of(tag)

    def of_role(self, rank_id: int, role: Role, held_out: Optional[bool] = None) -> List[Series]:
        """Series of a role, in the order of their first appearance."""
        found = self._by_role.get((rank_id, role), [])
        return found if held_out is None else [each for each in found if each.held_out is held_out]

    def of_statistic(self, rank_id: int, statistic: str) -> List[Series]:
        """One statistic of all parameters, in the order of their first appearance."""
        return self._by_statistic.get((rank_id, statistic), [])

    def of_parameter(self, rank_id: int, statistic: str, parameter: str) -> Optional[Series]:
        """One statistic of one parameter, the first that appeared."""
        return self._by_parameter.get((rank_id, statistic, parameter))

    def one(self, rank_id: int, role: Role) -> Optional[Series]:
        """The series of a role with most points."""
        found = self._by_role.get((rank_id, role))
        return max(found, key=lambda each: (each.count, each.tag)) if found else None

    def is_frozen(self, parameter: str) -> bool:
        """Was it declared that this parameter is not trained?"""
        return any(
            parameter == name or parameter.startswith((f"{name}.", f"{name}/")) or fnmatchcase(parameter, name)
            for name in self.frozen
        )

    def is_idle(self, rank_id: int, parameter: str, step: int) -> bool:
        """Has a bias no effect where it stands, though its layer learns?

        A normalisation behind a layer takes its bias away again, and a softmax does so with the bias of attention's
        keys: their gradients are rounding errors, for good. Those of a layer that does not learn are all small.
        """
        stem, bias, rest = parameter.rpartition("bias")
        if not bias or rest or (stem and stem[-1] not in "._/"):
            return False
        for statistic in GRADIENT_NORMS:
            own = self.of_parameter(rank_id, statistic, parameter)
            weight = self.of_parameter(rank_id, statistic, f"{stem}weight")
            if own is not None and weight is not None:
                size, usual = own.at(step), weight.at(step)
                return size is not None and usual is not None and size < IDLE * usual
        return False

    def broken_before(self, rank_id: int, step: int) -> bool:
        """Was the training loss no number any more before this step? What comes after it is no news."""
        return any(
            each.broken_at is not None and each.broken_at < step for each in self._by_role.get((rank_id, Role.LOSS), ())
        )

    def weights_moved(self, rank_id: int, step: int, restarts: int = 0) -> bool:
        """Did any weight change between its record at this step and the one before, since so many restarts?"""
        key = (rank_id, step, restarts)
        known = self._moved.get(key)
        if known is None:
            if len(self._moved) >= MOVED_KEPT:
                self._moved.clear()
            known = self._moved[key] = any(
                each.restarts == restarts and each.moved_at(step) for each in self.of_statistic(rank_id, "weight_norm")
            )
        return known

    def rate_faded(self, rank_id: int, step: int) -> bool:
        """Is the learning rate far below its usual size, as in a warm-up or after a decay?"""
        rates = self.one(rank_id, Role.LEARNING_RATE)
        if rates is None:
            return False
        _steps, values = rates.upto(step, RATES)
        finite = values[np.isfinite(values)]
        return bool(len(finite) and finite[-1] < FADED * finite.max())

    def has_converged(self, rank_id: int, step: int) -> bool:
        """Is next to nothing left to be learnt? A loss of exactly nothing is another matter."""
        for each in self._by_role.get((rank_id, Role.LOSS), ()):
            began = each.start(step)
            _steps, values = each.upto(step, RECENT)
            rest = LEFT * max(began or 0.0, NEGLIGIBLE / LEFT)
            if len(values) and float(np.abs(values).max()) > 0.0 and abs(median(values)) < rest:
                return True
        return self.is_perfect(rank_id, step)

    def is_perfect(self, rank_id: int, step: int) -> bool:
        """Does held-out data say that next to everything is learnt?"""
        for each in self._by_role.get((rank_id, Role.EVAL_METRIC), ()):
            share = each.at(step) if each.held_out and "acc" in each.tag.lower() else None
            if share is not None and (PERFECT <= share <= 1.0 or 100.0 * PERFECT <= share <= 100.0):
                return True
        return False

    def progress(self, step: int) -> Optional[float]:
        """Share of the planned steps that is done; None where no plan is known."""
        return None if not self.planned_steps else step / self.planned_steps
