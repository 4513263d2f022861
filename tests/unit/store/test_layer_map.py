"""Layers x steps: order of rows, what a cell holds, and how few histograms are fetched."""

from __future__ import annotations

import math
from typing import Dict, List, Optional, Sequence

import numpy as np
import pytest

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.histogram import HistogramStats
from mstui.model.records import BlobKind, BlobRefs, ScalarColumns
from mstui.monitor_api import LayerMap
from mstui.store.layer_map import Fetch, column_edges, layer_map, natural
from mstui.store.run_store import Store

FILE = FileKey("run", 0, 1, "f")
NAN = math.nan


def scalars(store: Store, values: Dict[str, List[float]], steps: Sequence[int]) -> None:
    number = np.asarray(steps, dtype=np.int64)
    rows = np.asarray(list(values.values()), dtype=np.float32)
    store.apply(Batch(FILE, Part.HISTORY, (ScalarColumns(tuple(values), number, 1.0 + number, rows),)))


def histograms(store: Store, tags: Sequence[str], steps: Sequence[int]) -> None:
    number = np.asarray(steps, dtype=np.int64)
    refs = tuple(BlobRefs(BlobKind.HISTOGRAM, tag, number, 1.0 + number, number * 10, number) for tag in tags)
    store.apply(Batch(FILE, Part.HISTORY, (), refs))


def never(tag: str, indices: Sequence[int]) -> Sequence[Optional[HistogramStats]]:
    raise AssertionError((tag, indices))


def drawn(store: Store, metric: str, columns: int = 60, fetch: Fetch = never, order: Sequence[str] = ()) -> LayerMap:
    found = layer_map(store, "run", 0, metric, columns, fetch, order)
    assert found is not None
    return found


def test_a_run_without_statistics_has_no_map() -> None:
    store = Store()
    assert layer_map(store, "run", 0, "grad_norm", 10, never) is None
    scalars(store, {"loss": [1.0]}, [1])
    assert layer_map(store, "run", 0, "grad_norm", 10, never) is None


def test_rows_stand_in_the_order_they_were_recorded_in_and_metrics_in_a_fixed_one() -> None:
    store = Store()
    scalars(
        store,
        {"weight_norm/b": [1], "grad_norm/conv1.weight": [1], "grad_norm/conv10.weight": [2], "grad_norm/a": [3]},
        [1],
    )
    histograms(store, ["gradient/b", "b/auto"], [1])
    found = drawn(store, "grad_norm")
    assert [row.parameter for row in found.rows] == ["conv1.weight", "conv10.weight", "a"]
    assert found.metrics == (
        *("grad_norm", "weight_norm", "gradient.abs_max", "gradient.mean", "gradient.non_finite"),
        *("weight.abs_max", "weight.mean", "weight.non_finite"),
    )
    assert found.source == "scalars"
    assert found.complete


def test_the_graph_s_order_comes_first_where_it_is_known() -> None:
    store = Store()
    scalars(store, {"grad_norm/z": [1], "grad_norm/extra": [2], "grad_norm/a": [3]}, [1])
    found = drawn(store, "grad_norm", order=["a", "z"])
    assert [row.parameter for row in found.rows] == ["a", "z", "extra"]


def test_an_unknown_metric_is_the_first_one() -> None:
    store = Store()
    scalars(store, {"update_ratio/a": [1], "grad_norm/a": [2]}, [1])
    assert drawn(store, "colour").metric == "grad_norm"


def test_while_steps_are_few_each_has_its_column() -> None:
    store = Store()
    scalars(store, {"grad_norm/a": [1, 2, NAN]}, [1, 100, 200])
    scalars(store, {"grad_norm/b": [5]}, [150])
    found = drawn(store, "grad_norm")
    assert found.steps == (1, 100, 150, 200)
    np.testing.assert_equal(found.rows[0].cells, [1, 2, NAN, NAN])
    assert found.rows[0].non_finite == (False, False, False, True)
    assert math.isnan(found.rows[0].last)
    np.testing.assert_equal(found.rows[1].cells, [NAN, NAN, 5, NAN])
    assert found.rows[1].last == 5


def test_when_steps_are_many_a_column_holds_its_last_finite_value_and_remembers_the_others() -> None:
    store = Store()
    values = [float(step) for step in range(100)]
    values[13] = math.inf
    scalars(store, {"grad_norm/a": values}, range(100))
    found = drawn(store, "grad_norm", columns=10)
    assert len(found.steps) <= 10
    assert found.steps[-1] == 99
    assert found.rows[0].cells[0] == found.steps[0]
    assert [i for i, bad in enumerate(found.rows[0].non_finite) if bad] == [
        next(i for i, step in enumerate(found.steps) if step >= 13)
    ]
    assert found.rows[0].cells[-1] == 99


def test_of_a_restarted_run_only_what_holds_now_is_in_the_map() -> None:
    store = Store()
    scalars(store, {"grad_norm/a": [1, 2, NAN, 7, 8]}, [10, 20, 30, 20, 30])
    found = drawn(store, "grad_norm")
    assert found.rows[0].cells == (1, 7, 8)
    assert not any(found.rows[0].non_finite)


def test_histograms_are_fetched_one_a_row_and_column() -> None:
    store = Store()
    histograms(store, ["gradient/a", "gradient/b"], range(1000))
    asked: List[int] = []

    def fetch(tag: str, indices: Sequence[int]) -> Sequence[Optional[HistogramStats]]:
        asked.extend(indices)
        bad = 3 if tag == "gradient/b" else 0
        lost = list(indices[1:2])
        return [None if i in lost else HistogramStats(i, 1.0, -i, i / 2, 0.5, 10, bad, 0, 0) for i in indices]

    found = drawn(store, "gradient.abs_max", columns=20, fetch=fetch)
    assert len(asked) - 2 * len(found.steps) <= SEARCH, "a few more, to find where the NaN begins"
    assert len(found.steps) <= 20
    assert found.source == "histograms"
    cells = found.rows[0].cells
    assert math.isnan(cells[1])
    assert cells[0] == found.steps[0]
    assert cells[-1] == found.rows[0].last == 999
    assert found.rows[1].non_finite[0]
    assert not found.rows[1].non_finite[1]
    assert drawn(store, "gradient.mean", columns=20, fetch=fetch).rows[0].cells[0] == 0.5
    assert drawn(store, "gradient.non_finite", columns=20, fetch=fetch).rows[1].last == 3


SEARCH = 6
"""halvings of the 50 histograms of a column"""


@pytest.mark.parametrize("columns", [3, 7, 20, 60, 200])
def test_the_first_bad_step_is_the_recorded_one_however_wide_the_map_is(columns: int) -> None:
    store = Store()
    values = [1.0] * 100
    values[69:] = [NAN] * 31
    scalars(store, {"grad_norm/a": values, "grad_norm/b": [math.inf, *[1.0] * 99]}, range(5, 505, 5))
    found = drawn(store, "grad_norm", columns=columns)
    assert [row.first_bad for row in found.rows] == [350, 5]
    assert (found.starts[0], found.steps[-1]) == (5, 500), "not the edges of columns"


@pytest.mark.parametrize("columns", [3, 7, 20, 60, 200])
def test_zeros_begin_where_they_were_recorded_however_wide_the_map_is(columns: int) -> None:
    store = Store()
    values = {
        "grad_norm/dies": [0.0] * 10 + [1.0] * 12 + [0.0] * 78,
        "grad_norm/lives": [0.0] * 99 + [1.0],
        "grad_norm/never": [0.0] * 100,
        "grad_norm/after_nan": [NAN] * 50 + [0.0] * 50,
    }
    scalars(store, values, range(1, 101))
    found = {row.parameter: row for row in drawn(store, "grad_norm", columns=columns).rows}
    assert {name: row.zero_since for name, row in found.items()} == {
        "dies": 23,
        "lives": None,
        "never": 1,
        "after_nan": 51,
    }
    assert found["never"].first == 1


def test_after_a_restart_what_was_overwritten_is_no_first_bad_step() -> None:
    store = Store()
    scalars(store, {"grad_norm/a": [1, 2, NAN, 7, 0, NAN, 0, 0]}, [10, 20, 30, 20, 30, 40, 50, 60])
    [row] = drawn(store, "grad_norm", columns=2).rows
    assert (row.first, row.first_bad, row.zero_since) == (10, 40, 50)


@pytest.mark.parametrize("columns", [3, 20, 60])
def test_where_histograms_turn_bad_or_zero_is_found_between_those_that_are_drawn(columns: int) -> None:
    store = Store()
    histograms(store, ["gradient/bad", "gradient/zero", "gradient/fine"], range(10, 10010, 10))
    asked: List[int] = []

    def fetch(tag: str, indices: Sequence[int]) -> Sequence[Optional[HistogramStats]]:
        asked.extend(indices)
        zero, bad = tag == "gradient/zero", tag == "gradient/bad"
        return [
            HistogramStats(i, 1.0, 0.0, 0.0 if zero and i >= 413 else 1.0, 0.0, 10, 3 if bad and i >= 707 else 0, 0, 0)
            for i in indices
        ]

    found = drawn(store, "gradient.abs_max", columns=columns, fetch=fetch)
    assert [row.first_bad for row in found.rows] == [7080, None, None]
    assert [row.zero_since for row in found.rows] == [None, 4140, None]
    assert len(asked) <= 3 * len(found.steps) + 2 * math.ceil(math.log2(1000 / columns) + 1)


def test_a_column_without_records_has_its_edges() -> None:
    store = Store()
    scalars(store, {"grad_norm/a": [1.0] * 40}, [*range(20), *range(180, 200)])
    found = drawn(store, "grad_norm", columns=10)
    assert list(found.starts) == sorted(found.starts)
    assert all(start <= end for start, end in zip(found.starts, found.steps))
    assert all(end < start for end, start in zip(found.steps, found.starts[1:]))
    assert {0, 180} <= set(found.starts)
    assert {19, 199} <= set(found.steps)


def test_a_rank_without_these_tags_has_an_empty_map() -> None:
    store = Store()
    scalars(store, {"grad_norm/a": [1]}, [1])
    found = layer_map(store, "run", 5, "grad_norm", 10, never)
    assert found is not None
    assert found.rows == ()
    assert found.steps == ()


def test_columns_stay_put_while_a_run_grows() -> None:
    before = column_edges([np.arange(1000)], 50)
    after = column_edges([np.arange(1005)], 50)
    assert len(before) - 1 <= 50
    assert np.array_equal(before, after[: len(before)])
    assert before[-1] > 999


def test_numbers_in_names_sort_as_numbers() -> None:
    assert sorted(["layer10.w", "layer2.w", "layer2.b", "bias"], key=natural) == [
        "bias",
        "layer2.b",
        "layer2.w",
        "layer10.w",
    ]
