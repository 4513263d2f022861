"""Decodes histograms on demand: the bytes stay in the training's files until somebody looks.

These calls read the disk. They belong in a worker thread, never on the UI thread.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Callable, Generic, List, Optional, Sequence, Tuple, TypeVar

from mstui.model.histogram import Histogram, HistogramStats
from mstui.store.run_store import BlobPlaces

ReadRange = Callable[[str, int, int], Optional[bytes]]
"""(path, offset, length) -> bytes, or None when the file is no longer the one that was indexed"""

KEPT_HISTOGRAMS = 2_048
"""Decoded histograms kept, about 2 KiB each with 90 buckets: one full panel at 200 columns and its neighbours."""
KEPT_STATS = 65_536
"""Decoded figures kept, about 200 bytes each: the layer map of 400 parameters at 160 columns."""

T = TypeVar("T")
_Key = Tuple[str, int]


class _Recent(Generic[T]):
    """A bounded cache that several worker threads may use."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._held: OrderedDict[_Key, T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: _Key) -> Optional[T]:
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
            return found

    def put(self, key: _Key, value: T) -> None:
        with self._lock:
            self._held[key] = value
            if len(self._held) > self._size:
                self._held.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._held.clear()


class PayloadReader:
    """Reads and decodes the histograms of any loaded run."""

    def __init__(self, read_range: ReadRange, format_of: Callable[[str], str]) -> None:
        self._read_range = read_range
        self._format_of = format_of
        self._histograms: _Recent[Histogram] = _Recent(KEPT_HISTOGRAMS)
        self._stats: _Recent[HistogramStats] = _Recent(KEPT_STATS)

    def forget(self) -> None:
        """Drop what was decoded: a file was replaced, its offsets mean something else now."""
        self._histograms.clear()
        self._stats.clear()

    def histograms(self, places: BlobPlaces, indices: Sequence[int]) -> List[Optional[Histogram]]:
        """Decode these positions of `places`; None for one that cannot be read (any more)."""
        from mstui.formats import payloads  # the first picture shows no histogram

        return [self._one(places, index, self._histograms, payloads.histogram) for index in indices]

    def stats(self, places: BlobPlaces, indices: Sequence[int]) -> List[Optional[HistogramStats]]:
        """The same without the buckets."""
        from mstui.formats import payloads

        return [self._one(places, index, self._stats, payloads.histogram_stats) for index in indices]

    def _one(
        self, places: BlobPlaces, index: int, kept: _Recent[T], decode: Callable[[bytes, str, int, float], T]
    ) -> Optional[T]:
        if not -len(places) <= index < len(places):
            return None
        path = places.paths[int(places.files[index])]
        offset = int(places.offsets[index])
        found = kept.get((path, offset))
        if found is not None:
            return found
        data = self._read_range(path, offset, int(places.lengths[index]))
        if data is None:
            return None
        from mstui.formats.payloads import PayloadError

        try:
            value = decode(data, self._format_of(path), int(places.steps[index]), float(places.wall_times[index]))
        except PayloadError:
            return None
        kept.put((path, offset), value)
        return value
