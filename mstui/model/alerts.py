"""What is wrong with a training, as data: symptoms, how grave they are, what shows them, and incidents made of them.

Evidence is kept as a message id and its numbers, so that it can be said in any language and be reckoned with later.
Nothing here judges; that is mstui.detect's part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Mapping, Optional, Tuple, Union

from mstui.i18n import _, mark
from mstui.safe_text import safe

Number = Union[int, float, str]


class Symptom(Enum):
    """What can be seen of a trouble, by the ids of the knowledge base."""

    LOSS_NAN = "loss-nan"
    LOSS_INF = "loss-inf"
    LOSS_HUGE = "loss-huge"
    LOSS_ZERO = "loss-zero"
    LOSS_FLAT = "loss-flat"
    LOSS_SLOW = "loss-slow"
    LOSS_OSCILLATE = "loss-oscillate"
    LOSS_SPIKE = "loss-spike"
    LOSS_DIVERGE = "loss-diverge"
    LOSS_SHIFT = "loss-shift"
    PLATEAU = "plateau"
    METRIC_LOW = "metric-low"
    METRIC_CHANCE = "metric-chance"
    OVERFIT = "overfit"
    UNDERFIT = "underfit"
    GRAD_VANISH = "grad-vanish"
    GRAD_EXPLODE = "grad-explode"
    GRAD_ZERO = "grad-zero"
    WEIGHT_STATIC = "weight-static"
    WEIGHT_CHANGE_SMALL = "weight-change-small"
    WEIGHT_CHANGE_LARGE = "weight-change-large"
    INIT_ALL_ZERO = "init-all-zero"
    RANK_DIFFERS = "rank-differs"
    ACT_SATURATED = "act-saturated"
    DEAD_RELU = "dead-relu"
    OVERFLOW_STREAK = "overflow-streak"
    SCALE_COLLAPSE = "scale-collapse"
    SCALE_STUCK = "scale-stuck"
    DATA_MISSING = "data-missing-s"
    DATA_IMBALANCE = "data-imbalance-s"
    DATA_SCALE = "data-scale-s"
    DATA_ORDER = "data-order-s"
    LR_ANOMALY = "lr-anomaly"
    STALL = "stall"
    SLOW_DOWN = "slow-down"
    CRASH = "crash"


TITLES: Mapping[Symptom, str] = {
    Symptom.LOSS_NAN: mark("Loss is NaN"),
    Symptom.LOSS_INF: mark("Loss is infinite"),
    Symptom.LOSS_HUGE: mark("Loss is extremely large"),
    Symptom.LOSS_ZERO: mark("Loss is exactly 0"),
    Symptom.LOSS_FLAT: mark("Loss does not fall"),
    Symptom.LOSS_SLOW: mark("Loss falls slowly"),
    Symptom.LOSS_OSCILLATE: mark("Loss oscillates"),
    Symptom.LOSS_SPIKE: mark("Loss spike"),
    Symptom.LOSS_DIVERGE: mark("Loss climbs away"),
    Symptom.LOSS_SHIFT: mark("Loss level changed"),
    Symptom.PLATEAU: mark("Loss plateau"),
    Symptom.METRIC_LOW: mark("Metric below expectation"),
    Symptom.METRIC_CHANCE: mark("Metric at chance"),
    Symptom.OVERFIT: mark("Over-fitting"),
    Symptom.UNDERFIT: mark("Under-fitting"),
    Symptom.GRAD_VANISH: mark("Gradients vanish"),
    Symptom.GRAD_EXPLODE: mark("Gradients explode"),
    Symptom.GRAD_ZERO: mark("Gradients are all zero"),
    Symptom.WEIGHT_STATIC: mark("Weights do not change"),
    Symptom.WEIGHT_CHANGE_SMALL: mark("Weight updates too small"),
    Symptom.WEIGHT_CHANGE_LARGE: mark("Weight updates too large"),
    Symptom.INIT_ALL_ZERO: mark("Weights start at zero"),
    Symptom.RANK_DIFFERS: mark("Ranks disagree"),
    Symptom.ACT_SATURATED: mark("Activation saturated"),
    Symptom.DEAD_RELU: mark("Dead ReLU"),
    Symptom.OVERFLOW_STREAK: mark("Overflow streak"),
    Symptom.SCALE_COLLAPSE: mark("Loss scale at its floor"),
    Symptom.SCALE_STUCK: mark("Loss scale never moves"),
    Symptom.DATA_MISSING: mark("Input has missing values"),
    Symptom.DATA_IMBALANCE: mark("Classes are imbalanced"),
    Symptom.DATA_SCALE: mark("Input not normalised"),
    Symptom.DATA_ORDER: mark("Data not shuffled"),
    Symptom.LR_ANOMALY: mark("Learning-rate anomaly"),
    Symptom.STALL: mark("No progress"),
    Symptom.SLOW_DOWN: mark("Throughput dropped"),
    Symptom.CRASH: mark("Training crashed"),
}
"""Message ids of the names that a person reads."""


class Severity(IntEnum):
    """How much it matters. From WARN on, a badge is shown."""

    INFO = 0
    WATCH = 1
    """listed, without badge or sound"""
    WARN = 2
    ERROR = 3
    """asks for a decision"""
    CRITICAL = 4
    """from here on the run is wasted"""


@dataclass(frozen=True)
class Evidence:
    """One sentence that supports a finding: a message id, and what stands in its braces."""

    message: str
    numbers: Mapping[str, Number] = field(default_factory=dict)

    def say(self) -> str:
        """The sentence in the chosen language. Texts that come from files are made safe to show."""
        shown = {key: safe(value) if isinstance(value, str) else value for key, value in self.numbers.items()}
        return _(self.message).format(**shown)


@dataclass(frozen=True, order=True)
class Scope:
    """What a finding is about."""

    rank_id: int = 0
    tag: str = ""
    """the series that shows it; empty for the whole run"""
    layer: str = ""
    """the parameter or layer; empty where it is not about one"""


class Phase(Enum):
    """What a detection says of its case."""

    RAISED = "raised"
    CHANGED = "changed"
    """still there; graver than before, or better known"""
    CLEARED = "cleared"


@dataclass(frozen=True)
class Detection:
    """One rule's word on one scope.

    `step` is where the trouble began, `detected_step` the record that let it be said.
    """

    rule: str
    symptom: Symptom
    severity: Severity
    scope: Scope
    phase: Phase
    step: int
    detected_step: int
    wall_time: float
    """of the record that let it be said, Unix seconds"""
    evidence: Tuple[Evidence, ...] = ()


class IncidentState(Enum):
    """As far as the data tell; what a person said of it is kept elsewhere."""

    OPEN = "open"
    CLEARED = "cleared"


@dataclass(frozen=True)
class Happening:
    """One symptom within an incident."""

    symptom: Symptom
    severity: Severity
    scope: Scope
    """where it was seen first"""
    step: int
    detected_step: int
    wall_time: float
    evidence: Tuple[Evidence, ...]
    cleared_step: Optional[int] = None
    others: Tuple[Scope, ...] = ()
    """further places that show the same, in the order in which they were seen; bounded"""
    repeats: int = 0
    """times it was seen again"""
    cleared_wall: float = 0.0
    """wall time of the record that showed that it is over, Unix seconds; 0.0 where that is not known"""


@dataclass(frozen=True)
class Incident:
    """One trouble: the symptom that came first, and what followed from it."""

    number: int
    """counted from 1 in a run, in the order in which they were raised"""
    happenings: Tuple[Happening, ...]
    """by the step at which they were detected; never empty"""

    @property
    def head(self) -> Happening:
        """What it is called by: the symptom that was seen first."""
        return self.happenings[0]

    @property
    def severity(self) -> Severity:
        """The gravest word of any of its symptoms."""
        return max(each.severity for each in self.happenings)

    @property
    def state(self) -> IncidentState:
        """Open while any of its symptoms is."""
        still = any(each.cleared_step is None for each in self.happenings)
        return IncidentState.OPEN if still else IncidentState.CLEARED

    @property
    def timeline(self) -> Tuple[Happening, ...]:
        """What came after the first symptom."""
        return self.happenings[1:]


@dataclass(frozen=True)
class NotJudged:
    """A rule that could say nothing, why, and what would let it."""

    rule: str
    because: Evidence
    needs: Evidence


@dataclass(frozen=True)
class Verdict:
    """Which rules had what they need. Health may only be claimed for those that are judged."""

    judged: Tuple[str, ...]
    not_judged: Tuple[NotJudged, ...]
