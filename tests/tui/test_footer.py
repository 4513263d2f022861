from __future__ import annotations

from typing import Iterator

import pytest
from rich.cells import cell_len

from mstui.i18n import set_language
from mstui.tui.footer import Footer
from mstui.tui.keymap import effective_keys


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    set_language("en")
    yield
    set_language("en")


def text_of(width: int, scope: str = "curves", **keys: tuple[str, ...]) -> str:
    footer = Footer()
    footer.scope = scope
    footer.keys = effective_keys({name.replace("_", "-"): value for name, value in keys.items()})
    return "".join(text for text, _look in footer.draw(width, 1)[0])


def test_curves_show_what_is_used_most_first() -> None:
    text = text_of(160)
    wanted = [
        "? help",
        "hjkl move",
        "enter one chart",
        "v values",
        "+ - smooth",
        "L log",
        "x axis",
        "[ ] { } range",
        "/ filter",
        "q quit",
    ]
    places = [text.index(hint) for hint in wanted]
    assert places == sorted(places)


def test_keys_that_were_taken_away_leave_the_entry() -> None:
    assert "+ smooth" in text_of(160, smooth_less=())
    assert "smooth" not in text_of(160, smooth_more=())


@pytest.mark.parametrize("scope", ["curves", "layers", "histogram", "runs", "tags", "files", "vitals"])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_hints_are_whole_at_every_width(scope: str, language: str) -> None:
    set_language(language)
    whole = [hint for hint in text_of(400, scope).strip().split("  ") if hint]
    for width in range(20, 200):
        text = text_of(width, scope)
        assert cell_len(text.rstrip()) <= width
        assert [hint for hint in text.strip().split("  ") if hint and hint not in whole] == []
        if width >= 40:
            assert whole[0] in text
            assert whole[-1] in text


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_80_columns_hold_the_first_seven_of_curves(language: str) -> None:
    set_language(language)
    shown = [hint for hint in text_of(80).strip().split("  ") if hint]
    assert len(shown) >= 7, shown
