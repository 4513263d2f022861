from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, List, Optional, Tuple

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from mstui.hardware.collector import VARIABLE
from mstui.i18n import set_language
from mstui.model.hardware import (
    Chip,
    ChipProcess,
    ChipTable,
    Hardware,
    HardwareState,
    NpuUsages,
    UsedOf,
)
from mstui.tui.panels.hardware import PANEL, HardwarePanel
from tests.tui.fakes import START, FakeHost, FakeMonitor
from tests.tui.scene import make_app, scene, screen_rows, screen_text

SAMPLES = Path(__file__).parents[2] / "data" / "npu_smi"
SIZES = [(80, 24), (120, 40), (200, 60)]
NOW = START + 2000


class Told:
    """Knows what a test says."""

    def __init__(self, known: Hardware) -> None:
        self.known = known
        self.looked_at: Optional[int] = None

    def snapshot(self) -> Hardware:
        return self.known

    def look_at(self, npu: Optional[int]) -> None:
        self.looked_at = npu


def chip(npu: int, load: Optional[float] = 97.0, **changes: Any) -> Chip:
    made = Chip(
        npu,
        0,
        "910B",
        "OK",
        f"0000:{npu:02X}:00.0",
        power_w=266.9,
        temperature_c=54.0,
        ai_core_percent=load,
        memory_mb=UsedOf(0, 0),
        hbm_mb=UsedOf(31411, 65536),
        processes=(ChipProcess(812331 + npu, "python", 31022),),
    )
    return replace(made, **changes)


def known_of(chips: List[Chip], **changes: Any) -> Hardware:
    return replace(Hardware(HardwareState.OK, ChipTable(tuple(chips), "24.1.0", 0), NOW - 1), **changes)


def panel_for(known: Hardware, *, ascii_only: bool = False) -> HardwarePanel:
    panel = PANEL.build(FakeHost(FakeMonitor(), ascii_only=ascii_only))
    assert isinstance(panel, HardwarePanel)
    panel._collector = Told(known)  # type: ignore[assignment]
    return panel


def rows(panel: HardwarePanel, width: int = 80, height: int = 20) -> List[str]:
    return ["".join(text for text, _look in row) for row in panel.body(width, height)]


def title(panel: HardwarePanel) -> str:
    return "".join(text for text, _look in panel.title(80))


def test_a_row_tells_everything_of_a_chip() -> None:
    head, row = rows(panel_for(known_of([chip(3)])))[:2]
    assert head.split() == ["chip", "health", "AI%", "HBM", "MB", "W", "C", "pids"]
    assert row.split() == [">3/0", "OK", "97", row.split()[3], "31411/65536", "266.9", "54", "812334"]
    assert set(row.split()[3]) == {"█"}


@pytest.mark.parametrize("number", [8, 16])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_chip_is_readable_where_there_are_eighty_columns(number: int, language: str) -> None:
    set_language(language)
    try:
        shown = rows(panel_for(known_of([chip(npu) for npu in range(number)])), 80, 20)
    finally:
        set_language("en")
    for npu in range(number):
        line = next(row for row in shown if row[1:].startswith(f"{npu}/0 "))
        for part in ("OK", "97", "31411/65536", "266.9", "54", str(812331 + npu)):
            assert part in line
    assert any("910B" in row for row in shown), "what is left is for the selected chip"


@pytest.mark.parametrize("width", [10, 20, 30, 42, 56, 80, 112, 200])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_rows_fit_and_hostile_text_is_harmless(width: int, ascii_only: bool) -> None:
    bad = "\x1b[31m全\u202e" * 30
    usages = NpuUsages(0, ({"Chip ID": "0", bad: bad},), not_understood=2)
    hostile = chip(0, name=bad, health=bad, bus_id=bad, processes=(ChipProcess(1, bad, None),) * 50)
    panel = panel_for(known_of([hostile, chip(1)], usages=usages), ascii_only=ascii_only)
    for row in rows(panel, width, 20):
        assert "\x1b" not in row
        assert "\u202e" not in row
        assert not ascii_only or row.isascii()
        assert width < 30 or cell_len(row) <= width


def test_what_is_not_known_is_a_dash_and_never_a_zero() -> None:
    silent = chip(
        0, None, power_w=None, temperature_c=None, hbm_mb=None, memory_mb=None, processes=None, health="UNKNOWN"
    )
    row = rows(panel_for(known_of([silent])))[1]
    assert row.split() == [">0/0", "UNKNOWN", "-", "-", "-", "-"]
    assert "0" not in row.replace("0/0", "")


def test_no_process_is_a_dash_and_many_are_counted() -> None:
    many = tuple(ChipProcess(100000 + i, "python", 1) for i in range(40))
    none, several = rows(panel_for(known_of([chip(0, processes=()), chip(1, processes=many)])))[1:3]
    assert none.rstrip().endswith(" -")
    assert several.rstrip().endswith("+38")
    assert "100001" in several


def test_a_chip_at_zero_beside_busy_ones_is_named() -> None:
    chips = [chip(npu, 0.0 if npu == 2 else 95.0 + npu) for npu in range(4)]
    panel = panel_for(known_of(chips))
    assert "AI core of 2/0 at 0 %, of the others at least 95 %" in title(panel)
    looks = {look for row in panel.body(80, 20) for text, look in row if text.strip() == "0"}
    assert "warning" in looks


def test_all_at_zero_is_stated() -> None:
    assert "AI core at 0 % on all chips" in title(panel_for(known_of([chip(0, 0.0), chip(1, 0.0)])))
    assert "AI core at most 3 % on all chips" in title(panel_for(known_of([chip(0, 3.0), chip(1, 0.0)])))


@pytest.mark.parametrize(
    "loads",
    [(97.0, 96.0), (0.0, 50.0), (0.0, 97.0), (0.0, 0.0, 0.0, 97.0), (0.0, 97.0, 97.0, None), (None, 0.0), (None,)],
)
def test_any_other_mixture_states_nothing(loads: Tuple[Optional[float], ...]) -> None:
    assert "AI core" not in title(panel_for(known_of([chip(i, load) for i, load in enumerate(loads)])))


def test_lines_that_were_not_understood_are_counted() -> None:
    known = known_of([chip(0)])
    assert known.table is not None
    panel = panel_for(replace(known, table=replace(known.table, not_understood=3)))
    assert "3 lines not understood" in title(panel)


def test_old_figures_are_dim_and_the_title_says_since_when_and_why() -> None:
    reason = "npu-smi did not answer in 10 s"
    panel = panel_for(known_of([chip(0)], state=HardwareState.STALE, answered=NOW - 45, reason=reason))
    assert title(panel) == f"STALE 45s: {reason}"
    assert {look for _text, look in panel.body(80, 20)[1]} <= {"dim", "text"}


@pytest.mark.parametrize("state", [HardwareState.FAILED, HardwareState.ABSENT])
def test_without_chips_the_reason_is_all_there_is(state: HardwareState) -> None:
    assert rows(panel_for(Hardware(state, reason="because of this"))) == [" because of this"]


def test_310p_says_that_its_memory_is_no_hbm() -> None:
    head, row = rows(panel_for(known_of([chip(6, hbm_mb=None, memory_mb=UsedOf(1839, 21525))])))[:2]
    assert "HBM" not in head
    assert "1839/21525" in row


def test_the_detail_tells_processes_usages_and_the_other_memory() -> None:
    usages = NpuUsages(1, ({"Chip ID": "0", "NPU Utilization(%)": "54"},))
    known = known_of([chip(0), chip(1, device=1, device_label="Phy-ID", memory_mb=UsedOf(7, 9))], usages=usages)
    panel = panel_for(known)
    assert "NPU Utilization" not in " ".join(rows(panel)), "it is of another card than the selected one"
    panel.action_chip_down()
    text = " ".join(rows(panel))
    for part in ("910B", "0000:01:00.0", "Phy-ID 1", "7/9", "pid 812332 python 31022 MB", "NPU Utilization(%) 54"):
        assert part in text
    assert panel._collector.looked_at == 1  # type: ignore[union-attr]
    rows(panel, height=3)
    assert panel._collector.looked_at is None, "there is no room for it"  # type: ignore[union-attr]
    panel = panel_for(replace(known, usages=NpuUsages(0, (), trouble="no answer")))
    assert "no answer" in " ".join(rows(panel))


def test_the_selection_stays_in_the_list() -> None:
    panel = panel_for(known_of([chip(npu) for npu in range(3)]))
    rows(panel)
    for action in (panel.action_chip_up, panel.action_chip_page_down, panel.action_chip_page_down):
        action()
    current = panel.current()
    assert current is not None
    assert current.npu == 2
    panel.action_chip_page_up()
    assert panel.selected == 0


# --- with a command


async def until(pilot: Pilot[None], wanted: str) -> str:
    """The screen once it shows a text."""
    app = pilot.app
    for _ in range(1000):
        text = "\n".join(screen_rows(app))  # type: ignore[arg-type]
        if wanted in text:
            return text
        await asyncio.sleep(0.01)
        await pilot.pause()
    raise AssertionError(text)


@pytest.fixture
def npu_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fake npu-smi on PATH and nothing named in the environment; a test may write another body."""
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    path = tmp_path / "npu-smi"
    body = f'[ "$2" = -t ] && exec cat {SAMPLES}/usages.txt; cat {SAMPLES}/info_A3_two_chips_per_npu.txt'
    path.write_text(f"#!/bin/sh\n{body}\n", "utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("size", SIZES)
async def test_eight_shows_the_chips(npu_smi: Path, size: Tuple[int, int]) -> None:
    app = make_app(scene())
    async with app.run_test(size=size) as pilot:
        await pilot.press("8")
        text = await until(pilot, "61609/65536")
        assert app.focused is app.watch_screen.panels["hardware"]
        assert "61625/65536" in text
        assert "170.7" in text
        await pilot.press("j")
        await until(pilot, ">0/1")


@pytest.mark.parametrize("size", SIZES)
async def test_chips_that_are_known_stay_beside_the_vitals_where_there_is_room(
    npu_smi: Path, size: Tuple[int, int]
) -> None:
    app = make_app(scene())
    async with app.run_test(size=size) as pilot:
        await pilot.press("1")
        assert "hardware" not in [panel.id for panel in app.watch_screen.visible_panels()]
        await pilot.press("8")
        await until(pilot, "61609/65536")
        await pilot.press("1")
        shown = "hardware" in [panel.id for panel in app.watch_screen.visible_panels()]
        assert shown == (size == (200, 60))
        assert ("61609/65536" in screen_text(app)) == shown


async def test_nothing_is_asked_before_somebody_looks(npu_smi: Path) -> None:
    npu_smi.write_text(f"#!/bin/sh\ntouch {npu_smi}.ran\n", "utf-8")
    app = make_app(scene())
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.press("1", "5", "6", "2")
        await pilot.pause()
        panel = app.watch_screen.panels["hardware"]
        assert isinstance(panel, HardwarePanel)
        assert panel._collector is None
    assert not Path(f"{npu_smi}.ran").exists()


@pytest.mark.parametrize("size", SIZES)
async def test_where_there_is_no_command_the_view_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: Tuple[int, int]
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    app = make_app(scene())
    async with app.run_test(size=size) as pilot:
        await pilot.press("8")
        text = await until(pilot, "no npu-smi on PATH")
        assert "Ascend driver" in text
        await pilot.press("1")
        assert "npu-smi" not in screen_text(app)


async def test_a_command_that_fails_says_why(npu_smi: Path) -> None:
    npu_smi.write_text("#!/bin/sh\necho dcmi init failed >&2\nexit 5\n", "utf-8")
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("8")
        await until(pilot, "npu-smi ended with 5: dcmi init failed")


async def test_a_view_that_is_left_is_no_longer_asked_for(npu_smi: Path) -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("8")
        await until(pilot, "61609/65536")
        panel = app.watch_screen.panels["hardware"]
        assert isinstance(panel, HardwarePanel)
        collector = panel._collector
        assert collector is not None
        assert collector._shown
        await pilot.press("1")
        await pilot.pause()
        assert not collector._shown
        await pilot.press("8")
        await pilot.pause()
        assert collector._shown
        thread = collector._thread
    assert thread is not None
    assert not thread.is_alive()


async def test_the_view_that_comes_back_begins_with_the_chips(npu_smi: Path, tmp_path: Path) -> None:
    for _ in range(2):
        app = make_app(scene(), state_dir=str(tmp_path / "state"))
        async with app.run_test(size=(80, 24)) as pilot:
            if app.watch_screen.view.view != "hardware":
                await pilot.press("8")
            await until(pilot, "61609/65536")
    shutil.rmtree(tmp_path / "state")
