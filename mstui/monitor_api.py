"""What front ends may ask of the monitor. Tests pass a fake that keeps this Protocol.

Every call is safe on the UI thread: it touches memory only and costs less than a millisecond for one curve, except
the ones named `fetch_*`, which read the disk and belong in a worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Optional, Protocol, Sequence, Tuple

from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.model.runs import FileStatus, RunInfo, WatchState
from mstui.model.series import CurveView, Points, Series, SeriesKey, XAxis
from mstui.model.sources import Source

if TYPE_CHECKING:
    from mstui.checks.session import Session
    from mstui.model.alert_view import Alert, JournalHealth, LikelyCause
    from mstui.model.alerts import Verdict
    from mstui.model.details import PayloadDetails
    from mstui.model.journal import Entry
    from mstui.model.log_view import LogFile, LogHits, LogPage, LogPlace, LogQuery, ProcessFact
    from mstui.model.ranks import RankTable


@dataclass(frozen=True)
class TagInfo:
    """One tag of a run, over all of its ranks."""

    tag: str
    kind: Optional[BlobKind]
    """None for scalars"""
    role: Role
    parameter: str
    """the parameter or layer a PARAMETER tag is about ("fc1.weight"); empty otherwise"""
    statistic: str
    """the statistic of it ("grad_norm", "weight"); empty otherwise"""
    points: int
    """of the rank that has most"""
    last_step: Optional[int]
    last_value: Optional[float]
    """newest value of the lowest rank; None for payloads"""
    first_seen: int
    """order of first appearance in the files, which is the order of the network where MindSpore keeps it"""
    sources: Tuple[Source, ...] = ()
    """where its points come from, the most exact first"""


@dataclass(frozen=True)
class CurveQuery:
    """What a chart wants drawn."""

    key: SeriesKey
    columns: int
    """pixel columns; two per terminal cell"""
    axis: XAxis = XAxis.STEP
    x_range: Optional[Tuple[float, float]] = None
    """None: all of it, the end rounded outwards so that it seldom moves"""
    smoothing: float = 0.0
    """weight of the past in the exponential average, 0 to 0.99"""
    band: bool = False
    """also reduce the other ranks of the run"""
    ranges: Tuple[SeriesKey, ...] = ()
    """curves that share the picture: with x_range None the range covers them too"""
    kept: Tuple[Tuple[XAxis, Tuple[float, float]], ...] = ()
    """with x_range None: ranges to use instead, each for the axis that it is told in (the view's may be another one
    than `axis`)"""


@dataclass(frozen=True)
class CursorReading:
    """The value under the cursor for one curve."""

    key: SeriesKey
    step: int
    wall_time: float
    value: float
    smooth: float
    x: float
    index: int
    """position among the points of the current generation"""
    total: int


@dataclass(frozen=True)
class MapRow:
    """One row of the layers x steps map."""

    parameter: str
    cells: Tuple[float, ...]
    """one figure a column; NaN where there is none"""
    non_finite: Tuple[bool, ...]
    """columns in which the parameter held NaN or infinities"""
    last: float
    first: Optional[int] = None
    """step of its first record"""
    first_bad: Optional[int] = None
    """step of the first record that held NaN or infinities"""
    zero_since: Optional[int] = None
    """step of the first of the records that are zero up to the newest; None where that is not zero"""


@dataclass(frozen=True)
class LayerMap:
    """Layers x steps for one metric; rows in the order of the network."""

    metric: str
    metrics: Tuple[str, ...]
    """every metric that this run can show, in a fixed order"""
    steps: Tuple[int, ...]
    """the last step in each column of which there is a record; where there is none, the column's right edge"""
    rows: Tuple[MapRow, ...]
    complete: bool
    """False while histograms are still being decoded"""
    source: str
    """"scalars" or "histograms" """
    starts: Tuple[int, ...] = ()
    """the first step in each column of which there is a record; where there is none, the column's left edge"""


Listener = Callable[[int], None]
"""called from the monitor thread with the new revision; must only hand it over"""


class MonitorApi(Protocol):
    """The façade that screens, plain mode and reports use."""

    @property
    def root(self) -> str:
        """The path being watched."""
        ...

    @property
    def revision(self) -> int:
        """Rises whenever something that a screen shows has changed."""
        ...

    def start(self, listener: Listener) -> None:
        """Start the monitor thread."""
        ...

    def stop(self) -> None:
        """Stop it and wait; safe to call twice."""
        ...

    def read_now(self) -> None:
        """Look at every file at once, without waiting for events or the heartbeat."""
        ...

    def watch_state(self) -> WatchState:
        """How the disk is followed, and how fresh the picture is."""
        ...

    def runs(self) -> Sequence[RunInfo]:
        """Every run found, newest data first."""
        ...

    def rank_table(self, run_key: str) -> Optional[RankTable]:
        """The ranks of a run side by side; None for a run that is not loaded."""
        ...

    def load(self, run_key: str) -> None:
        """Read this run's files and follow them. Returns at once."""
        ...

    def unload(self, run_key: str) -> None:
        """Forget this run's points and stop following it. It stays listed."""
        ...

    def files(self, run_key: Optional[str] = None) -> Sequence[FileStatus]:
        """Every file of a run, or of the root when None, worst state first."""
        ...

    def tags(self, run_key: str) -> Sequence[TagInfo]:
        """Tags of a loaded run, by role and then first appearance."""
        ...

    def series(self, key: SeriesKey) -> Optional[Series]:
        """Every point, as views into the store; None when there is no such series (yet)."""
        ...

    def curve(self, query: CurveQuery) -> Optional[CurveView]:
        """None when the series does not exist (yet)."""
        ...

    def reading(self, key: SeriesKey, axis: XAxis, x: float, smoothing: float) -> Optional[CursorReading]:
        """The point nearest to x."""
        ...

    def reading_at(self, key: SeriesKey, axis: XAxis, index: int, smoothing: float) -> Optional[CursorReading]:
        """The point with this index (negative: from the end)."""
        ...

    def next_non_finite(self, key: SeriesKey, after_index: int) -> Optional[int]:
        """Index of the next NaN or infinity after a point, wrapping round; None when there is none."""
        ...

    def points_around(self, key: SeriesKey, step: int, number: int) -> Optional[Points]:
        """About `number` points of the current generation around a step (for export and the histogram panel)."""
        ...

    def histogram_steps(self, key: SeriesKey) -> Tuple[int, ...]:
        """Steps at which this tag has a histogram."""
        ...

    def fetch_histograms(self, key: SeriesKey, indices: Sequence[int]) -> Sequence[Optional[Histogram]]:
        """Decode these (positions in histogram_steps); None for one that can no longer be read."""
        ...

    def fetch_histogram_stats(self, key: SeriesKey, indices: Sequence[int]) -> Sequence[Optional[HistogramStats]]:
        """The figures without the buckets, several times cheaper."""
        ...

    def fetch_layer_map(self, run_key: str, rank_id: int, metric: str, columns: int) -> Optional[LayerMap]:
        """None when the run has no per-parameter statistic at all. An unknown metric falls back to the first one."""
        ...

    def payload_steps(self, key: SeriesKey, kind: BlobKind) -> Tuple[int, ...]:
        """Steps at which this tag has a payload of this kind."""
        ...

    def fetch_details(self, key: SeriesKey, kind: BlobKind, index: int) -> Optional[PayloadDetails]:
        """One payload (position in payload_steps, negative from the newest); None when there is none such."""
        ...

    def log_files(self, run_key: str) -> Sequence[LogFile]:
        """Text logs of a loaded run, by rank and name."""
        ...

    def process_facts(self, run_key: str) -> Sequence[ProcessFact]:
        """What the processes of a loaded run have told: what explains most first, then by time."""
        ...

    def fetch_log(self, query: LogQuery, around: Optional[LogPlace], before: int, after: int) -> LogPage:
        """Rows from `before` records in front of a place to `after` behind it, the record itself included.

        around None: the newest record. With all ranks, rows are in the order of their time stamps.
        """
        ...

    def fetch_log_text(self, place: LogPlace, most: int) -> str:
        """A whole record, at most so many characters; empty when it can no longer be read."""
        ...

    def fetch_log_hits(self, query: LogQuery, words: str, tell: Callable[[LogHits], bool]) -> LogHits:
        """Search, newest first: words in any case, or /a regular expression/. `tell` hears of progress; False stops it.

        Raises FilterError for a regular expression that cannot be understood.
        """
        ...

    def log_place(self, key: SeriesKey, step: int) -> Optional[LogPlace]:
        """The record that told of a step of this rank, or the last one before it; None without any."""
        ...

    def log_step(self, place: LogPlace) -> Optional[int]:
        """The step that a record tells of, or the last one told before it in the same file."""
        ...

    def alerts(self, run_key: str) -> Sequence[Alert]:
        """Incidents of a loaded run, in the order in which they were raised."""
        ...

    def verdict(self, run_key: str) -> Optional[Verdict]:
        """Which rules could judge; None for a run that is not loaded, or whose history is still being read."""
        ...

    def alert_entries(self, run_key: str, alert_id: str) -> Sequence[Entry]:
        """What was noted about an incident, oldest first."""
        ...

    def note(self, run_key: str, entries: Sequence[Entry]) -> None:
        """A person acknowledges, snoozes, calls intended, answers a check, or takes it back. Returns at once."""
        ...

    def journal_health(self) -> JournalHealth:
        """Can what persons say be kept."""
        ...

    def fetch_session(self, run_key: str, alert_id: str, flow: str = "") -> Optional[Session]:
        """The guided check of an incident with the answers so far, or a flow; None for an unknown incident."""
        ...

    def fetch_causes(self, run_key: str, alert_id: str, language: str) -> Sequence[LikelyCause]:
        """Causes of an incident, the likeliest first; empty for an unknown one."""
        ...

    def set_role(self, tag: str, role: Role) -> None:
        """A person's word on a tag's role, for every run of this root."""
        ...
