"""A monitor made of arrays: keeps MonitorApi, reads no file, starts no thread."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from mstui.checks.session import Case, Session, session
from mstui.errors import FilterError
from mstui.knowledge.loader import knowledge
from mstui.model.alert_view import Alert, JournalHealth, LikelyCause
from mstui.model.alerts import Verdict
from mstui.model.details import PayloadDetails
from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.journal import Entry
from mstui.model.log_view import LogFile, LogHits, LogPage, LogPlace, LogQuery, LogRow, ProcessFact
from mstui.model.logs import LogLevel
from mstui.model.ranks import RankRow, RankTable
from mstui.model.records import BlobKind, FloatArray, IntArray, ValueArray
from mstui.model.roles import Role
from mstui.model.runs import FileStatus, RankInfo, RunInfo, RunStatus, WatchState
from mstui.model.series import CurveView, Disagreement, Points, Series, SeriesKey, XAxis
from mstui.model.sources import Source
from mstui.monitor_api import CursorReading, CurveQuery, LayerMap, Listener, MonitorApi, TagInfo
from mstui.tui.alert_asking import Question
from mstui.tui.budget import LinkBudget
from mstui.tui.panel import Panel
from mstui.tui.state import ViewState

START = 1_700_000_000.0
"""wall time of the first record"""
STEPS_PER_EPOCH = 100
SECONDS_PER_STEP = 2.0
STEP_GAP = 10


@dataclass(frozen=True)
class FakeSeries:
    """One series as arrays; `old_*` is what a restart superseded."""

    steps: IntArray
    wall_times: FloatArray
    values: FloatArray
    old_steps: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    old_values: FloatArray = field(default_factory=lambda: np.empty(0))
    restarts: Tuple[int, ...] = ()


def coarse_end(span: float) -> float:
    """Next of 8 to 16 ends an octave at or above a span."""
    if span <= 0:
        return 1.0
    step: float = 2.0 ** (math.floor(math.log2(span)) - 3)
    return math.ceil(span / step) * step


def average(values: FloatArray, weight: float) -> FloatArray:
    """Debiased exponential average that steps over what is not finite."""
    out = np.full(len(values), np.nan)
    total = norm = 0.0
    for i, value in enumerate(values.tolist()):
        if math.isfinite(value):
            total = total * weight + value * (1 - weight)
            norm = norm * weight + (1 - weight)
        out[i] = total / norm if norm else math.nan
    return out


def make_run(key: str, ranks: int = 1, **changes: Any) -> RunInfo:
    """A live run with ordinary figures."""
    rank_infos = tuple(RankInfo(r, 1000, START + 2000, RunStatus.LIVE, 1, 1000, 1000) for r in range(ranks))
    run = RunInfo(
        key,
        f"/runs/{key}",
        loaded=True,
        status=RunStatus.LIVE,
        ranks=rank_infos,
        last_step=1000,
        last_data=START + 2000,
        step_gap=STEP_GAP,
        record_interval_s=20.0,
        file_count=ranks,
        bytes_total=1000,
        bytes_read=1000,
        fault_count=0,
        seconds_per_step=SECONDS_PER_STEP,
    )
    return replace(run, **changes)


class FakeMonitor:
    """Everything a screen asks for is a public attribute that a test may set; call `bump()` after setting one."""

    def __init__(self, root: str = "/runs") -> None:
        self.root_path = root
        self.run_list: List[RunInfo] = []
        self.tag_lists: Dict[str, List[TagInfo]] = {}
        self.data: Dict[SeriesKey, FakeSeries] = {}
        self.file_list: List[FileStatus] = []
        self.histograms: Dict[SeriesKey, List[Histogram]] = {}
        self.layer_maps: Dict[Tuple[str, str], LayerMap] = {}
        self.rank_tables: Dict[str, RankTable] = {}
        self.details: Dict[Tuple[SeriesKey, BlobKind], List[PayloadDetails]] = {}
        self.state = WatchState(
            "events", "", START + 2000, alive=True, bytes_total=1000, bytes_read=1000, scan_every_s=5.0
        )
        self.log_rows: Dict[str, List[LogRow]] = {}
        """records of a run in the order of their time stamps"""
        self.log_texts: Dict[LogPlace, str] = {}
        self.log_file_list: Dict[str, List[LogFile]] = {}
        self.facts: Dict[str, List[ProcessFact]] = {}
        self.alert_lists: Dict[str, Tuple[Alert, ...]] = {}
        self.verdicts: Dict[str, Verdict] = {}
        """runs that are not here are still being read"""
        self.entries: Dict[Tuple[str, str], List[Entry]] = {}
        """by run and incident"""
        self.noted: List[Tuple[str, Entry]] = []
        """what a person has said, in order; nothing follows from it here"""
        self.cases: Dict[Tuple[str, str], Case] = {}
        """what is seen of an incident or a flow, by run and id; a flow needs none"""
        self.causes: Dict[Tuple[str, str], Sequence[LikelyCause]] = {}
        self.health = JournalHealth(ok=True)
        self.log_note = ""
        self.log_queries: List[LogQuery] = []
        self.disagreements: Dict[SeriesKey, Disagreement] = {}
        self.sources: Dict[SeriesKey, Tuple[Source, ...]] = {}
        self.calls: List[str] = []
        self.queries: List[CurveQuery] = []
        self._revision = 1
        self._listener: Optional[Listener] = None

    def bump(self) -> None:
        """Raise the revision and tell the listener."""
        self._revision += 1
        if self._listener is not None:
            self._listener(self._revision)

    def add_run(self, key: str, ranks: int = 1, **changes: Any) -> RunInfo:
        """List a run."""
        run = make_run(key, ranks, **changes)
        self.run_list.append(run)
        self.tag_lists.setdefault(key, [])
        self.bump()
        return run

    def put(
        self,
        run_key: str,
        tag: str,
        values: Any,
        *,
        steps: Any = None,
        role: Role = Role.OTHER,
        rank_id: int = 0,
        old_steps: Any = (),
        old_values: Any = (),
        restarts: Tuple[int, ...] = (),
        parameter: str = "",
        statistic: str = "",
    ) -> SeriesKey:
        """Set a series; its run and tag are listed when they are new."""
        if not any(run.key == run_key for run in self.run_list):
            self.add_run(run_key)
        key = SeriesKey(run_key, rank_id, tag)
        y = np.asarray(values, dtype=np.float64)
        x = np.arange(len(y)) * STEP_GAP if steps is None else np.asarray(steps)
        x = x.astype(np.int64)
        self.data[key] = FakeSeries(
            x,
            START + x * SECONDS_PER_STEP,
            y,
            np.asarray(old_steps, dtype=np.int64),
            np.asarray(old_values, dtype=np.float64),
            restarts,
        )
        tags = self.tag_lists[run_key]
        last = float(y[-1]) if len(y) else None
        info = TagInfo(
            tag, None, role, parameter, statistic, len(y), int(x[-1]) if len(x) else None, last, len(self.tag_lists)
        )
        known = [t.tag for t in tags]
        if tag in known:
            tags[known.index(tag)] = info
        else:
            tags.append(info)
        order = list(Role)
        tags.sort(key=lambda t: order.index(t.role))
        self.bump()
        return key

    def append(self, run_key: str, tag: str, value: float, *, rank_id: int = 0, step: Optional[int] = None) -> None:
        """One more point, a step gap after the last. Call `bump` afterwards."""
        key = SeriesKey(run_key, rank_id, tag)
        old = self.data[key]
        at = (int(old.steps[-1]) + STEP_GAP if len(old.steps) else 0) if step is None else step
        self.data[key] = replace(
            old,
            steps=np.append(old.steps, np.int64(at)),
            wall_times=np.append(old.wall_times, START + at * SECONDS_PER_STEP),
            values=np.append(old.values, value),
        )

    @property
    def root(self) -> str:
        return self.root_path

    @property
    def revision(self) -> int:
        return self._revision

    def start(self, listener: Listener) -> None:
        self._listener = listener

    def stop(self) -> None:
        self._listener = None

    def read_now(self) -> None:
        self.calls.append("read_now")

    def watch_state(self) -> WatchState:
        return self.state

    def runs(self) -> Sequence[RunInfo]:
        return tuple(self.run_list)

    def rank_table(self, run_key: str) -> Optional[RankTable]:
        """The one that was set, or the ranks as they are listed."""
        run = next((run for run in self.run_list if run.key == run_key and run.loaded), None)
        if run is None or run_key in self.rank_tables:
            return self.rank_tables.get(run_key)
        front = max((rank.last_step for rank in run.ranks if rank.last_step is not None), default=None)
        rows = tuple(
            RankRow(
                rank.rank_id,
                rank.status,
                rank.last_step,
                None if front is None or rank.last_step is None else front - rank.last_step,
                rank.last_data,
            )
            for rank in run.ranks
        )
        return RankTable(run_key, rows, front)

    def load(self, run_key: str) -> None:
        self.calls.append(f"load {run_key}")

    def unload(self, run_key: str) -> None:
        self.calls.append(f"unload {run_key}")

    def files(self, run_key: Optional[str] = None) -> Sequence[FileStatus]:
        return tuple(f for f in self.file_list if run_key is None or f.run_key == run_key)

    def tags(self, run_key: str) -> Sequence[TagInfo]:
        return tuple(self.tag_lists.get(run_key, ()))

    def series(self, key: SeriesKey) -> Optional[Series]:
        s = self.data.get(key)
        if s is None:
            return None
        old = Points(s.old_steps, START + s.old_steps * SECONDS_PER_STEP, s.old_values)
        return Series(
            key,
            (Points(s.steps, s.wall_times, s.values),),
            (old,) if len(s.old_steps) else (),
            s.restarts,
            self._revision,
            self.sources.get(key, ()),
            self.disagreements.get(key),
        )

    def _x(self, steps: IntArray, wall_times: FloatArray, axis: XAxis) -> FloatArray:
        if axis is XAxis.STEP:
            return steps.astype(np.float64)
        if axis is XAxis.EPOCH:
            return steps / STEPS_PER_EPOCH
        return wall_times if axis is XAxis.WALL else (wall_times - START) / 3600

    def curve(self, query: CurveQuery) -> Optional[CurveView]:
        self.queries.append(query)
        s = self.data.get(query.key)
        if s is None:
            return None
        x = self._x(s.steps, s.wall_times, query.axis)
        low, high = query.x_range or dict(query.kept).get(query.axis) or self._whole(query, x)
        n = query.columns
        inside = (x >= low) & (x <= high)
        column = np.clip(((x[inside] - low) / max(high - low, 1e-300) * n).astype(np.int64), 0, n - 1)
        y = s.values[inside]
        lo, hi, first, last = reduce_columns(column, y, n)
        smooth = np.full(n, np.nan)
        ema = average(s.values, query.smoothing)[inside]
        smooth[column] = ema
        smooth[np.isnan(lo)] = np.nan
        nan, pos, neg = (np.zeros(n, dtype=bool) for _ in range(3))
        nan[column[np.isnan(y)]] = True
        pos[column[y == np.inf]] = True
        neg[column[y == -np.inf]] = True
        old_x = self._x(s.old_steps, START + s.old_steps * SECONDS_PER_STEP, query.axis)
        old_in = (old_x >= low) & (old_x <= high)
        old_column = np.clip(((old_x[old_in] - low) / max(high - low, 1e-300) * n).astype(np.int64), 0, n - 1)
        old_lo, old_hi, _, _ = reduce_columns(old_column, s.old_values[old_in], n)
        band_lo, band_hi = self._band(query, low, high) if query.band else (np.empty(0), np.empty(0))
        bad = np.flatnonzero(~np.isfinite(s.values))
        return CurveView(
            query.key,
            query.axis,
            (low, high),
            lo,
            hi,
            first,
            last,
            smooth if query.smoothing else last,
            np.bincount(column, minlength=n).astype(np.int64),
            nan,
            pos,
            neg,
            old_lo,
            old_hi,
            band_lo,
            band_hi,
            tuple(float(r) for r in s.restarts if low <= r <= high),
            len(x),
            (int(s.steps[-1]), float(s.wall_times[-1]), float(s.values[-1])) if len(x) else None,
            int(s.steps[bad[0]]) if len(bad) else None,
            (float(x[0]), float(x[-1])) if len(x) else (math.nan, math.nan),
            self.sources.get(query.key, ()),
            self.disagreements.get(query.key),
        )

    def _whole(self, query: CurveQuery, x: FloatArray) -> Tuple[float, float]:
        lows, highs = [], []
        for key in (query.key, *query.ranges):
            s = self.data.get(key)
            if s is not None and len(s.steps):
                other = self._x(s.steps, s.wall_times, query.axis)
                lows.append(float(other[0]))
                highs.append(float(other[-1]))
        if not lows:
            return (0.0, 1.0)
        return (min(lows), min(lows) + coarse_end(max(highs) - min(lows)))

    def _band(self, query: CurveQuery, low: float, high: float) -> Tuple[FloatArray, FloatArray]:
        los, his = [], []
        for key, s in self.data.items():
            if key.run_key == query.key.run_key and key.tag == query.key.tag and key != query.key:
                x = self._x(s.steps, s.wall_times, query.axis)
                inside = (x >= low) & (x <= high)
                column = np.clip(
                    ((x[inside] - low) / (high - low) * query.columns).astype(np.int64), 0, query.columns - 1
                )
                lo, hi, _, _ = reduce_columns(column, s.values[inside], query.columns)
                los.append(lo)
                his.append(hi)
        if not los:
            return (np.empty(0), np.empty(0))
        return (np.fmin.reduce(los), np.fmax.reduce(his))

    def reading(self, key: SeriesKey, axis: XAxis, x: float, smoothing: float) -> Optional[CursorReading]:
        s = self.data.get(key)
        if s is None or not len(s.steps):
            return None
        return self.reading_at(key, axis, int(np.argmin(np.abs(self._x(s.steps, s.wall_times, axis) - x))), smoothing)

    def reading_at(self, key: SeriesKey, axis: XAxis, index: int, smoothing: float) -> Optional[CursorReading]:
        s = self.data.get(key)
        n = 0 if s is None else len(s.steps)
        at = index + n if index < 0 else index
        if s is None or not 0 <= at < n:
            return None
        return CursorReading(
            key,
            int(s.steps[at]),
            float(s.wall_times[at]),
            float(s.values[at]),
            float(average(s.values[: at + 1], smoothing)[-1]),
            float(self._x(s.steps, s.wall_times, axis)[at]),
            at,
            n,
        )

    def next_non_finite(self, key: SeriesKey, after_index: int) -> Optional[int]:
        s = self.data.get(key)
        bad = np.flatnonzero(~np.isfinite(s.values)) if s is not None else np.empty(0, dtype=np.int64)
        if not len(bad):
            return None
        later = bad[bad > after_index]
        return int(later[0] if len(later) else bad[0])

    def points_around(self, key: SeriesKey, step: int, number: int) -> Optional[Points]:
        s = self.data.get(key)
        if s is None:
            return None
        at = int(np.searchsorted(s.steps, step))
        part = slice(max(at - number // 2, 0), max(at - number // 2, 0) + number)
        return Points(s.steps[part], s.wall_times[part], s.values[part])

    def add_histograms(self, run_key: str, tag: str, histograms: Sequence[Histogram], rank_id: int = 0) -> SeriesKey:
        """Set a histogram tag."""
        key = SeriesKey(run_key, rank_id, tag)
        self.histograms[key] = list(histograms)
        parameter, _, statistic = tag.rpartition("/")
        last = histograms[-1].stats.step if histograms else None
        self.tag_lists.setdefault(run_key, []).append(
            TagInfo(
                tag, BlobKind.HISTOGRAM, Role.PARAMETER, parameter or tag, statistic, len(histograms), last, None, 0
            )
        )
        self.bump()
        return key

    def histogram_steps(self, key: SeriesKey) -> Tuple[int, ...]:
        return tuple(h.stats.step for h in self.histograms.get(key, ()))

    def fetch_histograms(self, key: SeriesKey, indices: Sequence[int]) -> Sequence[Optional[Histogram]]:
        held = self.histograms.get(key, [])
        return [held[i] if -len(held) <= i < len(held) else None for i in indices]

    def fetch_histogram_stats(self, key: SeriesKey, indices: Sequence[int]) -> Sequence[Optional[HistogramStats]]:
        return [None if h is None else h.stats for h in self.fetch_histograms(key, indices)]

    def fetch_layer_map(self, run_key: str, rank_id: int, metric: str, columns: int) -> Optional[LayerMap]:
        maps = {name: found for (run, name), found in self.layer_maps.items() if run == run_key}
        return maps.get(metric) or next(iter(maps.values()), None)

    def add_details(self, run_key: str, details: Sequence[PayloadDetails], rank_id: int = 0) -> SeriesKey:
        """Set the payloads of one tag and kind, and list it."""
        kind, tag = details[0].kind, details[0].tag
        key = SeriesKey(run_key, rank_id, tag)
        self.details[key, kind] = list(details)
        self.tag_lists.setdefault(run_key, []).append(
            TagInfo(tag, kind, Role.OTHER, "", "", len(details), details[-1].step, None, 0)
        )
        self.bump()
        return key

    def payload_steps(self, key: SeriesKey, kind: BlobKind) -> Tuple[int, ...]:
        return tuple(each.step for each in self.details.get((key, kind), ()))

    def fetch_details(self, key: SeriesKey, kind: BlobKind, index: int) -> Optional[PayloadDetails]:
        held = self.details.get((key, kind), [])
        return held[index] if -len(held) <= index < len(held) else None

    # --- logs

    def log_files(self, run_key: str) -> Sequence[LogFile]:
        return tuple(self.log_file_list.get(run_key, ()))

    def process_facts(self, run_key: str) -> Sequence[ProcessFact]:
        return tuple(self.facts.get(run_key, ()))

    def _selected_rows(self, query: LogQuery) -> List[LogRow]:
        self.log_queries.append(query)

        def wanted(row: LogRow) -> bool:
            if query.file is not None and row.place.file != query.file:
                return False
            if query.file is None and query.rank_id is not None and row.rank_id != query.rank_id:
                return False
            level = row.level or LogLevel.INFO
            return level >= query.least_level

        return [row for row in self.log_rows.get(query.run_key, ()) if wanted(row)]

    def fetch_log(self, query: LogQuery, around: Optional[LogPlace], before: int, after: int) -> LogPage:
        rows = self._selected_rows(query)
        if not rows:
            return LogPage((), at_start=True, at_end=True, total=0, note=self.log_note)
        every = self.log_rows[query.run_key]
        places = [row.place for row in every]
        at = len(every) - 1
        if around is not None:
            same = [i for i, p in enumerate(places) if p.file == around.file and p.offset <= around.offset]
            at = same[-1] if same else 0
        index = sum(places.index(row.place) < at for row in rows)
        first, end = max(index - before, 0), min(index + after + 1, len(rows))
        return LogPage(tuple(rows[first:end]), first == 0, end == len(rows), len(rows), first, self.log_note)

    def fetch_log_text(self, place: LogPlace, most: int) -> str:
        return self.log_texts.get(place, "")[:most]

    def fetch_log_hits(self, query: LogQuery, words: str, tell: Callable[[LogHits], bool]) -> LogHits:
        if words == "/(/":
            raise FilterError("a pattern ends inside a group", words, "close it")
        rows = self._selected_rows(query)
        wanted = words.casefold().split()
        found: List[LogPlace] = []
        hits = LogHits((), 0, 0, len(rows))
        for i, row in enumerate(reversed(rows)):
            if all(word in row.text.casefold() for word in wanted):
                found.insert(0, row.place)
            hits = LogHits(tuple(found), len(found), i + 1, len(rows))
            if not tell(hits):
                break
        return hits

    def log_place(self, key: SeriesKey, step: int) -> Optional[LogPlace]:
        rows = [r for r in self.log_rows.get(key.run_key, ()) if r.rank_id == key.rank_id]
        told = [r for r in rows if r.step is not None and r.step <= step]
        return told[-1].place if told else None

    def log_step(self, place: LogPlace) -> Optional[int]:
        rows = [r for each in self.log_rows.values() for r in each if r.place.file == place.file]
        told = [r.step for r in rows if r.step is not None and r.place.offset <= place.offset]
        return told[-1] if told else None

    # --- alerts

    def alerts(self, run_key: str) -> Sequence[Alert]:
        return self.alert_lists.get(run_key, ())

    def verdict(self, run_key: str) -> Optional[Verdict]:
        return self.verdicts.get(run_key)

    def alert_entries(self, run_key: str, alert_id: str) -> Sequence[Entry]:
        return tuple(self.entries.get((run_key, alert_id), ()))

    def note(self, run_key: str, entries: Sequence[Entry]) -> None:
        self.noted += [(run_key, entry) for entry in entries]

    def journal_health(self) -> JournalHealth:
        return self.health

    def fetch_session(self, run_key: str, alert_id: str, flow: str = "") -> Optional[Session]:
        """With the real knowledge, and with what was noted here."""
        self.calls.append(f"fetch_session {alert_id}")
        case = self.cases.get((run_key, alert_id), Case(flow=flow) if flow else None)
        if case is None:
            return None
        own = [entry for key, entry in self.noted if key == run_key and entry.incident == alert_id]
        return session(knowledge(), case, (*self.alert_entries(run_key, alert_id), *own))

    def fetch_causes(self, run_key: str, alert_id: str, language: str) -> Sequence[LikelyCause]:
        return self.causes.get((run_key, alert_id), ())

    def set_role(self, tag: str, role: Role) -> None:
        self.calls.append(f"set_role {tag} {role.value}")


def reduce_columns(
    column: IntArray, values: ValueArray, columns: int
) -> Tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """lo, hi, first, last of the finite values in each column; NaN where there are none."""
    finite = np.isfinite(values)
    at, y = column[finite], values[finite].astype(np.float64)
    lo, hi, first, last = (np.full(columns, np.nan) for _ in range(4))
    np.fmin.at(lo, at, y)
    np.fmax.at(hi, at, y)
    first[at[::-1]] = y[::-1]
    last[at] = y
    return lo, hi, first, last


class FakeHost:
    """The screen's part of a panel's life: holds the view, tells the panels when it is replaced."""

    def __init__(self, monitor: FakeMonitor, view: Optional[ViewState] = None, *, ascii_only: bool = False) -> None:
        self.fake = monitor
        self.current = view or ViewState(run_key=monitor.run_list[0].key if monitor.run_list else "")
        self.ascii = ascii_only
        self.panels: List[Panel] = []
        """told of every change of the view"""
        self.said: List[str] = []
        self.asked: List[Question] = []
        self.clock = START + 2000
        self.budget = LinkBudget(lambda: self.clock)

    @property
    def monitor(self) -> MonitorApi:
        return self.fake

    @property
    def view(self) -> ViewState:
        return self.current

    @property
    def ascii_only(self) -> bool:
        return self.ascii

    def now(self) -> float:
        return self.clock

    @property
    def config_path(self) -> str:
        return "/home/me/.config/mstui/config.toml"

    def change_view(self, **changes: Any) -> None:
        self.current = replace(self.current, **changes)
        for panel in self.panels:
            panel.view_changed()

    def say(self, message: str) -> None:
        self.said.append(message)

    async def ask(self, question: Question) -> None:
        self.asked.append(question)
