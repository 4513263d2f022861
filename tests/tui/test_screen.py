from __future__ import annotations

from pathlib import Path
from typing import List

import pytest
from textual.pilot import Pilot

from mstui.config import Settings
from mstui.model.series import XAxis
from mstui.monitor import Monitor
from mstui.tui.app import MstuiApp
from mstui.tui.overlay import Chooser
from mstui.tui.panel import Panel
from tests.tui.scene import RUN, make_app, scene, screen_rows, screen_text

SAMPLE_RUNS = Path(__file__).parents[2] / "sample_runs"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def written(pilot: Pilot[None], folder: Path) -> List[Path]:
    """What an export has written, once it has."""
    app = pilot.app
    await app.workers.wait_for_complete()
    await pilot.pause()
    return sorted(path for path in folder.iterdir() if path.is_file())


@pytest.mark.parametrize(("key", "view"), [("1", "curves"), ("2", "layers"), ("5", "runs"), ("6", "files")])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_a_number_shows_its_view_and_focuses_it(key: str, view: str, size: tuple[int, int]) -> None:
    app = make_app(scene())
    async with app.run_test(size=size) as pilot:
        await pilot.press("1", key)
        assert app.watch_screen.view.view == view
        assert app.focused is not None
        assert app.focused.id == view
        assert app.focused.display
        assert any(row.lstrip("│ ").startswith(f"─ {view}") or f"─ {view} " in row for row in screen_rows(app))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_tab_goes_round_all_panels_and_back(size: tuple[int, int]) -> None:
    app = make_app(scene())
    async with app.run_test(size=size) as pilot:
        panels = app.watch_screen.visible_panels()
        seen = []
        for _ in panels:
            seen.append(app.focused)
            await pilot.press("tab")
        assert set(seen) == set(panels)
        assert app.focused is seen[0]
        await pilot.press("shift+tab")
        assert app.focused is seen[-1]


async def test_only_fills_the_body_and_goes_back() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("o")
        assert [panel.id for panel in app.watch_screen.visible_panels()] == ["curves"]
        assert app.focused is app.watch_screen.panels["curves"]
        await pilot.press("o")
        assert len(app.watch_screen.visible_panels()) > 1


async def test_escape_leaves_one_thing_at_a_time_and_never_the_program() -> None:
    app = make_app(scene(), filter="loss")
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("o", "v")
        assert app.watch_screen.view.cursor is not None
        await pilot.press("escape")
        assert app.watch_screen.view.cursor is None
        assert app.watch_screen.view.zoomed == "curves"
        await pilot.press("escape")
        assert app.watch_screen.view.zoomed == ""
        assert app.watch_screen.view.tag_filter == "loss"
        await pilot.press("escape")
        assert app.watch_screen.view.tag_filter == ""
        await pilot.press("escape", "escape")
        assert app.is_running


async def test_smoothing_has_ends_and_comes_back() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press(*["plus"] * 20)
        assert app.watch_screen.view.smoothing == 0.99
        await pilot.press("0")
        assert app.watch_screen.view.smoothing == 0.0
        await pilot.press("minus")
        assert app.watch_screen.view.smoothing == 0.0
        await pilot.press("0")
        assert app.watch_screen.view.smoothing == 0.99
        assert "0.99" in screen_rows(app)[-1]


async def test_x_goes_through_every_axis() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        seen = []
        for _ in XAxis:
            seen.append(app.watch_screen.view.axis)
            await pilot.press("x")
        assert seen == list(XAxis)
        assert app.watch_screen.view.axis is XAxis.STEP


async def test_zoom_pan_and_back_change_the_range() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("right_curly_bracket")
        first = app.watch_screen.view.x_range
        assert first is not None
        await pilot.press("left_square_bracket")
        assert app.watch_screen.view.x_range != first
        await pilot.press("backspace")
        assert app.watch_screen.view.x_range == first
        await pilot.press("equals_sign")
        assert app.watch_screen.view.x_range is None


async def test_keys_of_a_panel_that_does_not_show_say_so() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("6", "right_square_bracket")
        assert "not on the screen" in screen_rows(app)[-1]


async def test_old_points_and_bands_are_toggled() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("O", "B")
        assert not app.watch_screen.view.show_superseded
        assert not app.watch_screen.view.band


async def test_reading_now_asks_the_monitor() -> None:
    monitor = scene()
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("r")
        assert "read_now" in monitor.calls


async def test_opening_another_run_loads_it_and_forgets_the_one_before() -> None:
    monitor = scene()
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5", "j", "enter")
        assert app.watch_screen.view.run_key == "resnet50/run2"
        assert monitor.calls[-2:] == ["load resnet50/run2", f"unload {RUN}"]


async def test_colours_of_runs_last() -> None:
    monitor = scene()
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5", "j", "space", "j", "space")
        look = app.watch_screen.view.look_of("bert/base")
        await pilot.press("k", "space")
        assert app.watch_screen.view.overlay == ("bert/base",)
        assert app.watch_screen.view.look_of("bert/base") == look == 2


async def test_commands_are_found_by_their_words_and_done() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("colon", *"ranks tags")
        assert isinstance(app.watch_screen.overlay, Chooser)
        await pilot.press("enter")
        await pilot.pause()
        assert app.watch_screen.view.view == "runs"


async def test_commands_of_the_focused_panel_are_offered_too() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5", "colon", *"last line", "enter")
        await pilot.pause()
        assert app.watch_screen.panels["runs"].selected == 2  # type: ignore[attr-defined]


async def test_a_theme_and_a_run_are_chosen_by_name() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("colon", *"choose a theme", "enter")
        await pilot.pause()
        await pilot.press(*"high", "enter")
        assert app.palette.name == "high-contrast"
        await pilot.press("colon", *"choose a run", "enter")
        await pilot.pause()
        await pilot.press(*"bert", "enter")
        assert app.watch_screen.view.run_key == "bert/base"


async def test_the_role_of_a_tag_is_asked_for_and_told() -> None:
    monitor = scene()
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5", "tab", "j", "R")
        await pilot.pause()
        assert "What is eval/acc?" in screen_text(app)
        await pilot.press(*"grad norm", "enter")
        assert "set_role eval/acc grad-norm" in monitor.calls


async def test_copying_goes_to_the_clipboard_and_to_a_file(tmp_path: Path) -> None:
    app = make_app(scene(), state_dir=str(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5", "Y")
        assert RUN in app.clipboard
        path = tmp_path / "copies" / "copy.txt"
        assert RUN in path.read_text(encoding="utf-8")
        assert str(path) in screen_rows(app)[-1] or "copied" in screen_rows(app)[-1]


@pytest.mark.parametrize(("letter", "suffix", "begins"), [("c", ".csv", b"run,"), ("s", ".svg", b"<svg")])
async def test_a_chart_is_saved(letter: str, suffix: str, begins: bytes, elsewhere: Path) -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("e", letter)
        [path] = await written(pilot, elsewhere)
        assert path.suffix == suffix
        assert path.read_bytes().startswith(begins)
        assert path.name in screen_rows(app)[-1] or "written" in screen_rows(app)[-1]


@pytest.mark.parametrize("view", ["5", "6"])
async def test_lists_are_saved_as_tables_pictures_and_text(view: str, elsewhere: Path) -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        for letter in "cst":
            await pilot.press(view, "e", letter)
            await written(pilot, elsewhere)
        found = {path.suffix: path.read_text(encoding="utf-8") for path in elsewhere.iterdir()}
        assert set(found) == {".csv", ".svg", ".txt"}
        assert all("resnet50" in text for text in found.values())


async def test_what_a_panel_cannot_be_saved_as_is_said(elsewhere: Path) -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("5", "e", "p")
        assert await written(pilot, elsewhere) == []
        assert "PNG is for curves" in screen_rows(app)[-1]


async def test_nothing_is_written_into_what_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched, state = tmp_path / "summary", tmp_path / "state"
    (watched / "inside").mkdir(parents=True)
    monkeypatch.chdir(watched / "inside")
    monitor = scene()
    monitor.root_path = str(watched)
    app = make_app(monitor, state_dir=str(state))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("e", "c")
        await written(pilot, watched)
    assert [path for path in watched.rglob("*") if path.is_file()] == []
    assert len(list((state / "exports").iterdir())) == 1


async def test_two_exports_are_two_files(elsewhere: Path) -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(2):
            await pilot.press("e", "c")
            await written(pilot, elsewhere)
        assert len(list(elsewhere.iterdir())) == 2


async def test_the_whole_screen_is_saved_as_svg(elsewhere: Path) -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("colon", *"whole screen", "enter")
        [path] = await written(pilot, elsewhere)
        assert path.read_text(encoding="utf-8").lstrip().startswith("<svg")


async def test_the_mouse_is_given_to_the_terminal_and_back() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("M")
        assert "left to the terminal" in screen_rows(app)[-1]
        await pilot.press("M")
        assert "captured" in screen_rows(app)[-1]


async def test_a_message_goes_with_the_next_key_and_is_cut_to_the_screen() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        app.watch_screen.say("\x1b[31m" + "long " * 100)
        assert screen_rows(app)[-1].startswith(" <1b>[31mlong")
        await pilot.press("h")
        assert "help" in screen_rows(app)[-1]


async def test_an_overlay_takes_every_key() -> None:
    app: MstuiApp = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("question_mark")
        before = app.watch_screen.view
        for key in ("5", "x", "plus", "tab", "o", "v", "slash", "colon", "e", "j", "pagedown", "end", "home"):
            await pilot.press(key)
        assert app.watch_screen.view == before
        assert app.watch_screen.overlay is not None


async def test_an_overlay_survives_resizing_to_nothing_and_back() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("question_mark")
        for size in ((3, 2), (20, 1), (1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert "─ help ─" in screen_text(app)


async def test_panels_stand_where_the_table_says_when_figures_come_after_the_first_layout() -> None:
    app = MstuiApp(Monitor(str(SAMPLE_RUNS / "loss_nan")), Settings(ascii=False, low_bandwidth=False))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = app.watch_screen
        for _ in range(200):
            await pilot.pause(0.02)
            if any(panel.id == "histogram" for panel in screen.visible_panels()):
                break
        await pilot.pause()
        placed = {slot.panel: (slot.x, slot.y, slot.width, slot.height) for slot in screen.slots(app.size)}
        shown = {panel.id: tuple(panel.region) for panel in screen.visible_panels()}
        assert shown == {panel: place for panel, place in placed.items() if panel in shown}
        assert screen.panels["vitals"].region.height == 6


async def test_an_x_axis_that_a_run_does_not_have_is_said_and_steps_are_shown() -> None:
    data = Path(__file__).parents[1] / "data" / "summary" / "long_spike"
    app = MstuiApp(Monitor(str(data)), Settings(ascii=False, low_bandwidth=False, refresh_hz=10.0))
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(200):
            await pilot.pause(0.02)
            if "loss lin" in screen_text(app):
                break
        await pilot.press("x")
        await pilot.pause()
        assert app.watch_screen.view.axis is XAxis.EPOCH
        assert "x: step  epoch is not known" in screen_text(app)
        await pilot.press("x")
        await pilot.pause()
        assert "x: relative " in screen_text(app)
        assert "is not known" not in screen_text(app)


async def test_the_panel_that_keys_go_to_is_the_only_one_that_looks_like_it() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        for _ in range(5):
            await pilot.press("tab")
            await pilot.pause()
            looks = {panel.id: "title-focus" in [look for _, look in panel.rows[0]] for panel in shown_panels(app)}
            assert looks == {panel.id: panel.has_focus for panel in shown_panels(app)}


def shown_panels(app: MstuiApp) -> List[Panel]:
    return app.watch_screen.visible_panels()
