from __future__ import annotations

from typing import List

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mstui.tui.prompt import MAX_TEXT, Prompt, Typed
from tests.tui.scene import RUN, make_app, scene, screen_rows, screen_text

KEYS = st.sampled_from(["left", "right", "home", "end", "backspace", "delete", "ctrl+u", "ctrl+k", "ctrl+w", "f5", "x"])


@given(st.lists(st.one_of(KEYS, st.text(max_size=3)), max_size=40))
def test_the_cursor_never_leaves_the_text(keys: List[str]) -> None:
    typed = Typed()
    for key in keys:
        typed = typed.insert(key) if len(key) <= 3 else typed.press(key)
        assert 0 <= typed.at <= len(typed.text)


def test_editing_keys_do_what_they_do_in_a_shell() -> None:
    typed = Typed("loss | acc", 10)
    assert typed.press("ctrl+w").text == "loss |"
    assert typed.press("ctrl+u").text == ""
    assert typed.press("home").press("delete").text == "oss | acc"
    assert typed.press("left").press("ctrl+k").text == "loss | ac"
    assert typed.press("left").insert("X").text == "loss | acXc"
    assert Typed("ab", 1).press("backspace") == Typed("b", 0)


def test_a_paste_by_mistake_is_cut() -> None:
    assert len(Typed("a", 1).insert("x" * 10 * MAX_TEXT).text) == MAX_TEXT


async def test_typing_filters_at_once_and_counts_the_hits() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *"loss")
        assert app.watch_screen.view.tag_filter == "loss"
        assert "[2/5]" in screen_rows(app)[-1]
        await pilot.press("enter")
        assert app.watch_screen.view.tag_filter == "loss"
        assert app.focused is app.watch_screen.panels["curves"]
        await pilot.press("escape")
        assert app.watch_screen.view.tag_filter == ""


async def test_the_prompt_counts_the_curves_too_where_not_every_tag_is_one() -> None:
    monitor = scene()
    monitor.add_histograms(RUN, "loss/histogram", [])
    for columns, counted in ((80, "[3/6 tags, 2/5 curves]"), (40, "[3/6]")):
        app = make_app(monitor)
        async with app.run_test(size=(columns, 24)) as pilot:
            await pilot.press("slash", *"loss")
            assert counted in screen_rows(app)[-1]
            assert "/loss: 2 of 5" in screen_text(app) or columns < 80


async def test_escape_restores_the_filter_before() -> None:
    app = make_app(scene(), filter="acc")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", "ctrl+u", *"loss", "escape")
        assert app.watch_screen.view.tag_filter == "acc"


async def test_a_filter_that_cannot_be_understood_says_why_and_the_rest_of_it_filters() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *"loss", "space", "slash", "left_parenthesis")
        row = screen_rows(app)[-1]
        assert "the closing / is missing" in row
        await pilot.press("enter", "5", "tab")
        assert "the closing / is missing" in screen_text(app)
        assert "loss_scale" in screen_text(app)
        assert "eval/acc" not in screen_text(app)


async def test_runs_are_filtered_by_name_figures_and_lineage() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("5")
        for text, hits in (("resnet", 2), ("step<100", 1), ("last.loss<2", 1), ("lr>=1e-3", 1), ("!resnet", 1)):
            await pilot.press("slash", "ctrl+u")
            for character in text:
                await pilot.press({"!": "exclamation_mark"}.get(character, character))
            assert f"[{hits}/3]" in screen_rows(app)[-1], text
            await pilot.press("enter")
            assert f"[{hits}/3]" in screen_text(app)


async def test_keys_reach_the_prompt_even_when_typed_without_a_pause() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*["slash", "q", "o", "question_mark", "1", "2"])
        assert app.is_running
        assert app.watch_screen.view.tag_filter == "qo?12"
        assert app.watch_screen.view.view == "curves"


async def test_hostile_text_and_narrow_terminals_keep_the_row_whole() -> None:
    app = make_app(scene())
    for width in (10, 40, 80):
        async with app.run_test(size=(max(width, 40), 24)) as pilot:
            await pilot.press("slash")
            prompt = app.focused
            assert isinstance(prompt, Prompt)
            prompt._edit(prompt.typed.insert("\x1b[31m全" * 30))
            for at in range(0, len(prompt.typed.text), 7):
                prompt.typed = Typed(prompt.typed.text, at)
                row = prompt.draw(width, 1)[0]
                text = "".join(part for part, _look in row)
                assert "\x1b" not in text
        app = make_app(scene())


async def test_the_prompt_row_is_as_wide_as_the_screen() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *"loss")
        assert {cell_len(row) for row in screen_rows(app)} == {80}
