"""The screen as text, kept in snapshots/. MSTUI_UPDATE_SNAPSHOTS=1 writes them anew; then look at the difference."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator, Tuple

import pytest

from mstui.i18n import set_language
from tests.tui.scene import make_app, scene, screen_text

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = "MSTUI_UPDATE_SNAPSHOTS"
SIZES = [(80, 24), (120, 40), (200, 60)]
PICTURES = {
    "start": (),
    "runs": ("5",),
    "files": ("6",),
    "help": ("question_mark",),
    "filter": ("slash", *"loss"),
    "info": ("i",),
}


@pytest.fixture(params=["en", "zh_CN"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    code: str = request.param
    set_language(code)
    yield code
    set_language("en")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("picture", PICTURES)
async def test_the_screen_is_as_it_was(picture: str, size: Tuple[int, int], language: str) -> None:
    app = make_app(scene())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*PICTURES[picture])
        await app.workers.wait_for_complete()
        await pilot.pause()
        text = screen_text(app)
    path = FOLDER / f"{picture}-{size[0]}x{size[1]}-{language}.txt"
    if os.environ.get(UPDATE):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; {UPDATE}=1 writes it anew"
