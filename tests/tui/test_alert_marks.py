from __future__ import annotations

from dataclasses import replace
from typing import List, Optional

import pytest

from mstui.model.alerts import Scope, Severity, Symptom
from mstui.model.journal import AlertState, Standing
from mstui.model.roles import Role
from mstui.model.series import XAxis
from mstui.monitor_api import LayerMap, MapRow
from mstui.tui.alert_marks import OnsetMark, named_layers, named_ranks, onset_marks
from mstui.tui.panels.ranks import PANEL as RANKS
from mstui.tui.state import ViewState
from tests.tui.alert_scene import NOW, alert, alerts_scene, happening, put_alerts, some_alerts
from tests.tui.fakes import FakeHost, FakeMonitor
from tests.tui.rank_scene import ranks_scene
from tests.tui.scene import RUN, make_app, scene, screen_rows, screen_text


def host_of(monitor: FakeMonitor, *, ascii_only: bool = False) -> FakeHost:
    return FakeHost(monitor, ViewState(run_key=RUN), ascii_only=ascii_only)


def test_each_symptom_is_marked_where_it_began_on_its_own_tag_the_gravest_last() -> None:
    marks = onset_marks(host_of(alerts_scene()), XAxis.STEP)
    assert marks["loss_scale"] == (OnsetMark(600.0, "✗", "critical"), OnsetMark(640.0, "✗", "critical"))
    assert marks["loss"][-1] == OnsetMark(700.0, "‼", "critical")
    assert marks["eval/acc"] == (OnsetMark(800.0, "✗", "critical"),)
    assert "lr" not in marks, "what is intended is no trouble"


def test_what_is_about_the_whole_run_is_marked_on_the_loss_and_what_is_dealt_with_without_alarm() -> None:
    marks = onset_marks(host_of(alerts_scene()), XAxis.STEP)
    assert OnsetMark(100.0, "!", "marker") in marks["loss"]
    assert OnsetMark(200.0, "!", "marker") in marks["loss"]


def test_on_another_axis_the_mark_is_at_the_point_of_its_step() -> None:
    assert onset_marks(host_of(alerts_scene()), XAxis.EPOCH)["loss_scale"][0].x == 6.0
    assert "grad_norm/fc1.weight" not in onset_marks(host_of(alerts_scene()), XAxis.EPOCH), "it has no point there"


def test_marks_take_one_cell_in_ascii() -> None:
    marks = onset_marks(host_of(alerts_scene(), ascii_only=True), XAxis.STEP)
    assert {each.glyph for found in marks.values() for each in found} == {"!"}


async def test_the_mark_stands_on_the_axis_of_the_chart_and_costs_no_row() -> None:
    monitor = scene()
    put_alerts(monitor, [])
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        before = screen_rows(app)
        put_alerts(monitor, [alert(1, happening(Symptom.LOSS_SPIKE, Severity.WARN, 500, Scope(0, "loss")))])
        app.watch_screen._flush()
        await pilot.pause()
        after = screen_rows(app)
        assert "!" in after[21]
        assert "!" not in before[21]
        changed = [x for x in range(80) if before[21][x] != after[21][x]]
        assert len(changed) == 1
        assert before[2:21] == after[2:21]


def test_layers_and_ranks_that_active_alerts_name_are_marked() -> None:
    host = host_of(alerts_scene())
    assert named_layers(host) == {"fc1.weight": ("!", "warning")}
    assert named_ranks(host) == {0: ("‼", "critical"), 3: ("‼", "critical"), 1: ("‼", "critical")}
    put_alerts(host.fake, [replace(each, standing=Standing(AlertState.ACKNOWLEDGED, NOW)) for each in some_alerts()])
    assert named_layers(host) == {}
    assert named_ranks(host) == {}


def test_a_trouble_of_the_whole_run_names_no_rank() -> None:
    monitor = scene()
    put_alerts(monitor, [alert(1, happening(Symptom.STALL, Severity.ERROR, 5))])
    assert named_ranks(host_of(monitor)) == {}


def test_the_table_of_ranks_shows_the_mark_before_the_rank() -> None:
    monitor = ranks_scene(8)
    put_alerts(monitor, [alert(1, happening(Symptom.LOSS_NAN, Severity.CRITICAL, 700, Scope(6, "loss")))])
    panel = RANKS.build(host_of(monitor))
    drawn: List[str] = ["".join(text for text, _look in row) for row in panel.body(80, 20)]
    marked = [row for row in drawn if row.startswith("‼")]
    assert len(marked) == 1
    assert " 6 " in marked[0]


class OneMap(FakeMonitor):
    """Two layers."""

    def fetch_layer_map(self, run_key: str, rank_id: int, metric: str, columns: int) -> Optional[LayerMap]:
        rows = tuple(MapRow(f"fc{i}.weight", (1.0, 2.0), (False, False), 2.0) for i in (1, 2))
        return LayerMap("grad_norm", ("grad_norm",), (10, 20), rows, complete=True, source="scalars")


@pytest.mark.parametrize("ascii_only", [False, True])
async def test_the_map_of_layers_shows_the_mark_before_the_layer(ascii_only: bool) -> None:
    monitor = OneMap()
    monitor.put(RUN, "grad/fc1.weight", [1.0], role=Role.PARAMETER, parameter="fc1.weight", statistic="grad_norm")
    put_alerts(monitor, some_alerts())
    app = make_app(monitor, ascii=ascii_only)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("2")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "\n!" in screen_text(app)
        assert sum(row.startswith("!") for row in screen_rows(app)) == 1
