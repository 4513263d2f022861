"""The layer map before it is drawn."""

from __future__ import annotations

import math
from typing import Optional, Sequence

import pytest

from mstui.monitor_api import LayerMap, MapRow
from mstui.tui.heat import BAD, EMPTY, LEVELS
from mstui.tui.layer_table import (
    LAST_WIDTH,
    LEAST_NAME,
    MARK_WIDTH,
    LayerTable,
    NameColumn,
    divide,
    is_magnitude,
    make_table,
    name_column,
)

NAN = float("nan")


def table(
    *rows: Sequence[float], metric: str = "weight_norm", bad: Optional[Sequence[Sequence[bool]]] = None
) -> LayerTable:
    columns = max(len(row) for row in rows)
    made = [
        MapRow(f"fc{i}.weight", tuple(row), tuple(bad[i]) if bad else (False,) * len(row), row[-1] if row else NAN)
        for i, row in enumerate(rows)
    ]
    return make_table(
        LayerMap(
            metric, (metric,), tuple(range(10, 10 * columns + 1, 10)), tuple(made), complete=True, source="scalars"
        )
    )


def test_the_scale_is_over_the_whole_map() -> None:
    found = table((1.0, 1.0), (100.0, 1000.0))
    assert (found.scale.low, found.scale.high, found.scale.log) == (1.0, 1000.0, True)
    assert found.rows[0].levels == (0, 0)
    assert found.rows[1].levels[1] == LEVELS - 1


@pytest.mark.parametrize(
    ("metric", "magnitude"),
    [
        ("grad_norm", True),
        ("weight_abs_max", True),
        ("update_ratio", True),
        ("weight", True),
        ("act_zero_frac", False),
        ("grad_zero_ratio", False),
        ("zero share", False),
        ("grad_nan_count", False),
        ("non_finite", False),
    ],
)
def test_norms_are_magnitudes_and_shares_and_counts_are_not(metric: str, magnitude: bool) -> None:
    assert is_magnitude(metric) is magnitude
    assert table((0.1, 1.0), metric=metric).scale.log is magnitude


def test_cells_without_a_figure_are_empty_and_infinities_are_bad() -> None:
    found = table((NAN, 1.0, math.inf, NAN), bad=[(False, False, False, True)])
    assert found.rows[0].levels[0] == EMPTY
    assert found.rows[0].levels[2:] == (BAD, BAD)


@pytest.mark.parametrize(
    ("row", "bad", "mark"),
    [
        ((1.0, 1.0, 1.0, 1.0), (), ""),
        ((1.0, NAN, NAN, NAN), (False, False, True, True), "NaN 30"),
        ((0.0, 0.0), (), "dead"),
        ((0.0,), (), "dead"),
        ((NAN, NAN), (), ""),
        ((1.0, 0.0, 0.0, 0.0), (), "dead 20"),
        ((1.0, 1.0, 0.0, 0.0), (), ""),
        ((0.0, 0.0, 0.0, NAN), (), "dead"),
    ],
)
def test_a_row_says_when_it_broke(row: Sequence[float], bad: Sequence[bool], mark: str) -> None:
    found = table(row, bad=[bad] if bad else None)
    assert found.rows[0].mark == mark


def marked(first: int, first_bad: Optional[int], zero_since: Optional[int], *cells: float) -> str:
    row = MapRow("a", cells, tuple(math.isnan(cell) for cell in cells), cells[-1], first, first_bad, zero_since)
    steps = tuple(range(10, 10 * len(cells) + 1, 10))
    made = LayerMap("grad_norm", ("grad_norm",), steps, (row,), complete=True, source="scalars")
    return make_table(made).rows[0].mark


def test_a_row_names_the_recorded_step_and_not_its_column_s() -> None:
    assert marked(1, 23, None, 1.0, 1.0, NAN, NAN) == "NaN 23"
    assert marked(1, None, 14, 1.0, 0.0, 0.0, 0.0) == "dead 14"


def test_dead_from_the_first_record_on_needs_no_step_but_dead_within_the_first_column_does() -> None:
    assert marked(3, None, 3, 0.0, 0.0) == "dead"
    assert marked(3, None, 5, 0.0, 0.0) == "dead 5"


def test_a_share_of_zero_is_not_death() -> None:
    assert table((0.0, 0.0, 0.0), metric="grad_nan_count").rows[0].mark == ""


def test_rows_shorter_than_the_map_are_empty_at_the_end() -> None:
    found = table((1.0, 2.0, 3.0), (1.0,))
    assert found.rows[1].levels[1:] == (EMPTY, EMPTY)


@pytest.mark.parametrize("columns", [0, 1, 7, 60, 500])
def test_a_row_never_needs_more_than_the_panel_has(columns: int) -> None:
    for width in range(200):
        found = divide(width, NameColumn("net.", 17), columns)
        assert found.columns * found.repeat <= found.heat_width
        tail = LAST_WIDTH + 1 + MARK_WIDTH if found.both else MARK_WIDTH
        if width >= LEAST_NAME + 3 + MARK_WIDTH:
            assert 1 + found.name_width + 1 + found.heat_width + 1 + tail <= width


def test_names_get_no_more_than_they_need() -> None:
    assert divide(80, name_column(["net.fc1", "net.fc2"]), 5).name_width == LEAST_NAME
    assert divide(80, name_column(["a" * 60]), 5).name_width == 80 // 3
    assert divide(80, name_column([]), 0).name_width == 80 // 3
