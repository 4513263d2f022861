"""Guided checks as text at the three sizes, kept in snapshots/. MSTUI_UPDATE_SNAPSHOTS=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator, Sequence, Tuple

import pytest
from textual import events

from mstui.i18n import set_language
from tests.tui.check_scene import check_scene, press, settled, window
from tests.tui.scene import make_app, screen_text

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = "MSTUI_UPDATE_SNAPSHOTS"
SIZES = [(80, 24), (120, 40), (200, 60)]
PICTURES = {
    "check": ("3", "g"),
    "check-offered": ("3", "g", "n"),
    "check-causes": ("3", "g", "s", "c", "j"),
    "check-found": ("3", "g", "c", "y"),
    "check-manual": ("3", "g", "d", "tab"),
    "check-flows": ("C",),
}


@pytest.fixture(params=["en", "zh_CN"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    code: str = request.param
    set_language(code)
    yield code
    set_language("en")


@pytest.fixture(autouse=True)
def one_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same name wherever the tests run."""
    monkeypatch.setattr("mstui.tui.check_actions.user_at_host", lambda: "ann@host")


def compare(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get(UPDATE):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; {UPDATE}=1 writes it anew"


async def drawn(keys: Sequence[str], size: Tuple[int, int]) -> str:
    app = make_app(check_scene())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await press(pilot, app, keys)
        return screen_text(app)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("picture", PICTURES)
async def test_a_check_is_as_it_was(picture: str, size: Tuple[int, int], language: str) -> None:
    compare(f"{picture}-{size[0]}x{size[1]}-{language}.txt", await drawn(PICTURES[picture], size))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_a_search_is_as_it_was(size: Tuple[int, int], language: str) -> None:
    app = make_app(check_scene())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await app.watch_screen._open_check("", "check1#C1.2")
        await settled(pilot, app)
        await press(pilot, app, ("v",))
        window(app).post_message(events.Paste("\n".join(f"block{i}" for i in range(12))))
        await press(pilot, app, ("enter", "n", "y"))
        compare(f"check-search-{size[0]}x{size[1]}-{language}.txt", screen_text(app))
