from __future__ import annotations

import math
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, AsyncIterator, List, Tuple

import numpy as np
import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from mstui import safe_text
from mstui.model.roles import Role
from mstui.model.series import XAxis
from mstui.tui.chart_grid import choose_tags, grid_for
from mstui.tui.panels.curves import PANEL, CurvesPanel
from mstui.tui.state import Scale
from mstui.tui.x_range import containing, panned, zoomed
from tests.tui.fakes import FakeHost, FakeMonitor

SIZES = ((80, 24), (120, 40), (200, 60))
RUN = "resnet50/run3"
STEPS = 400


def make_monitor() -> FakeMonitor:
    """A run whose tags come in an order that is not that of the alphabet, and one that ends in NaN."""
    monitor = FakeMonitor()
    t = np.arange(STEPS)
    monitor.add_run(RUN, ranks=2)
    norm = 1 + 0.5 * np.sin(t)
    norm[300] = math.inf
    norm[320:] = math.nan
    monitor.put(RUN, "a/other", np.cos(t / 9), role=Role.OTHER)
    monitor.put(RUN, "lr", 1e-3 * np.exp(-t / 100), role=Role.LEARNING_RATE)
    monitor.put(RUN, "grad_norm", norm, role=Role.GRAD_NORM)
    monitor.put(RUN, "train/loss", 0.3 + 4 * np.exp(-t / 100), role=Role.LOSS)
    monitor.put(RUN, "train/loss", 0.5 + 4 * np.exp(-t / 90), role=Role.LOSS, rank_id=1)
    monitor.put(RUN, "fc.weight/norm", 1 + t * 0.0, role=Role.PARAMETER, parameter="fc.weight", statistic="norm")
    monitor.put("baseline", "train/loss", 0.4 + 3 * np.exp(-t / 80), role=Role.LOSS)
    return monitor


class OnePanel(App[None]):
    def __init__(self, panel: CurvesPanel) -> None:
        super().__init__(ansi_color=True)
        self.panel = panel

    def compose(self) -> ComposeResult:
        yield self.panel

    def on_mount(self) -> None:
        self.panel.focus()


@dataclass
class Stage:
    monitor: FakeMonitor
    host: FakeHost
    panel: CurvesPanel
    pilot: Pilot[None]

    def text(self) -> List[str]:
        return ["".join(part for part, _look in row) for row in self.panel.rows]

    def all_text(self) -> str:
        return "\n".join(self.text())


@asynccontextmanager
async def stage(
    size: Tuple[int, int] = (120, 40), *, ascii_only: bool = False, monitor: Any = None, **view: Any
) -> AsyncIterator[Stage]:
    fake = monitor or make_monitor()
    host = FakeHost(fake, ascii_only=ascii_only)
    host.current = replace(host.current, run_key=RUN, **view)
    panel = PANEL.build(host)
    assert isinstance(panel, CurvesPanel)
    host.panels.append(panel)
    async with OnePanel(panel).run_test(size=size) as pilot:
        await pilot.pause()
        yield Stage(fake, host, panel, pilot)


@pytest.mark.parametrize("size", SIZES)
async def test_the_loss_comes_first_and_parameters_wait_for_a_filter(size: Tuple[int, int]) -> None:
    async with stage(size) as at:
        assert at.text()[1].startswith("train/loss ")
        assert "fc.weight" not in at.all_text()
        assert at.panel.matched() == (4, 5)


@pytest.mark.parametrize("size", SIZES)
async def test_a_series_that_is_not_finite_gets_its_row(size: Tuple[int, int]) -> None:
    async with stage(size, tag_filter="grad_norm") as at:
        (row,) = [row for row in at.text() if "NaN/Inf│" in row]
        assert "^" in row
        assert "xxx" in row
        assert "NaN/Inf from 3000" in at.text()[1]


async def test_a_filter_chooses_charts_and_is_counted() -> None:
    async with stage() as at:
        at.host.change_view(tag_filter="norm")
        assert at.panel.matched() == (2, 5)
        assert at.panel.choice().tags == ("grad_norm", "fc.weight/norm")
        assert "/norm: 2 of 5" in at.text()[0]


async def test_a_filter_without_a_hit_keeps_the_charts_and_says_so() -> None:
    async with stage() as at:
        at.host.change_view(tag_filter="nothing-like-it")
        assert "no tag matches" in at.text()[0]
        assert at.text()[1].startswith("train/loss ")
        assert at.panel.matched() == (0, 5)


async def test_what_is_not_understood_in_a_filter_is_said_and_the_rest_filters() -> None:
    async with stage() as at:
        at.host.change_view(tag_filter="norm /(/")
        assert "not a pattern" in at.text()[0]
        assert at.panel.choice().tags == ("grad_norm", "fc.weight/norm")


async def test_a_filter_may_compare_the_last_value() -> None:
    async with stage() as at:
        at.host.change_view(tag_filter="last<0.1 !norm !other")
        assert at.panel.choice().tags == ("lr",)


async def test_enter_lets_the_focused_chart_fill_the_panel_and_back() -> None:
    async with stage() as at:
        await at.pilot.press("l", "enter")
        assert at.panel.single
        assert at.text()[1].startswith("grad_norm ")
        assert "train/loss" not in at.all_text()
        await at.pilot.press("enter")
        assert "train/loss" in at.all_text()


async def test_keys_move_the_focus_by_chart_by_row_and_by_page() -> None:
    monitor = make_monitor()
    for i in range(20):
        monitor.put(RUN, f"metric{i:02}", np.arange(10.0))
    async with stage((120, 40), monitor=monitor) as at:
        assert "1-6 of 24" in at.text()[0]
        await at.pilot.press("l")
        assert at.host.view.chart == 1
        await at.pilot.press("j")
        assert at.host.view.chart == 3
        await at.pilot.press("k", "h", "h")
        assert at.host.view.chart == 0
        await at.pilot.press("pagedown")
        assert "7-12 of 24" in at.text()[0]
        await at.pilot.press("pageup", "pageup")
        assert at.host.view.chart == 0
        await at.pilot.press("end")
        assert at.host.view.chart == 23
        await at.pilot.press("home")
        assert at.host.view.chart == 0


async def test_the_cursor_reads_every_run_and_goes_by_points() -> None:
    async with stage(overlay=("baseline",), colours=(RUN, "baseline"), smoothing=0.5) as at:
        at.panel.toggle_cursor()
        assert "step 3990" in at.text()[-2]
        assert at.text()[-2].startswith(RUN)
        assert at.text()[-1].startswith("baseline")
        await at.pilot.press("h")
        assert "step 3980" in at.text()[-2]
        await at.pilot.press("less_than_sign")
        assert "step 3880" in at.text()[-2]
        await at.pilot.press("circumflex_accent")
        assert "step 0 " in at.text()[-2]
        assert "raw 4.3 " in at.text()[-2]
        assert "1/400" in at.text()[-2]
        await at.pilot.press("h", "greater_than_sign", "l")
        assert "step 110 " in at.text()[-2]
        await at.pilot.press("dollar_sign")
        assert "400/400" in at.text()[-2]
        assert any(look == "marker" for row in at.panel.rows for _text, look in row)
        at.panel.toggle_cursor()
        assert at.host.view.cursor is None


async def test_the_cursor_jumps_to_the_next_value_that_is_not_finite() -> None:
    async with stage(tag_filter="grad_norm") as at:
        await at.pilot.press("N")
        assert "raw +Inf" in at.text()[-1]
        await at.pilot.press("N")
        assert "step 3200" in at.text()[-1]
        assert "raw NaN" in at.text()[-1]
    async with stage(tag_filter="lr") as at:
        await at.pilot.press("N")
        assert at.host.said == ["Every value of this chart is finite."]


async def test_the_cursor_moves_with_the_focus_to_the_same_step() -> None:
    async with stage() as at:
        at.panel.toggle_cursor()
        await at.pilot.press("circumflex_accent", "l", "j")
        cursor = at.host.view.cursor
        assert cursor is not None
        assert cursor.tag == "lr"
        assert cursor.index == 1


async def test_the_scale_goes_round_for_the_focused_chart_only() -> None:
    async with stage() as at:
        for name, scale in (("log", Scale.LOG), ("symlog", Scale.SYMLOG), ("lin", Scale.LINEAR)):
            at.panel.toggle_scale()
            assert at.host.view.scale_of("train/loss") is scale
            assert f"train/loss {name} " in at.text()[1]
            assert at.host.view.scale_of("lr") is Scale.LINEAR


async def test_pan_and_zoom_move_all_charts_and_can_be_taken_back() -> None:
    async with stage() as at:
        at.panel.zoom(2.0)
        first = at.host.view.x_range
        assert first is not None
        assert first[1] >= 3990.0
        assert all(query.x_range == first for query in at.monitor.queries[-4:])
        at.panel.pan(-0.25)
        at.panel.pan(-0.25)
        second = at.host.view.x_range
        assert second is not None
        assert second[0] < first[0]
        at.panel.zoom_back()
        assert at.host.view.x_range == first
        at.panel.zoom_back()
        assert at.host.view.x_range is None
        at.panel.zoom_back()
        assert at.host.said == ["There is no earlier view."]


async def test_zooming_out_of_everything_follows_again() -> None:
    async with stage() as at:
        at.panel.zoom(2.0)
        at.panel.zoom(0.25)
        assert at.host.view.x_range is None


async def test_zoom_leaves_at_least_one_record_gap() -> None:
    async with stage() as at:
        for _ in range(40):
            at.panel.zoom(2.0)
        shown = at.host.view.x_range
        assert shown is not None
        assert shown[1] - shown[0] == pytest.approx(10.0)


async def test_pan_and_zoom_keep_the_cursor_in_view() -> None:
    async with stage() as at:
        at.panel.toggle_cursor()
        await at.pilot.press("circumflex_accent")
        at.panel.zoom(4.0)
        shown = at.host.view.x_range
        assert shown is not None
        assert shown[0] <= 0.0 <= shown[1]
        at.panel.pan(2.0)
        cursor, shown = at.host.view.cursor, at.host.view.x_range
        assert cursor is not None
        assert shown is not None
        assert shown[0] <= cursor.index * 10 <= shown[1]
        await at.pilot.press("circumflex_accent")
        shown = at.host.view.x_range
        assert shown is not None
        assert shown[0] <= 0.0 <= shown[1]


async def test_the_band_is_asked_for_only_when_there_are_ranks_and_it_is_wanted() -> None:
    async with stage() as at:
        assert any(query.band for query in at.monitor.queries)
        assert any(look == "band" for row in at.panel.rows for _text, look in row)
        at.monitor.queries.clear()
        at.host.change_view(band=False)
        assert at.monitor.queries
        assert not any(query.band for query in at.monitor.queries)


async def test_runs_keep_their_looks_and_the_pinned_one_lies_on_top() -> None:
    async with stage(overlay=("baseline",), colours=("x", RUN, "baseline")) as at:
        looks = {look for row in at.panel.rows for _text, look in row}
        assert {"series-1", "series-2"} <= looks
        title = at.panel.rows[0]
        assert title.index((RUN, "series-1")) < title.index(("baseline", "series-2"))
        assert [key.run_key for key, _query in at.panel.export_data().curves] == ["baseline", RUN]  # type: ignore[union-attr]
        at.host.change_view(pinned="baseline")
        assert [key.run_key for key, _query in at.panel.export_data().curves] == [RUN, "baseline"]  # type: ignore[union-attr]


async def test_nothing_is_asked_again_while_the_revision_stays() -> None:
    async with stage() as at:
        at.monitor.queries.clear()
        assert not at.panel.redraw()
        assert at.monitor.queries == []


async def test_a_point_that_changes_no_dot_repaints_nothing() -> None:
    async with stage(tag_filter="lr", smoothing=0.0) as at:
        at.monitor.append(RUN, "lr", float(at.monitor.data[at.panel.focused_series()].values[-1]))  # type: ignore[index]
        at.monitor.bump()
        rows = at.panel.rows
        at.panel.data_changed()
        assert sum(a != b for a, b in zip(rows, at.panel.rows)) <= 1


@pytest.mark.parametrize("ascii_only", [False, True])
async def test_no_row_is_wider_than_the_panel_at_25_widths(ascii_only: bool) -> None:
    monitor = make_monitor()
    monitor.put(RUN, "tag/" * 40 + "损失", np.arange(30.0), role=Role.EVAL_LOSS)
    async with stage((20, 30), ascii_only=ascii_only, monitor=monitor, tag_filter="!" + "x" * 50) as at:
        at.panel.toggle_cursor()
        for width in range(1, 251, 10):
            await at.pilot.resize_terminal(width, 30)
            await at.pilot.pause()
            assert at.panel.size.width == width
            for row in at.text()[1:]:
                assert safe_text.width(row) <= width
                assert row.isascii() or not ascii_only


async def test_without_run_or_scalars_it_says_so() -> None:
    async with stage(monitor=FakeMonitor()) as at:
        assert "There is no event file" in at.all_text()
        at.host.fake.add_run(RUN)
        at.host.change_view(run_key=RUN)
        assert "no scalar in them yet" in at.all_text()
        for key in ("h", "j", "pagedown", "enter", "N", "dollar_sign"):
            await at.pilot.press(key)
        at.panel.toggle_cursor()
        at.panel.zoom(2.0)
        at.panel.pan(1.0)
        at.panel.toggle_scale()
        assert at.panel.export_data() is None
        assert at.panel.copy_text() == ""


async def test_the_watched_directory_itself_is_called_by_its_name() -> None:
    monitor = make_monitor()
    monitor.add_run(".", path="/data/summary_dir/")
    monitor.put(".", "loss", [1.0, 2.0], role=Role.LOSS)
    async with stage(monitor=monitor) as at:
        at.host.change_view(run_key=".")
        at.panel.toggle_cursor()
        assert at.text()[-1].startswith("summary_dir  raw 2 ")
        assert at.panel.copy_text().startswith("summary_dir  rank 0  loss  raw 2 ")


async def test_a_panel_without_a_title_draws_too() -> None:
    async with stage() as at:
        at.panel.compact = True
        at.panel.repaint_all()
        assert at.text()[0].startswith("train/loss ")


async def test_a_rank_without_the_series_says_so() -> None:
    async with stage(rank_id=7) as at:
        assert "no points yet" in at.all_text()


async def test_copied_text_names_run_rank_tag_value_and_step() -> None:
    async with stage() as at:
        assert at.panel.copy_text().startswith(f"{RUN}  rank 0  train/loss  raw 0.374")
        at.panel.toggle_cursor()
        await at.pilot.press("circumflex_accent")
        assert "step 0 " in at.panel.copy_text()


async def test_escape_leaves_the_cursor_first_and_the_single_chart_then() -> None:
    async with stage() as at:
        await at.pilot.press("enter")
        at.panel.toggle_cursor()
        assert at.panel.leave()
        assert at.host.view.cursor is None
        assert at.panel.single
        assert at.panel.leave()
        assert not at.panel.single
        assert not at.panel.leave()


@pytest.mark.parametrize("axis", list(XAxis))
async def test_every_x_axis_draws(axis: XAxis) -> None:
    async with stage(axis=axis) as at:
        at.panel.toggle_cursor()
        assert f"x: {axis.value}" in at.text()[0]
        assert "step 3990" in at.text()[-1]


@pytest.mark.parametrize(
    ("room", "shape"),
    [
        ((80, 20), (1, 1)),
        ((79, 37), (1, 3)),
        ((112, 33), (2, 2)),
        ((120, 37), (2, 3)),
        ((200, 57), (3, 4)),
        ((10, 1), (1, 1)),
    ],
)
def test_the_grid_follows_the_room(room: Tuple[int, int], shape: Tuple[int, int]) -> None:
    grid = grid_for(*room, 100)
    assert (grid.columns, grid.rows) == shape
    assert sum(grid.chart_heights) == room[1]


@pytest.mark.parametrize(("charts", "shape"), [(1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 2)), (5, (2, 3))])
def test_few_charts_share_the_room(charts: int, shape: Tuple[int, int]) -> None:
    grid = grid_for(120, 37, charts)
    assert (grid.columns, grid.rows) == shape


def test_a_run_with_nothing_but_parameters_shows_them() -> None:
    monitor = FakeMonitor()
    monitor.put("run", "w/norm", [1.0], role=Role.PARAMETER)
    assert choose_tags(monitor.tags("run"), "", ()).tags == ("w/norm",)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 20)])
async def test_titles_of_charts_stay_apart_on_one_page_and_from_page_to_page(size: Tuple[int, int]) -> None:
    monitor = FakeMonitor()
    figures = ("min", "max", "mean", "norm")
    for figure in figures:
        monitor.put(RUN, f"grad_unreduced_{figure}/layers.0.mlp.linear_fc1.weight.of.the.whole", [1.0] * 9)
    async with stage(size, monitor=monitor) as at:
        titles = []
        for number in range(len(figures)):
            at.host.change_view(chart=number)
            await at.pilot.pause()
            titles += [word for row in at.text() for word in row.split() if word.startswith("gra")]
        assert len(set(titles)) == len(figures)


def test_panning_stops_at_the_data() -> None:
    assert panned((0.0, 100.0), (0.0, 100.0), 0.5) is None
    assert panned((0.0, 50.0), (0.0, 100.0), -0.5) == (0.0, 50.0)
    low, high = panned((0.0, 50.0), (0.0, 100.0), 9.0) or (0.0, 0.0)
    assert 100.0 <= high <= 105.0
    assert high - low == 50.0


def test_zooming_in_keeps_the_present_when_it_shows_and_the_middle_when_not() -> None:
    assert zoomed((0.0, 100.0), (0.0, 100.0), 2.0, None, 1.0) == (50.0, 100.0)
    assert zoomed((0.0, 50.0), (0.0, 100.0), 2.0, None, 1.0) == (12.5, 37.5)
    assert zoomed((0.0, 100.0), (0.0, 100.0), 2.0, 20.0, 1.0) == (10.0, 60.0)


def test_a_range_is_moved_just_so_far_that_a_place_shows() -> None:
    assert containing((0.0, 100.0), 50.0) == (0.0, 100.0)
    assert containing((0.0, 100.0), 120.0) == (25.0, 125.0)
    assert containing((100.0, 200.0), 50.0) == (45.0, 145.0)


async def test_the_end_of_x_stays_while_points_come_and_moves_ahead_of_them() -> None:
    monitor = make_monitor()
    async with stage(monitor=monitor) as at:
        ends: List[float] = []
        for points in range(STEPS, STEPS + 60):
            at.host.clock += 0.5
            monitor.put(RUN, "train/loss", 0.3 + 4 * np.exp(-np.arange(points) / 100), role=Role.LOSS)
            at.panel.data_changed()
            shown = at.panel.export_data()
            assert shown is not None
            (_axis, (low, high)) = shown.curves[-1][1].kept[0]
            assert low == 0
            assert high >= (points - 1) * 10
            ends.append(high)
        assert len(set(ends)) <= 4


async def test_a_range_that_was_chosen_is_asked_for_as_it_is() -> None:
    async with stage(x_range=(100.0, 900.0)) as at:
        at.monitor.queries.clear()
        at.panel.redraw()
        at.host.change_view(x_range=(100.0, 800.0))
        assert {query.x_range for query in at.monitor.queries} == {(100.0, 800.0)}
        assert {query.kept for query in at.monitor.queries} == {()}


async def test_all_charts_of_a_page_share_the_range_that_is_kept() -> None:
    async with stage() as at:
        at.monitor.bump()
        at.monitor.queries.clear()
        at.panel.data_changed()
        assert len({query.kept for query in at.monitor.queries}) == 1
        assert at.monitor.queries[0].kept[0][0] is XAxis.STEP


async def test_the_epoch_has_no_chart_until_a_filter_names_it() -> None:
    monitor = make_monitor()
    monitor.put(RUN, "epoch", np.arange(STEPS) // 50, role=Role.EPOCH)
    async with stage((200, 60), monitor=monitor) as at:
        assert "epoch" not in at.panel.choice().tags
        at.host.change_view(tag_filter="epoch")
        assert at.panel.choice().tags == ("epoch",)
