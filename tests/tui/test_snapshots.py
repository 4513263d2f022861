"""The screen as text, kept in snapshots/. MSTUI_UPDATE_SNAPSHOTS=1 writes them anew; then look at the difference."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Callable, Dict, Iterator, Tuple

import pytest

from mstui.i18n import set_language
from mstui.tui.app import MstuiApp
from mstui.tui.panels.hardware import HardwarePanel
from mstui.tui.panels.log import LogPanel
from tests.tui.alert_scene import alerts_scene, quiet_scene
from tests.tui.fakes import FakeMonitor
from tests.tui.log_scene import logs_scene
from tests.tui.rank_scene import ranks_scene
from tests.tui.scene import make_app, scene, screen_text

FOLDER = Path(__file__).parent / "snapshots"
CHIPS = Path(__file__).parents[1] / "data" / "npu_smi"
UPDATE = "MSTUI_UPDATE_SNAPSHOTS"
SIZES = [(80, 24), (120, 40), (200, 60)]
PICTURES = {
    "start": (),
    "runs": ("5",),
    "files": ("6",),
    "ranks": ("7",),
    "ranks-many": ("7",),
    "help": ("question_mark",),
    "filter": ("slash", *"loss"),
    "info": ("i",),
    "hardware": ("8",),
    "log": ("4",),
    "log-search": ("4", "k", "slash", *"overflow", "enter"),
    "log-record": ("4", "p", "enter"),
    "log-info": ("i",),
    "log-curve": ("v", "J"),
    "alerts": (),
    "alerts-view": ("3",),
    "alerts-unfolded": ("3", "f"),
    "alerts-none": ("3",),
    "alert-why": ("3", "enter"),
    "alert-ack": ("3", "a"),
    "alert-verdict": ("3", "V"),
}
SCENES: Dict[str, Callable[[], FakeMonitor]] = {
    "ranks": lambda: ranks_scene(8),
    "ranks-many": lambda: ranks_scene(1024),
    **dict.fromkeys(
        ("alerts", "alerts-view", "alerts-unfolded", "alert-why", "alert-ack", "alert-verdict"), alerts_scene
    ),
    "alerts-none": quiet_scene,
    **dict.fromkeys(("log", "log-search", "log-record", "log-info", "log-curve"), logs_scene),
}
"""pictures of another training than the usual one"""


@pytest.fixture(params=["en", "zh_CN"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    code: str = request.param
    set_language(code)
    yield code
    set_language("en")


@pytest.fixture(autouse=True)
def npu_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An npu-smi that tells the same wherever the tests run."""
    path = tmp_path / "npu-smi"
    path.write_text(f'#!/bin/sh\n[ "$2" = -t ] && exec cat {CHIPS}/usages.txt\ncat {CHIPS}/info_910B_8cards.txt\n')
    path.chmod(0o755)
    monkeypatch.setenv("MSTUI_NPU_SMI", str(path))


async def chips_are_drawn(app: MstuiApp) -> None:
    """Where the hardware panel shows, wait for what its own thread is told."""
    panel = app.watch_screen.panels["hardware"]
    assert isinstance(panel, HardwarePanel)
    while panel.display and panel.known().table is None:
        await asyncio.sleep(0.01)


async def log_is_drawn(app: MstuiApp) -> None:
    """Wait for the page and the search that were asked for, each of which may ask for another page."""
    panel = app.watch_screen.panels["log"]
    assert isinstance(panel, LogPanel)
    while panel.search.running or panel._fetching.busy:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("picture", PICTURES)
async def test_the_screen_is_as_it_was(picture: str, size: Tuple[int, int], language: str) -> None:
    app = make_app(SCENES.get(picture, scene)())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*PICTURES[picture])
        await app.workers.wait_for_complete()
        await pilot.pause()
        await log_is_drawn(app)
        await chips_are_drawn(app)
        await pilot.pause()
        text = screen_text(app)
    path = FOLDER / f"{picture}-{size[0]}x{size[1]}-{language}.txt"
    if os.environ.get(UPDATE):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; {UPDATE}=1 writes it anew"
