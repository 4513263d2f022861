from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Iterator, Tuple

import pytest

from mstui.config import read_toml
from mstui.i18n import set_language
from mstui.model.details import PayloadDetails
from mstui.model.records import BlobKind
from mstui.model.runs import FileState, FileStatus, RunStatus
from mstui.model.sources import Source, SourceKind
from mstui.tui.nothing import nothing_rows, nothing_to_show
from mstui.tui.state import ViewState
from mstui.tui.unread_logs import EXAMPLE
from tests.tui.fakes import START, FakeHost, FakeMonitor
from tests.tui.scene import make_app, screen_text

NO_RUN = ViewState()
DENIED = "a.out cannot be read: owner root, group root, mode 0600; ask root to run: chmod -R a+rX /runs/a"


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    set_language("en")
    yield
    set_language("en")


def said(monitor: FakeMonitor, view: ViewState = NO_RUN) -> str:
    return "\n".join(text for text, _look in nothing_to_show(FakeHost(monitor, view)))


def a_file(state: FileState, *, size: int = 91, detail: str = "") -> FileStatus:
    return FileStatus("/runs/a/x", "a", 0, "mindspore", state, size, 0, 1, 0, modified=START, detail=detail)


def one_run(file: FileStatus, **changes: Any) -> FakeMonitor:
    monitor = FakeMonitor()
    monitor.add_run("a", **changes)
    monitor.file_list.append(file)
    return monitor


def test_before_the_first_look_is_complete_nothing_is_called_missing() -> None:
    monitor = FakeMonitor("/data/summary")
    monitor.state = replace(monitor.state, scan_every_s=0.0)
    assert said(monitor) == "looking for event files and logs in /data/summary ..."


def test_an_empty_path_says_what_makes_a_file_and_when_mstui_looks() -> None:
    monitor = FakeMonitor("/data/\x1b[2Jsummary")
    text = said(monitor)
    assert "There is no event file and no text log in /data/<1b>[2Jsummary" in text
    assert "every 5 s" in text
    assert "summary_dir" in text
    monitor.state = replace(monitor.state, mode="poll", note="listing stopped at 50000 folders")
    assert "r looks at once" in said(monitor)
    assert "listing stopped at 50000 folders" in said(monitor)


def test_runs_without_data_are_counted() -> None:
    monitor = one_run(a_file(FileState.EMPTY, size=0), status=RunStatus.PENDING)
    text = said(monitor)
    assert "1 run in /runs, without any data so far" in text
    assert "flush()" in text


def test_a_run_without_a_scalar_says_when_the_first_comes() -> None:
    text = said(one_run(a_file(FileState.CURRENT)), ViewState(run_key="a"))
    assert "1 file with 91 B, but no scalar in it yet" in text
    assert "after the first step" in text
    assert "list of tags" not in text


def test_what_else_was_recorded_is_pointed_at() -> None:
    monitor = one_run(a_file(FileState.CURRENT))
    monitor.add_details("a", [PayloadDetails(BlobKind.GRAPH, "", 0, START, 90)])
    assert "list of tags" in said(monitor, ViewState(run_key="a"))


def test_a_closed_run_without_a_scalar_does_not_promise_more() -> None:
    text = said(one_run(a_file(FileState.CLOSED), status=RunStatus.STOPPED), ViewState(run_key="a"))
    assert "max_file_size" in text
    assert "nothing more will come" in text
    assert "flush()" not in text


def test_denied_files_say_whose_they_are_and_what_to_ask_for() -> None:
    monitor = one_run(a_file(FileState.DENIED, detail=DENIED), status=RunStatus.UNREADABLE)
    text = said(monitor, ViewState(run_key="a"))
    assert "mstui may not read 1 file" in text
    assert DENIED in text
    assert "scalar" not in text


def test_a_run_that_is_on_its_way_is_being_read() -> None:
    monitor = one_run(a_file(FileState.QUEUED), loaded=False)
    assert said(monitor, ViewState(run_key="a")) == "reading /runs/a ..."


def test_a_filter_without_a_hit_is_the_reason() -> None:
    monitor = one_run(a_file(FileState.CURRENT))
    monitor.put("a", "loss", [1.0])
    assert "filter nothing;" in said(monitor, ViewState(run_key="a", tag_filter="nothing"))


@pytest.mark.parametrize("size", [(20, 3), (55, 12), (120, 40)])
def test_what_does_not_fit_is_left_out(size: Tuple[int, int]) -> None:
    rows = nothing_rows(FakeHost(FakeMonitor()), *size)
    assert len(rows) <= size[1]
    assert all(sum(len(text) for text, _look in row) <= size[0] for row in rows)


@pytest.mark.parametrize("language", ["en", "zh_CN"])
async def test_the_place_of_the_curves_says_it_and_goes_on_when_a_look_is_complete(language: str) -> None:
    set_language(language)
    monitor = FakeMonitor("/data/summary")
    monitor.state = replace(monitor.state, scan_every_s=0.0)
    app = make_app(monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "SummaryCollector" not in screen_text(app)
        monitor.state = replace(monitor.state, scan_every_s=5.0)
        app.watch_screen._last_flush = float("-inf")
        app.watch_screen._tick()
        await pilot.pause()
        assert "SummaryCollector" in screen_text(app)


def test_a_log_that_is_not_understood_is_no_empty_screen_but_a_way_to_teach_its_shape() -> None:
    monitor = one_run(replace(a_file(FileState.NOT_RECOGNISED), path="/runs/a/my\x1b.log", records=1203))
    text = said(monitor, ViewState(run_key="a"))
    assert "1203 lines of my<1b>.log are not understood." in text
    assert "Describe it in /home/me/.config/mstui/config.toml" in text
    assert "[[log_pattern]]" in text


def test_the_pattern_that_is_shown_is_one_that_works(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("\n".join(EXAMPLE))
    [pattern] = read_toml(str(config))["log_pattern"]
    found = re.search(pattern["pattern"], "step 12 of 100: the loss 0.25")
    assert found is not None
    assert found.groupdict() == {"step": "12", "loss": "0.25"}


def test_a_log_without_a_figure_yet_does_not_speak_of_summaries() -> None:
    text = said(one_run(replace(a_file(FileState.CURRENT), source=Source(SourceKind.LOG))), ViewState(run_key="a"))
    assert "no scalar in it yet" in text
    assert "after the first step" in text
    assert "SummaryCollector" not in text
