from __future__ import annotations

from typing import List

import pytest
from rich.cells import cell_len

from mstui.tui.overlay import Choice, TextOverlay, keys_that_fit
from tests.tui.scene import make_app, scene, screen_rows, screen_text

FRUIT = [Choice("a", "apple", "red"), Choice("b", "banana", "yellow"), Choice("c", "cherry 全", "red")]


async def test_typing_leaves_the_choices_whose_every_word_occurs() -> None:
    app = make_app(scene())
    chosen: List[str] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await app.watch_screen.choose("fruit", FRUIT, chosen.append)
        await pilot.press(*"red rr")
        text = screen_text(app)
        assert "cherry" in text
        assert "apple" not in text
        await pilot.press("enter")
        assert chosen == ["c"]


async def test_the_current_choice_is_selected_and_arrows_stop_at_the_ends() -> None:
    app = make_app(scene())
    chosen: List[str] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await app.watch_screen.choose("fruit", FRUIT, chosen.append, "b")
        await pilot.press("enter")
        await app.watch_screen.choose("fruit", FRUIT, chosen.append, "b")
        await pilot.press("down", "down", "down", "enter")
        await app.watch_screen.choose("fruit", FRUIT, chosen.append, "b")
        await pilot.press("up", "up", "up", "enter")
        assert chosen == ["b", "c", "a"]


async def test_nothing_that_matches_chooses_nothing() -> None:
    app = make_app(scene())
    chosen: List[str] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await app.watch_screen.choose("fruit", FRUIT, chosen.append)
        await pilot.press(*"zz", "enter")
        assert "nothing matches" in screen_text(app)
        await pilot.press("backspace", "backspace", "escape")
        assert chosen == []
        assert app.watch_screen.overlay is None


async def test_the_focus_goes_back_to_where_it_was() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("tab")
        before = app.focused
        await app.watch_screen.choose("one", FRUIT, print)
        await app.watch_screen.choose("two", FRUIT, print)
        await pilot.pause()
        assert "two" in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert app.focused is before
        assert "┌" not in screen_text(app)


async def test_a_long_list_scrolls_with_the_selection() -> None:
    app = make_app(scene())
    chosen: List[str] = []
    many = [Choice(str(i), f"choice {i}") for i in range(300)]
    async with app.run_test(size=(60, 12)) as pilot:
        await app.watch_screen.choose("many", many, chosen.append)
        await pilot.press(*["pagedown"] * 5)
        assert "choice 50" in screen_text(app)
        await pilot.press("enter")
        assert chosen == ["50"]


async def test_a_choice_never_runs_into_its_note_and_a_sentence_is_cut_at_its_end() -> None:
    app = make_app(scene())
    long = [Choice("a", "Show the chips of this machine, where npu-smi tells of them, and more", "8")]
    async with app.run_test(size=(60, 12)) as pilot:
        await app.watch_screen.choose("names", long, print)
        await pilot.pause()
        row = next(row for row in screen_rows(app) if "Show" in row)
        assert row.rstrip(" │").endswith("them, and more  8")
        assert "…" in row
        await app.watch_screen.choose("sentences", long, print, sentences=True)
        await pilot.pause()
        row = next(row for row in screen_rows(app) if "Show" in row)
        assert row.rstrip(" │").endswith("…  8")
        assert "Show the chips of this machine, where npu-smi tells" in row


async def test_text_is_scrolled_to_its_end_and_not_beyond() -> None:
    app = make_app(scene())
    async with app.run_test(size=(40, 12)) as pilot:
        over = TextOverlay(
            "text", lambda width: [((f"line {i} of {width}", "text"),) for i in range(50)], app.watch_screen.close_over
        )
        await app.watch_screen.open_over(over)
        await pilot.press("end", "j", "j", "pagedown")
        assert "line 49" in screen_text(app)
        await pilot.press("home")
        assert "line 0 " in screen_text(app)
        assert {cell_len(row) for row in screen_rows(app)} == {40}


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (43, "1-9/20  j k   n step  Y copies   esc closes"),
        (42, "1-9/20  j k  n step  Y copies  esc closes"),
        (40, "1-9/20  j k  n step  esc closes"),
        (20, "1-9/20  esc closes"),
        (17, "esc closes"),
        (4, "esc closes"),
    ],
)
def test_keys_of_a_hint_are_left_out_whole_and_how_to_leave_stays(cells: int, shown: str) -> None:
    assert keys_that_fit("1-9/20  j k   n step  Y copies   esc closes", cells) == shown
