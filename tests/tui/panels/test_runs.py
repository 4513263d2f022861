from __future__ import annotations

from dataclasses import replace
from typing import List, Optional

import pytest
from rich.cells import cell_len

from mstui.model.runs import RunStatus
from mstui.tui.panels.runs import PANEL, RunsPanel
from mstui.tui.state import ViewState
from tests.tui.fakes import START, FakeHost, FakeMonitor
from tests.tui.scene import RUN, make_app, scene, screen_text


def panel_for(monitor: FakeMonitor, view: Optional[ViewState] = None) -> RunsPanel:
    panel = PANEL.build(FakeHost(monitor, view or ViewState(run_key=RUN)))
    assert isinstance(panel, RunsPanel)
    return panel


def rows(panel: RunsPanel, width: int = 80, height: int = 10) -> List[str]:
    return ["".join(text for text, _look in row) for row in panel.body(width, height)]


def test_a_run_shows_its_state_in_a_word_its_step_and_its_age() -> None:
    first = rows(panel_for(scene()))[0]
    for part in (RUN, "x8", "* LIVE", "1000/50000", "<5s", "!"):
        assert part in first


@pytest.mark.parametrize("width", [30, 38, 50, 80, 200])
def test_rows_fit_and_hostile_names_are_harmless(width: int) -> None:
    monitor = scene()
    monitor.run_list.append(replace(monitor.run_list[0], key="\x1b[31m全\u202e" * 40))
    for row in rows(panel_for(monitor), width):
        assert cell_len(row) <= width
        assert "\x1b" not in row
        assert "\u202e" not in row


@pytest.mark.parametrize("status", list(RunStatus))
def test_every_state_has_a_glyph_where_there_is_no_room_for_a_word(status: RunStatus) -> None:
    monitor = FakeMonitor()
    monitor.add_run("a", status=status)
    [row] = rows(panel_for(monitor), 32, 1)
    assert any(glyph in row for glyph in "*~=!?F")


def test_ranks_unfold_below_their_run() -> None:
    panel = panel_for(scene())
    assert len(panel.items()) == 3
    panel.action_run_fold()
    assert len(panel.items()) == 11
    assert "rank 3" in rows(panel, height=12)[4]
    panel.action_run_down()
    panel.action_run_fold()
    assert len(panel.items()) == 3
    current = panel.current()
    assert current is not None
    assert (current.run.key, current.rank) == (RUN, None)


def test_opening_a_rank_selects_it() -> None:
    panel = panel_for(scene())
    panel.action_run_fold()
    for _ in range(4):
        panel.action_run_down()
    panel.action_run_open()
    assert (panel.host.view.run_key, panel.host.view.rank_id) == (RUN, 3)


def test_overlay_and_pin_are_marked_and_taken_back() -> None:
    panel = panel_for(scene())
    panel.action_run_down()
    panel.action_run_overlay()
    assert panel.host.view.overlay == ("resnet50/run2",)
    assert rows(panel)[1].lstrip("> ").startswith("+")
    panel.action_run_pin()
    assert panel.host.view.pinned == "resnet50/run2"
    assert rows(panel)[1].lstrip("> ").startswith("P")
    panel.action_run_overlay()
    assert not panel.host.view.overlay
    assert panel.host.view.pinned == ""


def test_pinning_a_run_that_is_not_drawn_draws_it() -> None:
    panel = panel_for(scene())
    panel.action_run_bottom()
    panel.action_run_pin()
    assert panel.host.view.overlay == ("bert/base",)
    panel.action_run_pin()
    assert panel.host.view.pinned == ""


def test_opening_an_overlaid_run_takes_it_out_of_the_overlay() -> None:
    panel = panel_for(scene())
    panel.action_run_down()
    panel.action_run_overlay()
    panel.action_run_open()
    assert panel.host.view.run_key == "resnet50/run2"
    assert panel.host.view.overlay == ()


def test_the_selection_stays_on_its_run_when_a_newer_one_appears() -> None:
    monitor = scene()
    panel = panel_for(monitor)
    panel.action_run_down()
    monitor.run_list.insert(0, replace(monitor.run_list[0], key="newer"))
    monitor.bump()
    current = panel.current()
    assert current is not None
    assert current.run.key == "resnet50/run2"


def test_the_selection_moves_to_what_is_left_when_its_run_goes() -> None:
    monitor = scene()
    panel = panel_for(monitor)
    panel.action_run_bottom()
    del monitor.run_list[2]
    monitor.bump()
    current = panel.current()
    assert current is not None
    assert current.run.key == "resnet50/run2"
    monitor.run_list.clear()
    monitor.bump()
    assert panel.current() is None
    for action in (panel.action_run_open, panel.action_run_overlay, panel.action_run_pin, panel.action_run_fold):
        action()
    assert "no run yet" in rows(panel)[0]


def test_a_filter_that_matches_nothing_says_so() -> None:
    panel = panel_for(scene(), ViewState(run_key=RUN, run_filter="nothing at all"))
    assert "no run matches" in rows(panel)[0]


async def test_the_ends_and_pages_are_reached_by_keys() -> None:
    monitor = FakeMonitor()
    for i in range(100):
        monitor.add_run(f"run{i:03}")
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5", "G")
        assert "run099" in screen_text(app)
        await pilot.press("home")
        assert "run001" in screen_text(app)
        await pilot.press("pagedown", "pagedown")
        assert "run001" not in screen_text(app)
        await pilot.press("pageup", "pageup")
        assert "run001" in screen_text(app)


@pytest.mark.parametrize("width", [32, 80])
def test_runs_that_are_not_read_say_so_with_their_age(width: int) -> None:
    monitor = FakeMonitor()
    monitor.add_run("old", loaded=False, status=RunStatus.STALE, last_data=START - 3600)
    monitor.add_run("empty", loaded=False, status=RunStatus.PENDING, last_data=START - 3600)
    monitor.add_run("read", status=RunStatus.STALE, last_data=START - 3600)
    old, empty, read = rows(panel_for(monitor, ViewState(run_key="read")), width)[:3]
    assert " . " in old
    assert "1h" in old
    assert " ? " in empty
    assert " ~ " in read
    if width == 80:
        assert ". NOT READ" in old
        assert "~ STALE" in read
