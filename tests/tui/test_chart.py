from __future__ import annotations

import math
from typing import Any, List

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui import safe_text
from mstui.model.series import Disagreement, XAxis
from mstui.model.sources import SUMMARY, Source, SourceKind
from mstui.monitor_api import CurveQuery
from mstui.tui.axes import YAxis
from mstui.tui.chart import FRAME, ChartFrame, Curve, draw_chart, has_spike
from mstui.tui.lines import Row
from mstui.tui.state import Scale
from tests.tui.fakes import FakeMonitor

NASTY = {
    "ordinary": [3.0, 2.0, 1.5, 1.2, 1.1],
    "one point": [5.0],
    "constant": [0.1] * 50,
    "zero": [0.0] * 5,
    "all NaN": [math.nan] * 5,
    "all infinite": [math.inf, -math.inf],
    "infinite first": [math.inf, 1.0, 2.0],
    "subnormal": [5e-324, 1e-310, 2e-320],
    "1e38": [1e38, -1e38, 3e38],
    "largest": [1.7e308, -1.7e308],
    "alternating": [1.0, math.nan] * 20,
    "narrow": [1.0, 1.0 + 2**-52],
    "negative": [-1.0, -1e-12, -1e12],
}


def text_of(row: Row) -> str:
    return "".join(part for part, _look in row)


def chart(values: Any, *, width: int = 60, height: int = 14, previous: Any = None, **changes: Any) -> List[str]:
    return [text_of(row) for row in rows_of(values, width=width, height=height, **changes)]


def rows_of(values: Any, *, width: int = 60, height: int = 14, put: Any = None, **changes: Any) -> List[Row]:
    monitor = FakeMonitor()
    frame = ChartFrame(changes.pop("tag", "train/loss"), width, height, **changes)
    key = monitor.put("run", frame.tag, values, **(put or {}))
    view = monitor.curve(CurveQuery(key, frame.columns, smoothing=frame.smoothing))
    assert view is not None
    rows, _axis = draw_chart([Curve(view, "smooth", "raw" if frame.smoothing else "")], frame)
    return list(rows)


@pytest.mark.parametrize("scale", list(Scale))
@pytest.mark.parametrize("smoothing", [0.0, 0.6])
@pytest.mark.parametrize("name", list(NASTY))
def test_every_series_is_drawn_in_exactly_its_rows_and_cells(name: str, smoothing: float, scale: Scale) -> None:
    for width, height in ((60, 14), (24, 5), (23, 3), (9, 2), (1, 1), (200, 40)):
        rows = chart(NASTY[name], width=width, height=height, smoothing=smoothing, scale=scale)
        assert len(rows) == height
        assert {safe_text.width(row) for row in rows} == {width}
        labels = [row[: FRAME - 1].strip() for row in rows[1:-1]] if width >= 24 else []
        assert not any(label in ("inf", "nan", "+Inf", "-Inf", "NaN") or "#" in label for label in labels)


@given(st.lists(st.floats(width=32) | st.floats(), min_size=0, max_size=30), st.sampled_from(list(Scale)))
@settings(max_examples=200, deadline=None)
def test_no_values_break_a_chart(values: List[float], scale: Scale) -> None:
    rows = chart(values, scale=scale, smoothing=0.5)
    assert {len(row) for row in rows} == {60}


def test_a_series_without_points_says_so() -> None:
    rows, axis = draw_chart([], ChartFrame("loss", 40, 6))
    assert "no points yet" in text_of(rows[1])
    assert {len(text_of(row)) for row in rows} == {40}
    assert axis is None


def test_every_finite_series_leaves_a_dot() -> None:
    for name, values in NASTY.items():
        dots = [char for row in chart(values)[1:] for char in row if "\u2800" < char <= "\u28ff"]
        assert bool(dots) == any(math.isfinite(v) for v in values), name


def test_the_row_for_what_is_not_finite_appears_only_with_the_first_one() -> None:
    assert not any(row.startswith("NaN/Inf") for row in chart([1.0, 2.0]))
    (marks,) = [row for row in chart([1.0, math.nan, math.inf, -math.inf]) if row.startswith("NaN/Inf")]
    assert marks[FRAME:].replace(" ", "") == "x^v"


def test_the_title_says_scale_average_and_the_first_step_that_is_not_finite() -> None:
    title = chart([1.0, 2.0, math.nan], smoothing=0.6)[0]
    assert title.split("  ")[0] == "train/loss NaN/Inf from 20 lin ema 0.6"


def test_the_title_says_when_log_is_not_possible() -> None:
    assert "symlog: values <= 0" in chart([1.0, 0.0], scale=Scale.LOG)[0]
    assert "symlog" not in chart([1.0, 2.0], scale=Scale.LOG)[0]


def test_a_long_tag_is_cut_in_the_middle_and_keeps_its_leaf() -> None:
    title = chart([1.0, 2.0], tag="a/very/long/" * 6 + "leaf", smoothing=0.5)[0]
    assert len(title) == 60
    assert "/leaf lin" in title
    assert "…" in title


def test_markup_and_escapes_in_a_tag_are_only_text() -> None:
    title = chart([1.0, 2.0], tag="[red]x\x1b[31m")[0]
    assert title.startswith("[red]x<1b>[31m")


def test_a_spike_that_flattens_the_rest_is_said() -> None:
    values = np.ones(400) + np.arange(400) * 1e-4
    assert "log?" not in chart(values)[0]
    values[200] = 50.0
    assert "log?" in chart(values)[0]
    assert "log?" not in chart(values, scale=Scale.LOG)[0]


def test_a_few_points_are_no_spike() -> None:
    monitor = FakeMonitor()
    view = monitor.curve(CurveQuery(monitor.put("run", "loss", [1.0, 1.0, 9.0]), 100))
    assert view is not None
    assert not has_spike(view)


def test_a_restart_is_marked_on_the_axis_and_its_past_is_dim() -> None:
    past = {"restarts": (500,), "old_steps": np.arange(50, 80) * 10, "old_values": np.full(30, 1.5)}
    rows = rows_of(np.linspace(2, 1, 100), put=past)
    assert ("R", "marker") in rows[-1]
    assert any(look == "old" for row in rows for _text, look in row)
    hidden = rows_of(np.linspace(2, 1, 100), put=past, superseded=False)
    assert not any(look == "old" for row in hidden for _text, look in row)


def test_the_average_is_bright_and_the_raw_curve_dim_until_nothing_is_averaged() -> None:
    noisy = np.sin(np.arange(300) * 2.1)
    looks = {look for row in rows_of(noisy, smoothing=0.9)[1:-1] for text, look in row if text.strip()}
    assert {"raw", "smooth"} <= looks
    looks = {look for row in rows_of(noisy)[1:-1] for text, look in row if text.strip()}
    assert looks == {"dim", "smooth"}


def test_the_spread_over_ranks_is_drawn_behind() -> None:
    monitor = FakeMonitor()
    frame = ChartFrame("loss", 60, 14)
    key = monitor.put("run", "loss", np.full(100, 1.0))
    monitor.put("run", "loss", np.full(100, 2.0), rank_id=1)
    monitor.put("run", "loss", np.full(100, 0.5), rank_id=2)
    view = monitor.curve(CurveQuery(key, frame.columns, band=True))
    assert view is not None
    rows, axis = draw_chart([Curve(view, "smooth")], frame)
    assert any(look == "band" for row in rows for _text, look in row)
    assert axis is not None
    assert axis.high >= 2.0


def test_the_cursor_line_is_drawn_where_the_curve_is_not() -> None:
    rows = rows_of([1.0, 1.0, 2.0, 1.0], marker=4.0)
    assert all(any(look == "marker" for _text, look in row) for row in rows[1:6])
    assert not any(look == "marker" for row in rows_of([1.0, 2.0], marker=1e9) for _text, look in row)


def test_ascii_charts_are_ascii() -> None:
    rows = chart(np.sin(np.arange(100.0)), ascii_only=True, smoothing=0.6, tag="损失/" + "x" * 80)
    assert all(row.isascii() for row in rows)


def test_the_axis_of_the_last_redraw_is_kept_near() -> None:
    monitor = FakeMonitor()
    frame = ChartFrame("loss", 60, 14)
    key = monitor.put("run", "loss", [4.3, 0.2])
    view = monitor.curve(CurveQuery(key, frame.columns))
    assert view is not None
    before = YAxis(Scale.LINEAR, -1.0, 6.0)
    assert draw_chart([Curve(view, "smooth")], frame, before)[1] is before


def test_one_more_point_leaves_nearly_all_cells_alone() -> None:
    values = np.exp(-np.arange(1001) / 200)
    before, after = chart(values[:-1]), chart(values)
    assert sum(a != b for x, y in zip(before, after) for a, b in zip(x, y)) <= 3


@pytest.mark.parametrize("axis", list(XAxis))
def test_every_x_axis_is_labelled(axis: XAxis) -> None:
    monitor = FakeMonitor()
    frame = ChartFrame("loss", 80, 10)
    view = monitor.curve(CurveQuery(monitor.put("run", "loss", np.arange(1000.0)), frame.columns, axis))
    assert view is not None
    rows, _axis = draw_chart([Curve(view, "smooth")], frame)
    assert sum(char == "┴" for char in text_of(rows[-1])) >= 2


def test_the_title_tells_the_sources_and_that_they_disagree() -> None:
    log = Source(SourceKind.LOG, "\x1bworker")
    monitor = FakeMonitor()
    key = monitor.put("run", "loss", [3.0, 2.0, 1.0])
    monitor.sources[key] = (SUMMARY, log)
    frame = ChartFrame("loss", 60, 14)

    def title() -> str:
        view = monitor.curve(CurveQuery(key, frame.columns))
        assert view is not None
        return text_of(draw_chart([Curve(view, "smooth")], frame)[0][0])

    assert title().rstrip() == "loss lin [summary+logs]"
    monitor.disagreements[key] = Disagreement(400, 12, 300, 2.5, 2.25, SUMMARY, log)
    assert title().rstrip() == "loss ! differs from logs at 12 steps lin [summary+logs]"
    monitor.disagreements[key] = Disagreement(400, 12, 300, 2.5, 2.25, Source(SourceKind.LOG, "info"), log)
    assert "! differs from <1b>worker at 12 steps" in title()
    monitor.sources[key] = (SUMMARY,)
    assert "[" not in title()
