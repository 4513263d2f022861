"""The part of the façade that answers for curves and payloads. `fetch_` calls read the disk: on a worker thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Optional, Sequence, Tuple

from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.records import BlobKind
from mstui.model.series import CurveView, Points, Series, SeriesKey, XAxis
from mstui.monitor.layers import LayerMaps
from mstui.monitor.payload_reader import PayloadReader, ReadRange
from mstui.monitor_api import CursorReading, CurveQuery, LayerMap, TagInfo
from mstui.store import cursor
from mstui.store.band import Bands
from mstui.store.curve import curve
from mstui.store.run_store import BlobPlaces, Store

if TYPE_CHECKING:
    from mstui.model.details import PayloadDetails


class SeriesAnswers:
    """What MonitorApi says of curves, histograms and other payloads."""

    def __init__(
        self,
        store: Store,
        read_range: ReadRange,
        format_of: Callable[[str], str],
        epoch_steps: Callable[[str], Optional[float]],
        wake: Callable[[], None],
    ) -> None:
        """`epoch_steps`: steps of an epoch of a run, where known. `wake`: there is more to draw than one call gave."""
        self._store = store
        self._read_range = read_range
        self._format_of = format_of
        self._epoch_steps = epoch_steps
        self._wake = wake
        self._bands = Bands(store)
        self._payloads = PayloadReader(read_range, format_of)
        self._layers = LayerMaps(store, self._payloads, read_range)

    def tags(self, run_key: str) -> Sequence[TagInfo]:
        """Tags of a loaded run, by role and then first appearance."""
        return self._store.tags(run_key)

    def series(self, key: SeriesKey) -> Optional[Series]:
        """Every point, as views into the store; None when there is no such series (yet)."""
        return self._store.series(key)

    def curve(self, query: CurveQuery) -> Optional[CurveView]:
        """None when the series does not exist (yet)."""
        view = curve(self._store, query, self._epoch_steps(query.key.run_key), self._bands)
        if self._bands.unfinished:
            self._wake()
        return view

    def reading(self, key: SeriesKey, axis: XAxis, x: float, smoothing: float) -> Optional[CursorReading]:
        """The point nearest to x."""
        return cursor.reading(self._store, key, axis, x, smoothing, self._epoch_steps(key.run_key))

    def reading_at(self, key: SeriesKey, axis: XAxis, index: int, smoothing: float) -> Optional[CursorReading]:
        """The point with this index (negative: from the end)."""
        return cursor.reading_at(self._store, key, axis, index, smoothing, self._epoch_steps(key.run_key))

    def next_non_finite(self, key: SeriesKey, after_index: int) -> Optional[int]:
        """Index of the next NaN or infinity after a point, wrapping round; None when there is none."""
        return cursor.next_non_finite(self._store, key, after_index)

    def points_around(self, key: SeriesKey, step: int, number: int) -> Optional[Points]:
        """About `number` points of the current generation around a step."""
        return cursor.points_around(self._store, key, step, number)

    def _places(self, key: SeriesKey) -> Optional[BlobPlaces]:
        return self._store.blobs(key, BlobKind.HISTOGRAM)

    def histogram_steps(self, key: SeriesKey) -> Tuple[int, ...]:
        """Steps at which this tag has a histogram."""
        places = self._places(key)
        return () if places is None else tuple(places.steps.tolist())

    def fetch_histograms(self, key: SeriesKey, indices: Sequence[int]) -> Sequence[Optional[Histogram]]:
        """Decode these; None for one that can no longer be read."""
        places = self._places(key)
        return [None] * len(indices) if places is None else self._payloads.histograms(places, indices)

    def fetch_histogram_stats(self, key: SeriesKey, indices: Sequence[int]) -> Sequence[Optional[HistogramStats]]:
        """The figures without the buckets, several times cheaper."""
        places = self._places(key)
        return [None] * len(indices) if places is None else self._payloads.stats(places, indices)

    def fetch_layer_map(self, run_key: str, rank_id: int, metric: str, columns: int) -> Optional[LayerMap]:
        """None when the run has no per-parameter statistic at all."""
        return self._layers.fetch(run_key, rank_id, metric, columns)

    def payload_steps(self, key: SeriesKey, kind: BlobKind) -> Tuple[int, ...]:
        """Steps at which this tag has a payload of this kind."""
        places = self._store.blobs(key, kind)
        return () if places is None else tuple(places.steps.tolist())

    def fetch_details(self, key: SeriesKey, kind: BlobKind, index: int) -> Optional[PayloadDetails]:
        """One payload; None when there is none such."""
        places = self._store.blobs(key, kind)
        if places is None or not -len(places) <= index < len(places):
            return None
        from mstui.monitor.details import describe  # with all decoders of payloads: only when a person asks

        return describe(places, index, self._read_range, self._format_of)
