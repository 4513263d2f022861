from __future__ import annotations

from dataclasses import replace
from typing import List

import pytest
from rich.cells import cell_len

from mstui.model.faults import FaultKind
from mstui.model.runs import FileState
from mstui.tui.panels.files import FAULT_WORDS, PANEL, STATE_HELP, STATE_WORDS, FilesPanel
from tests.tui.fakes import FakeHost, FakeMonitor
from tests.tui.scene import scene


def panel_for(monitor: FakeMonitor) -> FilesPanel:
    panel = PANEL.build(FakeHost(monitor))
    assert isinstance(panel, FilesPanel)
    return panel


def rows(panel: FilesPanel, width: int = 100, height: int = 12) -> List[str]:
    return ["".join(text for text, _look in row) for row in panel.body(width, height)]


def test_every_state_and_every_fault_has_its_words() -> None:
    assert set(STATE_WORDS) == set(STATE_HELP) == set(FileState)
    assert set(FAULT_WORDS) == set(FaultKind)


@pytest.mark.parametrize("state", list(FileState))
def test_a_file_shows_its_state_and_what_that_means(state: FileState) -> None:
    monitor = scene()
    monitor.file_list[0] = replace(monitor.file_list[0], state=state)
    text = "\n".join(rows(panel_for(monitor)))
    assert STATE_WORDS[state][0] in text
    assert STATE_HELP[state].split(".")[0] in text


def test_what_can_be_done_and_where_the_damage_is_are_below_the_list() -> None:
    text = "\n".join(rows(panel_for(scene())))
    assert "It belongs to root (mode 0400)." in text
    assert "damaged at byte 1234, 56 bytes skipped: checksum" in text


def test_a_trouble_that_cost_no_bytes_does_not_speak_of_bytes() -> None:
    monitor = scene()
    (first, *others) = monitor.file_list[0].faults
    gone = replace(first, kind=FaultKind.VANISHED, offset=0, length=0, detail="the file is gone")
    monitor.file_list[0] = replace(monitor.file_list[0], faults=(gone, *others))
    text = "\n".join(rows(panel_for(monitor)))
    assert "vanished: the file is gone" in text
    assert "0 bytes skipped" not in text


def test_the_title_counts_what_was_skipped_in_all_files() -> None:
    monitor = scene()
    first = monitor.file_list[0]
    monitor.file_list.append(
        replace(first, path="/runs/b", skipped_values={"image": 3, "audio": 1}, skipped_bytes=2048)
    )
    title = "".join(text for text, _look in panel_for(monitor).title(100))
    assert "15 image" in title
    assert "1 audio" in title
    assert "2.0 KiB lost" in title


@pytest.mark.parametrize("width", [50, 80, 120])
def test_rows_fit_and_hostile_paths_are_harmless(width: int) -> None:
    monitor = scene()
    first = monitor.file_list[0]
    monitor.file_list[0] = replace(first, path="/runs/\x1b[31m" + "全" * 200, detail="\u202e" + "x" * 500)
    for row in rows(panel_for(monitor), width):
        assert cell_len(row) <= width
        assert "\x1b" not in row
        assert "\u202e" not in row


def test_paths_are_shown_below_what_is_watched() -> None:
    shown = rows(panel_for(scene()), 160)[0]
    assert " resnet50/run3/events" in shown
    assert "/runs/resnet50" not in shown


def test_ten_thousand_files_are_a_page() -> None:
    monitor = scene()
    first = monitor.file_list[0]
    monitor.file_list = [replace(first, path=f"/runs/{i}") for i in range(10_000)]
    panel = panel_for(monitor)
    assert len(rows(panel)) == 12
    panel.action_file_page_down()
    panel.action_file_down()
    panel.action_file_up()
    panel.action_file_page_up()
    assert panel.selected == 0


def test_no_file_is_said() -> None:
    assert "no event file" in rows(panel_for(FakeMonitor()))[0]
