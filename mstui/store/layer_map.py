"""Layers x steps for one statistic: rows in the order of the network, one figure a column, what is not finite marked.

From scalars all points are at hand. From histograms one a row and column is fetched, through a callback, so that the
cost is bounded by the picture and not by the file. Colours and value scales are the screen's business.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui.model.histogram import HistogramStats
from mstui.model.records import BlobKind, IntArray
from mstui.model.roles import Role
from mstui.model.series import BoolArray, Points, SeriesKey, XAxis
from mstui.monitor_api import LayerMap, MapRow, TagInfo
from mstui.store.axis import STEP_LIMIT, rounded_end
from mstui.store.reduce import Columns
from mstui.store.run_store import Store

Fetch = Callable[[str, Sequence[int]], Sequence[Optional[HistogramStats]]]
"""tag, positions among its histograms that hold now -> their figures; None for one that cannot be read"""

SCALAR_ORDER = (
    *("grad_norm", "local_norm", "grad_absmax", "grad_max", "grad_min", "grad_mean", "grad_zero_frac"),
    *("grad_nonfinite", "weight_norm", "update_ratio"),
    *("act_zero_frac", "act_sat_frac", "act_mean", "act_std"),
)
"""Metrics from scalars in the order of the key that walks through them; others follow by name."""
TENSOR_ORDER = ("gradient", "weight", "update", "activation")
"""Histograms likewise."""
FIGURES = ("abs_max", "mean", "non_finite")
"""What a histogram gives a map of, as in "gradient.abs_max". """


class _Table(NamedTuple):
    """Rows, and the first and last recorded step in each of their columns."""

    starts: Tuple[int, ...]
    ends: Tuple[int, ...]
    rows: Tuple[MapRow, ...]


class _Source(NamedTuple):
    """One row's data."""

    parameter: str
    tag: str
    first_seen: int


def metrics_of(tags: Sequence[TagInfo]) -> Tuple[str, ...]:
    """Every metric that these tags give a layer map of, in a fixed order."""
    about = [info for info in tags if info.role is Role.PARAMETER and info.parameter]
    scalars = {info.statistic for info in about if info.kind is None}
    tensors = {info.statistic for info in about if info.kind is BlobKind.HISTOGRAM}
    return (
        *sorted(scalars, key=lambda name: (_place(name, SCALAR_ORDER), name)),
        *(
            f"{tensor}.{figure}"
            for tensor in sorted(tensors, key=lambda name: (_place(name, TENSOR_ORDER), name))
            for figure in FIGURES
        ),
    )


def _place(name: str, order: Sequence[str]) -> int:
    return order.index(name) if name in order else len(order)


def layer_map(
    store: Store,
    run_key: str,
    rank_id: int,
    metric: str,
    columns: int,
    fetch: Fetch,
    order: Sequence[str] = (),
) -> Optional[LayerMap]:
    """The map of one metric; an unknown one falls back to the first. None when the run has no statistic of a parameter.

    order: parameters in the order of the network, where the graph is known; others follow as they were first seen.
    There are at most `columns` columns: one a recorded step while these are few, else steps of equal width.
    """
    tags = store.tags(run_key)
    metrics = metrics_of(tags)
    if not metrics:
        return None
    if metric not in metrics:
        metric = metrics[0]
    tensor, dot, figure = metric.rpartition(".")
    histograms = bool(dot) and figure in FIGURES
    kind = BlobKind.HISTOGRAM if histograms else None
    statistic = tensor if histograms else metric
    sources = network_order(
        [
            _Source(info.parameter, info.tag, info.first_seen)
            for info in tags
            if info.role is Role.PARAMETER and info.kind is kind and info.statistic == statistic
        ],
        order,
    )
    if histograms:
        found = _histogram_rows(store, run_key, rank_id, sources, figure, columns, fetch)
    else:
        found = _scalar_rows(store, run_key, rank_id, sources, columns)
    return LayerMap(
        metric,
        metrics,
        found.ends,
        found.rows,
        complete=True,
        source="histograms" if histograms else "scalars",
        starts=found.starts,
    )


def network_order(sources: Sequence[_Source], order: Sequence[str]) -> List[_Source]:
    """Rows as the network has them, one a parameter."""
    place = {parameter: index for index, parameter in enumerate(order)}
    once: Dict[str, _Source] = {}
    for source in sorted(sources, key=lambda each: each.first_seen):
        once.setdefault(source.parameter, source)
    return sorted(
        once.values(),
        key=lambda each: (place.get(each.parameter, len(place)), each.first_seen, natural(each.parameter)),
    )


def natural(name: str) -> Tuple[Tuple[int, str], ...]:
    """Sort key under which layer2 comes before layer10."""
    return tuple(
        (int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)
    )


def column_edges(steps: Sequence[IntArray], columns: int) -> IntArray:
    """[n + 1] steps; column i holds those from edges[i] up to, not including, edges[i + 1].

    One column for each step that occurs, as long as these fit; else columns of equal width that stay put while the run
    grows, those that lie ahead of it left out.
    """
    some = [each for each in steps if len(each)]
    if not some:
        return np.zeros(1, dtype=np.int64)
    columns = max(columns, 1)
    if max(len(each) for each in some) <= columns:
        distinct = np.unique(np.concatenate(some))
        if len(distinct) <= columns:
            return np.append(distinct[:1], distinct + 1)
    first, last = min(int(each[0]) for each in some), max(int(each[-1]) for each in some)
    end = rounded_end(float(first), float(last), XAxis.STEP) + 1.0
    ends = np.clip(np.ceil(np.linspace(first, end, columns + 1)), -STEP_LIMIT, STEP_LIMIT)
    edges: IntArray = np.unique(ends.astype(np.int64))
    behind = int(np.searchsorted(edges, last, side="right"))
    return edges[: behind + 1]


def _scalar_rows(store: Store, run_key: str, rank_id: int, sources: Sequence[_Source], columns: int) -> _Table:
    held: List[Tuple[_Source, Tuple[Points, ...]]] = []
    for source in sources:
        series = store.series(SeriesKey(run_key, rank_id, source.tag))
        if series is not None:
            held.append((source, series.current))
    all_steps = [part.steps for _, current in held for part in current]
    edges = column_edges(all_steps, columns)
    rows = []
    for source, current in held:
        reduced = Columns(len(edges) - 1)
        for part in current:
            reduced.add(part.steps, part.values, edges)
        bad = reduced.nan | reduced.pos_inf | reduced.neg_inf
        rows.append(
            MapRow(
                source.parameter,
                tuple(reduced.last.tolist()),
                tuple(bad.tolist()),
                float(current[-1].values[-1]),
                first=next((int(part.steps[0]) for part in current if len(part)), None),
                first_bad=_first_bad(current, edges, bad),
                zero_since=_zero_since(current, edges, reduced),
            )
        )
    return _Table(*_recorded(edges, all_steps), tuple(rows))


def _first_bad(current: Sequence[Points], edges: IntArray, bad: BoolArray) -> Optional[int]:
    """Step of the first point that is not finite, looked for in the first column that has one."""
    if not bad.any():
        return None
    column = int(bad.argmax())
    for part in current:
        begin, end = np.searchsorted(part.steps, edges[column : column + 2]).tolist()
        found = np.flatnonzero(~np.isfinite(part.values[begin:end]))
        if len(found):
            return int(part.steps[begin + found[0]])
    return None


def _zero_since(current: Sequence[Points], edges: IntArray, reduced: Columns) -> Optional[int]:
    """Step of the first of the zeros that the points end with, looked for where the last column is that has others."""
    filled = [part for part in current if len(part)]
    if not filled or filled[-1].values[-1] != 0:
        return None
    others = np.flatnonzero((reduced.lo < 0) | (reduced.hi > 0) | reduced.nan | reduced.pos_inf | reduced.neg_inf)
    if not len(others):
        return int(filled[0].steps[0])
    column = int(others[-1])
    last = int(edges[column])
    for part in filled:
        begin, end = np.searchsorted(part.steps, edges[column : column + 2]).tolist()
        found = np.flatnonzero(part.values[begin:end] != 0)
        if len(found):
            last = int(part.steps[begin + found[-1]])
    for part in filled:
        after = int(np.searchsorted(part.steps, last, side="right"))
        if after < len(part):
            return int(part.steps[after])
    return None


def _histogram_rows(
    store: Store, run_key: str, rank_id: int, sources: Sequence[_Source], figure: str, columns: int, fetch: Fetch
) -> _Table:
    held: List[Tuple[_Source, IntArray]] = []
    for source in sources:
        places = store.blobs(SeriesKey(run_key, rank_id, source.tag), BlobKind.HISTOGRAM)
        if places is not None and len(places):
            held.append((source, places.steps))
    edges = column_edges([steps for _, steps in held], columns)
    rows = []
    for source, steps in held:
        bounds = np.searchsorted(steps, edges)
        filled = np.flatnonzero(bounds[1:] > bounds[:-1])
        wanted: List[int] = (bounds[filled + 1] - 1).tolist()
        cells = np.full(len(edges) - 1, np.nan)
        bad = np.zeros(len(cells), dtype=np.bool_)
        known: List[Tuple[int, HistogramStats]] = []
        for column, index, stats in zip(filled.tolist(), wanted, fetch(source.tag, wanted)):
            if stats is not None:
                cells[column] = _figure(stats, figure)
                bad[column] = stats.non_finite > 0
                known.append((index, stats))
        look = partial(_turn, known, partial(_one, fetch, source.tag))
        first_bad = look(lambda stats: stats.non_finite > 0, first=True)
        zero_since = look(lambda stats: _figure(stats, figure) == 0, first=False)
        rows.append(
            MapRow(
                source.parameter,
                tuple(cells.tolist()),
                tuple(bad.tolist()),
                _figure(known[-1][1], figure) if known else float("nan"),
                first=int(steps[0]),
                first_bad=None if first_bad is None else int(steps[first_bad]),
                zero_since=None if zero_since is None else int(steps[zero_since]),
            )
        )
    return _Table(*_recorded(edges, [steps for _, steps in held]), tuple(rows))


def _one(fetch: Fetch, tag: str, index: int) -> Optional[HistogramStats]:
    """A single histogram's figures."""
    return next(iter(fetch(tag, [index])), None)


def _turn(
    known: Sequence[Tuple[int, HistogramStats]],
    fetch_one: Callable[[int], Optional[HistogramStats]],
    holds: Callable[[HistogramStats], bool],
    *,
    first: bool,
) -> Optional[int]:
    """Position of the histogram from which something holds: for the first time, or up to the newest; None if never.

    Between the fetched one before and the one after, it is searched by halves: a few more are fetched, not all.
    """
    if first:
        at = next((at for at, (_, stats) in enumerate(known) if holds(stats)), None)
    else:
        zeros = next((n for n, (_, stats) in enumerate(reversed(known)) if not holds(stats)), len(known))
        at = len(known) - zeros if zeros else None
    if at is None:
        return None
    before, there = known[at - 1][0] if at else -1, known[at][0]
    while there - before > 1:
        middle = (before + there) // 2
        stats = fetch_one(middle)
        if stats is not None and holds(stats):
            there = middle
        else:
            before = middle
    return there


def _figure(stats: HistogramStats, figure: str) -> float:
    if figure == "non_finite":
        return float(stats.non_finite)
    return float(stats.abs_max if figure == "abs_max" else stats.mean)


def _recorded(edges: IntArray, all_steps: Sequence[IntArray]) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
    """The first and the last step in each column of which there is a record; the column's edges where there is none."""
    starts, ends, empty = edges[1:] - 1, edges[:-1].copy(), np.ones(len(edges) - 1, dtype=np.bool_)
    for steps in all_steps:
        bounds = np.searchsorted(steps, edges)
        filled = np.flatnonzero(bounds[1:] > bounds[:-1])
        starts[filled] = np.minimum(starts[filled], steps[bounds[filled]])
        ends[filled] = np.maximum(ends[filled], steps[bounds[filled + 1] - 1])
        empty[filled] = False
    starts[empty], ends[empty] = ends[empty], starts[empty]
    return tuple(starts.tolist()), tuple(ends.tolist())
