from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import List, Tuple

import pytest
from rich.cells import cell_len

from mstui.config import Settings, load_view
from mstui.errors import ConfigError
from mstui.model.roles import Role
from mstui.tui.app import MstuiApp
from mstui.tui.overlay import TextOverlay
from tests.tui.fakes import START, FakeMonitor
from tests.tui.scene import NOW, RUN, make_app, scene, screen_rows, screen_text

SETTLED = 0.15
"""longer than the tests' redraw interval"""

SIZES: List[Tuple[int, int]] = [(80, 24), (120, 40), (200, 60), (60, 15), (40, 10), (30, 8), (20, 1), (1, 1)]


@pytest.mark.parametrize("size", SIZES)
async def test_every_size_is_filled_exactly(size: Tuple[int, int]) -> None:
    app = make_app(scene())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        rows = screen_rows(app)
        assert len(rows) == size[1]
        assert {cell_len(row) for row in rows} == {size[0]}


@pytest.mark.parametrize("size", [size for size in SIZES if size[0] >= 20])
async def test_the_first_picture_shows_the_loss_and_that_the_run_is_alive(size: Tuple[int, int]) -> None:
    app = make_app(scene())
    async with app.run_test(size=size):
        text = screen_text(app)
        assert "loss" in text
        assert "LIVE" in text


async def test_says_once_that_the_first_picture_is_complete() -> None:
    said: List[str] = []
    app = MstuiApp(scene(), Settings(), clock=lambda: NOW, on_painted=lambda: said.append(screen_text(app)))
    assert said == []
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("o")
        assert len(said) == 1
        assert "LIVE" in said[0]


async def test_the_newest_run_with_data_is_loaded_and_selected() -> None:
    monitor = scene()
    monitor.run_list.insert(0, dataclasses.replace(monitor.run_list[0], key="empty", bytes_total=0))
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)):
        assert app.watch_screen.view.run_key == RUN
        assert f"load {RUN}" in monitor.calls


async def test_the_run_and_rank_that_were_asked_for_are_selected() -> None:
    monitor = scene()
    app = make_app(monitor, run="bert/base", rank=0)
    async with app.run_test(size=(120, 40)):
        assert app.watch_screen.view.run_key == "bert/base"


async def test_a_rank_that_there_is_not_is_said_and_the_lowest_is_shown() -> None:
    monitor = scene()
    app = make_app(monitor, rank=99)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(SETTLED)
        monitor.bump()
        await pilot.pause(SETTLED)
        assert app.watch_screen.view.rank_id == 0
        assert "no rank 99; ranks: 0, 1" in screen_rows(app)[-1]
        await pilot.press("k")
        monitor.bump()
        await pilot.pause(SETTLED)
        assert "no rank 99" not in screen_rows(app)[-1], "said once"


async def test_a_rank_that_comes_later_is_the_one_that_was_asked_for() -> None:
    monitor = scene()
    monitor.state = dataclasses.replace(monitor.state, bytes_read=500)
    app = make_app(monitor, rank=99)
    async with app.run_test(size=(80, 24)) as pilot:
        monitor.bump()
        await pilot.pause(SETTLED)
        assert "no rank" not in screen_rows(app)[-1], "its files may not be read yet"
        run = monitor.run_list[0]
        more = dataclasses.replace(run.ranks[0], rank_id=99)
        monitor.run_list[0] = dataclasses.replace(run, ranks=(*run.ranks, more))
        monitor.bump()
        await pilot.pause(SETTLED)
        assert app.watch_screen.view.rank_id == 99
        app.watch_screen.change_view(rank_id=0)
        monitor.bump()
        await pilot.pause(SETTLED)
        assert app.watch_screen.view.rank_id == 0, "a person's choice stays"


async def test_a_run_that_there_is_not_is_said_and_the_newest_is_shown() -> None:
    app = make_app(scene(), run="nope")
    async with app.run_test(size=(80, 24)):
        assert app.watch_screen.view.run_key == RUN
        assert "no run nope yet" in screen_rows(app)[-1]


async def test_a_newer_run_is_announced_but_not_followed() -> None:
    monitor = scene()
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)) as pilot:
        newer = dataclasses.replace(monitor.run_list[0], key="resnet50/run4", last_data=START + 3000)
        monitor.run_list.insert(0, newer)
        monitor.bump()
        await pilot.pause(SETTLED)
        assert app.watch_screen.view.run_key == RUN
        assert "newer run: resnet50/run4" in screen_rows(app)[-1]
        await pilot.press("k")
        assert "newer run" not in screen_rows(app)[-1]


async def test_runs_that_appear_later_are_selected_when_nothing_was() -> None:
    monitor = FakeMonitor()
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        assert "NO DATA" in screen_text(app)
        monitor.put("late", "loss", [3.0, 2.0, 1.0], role=Role.LOSS)
        await pilot.pause(SETTLED)
        assert app.watch_screen.view.run_key == "late"
        assert "loss" in screen_text(app)


async def test_many_revisions_are_drawn_at_most_twice_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = scene()
    app = make_app(monitor)
    drawn: List[int] = []
    async with app.run_test(size=(120, 40)) as pilot:
        monkeypatch.setattr(app.watch_screen.panels["vitals"], "data_changed", lambda: drawn.append(1))
        for _ in range(200):
            monitor.bump()
        await pilot.pause()
        assert len(drawn) <= 2
        await pilot.pause(SETTLED)
        assert 1 <= len(drawn) <= 2


async def test_panels_that_do_not_show_are_not_told_of_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = scene()
    app = make_app(monitor)
    told: List[str] = []
    async with app.run_test(size=(80, 24)) as pilot:
        for panel_id, panel in app.watch_screen.panels.items():
            monkeypatch.setattr(panel, "data_changed", lambda panel_id=panel_id: told.append(panel_id))
        monitor.bump()
        await pilot.pause(SETTLED)
        assert set(told) == {"vitals", "curves"}


async def test_nothing_is_repainted_when_nothing_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = scene()
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause(SETTLED)
        monitor.bump()
        await pilot.pause(SETTLED)
        painted: List[object] = []
        for panel in app.watch_screen.panels.values():
            monkeypatch.setattr(panel, "refresh", lambda *regions, **_: painted.append(regions))
        monitor.bump()
        await pilot.pause(SETTLED)
        assert painted == []


async def test_a_dead_monitor_is_said_with_its_reason_once() -> None:
    monitor = scene()
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)) as pilot:
        monitor.state = dataclasses.replace(monitor.state, alive=False, detail="MemoryError: \x1b[31mno room")
        monitor.bump()
        await pilot.pause(SETTLED)
        text = screen_text(app)
        assert "NOT LIVE" in screen_rows(app)[0]
        assert "MemoryError: <1b>[31mno room" in text
        await pilot.press("escape")
        monitor.bump()
        await pilot.pause(SETTLED)
        assert app.watch_screen.overlay is None


async def test_the_monitor_is_started_and_stopped_with_the_application() -> None:
    monitor = scene()
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)):
        assert monitor._listener is not None
    assert monitor._listener is None


async def test_a_storm_of_resizes_ends_in_a_whole_picture() -> None:
    app = make_app(scene())
    chance = random.Random(1)
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(25):
            await pilot.resize_terminal(chance.randint(1, 210), chance.randint(1, 65))
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        rows = screen_rows(app)
        assert {cell_len(row) for row in rows} == {120}
        assert "LIVE" in rows[0]


async def test_a_thousand_runs_build_only_the_rows_that_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = scene()
    template = monitor.run_list[0]
    monitor.run_list += [dataclasses.replace(template, key=f"sweep/{i:04}") for i in range(1000)]
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        panel = app.watch_screen.panels["runs"]
        built: List[object] = []
        original = panel.item_row  # type: ignore[attr-defined]

        def counted(item: object, width: int) -> object:
            built.append(item)
            return original(item, width)

        monkeypatch.setattr(panel, "item_row", counted)
        await pilot.press("G")
        assert "sweep/0999" in screen_text(app)
        assert 0 < len(built) <= 2 * 24


HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "[bold]markup[/bold]",
    "[@click=app.quit]x[/]",
    "\u202egnp.exe",
    "a\nb\r\tc",
    "x" * 100_000,
    "全" * 300,
    "e\u0301" * 100,
    "\ud800",
    "",
]


@pytest.mark.parametrize("size", [(80, 24), (200, 60), (20, 1), (30, 8)])
async def test_hostile_names_stay_text(size: Tuple[int, int]) -> None:
    monitor = FakeMonitor()
    for i, name in enumerate(HOSTILE):
        monitor.put(f"run{name}{i}", name, [1.0, float("nan"), float("inf")], role=Role.LOSS if i % 2 else Role.OTHER)
    app = make_app(monitor)
    async with app.run_test(size=size) as pilot:
        for key in ("5", "6", "1", "question_mark", "escape", "colon", "escape"):
            await pilot.press(key)
            text = screen_text(app)
            assert "\x1b" not in text
            assert "\u202e" not in text
            assert {cell_len(row) for row in screen_rows(app)} == {size[0]}
        for name in HOSTILE:
            app.watch_screen.say(name)
            assert {cell_len(row) for row in screen_rows(app)} == {size[0]}


async def test_ascii_draws_nothing_but_ascii() -> None:
    monitor = scene()
    monitor.put(RUN, "准确率", [1.0, 2.0], role=Role.EVAL_METRIC)
    app = make_app(monitor, ascii=True)
    async with app.run_test(size=(200, 60)) as pilot:
        for key in ("1", "5", "6", "question_mark", "escape", "e", "escape", "slash", "escape"):
            await pilot.press(key)
            assert screen_text(app).isascii(), key


def test_a_key_map_with_an_unknown_action_names_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        make_app(scene(), keys={"qiut": ("x",)})
    assert "quit" in str(caught.value)


def test_a_theme_that_does_not_exist_names_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        make_app(scene(), theme="drak")
    assert "dark" in str(caught.value)


async def test_a_rebound_key_works_and_the_old_one_does_not() -> None:
    app = make_app(scene(), keys={"view-runs": ("Z",)})
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        assert app.watch_screen.view.view == "curves"
        await pilot.press("Z")
        assert app.watch_screen.view.view == "runs"


async def test_the_view_comes_back_next_time(tmp_path: Path) -> None:
    app = make_app(scene(), state_dir=str(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5", "plus", "x")
    assert load_view(str(tmp_path), "/runs")["view"] == "runs"
    again = make_app(scene(), state_dir=str(tmp_path))
    async with again.run_test(size=(120, 40)):
        assert again.watch_screen.view == dataclasses.replace(
            app.watch_screen.view, run_key=again.watch_screen.view.run_key, x_history=()
        )


async def test_low_bandwidth_draws_every_other_second() -> None:
    app = MstuiApp(scene(), Settings(low_bandwidth=True, refresh_hz=2.0), clock=lambda: NOW)
    assert app.settings.refresh_hz == 0.5


async def test_every_theme_is_applied_at_once() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        before = screen_text(app)
        names = app.theme_names()
        assert names[0] == "terminal"
        for name in names[1:]:
            await pilot.press("t")
            assert app.palette.name == name
            strips = app.screen._compositor.render_strips()
            background = strips[5]._segments[0].style
            assert background is not None
            assert background.bgcolor is not None
        await pilot.press("t")
        await pilot.press("escape")
        assert app.palette.name == "terminal"
        assert screen_text(app) == before


async def test_ctrl_c_leaves() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert not app.is_running or app._exit


async def test_help_opens_over_the_panels_and_any_of_three_keys_closes_it() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        for key in ("q", "escape", "question_mark"):
            await pilot.press("question_mark")
            assert isinstance(app.watch_screen.overlay, TextOverlay)
            await pilot.press(key)
            assert app.watch_screen.overlay is None
            assert app.is_running


async def test_runs_drawn_together_last_time_are_loaded_again_when_they_are_still_there(tmp_path: Path) -> None:
    app = make_app(scene(), state_dir=str(tmp_path))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5", "j", "space", "j", "space")
    monitor = scene()
    del monitor.run_list[2]
    again = make_app(monitor, state_dir=str(tmp_path))
    async with again.run_test(size=(80, 24)):
        assert again.watch_screen.view.overlay == ("resnet50/run2",)
        assert sorted(monitor.calls) == ["load resnet50/run2", f"load {RUN}"]


async def test_a_view_that_cannot_be_stored_is_told(tmp_path: Path) -> None:
    (tmp_path / "views").write_text("a file where a directory should be", encoding="utf-8")
    app = make_app(scene(), state_dir=str(tmp_path))
    async with app.run_test(size=(80, 24)):
        pass
    assert app.view_trouble is not None
    assert "views" in app.view_trouble


async def test_a_monitor_that_died_before_it_said_anything_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = FakeMonitor()
    monitor.state = dataclasses.replace(monitor.state, alive=False, detail="OSError: gone")
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        app.watch_screen._tick()
        await pilot.pause()
        await pilot.pause()
        assert "OSError: gone" in screen_text(app)
