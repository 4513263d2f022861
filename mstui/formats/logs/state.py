"""What the lines before a line have told: where the training is, and what its figures have looked like so far.

One per stretch of a file that is read in a row. Producers write here what only a later line can use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Dict, List, Mapping, NamedTuple, Optional

from mstui.formats.logs.steps import STEP_LIMIT, StepCounter
from mstui.formats.logs.values import same
from mstui.model.logs import EventKind

if TYPE_CHECKING:
    from mstui.model import runs

NEAR_ZERO = 0.01
"""A loss that was below this may go on to be printed as `0.000`. From a larger one, zero means "not on this rank" or
"this batch was skipped": no training falls from there to below the printed digits between two records."""
UNIT_SCALE = 1.0


class Fact(NamedTuple):
    """An event that a line of metrics says."""

    kind: EventKind
    code: str = ""
    fields: Mapping[str, str] = {}
    step: Optional[int] = None


class Reading(NamedTuple):
    """Values of one step."""

    step: int
    values: Mapping[str, Optional[float]]
    """by tag; None is no value"""
    moves: bool = True
    """the training has come to this step"""
    wall_time: Optional[float] = None
    """when the record belongs to an earlier one with its own stamp"""


@dataclass
class State:
    """Memory of one stretch."""

    steps: StepCounter = field(default_factory=StepCounter)
    last_step: Optional[int] = None
    """global step of the last line of training metrics"""
    last_wall: Optional[float] = None
    """time stamp of that line"""
    memory: Dict[str, float] = field(default_factory=dict)
    """figures that one producer keeps for itself, keys begin with its name"""
    words: Dict[str, List[str]] = field(default_factory=dict)
    """the same for names, as the columns of a table"""
    facts: List[Fact] = field(default_factory=list)
    """events of the line at hand; whoever reads them empties it"""
    before: List[Reading] = field(default_factory=list)
    """values of earlier lines whose step only the line at hand tells; whoever reads them empties it"""
    pending: Optional[Mapping[str, float]] = None
    """values whose step is not known yet"""
    skipped: Dict[str, int] = field(default_factory=dict)
    """values that were understood but are none: why, and how many; whoever reads them empties it"""
    loss_elsewhere: bool = False
    """the log says that another rank has the loss"""
    last_loss: float = math.inf
    """last loss that was not zero"""
    scale_varied: bool = False
    overflowing: bool = False
    epochs: Optional[int] = None
    """that the training is to take, as its lines say"""
    planned_steps: Optional[int] = None
    """that it is to take in all, where its lines say that"""
    declared: Dict[str, runs.Fact] = field(default_factory=dict)
    """what else the text says of the training, by the names of `Batch.facts`"""

    def plan(self, *, epochs: Optional[str] = None, steps: Optional[str] = None) -> None:
        """Take how long the training is to be; what is not printed is None."""
        if epochs:
            self.epochs = int(epochs)
        if steps:
            self.planned_steps = int(steps)

    def facts_known(self) -> Dict[str, runs.Fact]:
        """What the lines so far say of the training."""
        facts = dict(self.declared)
        per_epoch, planned = self.steps.printed, self.planned_steps
        if per_epoch:
            facts["steps_per_epoch"] = per_epoch
        if self.epochs:
            facts["epoch"] = self.epochs
            if per_epoch and not planned:
                planned = min(self.epochs * per_epoch, STEP_LIMIT)
        if planned:
            facts["planned_steps"] = planned
        return facts

    def skip(self, why: str, count: int = 1) -> None:
        """Count values that are not kept."""
        self.skipped[why] = self.skipped.get(why, 0) + count

    def loss(self, value: Optional[float]) -> Optional[float]:
        """A loss, or None where zero stands for "no value"."""
        if value is None:
            return None
        if value != 0.0:
            self.last_loss = abs(value)
            return value
        if self.loss_elsewhere or not self.last_loss < NEAR_ZERO:
            self.skip("loss-zero")
            return None
        return value

    def scale(self, value: Optional[float]) -> Optional[float]:
        """A loss scale, or None as long as it has only ever been 1: BF16 trains without one."""
        if value is None or (not self.scale_varied and same(value, UNIT_SCALE)):
            return None
        self.scale_varied = True
        return value

    def overflow(self, *, overflowed: bool, fields: Mapping[str, str], step: Optional[int]) -> float:
        """The overflow flag as a value; the first of a streak is an event."""
        if overflowed and not self.overflowing:
            self.facts.append(Fact(EventKind.OVERFLOW, "", fields, step))
        self.overflowing = overflowed
        return float(overflowed)

    def step_or(self, other: Optional[int]) -> int:
        """The last global step; where no line has told one, what stands in for it."""
        if self.last_step is not None:
            return self.last_step
        return min(other, STEP_LIMIT) if other is not None else 0
