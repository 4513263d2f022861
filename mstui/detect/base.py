"""The contract of a rule: what it watches, its named thresholds, and the detector it makes.

A detector sees the points of its series in order, in chunks of any length, and must say the same however they are
cut. It has no clock and no file. It may look at other series through the Scene, up to the step it is judging and no
further.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Callable, List, Mapping, NamedTuple, Optional, Tuple

import numpy as np

from mstui.model.alerts import Detection, Evidence, NotJudged, Phase, Scope, Severity, Symptom
from mstui.model.logs import LogEvent
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role
from mstui.model.series import BoolArray

if TYPE_CHECKING:
    from mstui.detect.scene import Scene, Series
    from mstui.detect.track import Track
    from mstui.model.histogram import Histogram


class Subject(NamedTuple):
    """What a series is about, as the roles of tags tell."""

    role: Role
    parameter: str = ""
    statistic: str = ""


@dataclass(frozen=True)
class Parameter:
    """A threshold: its name, its default in `unit`, why it is that, and where it comes from."""

    name: str
    default: float
    unit: str
    reason: str
    source: str


class Breadth(Enum):
    """For what one detector is made."""

    SERIES = "series"
    """each (rank, tag) that the rule watches"""
    RUN = "run"
    """once; gets the points of every series that the rule watches"""


@dataclass(frozen=True)
class Process:
    """What is known of the training's process."""

    running: Optional[bool] = None
    """None where nobody can tell"""
    exit_code: Optional[int] = None
    """of a process that ended"""
    seen_at: Optional[float] = None
    """Unix seconds at which it was like this, by the clock of the records; None: now. A replay's records are old."""


@dataclass(frozen=True)
class Chunk:
    """Consecutive points of one series, steps strictly rising. Values are float64 and may be NaN or infinite."""

    steps: IntArray
    walls: FloatArray
    values: FloatArray
    finite: BoolArray
    whole: bool
    """every value is finite"""

    @staticmethod
    def of(steps: IntArray, walls: FloatArray, values: FloatArray) -> Chunk:
        """A chunk of these points."""
        finite = np.isfinite(values)
        return Chunk(steps, walls, values, finite, bool(finite.all()))

    def good(self) -> Chunk:
        """Only what is finite."""
        if self.whole:
            return self
        keep = self.finite
        return Chunk(self.steps[keep], self.walls[keep], self.values[keep], keep[keep], True)  # noqa: FBT003

    def __len__(self) -> int:
        return len(self.steps)


STILL_NEWS = frozenset(
    (
        Symptom.LOSS_NAN,
        Symptom.LOSS_INF,
        Symptom.OVERFLOW_STREAK,
        Symptom.SCALE_COLLAPSE,
        Symptom.CRASH,
        Symptom.STALL,
        Symptom.SLOW_DOWN,
        Symptom.RANK_DIFFERS,
    )
)
"""What is worth a word of its own even when the loss is NaN already."""


class Context:
    """What a detector is given: its thresholds, its scope, the scene, and a mouth."""

    def __init__(
        self,
        rule: Rule,
        scope: Scope,
        parameters: Mapping[str, float],
        scene: Scene,
        out: List[Detection],
        series: Optional[Series] = None,
    ) -> None:
        self.rule = rule
        self.scope = scope
        self.scene = scene
        self.series = series
        self._parameters = parameters
        self._out = out

    def __getitem__(self, name: str) -> float:
        """A threshold by its name."""
        return self._parameters[name]

    def say(
        self,
        symptom: Symptom,
        severity: Severity,
        phase: Phase,
        onset: int,
        step: int,
        wall: float,
        evidence: Tuple[Evidence, ...],
        scope: Optional[Scope] = None,
    ) -> None:
        """Hand out a detection. After the loss has become no number, what follows is told and rings no more."""
        about = self.scope if scope is None else scope
        if symptom not in STILL_NEWS and self.scene.broken_before(about.rank_id, int(onset)):
            severity = min(severity, Severity.INFO)
        self._out.append(
            Detection(
                self.rule.name,
                symptom,
                severity,
                about,
                phase,
                int(onset),
                int(step),
                float(wall),
                evidence,
            )
        )


CHRONIC = 12
"""Times that a case may be over: one that comes and goes for ever would ring for ever."""


class Case:
    """One symptom of one scope: open or not, and how grave. Says each change once."""

    def __init__(self, context: Context, symptom: Symptom, scope: Optional[Scope] = None) -> None:
        self.symptom = symptom
        self.severity: Optional[Severity] = None
        """None while it is not open"""
        self.onset = 0
        self._cleared = 0
        self._context = context
        self._scope = scope

    @property
    def open(self) -> bool:
        """Raised and not cleared."""
        return self.severity is not None

    @property
    def chronic(self) -> bool:
        """Open for good: it has come back too often."""
        return self.severity is not None and self._cleared >= CHRONIC

    def hit(self, severity: Severity, onset: int, step: int, wall: float, *evidence: Evidence) -> None:
        """It is there. An open case is only heard again when it has become graver."""
        if self.severity is not None and severity <= self.severity:
            return
        phase = Phase.RAISED if self.severity is None else Phase.CHANGED
        if self.severity is None:
            self.onset = int(onset)
        self.severity = severity
        self._context.say(self.symptom, severity, phase, self.onset, step, wall, evidence, self._scope)

    def clear(self, step: int, wall: float, *evidence: Evidence) -> None:
        """It is over; nothing happens when it is not open. What has come back too often stays open from then on."""
        if self.severity is None or self.chronic:
            return
        self._cleared += 1
        severity, self.severity = self.severity, None
        self._context.say(self.symptom, severity, Phase.CLEARED, self.onset, step, wall, evidence, self._scope)


class Detector:
    """Base of all detectors: every occasion does nothing. Subclasses answer those that they care about."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.judged = False
        """has seen enough to be able to speak"""
        self.waits: Optional[Evidence] = None
        """what it waits for, while it has not judged"""

    def points(self, chunk: Chunk) -> None:
        """New points of its series."""

    def points_of(self, series: Series, chunk: Chunk) -> None:
        """New points of one of the series that a RUN detector watches."""

    def tick(self, track: Track) -> None:
        """One of the moments, at fixed numbers of points, at which slow judgements are made."""

    def histogram(self, series: Series, histogram: Histogram) -> None:
        """A histogram that it watches."""

    def event(self, rank_id: int, event: LogEvent, step: int) -> None:
        """A fact from a log; `step` is the last step known by then."""

    def segment(self, step: int) -> None:
        """What comes now is a new start: another generation, or after a long gap. Baselines begin anew."""

    def clock(self, now: float, process: Process) -> None:
        """Time has passed."""

    def end(self, step: int, wall: float) -> None:
        """The training is over; `step` was its last."""


def _nothing(_subject: Subject, _tag: str) -> bool:
    return False


@dataclass(frozen=True)
class Rule:
    """One drop-in rule."""

    name: str
    """kebab-case; what `judged` lists and settings name"""
    title: str
    symptoms: Tuple[Symptom, ...]
    make: Callable[[Context], Detector]
    needs: str
    """in words: what has to be recorded for it to judge"""
    watches: Callable[[Subject, str], bool] = _nothing
    """which scalar series"""
    histograms: Callable[[Subject, str], bool] = _nothing
    """which histograms"""
    breadth: Breadth = Breadth.SERIES
    ticks: bool = False
    """wants `tick` instead of `points`"""
    parameters: Tuple[Parameter, ...] = ()
    false_alarms: Tuple[str, ...] = field(default=())
    """known ways in which it errs, in words"""

    def defaults(self) -> Mapping[str, float]:
        """Thresholds by name."""
        return {each.name: each.default for each in self.parameters}


__all__ = [
    "Breadth",
    "Case",
    "Chunk",
    "Context",
    "Detector",
    "NotJudged",
    "Parameter",
    "Process",
    "Rule",
    "Subject",
]
