"""Runs for tests of evidence and probes: recorded ones read from disk, and small ones made of curves."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from mstui.checks.view import View, gather
from mstui.detect.base import Process
from mstui.formats.base import Format
from mstui.formats.histogram_wire import histogram
from mstui.ingest.ingestor import Ingestor
from mstui.model.alerts import Happening, Incident, Scope, Severity, Symptom
from mstui.model.batch import Batch, FileKey, Part
from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.logs import EventKind, LogEvent
from mstui.model.records import BlobKind, BlobRefs, ScalarColumns
from mstui.model.runs import Fact
from mstui.model.series import SeriesKey
from mstui.model.sources import Source, SourceKind
from mstui.monitor.facts import RunFacts, take_lineage
from mstui.registry import collect
from mstui.store.run_store import BlobPlaces, Store

DATA = Path(__file__).resolve().parents[2] / "data" / "summary"
SAMPLE_RUNS = Path(__file__).resolve().parents[3] / "sample_runs"
RUN = "run"
STARTED = 1_700_000_000
Curve = Sequence[float]


def incident(symptom: Symptom, step: int, *, tag: str = "loss", layer: str = "", rank_id: int = 0) -> Incident:
    """One symptom that began at a step."""
    scope = Scope(rank_id, tag, layer)
    return Incident(1, (Happening(symptom, Severity.WARN, scope, step, step + 2, 0.0, ()),))


def spread_histogram(step: int, low: float, high: float, *, count: int = 1000, odd: int = 0) -> Histogram:
    """Elements evenly between two values."""
    buckets = 10
    width = (high - low) / buckets
    lefts = low + width * np.arange(buckets)
    mean = (low + high) / 2.0
    stats = HistogramStats(step, float(STARTED + step), low, high, mean, count + odd, odd, 0, 0)
    return Histogram(stats, lefts, np.full(buckets, width), np.full(buckets, count // buckets, np.int64))


def event(kind: EventKind, text: str = "", *, code: str = "", step: Optional[int] = None) -> LogEvent:
    """A fact from a log."""
    return LogEvent(kind, 0, len(text), text, None, step, code=code)


def made(
    curves: Mapping[str, Curve],
    *,
    ranks: Optional[Mapping[int, Mapping[str, Curve]]] = None,
    every: int = 1,
    sparse: Optional[Mapping[str, Tuple[Sequence[int], Curve]]] = None,
    restart: Optional[Tuple[int, Mapping[str, Curve]]] = None,
    second_s: float = 1.0,
    walls: Optional[Sequence[float]] = None,
    facts: Optional[Mapping[str, Fact]] = None,
    said: Optional[Mapping[str, float]] = None,
    histograms: Optional[Mapping[str, Sequence[Histogram]]] = None,
    events: Optional[Sequence[LogEvent]] = None,
    about: Optional[Incident] = None,
    running: Optional[bool] = None,
    now: float = 0.0,
    payloads: Optional[Mapping[BlobKind, bytes]] = None,
) -> View:
    """A view of a run with these curves, one value a record.

    sparse: tag -> (steps, values), for what is recorded less often. restart: a step and what is recorded again from it.
    """
    store = Store()
    for rank_id, own in {0: curves, **(ranks or {})}.items():
        columns: List[ScalarColumns] = []
        for tag, values in own.items():
            steps = 1 + every * np.arange(len(values), dtype=np.int64) if every == 1 else every * (
                1 + np.arange(len(values), dtype=np.int64)
            )  # fmt: skip
            times = STARTED + second_s * steps if walls is None else np.asarray(walls, np.float64)[: len(values)]
            columns.append(_columns(tag, steps, times, values))
        if rank_id == 0:
            for tag, (at, values) in (sparse or {}).items():
                seldom = np.asarray(at, np.int64)
                columns.append(_columns(tag, seldom, STARTED + second_s * seldom, values))
        blobs = [] if rank_id else [_refs(tag, several) for tag, several in (histograms or {}).items()]
        store.apply(Batch(_key(rank_id), Part.HISTORY, tuple(columns), tuple(blobs)))
    if restart is not None:
        begins, again = restart
        columns = []
        for tag, values in again.items():
            steps = begins + np.arange(len(values), dtype=np.int64)
            columns.append(_columns(tag, steps, STARTED + 5000.0 + steps, values))
        store.apply(Batch(_key(0, started=STARTED + 4000, name="later"), Part.HISTORY, tuple(columns)))
    if events is not None:
        source = Source(SourceKind.LOG, "log")
        key = FileKey(RUN, 0, STARTED, "/run/train.log", source)
        store.apply(Batch(key, Part.HISTORY, log_events=tuple(events)))
    return gather(
        store,
        RUN,
        facts=facts,
        said=said,
        incident=about,
        process=Process(running),
        now=now,
        histograms=lambda key, places: [(histograms or {})[key.tag][at] for at in places],
        payload=lambda _key, kind: (payloads or {}).get(kind),
    )


def _key(rank_id: int, *, started: int = STARTED, name: str = "first") -> FileKey:
    return FileKey(RUN, rank_id, started, f"/run/rank_{rank_id}/{name}_MS")


def _columns(tag: str, steps: np.ndarray, walls: np.ndarray, values: Curve) -> ScalarColumns:  # type: ignore[type-arg]
    return ScalarColumns((tag,), steps, np.asarray(walls, np.float64), np.asarray([values], np.float32))


def _refs(tag: str, several: Sequence[Histogram]) -> BlobRefs:
    steps = np.array([one.stats.step for one in several], np.int64)
    nothing = np.zeros(len(several), np.int64)
    return BlobRefs(BlobKind.HISTOGRAM, tag, steps, STARTED + steps.astype(np.float64), nothing, nothing)


def recorded(folder: Path, *, now: float = 2e9, about: Optional[Incident] = None) -> View:
    """A recorded run, read as the monitor reads it."""
    ingestor, store, facts = (
        Ingestor(str(folder), collect("mstui.formats.decoders", "FORMAT", Format)),
        Store(),
        RunFacts(),
    )
    everything = True
    while not ingestor.scan(now, 1.0).complete:
        pass
    run_key = ingestor.runs()[0].key
    ingestor.load(run_key)
    done = False
    while not done or ingestor.progress.history_left:
        batches, _files, done = ingestor.turn(now, 1.0, frozenset(), everything)
        for batch in batches:
            store.apply(batch)
            take_lineage(facts, batch, ingestor.read_range)
            facts.declare(batch.facts)

    def read(places: BlobPlaces, at: int) -> Optional[bytes]:
        path = places.paths[int(places.files[at])]
        return ingestor.read_range(path, int(places.offsets[at]), int(places.lengths[at]))

    def payload(key: SeriesKey, kind: BlobKind) -> Optional[bytes]:
        places = store.blobs(key, kind)
        return None if places is None else read(places, -1)

    def histograms(key: SeriesKey, wanted: Sequence[int]) -> List[Optional[Histogram]]:
        places = store.blobs(key, BlobKind.HISTOGRAM)
        found: List[Optional[Histogram]] = []
        for at in wanted:
            assert places is not None
            data = read(places, at)
            step, wall = int(places.steps[at]), float(places.wall_times[at])
            found.append(None if data is None else histogram(data, "mindspore", step, wall))
        return found

    return gather(store, run_key, facts=facts.merged, incident=about, now=now, histograms=histograms, payload=payload)


def rows(number: int, base: Curve) -> Dict[str, Curve]:
    """The same curve under several parameters' names."""
    return {f"p{index}": base for index in range(number)}
