"""The layer map panel on a screen, at three sizes, with colours and without."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import Any, List, Optional, Sequence, Tuple

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from mstui import safe_text
from mstui.monitor_api import LayerMap, MapRow
from mstui.tui.panels.layers import PANEL, REFETCH_SECONDS, LayersPanel
from mstui.tui.state import ViewState
from tests.tui.fakes import FakeHost, FakeMonitor, make_run

NAN = float("nan")
METRICS = ("weight_norm", "weight_abs_max", "grad_zero_frac")
SIZES = [(80, 24), (120, 40), (200, 60), (40, 12), (40, 6), (23, 5)]


class MapMonitor(FakeMonitor):
    """Notes who asked for which map, and answers with as many columns as were asked for, at most."""

    def __init__(self, rows: int = 30, columns: int = 48) -> None:
        super().__init__()
        self.add_run("resnet50/run3")
        self.row_count, self.column_count = rows, columns
        self.asked: List[Tuple[str, int, str, int]] = []
        self.threads: List[int] = []
        self.found = True
        self.complete = True

    def fetch_layer_map(self, run_key: str, rank_id: int, metric: str, columns: int) -> Optional[LayerMap]:
        self.asked.append((run_key, rank_id, metric, columns))
        self.threads.append(threading.get_ident())
        if not self.found:
            return None
        k = min(columns, self.column_count)
        rows = []
        for i in range(self.row_count):
            cells = [10.0 ** (i % 5 + column / k) for column in range(k)]
            bad = [False] * k
            if i == 2:
                cells[-1], bad[-1] = NAN, True
            if i == 3:
                cells = [0.0] * k
            rows.append(MapRow(f"network.layer{i}.conv.weight", tuple(cells), tuple(bad), cells[-1]))
        steps = tuple(12480 * (column + 1) // k for column in range(k))
        chosen = metric if metric in METRICS else METRICS[0]
        return LayerMap(chosen, METRICS, steps, tuple(rows), complete=self.complete, source="histograms")


class PanelApp(App[None]):
    def __init__(self, monitor: FakeMonitor, *, ascii_only: bool = False, view: Optional[ViewState] = None) -> None:
        super().__init__()
        self.host = FakeHost(monitor, view, ascii_only=ascii_only)

    def compose(self) -> ComposeResult:
        panel = PANEL.build(self.host)
        self.host.panels.append(panel)
        yield panel

    @property
    def panel(self) -> LayersPanel:
        return self.query_one(LayersPanel)


async def settle(pilot: Pilot[Any]) -> None:
    """Until nothing is fetched any more."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def text(panel: LayersPanel) -> List[str]:
    return ["".join(part for part, _ in row).rstrip() for row in panel.rows]


def looks(panel: LayersPanel, y: int) -> Sequence[str]:
    return [look for _, look in panel.rows[y]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ascii_only", [False, True])
async def test_rows_fit_at_every_size(size: Tuple[int, int], ascii_only: bool) -> None:
    app = PanelApp(MapMonitor(), ascii_only=ascii_only)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        lines = text(app.panel)
        assert len(lines) == size[1]
        assert all(safe_text.width(line) <= size[0] for line in lines[1:])
        assert any("NaN" in line for line in lines)
        if ascii_only:
            assert all(line.isascii() for line in lines)


async def test_a_wide_panel_shows_title_cells_marks_figures_and_steps() -> None:
    app = PanelApp(MapMonitor(rows=4, columns=8), ascii_only=True)
    async with app.run_test(size=(80, 6)) as pilot:
        await settle(pilot)
        title, first, second, third, fourth, axis = text(app.panel)
        assert title.startswith("- layers weight_norm 1/3 1 .:-=+*#@ 1000 log ---")
        assert first.startswith(" layer0.conv.weight .....")
        assert third.endswith("NaN NaN 12480")
        assert "@@@@xxxx  " in third
        assert second.split()[-1] == "74.989"
        assert fourth.split()[-2:] == ["0", "dead"]
        assert axis.split() == ["1560", "12480", "newest"]
        assert "critical" in looks(app.panel, 3)


async def test_a_narrow_panel_gives_the_mark_the_place_of_the_figure() -> None:
    app = PanelApp(MapMonitor(rows=4), ascii_only=True)
    async with app.run_test(size=(40, 6)) as pilot:
        await settle(pilot)
        _, first, _, third, fourth, _ = text(app.panel)
        assert first.split()[-1] == "8.3768"
        assert third.endswith("NaN 12480")
        assert fourth.endswith("dead")


async def test_the_map_is_fetched_off_the_ui_thread_with_the_columns_that_fit() -> None:
    monitor = MapMonitor()
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert threading.get_ident() not in monitor.threads
        run_key, rank_id, metric, columns = monitor.asked[-1]
        assert (run_key, rank_id, metric) == ("resnet50/run3", 0, "")
        assert 20 < columns < 60


async def test_a_new_revision_is_fetched_but_not_more_than_once_in_two_seconds() -> None:
    monitor = MapMonitor()
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = len(monitor.asked)
        for _ in range(5):
            monitor.bump()
            app.panel.data_changed()
            await settle(pilot)
        assert len(monitor.asked) == before
        app.host.clock += REFETCH_SECONDS
        app.panel.data_changed()
        await settle(pilot)
        assert len(monitor.asked) == before + 1
        app.host.clock += REFETCH_SECONDS
        app.panel.data_changed()
        await settle(pilot)
        assert len(monitor.asked) == before + 1, "the same revision holds the same map"


async def test_a_map_that_is_filling_in_says_so_and_is_fetched_again() -> None:
    monitor = MapMonitor()
    monitor.complete = False
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert "filling in" in text(app.panel)[0]
        monitor.complete = True
        app.host.clock += REFETCH_SECONDS
        app.panel.data_changed()
        await settle(pilot)
        assert "filling in" not in text(app.panel)[0]


async def test_the_old_map_stays_until_the_new_one_is_there() -> None:
    monitor = MapMonitor()
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        before = text(app.panel)
        app.panel.next_metric()
        assert app.host.view.layer_metric == METRICS[1]
        assert text(app.panel) == before
        await settle(pilot)
        assert " weight_abs_max 2/3 " in text(app.panel)[0]
        app.panel.next_metric()
        app.panel.next_metric()
        assert app.host.view.layer_metric == METRICS[0]
        await settle(pilot)


async def test_the_axis_names_the_first_and_the_last_recorded_step() -> None:
    monitor = MapMonitor(columns=12)
    whole = monitor.fetch_layer_map

    def fetch(run_key: str, rank_id: int, metric: str, columns: int) -> Optional[LayerMap]:
        found = whole(run_key, rank_id, metric, columns)
        return None if found is None else replace(found, starts=(7, *(step + 1 for step in found.steps[:-1])))

    monitor.fetch_layer_map = fetch  # type: ignore[method-assign]
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert text(app.panel)[-1].split()[-3:] == ["7", "12480", "newest"]


@pytest.mark.parametrize("width", [40, 60, 80])
async def test_parameters_that_differ_in_the_middle_do_not_look_alike(width: int) -> None:
    monitor = MapMonitor()
    names = [f"layers.{i}.attention.linear_{part}.weight" for i in (0, 1, 10) for part in ("qkv", "proj")]

    def fetch(run_key: str, rank_id: int, metric: str, columns: int) -> Optional[LayerMap]:
        del run_key, rank_id, metric, columns
        rows = tuple(MapRow(name, (1.0,), (False,), 1.0) for name in ("embedding.weight", *names))
        return LayerMap("grad_norm", ("grad_norm",), (10,), rows, complete=True, source="scalars")

    monitor.fetch_layer_map = fetch  # type: ignore[method-assign]
    app = PanelApp(monitor)
    async with app.run_test(size=(width, 24)) as pilot:
        await settle(pilot)
        shown = [row[1:].split()[0] for row in text(app.panel)[2 : 2 + len(names)]]
        assert len(set(shown)) == len(names), shown


async def test_another_run_never_shows_the_map_of_the_last() -> None:
    monitor = MapMonitor()
    monitor.add_run("other")
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.host.change_view(run_key="other")
        assert not any("layer0" in line for line in text(app.panel))
        await settle(pilot)
        assert monitor.asked[-1][0] == "other"
        assert any("layer0" in line for line in text(app.panel))


async def test_keys_select_and_the_map_scrolls_with_the_selection() -> None:
    app = PanelApp(MapMonitor(rows=30))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        app.panel.focus()
        await pilot.press("j", "j", "down", "k")
        assert app.host.view.parameter == "network.layer1.conv.weight"
        assert text(app.panel)[2].startswith(">layer1.")
        assert "1-10/30" in text(app.panel)[-1]
        await pilot.press("end")
        assert text(app.panel)[-2].startswith(">layer29.")
        assert "21-30/30" in text(app.panel)[-1]
        await pilot.press("j")
        assert app.host.view.parameter == "network.layer29.conv.weight"
        await pilot.press("home", "k")
        assert text(app.panel)[1].startswith(">layer0.")


async def test_the_tag_filter_leaves_the_parameters_it_matches() -> None:
    app = PanelApp(MapMonitor(rows=30))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        app.host.change_view(tag_filter="layer1 !layer11 | layer7.conv")
        assert "[11/30]" in text(app.panel)[0]
        assert not any("layer11." in line for line in text(app.panel))
        app.panel.focus()
        await pilot.press("end")
        assert app.host.view.parameter == "network.layer19.conv.weight"
        app.host.change_view(tag_filter="last>=10000")
        assert "[6/30]" in text(app.panel)[0]


async def test_a_filter_that_matches_no_parameter_leaves_the_map_whole() -> None:
    app = PanelApp(MapMonitor(rows=5))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        before = text(app.panel)
        app.host.change_view(tag_filter="loss")
        assert text(app.panel) == before


async def test_enter_opens_the_histogram_of_the_selected_parameter() -> None:
    app = PanelApp(MapMonitor())
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.panel.focus()
        await pilot.press("j", "j", "enter")
        assert app.host.view.parameter == "network.layer1.conv.weight"
        assert app.host.view.zoomed == "histogram"


async def test_keys_do_nothing_where_there_is_no_map() -> None:
    monitor = MapMonitor()
    monitor.found = False
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.panel.focus()
        await pilot.press("j", "k", "home", "end", "enter")
        app.panel.next_metric()
        assert app.host.view.parameter == app.host.view.zoomed == ""
        assert app.host.said


async def test_a_run_without_statistics_says_how_to_get_them() -> None:
    monitor = MapMonitor()
    monitor.found = False
    app = PanelApp(monitor)
    async with app.run_test(size=(160, 10)) as pilot:
        await settle(pilot)
        lines = [line for line in text(app.panel)[1:] if line]
        assert len(lines) == 2
        assert "SummaryCollector(collect_specified_data={'histogram_regular': '.*'}, ...)" in lines[1]


async def test_a_run_that_is_still_being_read_is_not_called_empty() -> None:
    monitor = MapMonitor()
    monitor.found = False
    monitor.run_list[0] = make_run("resnet50/run3", bytes_read=340, bytes_total=1000)
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 10)) as pilot:
        await settle(pilot)
        assert "Reading: 34%" in text(app.panel)[1]


async def test_no_run_is_an_answer_too() -> None:
    app = PanelApp(FakeMonitor())
    async with app.run_test(size=(80, 10)) as pilot:
        await settle(pilot)
        assert text(app.panel)[1] == " No run is chosen."


async def test_names_from_files_are_made_harmless() -> None:
    class Hostile(MapMonitor):
        def fetch_layer_map(self, run_key: str, rank_id: int, metric: str, columns: int) -> Optional[LayerMap]:
            rows = (MapRow("[red]\x1b[31m\u202e\n", (math.inf,), (True,), math.inf),)
            return LayerMap("\x1b]0;x\x07", ("\x1b]0;x\x07",), (10,), rows, complete=True, source="scalars")

    app = PanelApp(Hostile())
    async with app.run_test(size=(80, 6)) as pilot:
        await settle(pilot)
        shown = "\n".join(text(app.panel))
        assert not any(code in shown for code in "\x1b\x07\u202e")
        assert "[red]<1b>" in shown
        assert "+Inf" in shown


async def test_a_hidden_panel_reads_nothing_until_it_shows() -> None:
    monitor = MapMonitor()
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.panel.display = False
        await pilot.pause()
        asked = len(monitor.asked)
        monitor.bump()
        app.host.clock += 60
        app.panel.data_changed()
        app.host.current = replace(app.host.current, layer_metric=METRICS[1])
        app.panel.view_changed()
        await settle(pilot)
        assert len(monitor.asked) == asked
        app.panel.display = True
        await settle(pilot)
        assert monitor.asked[-1][2] == METRICS[1]


async def test_drawing_the_same_again_repaints_nothing() -> None:
    app = PanelApp(MapMonitor(), ascii_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.panel.redraw() is False
