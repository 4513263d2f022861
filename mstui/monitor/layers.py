"""Layers x steps for the screens: the store's reduction, fed with histograms and with the order of the network.

Reads the disk where histograms or a graph are needed. Belongs in a worker thread.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

from mstui.model.histogram import HistogramStats
from mstui.model.records import BlobKind
from mstui.model.series import SeriesKey
from mstui.monitor.payload_reader import PayloadReader, ReadRange
from mstui.monitor_api import LayerMap
from mstui.store.layer_map import layer_map
from mstui.store.run_store import Store

LARGEST_GRAPH = 64 << 20
"""Bytes of a recorded network graph that is decoded for its parameters' order; a larger one costs seconds and hundreds
of MiB, and first appearance in the file is nearly as good an order."""


class LayerMaps:
    """Makes layer maps of any loaded run."""

    def __init__(self, store: Store, reader: PayloadReader, read_range: ReadRange) -> None:
        self._store = store
        self._reader = reader
        self._read_range = read_range
        self._orders: Dict[Tuple[str, int], Tuple[str, ...]] = {}
        """parameters by where their graph lies: (path, offset)"""

    def fetch(self, run_key: str, rank_id: int, metric: str, columns: int) -> Optional[LayerMap]:
        """The map of one metric; None when the run has no statistic of a parameter."""

        def fetch_stats(tag: str, indices: Sequence[int]) -> List[Optional[HistogramStats]]:
            places = self._store.blobs(SeriesKey(run_key, rank_id, tag), BlobKind.HISTOGRAM)
            return [None] * len(indices) if places is None else self._reader.stats(places, indices)

        order = self._network_order(run_key, rank_id)
        return layer_map(self._store, run_key, rank_id, metric, columns, fetch_stats, order)

    def _network_order(self, run_key: str, rank_id: int) -> Tuple[str, ...]:
        """Parameters as the newest recorded graph lists them; empty without one."""
        places = self._store.blobs(SeriesKey(run_key, rank_id, ""), BlobKind.GRAPH)
        if places is None or not len(places):
            return ()
        path, offset = places.paths[int(places.files[-1])], int(places.offsets[-1])
        length = int(places.lengths[-1])
        known = self._orders.get((path, offset))
        if known is None:
            from mstui.formats import payloads  # few runs have a graph

            known = ()
            data = self._read_range(path, offset, length) if length <= LARGEST_GRAPH else None
            if data is not None:
                try:
                    known = payloads.graph_parameters(data)
                except payloads.PayloadError:
                    known = ()
            self._orders[path, offset] = known
        return known
