from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from typing import Any, Callable, List

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot

from mstui.model.log_view import LogHits, LogPage, LogPlace, LogQuery
from mstui.model.logs import LogLevel
from mstui.model.runs import FileState, FileStatus
from mstui.model.series import XAxis
from mstui.tui.app import MstuiApp
from mstui.tui.log_record import RecordWindow
from mstui.tui.panels.log import LogPanel
from mstui.tui.prompt import Prompt
from tests.tui.fakes import START, FakeMonitor
from tests.tui.log_scene import TRACEBACK, log_key, log_row, logs_scene, put_records, records
from tests.tui.scene import RUN, make_app, scene, screen_rows, screen_text

SIZE = (80, 24)


def panel_of(app: MstuiApp) -> LogPanel:
    panel = app.watch_screen.panels["log"]
    assert isinstance(panel, LogPanel)
    return panel


async def settle(app: MstuiApp, pilot: Pilot[None]) -> None:
    """Until nothing is read any more."""
    for _ in range(50):
        await app.workers.wait_for_complete()
        await pilot.pause()
        if not panel_of(app)._fetching.busy and not panel_of(app)._seeking.busy:
            return
    raise AssertionError("it never comes to rest")


async def press(app: MstuiApp, pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(app, pilot)


async def until(pilot: Pilot[None], done: Callable[[], bool]) -> None:
    for _ in range(400):
        await pilot.pause()
        if done():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come")


def title(app: MstuiApp) -> str:
    return "".join(text for text, _look in panel_of(app).rows[0])


def selected_text(app: MstuiApp) -> str:
    row = panel_of(app).window.current()
    assert row is not None
    return row.text


async def test_4_shows_the_newest_records_of_all_ranks_and_follows() -> None:
    app = make_app(logs_scene())
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4")
        text = screen_text(app)
        assert "all ranks  following  602" in title(app)
        assert "W 0 Client connected end of file!" in text
        assert "E 1 Traceback (most recent call last): +2 lines" in text
        assert " p 1/2 rank 1 crashed: ValueError: bad shard 7" in text
        assert "crashed rank 1" in text.split("\n")[0]
        assert app.watch_screen.focused is panel_of(app)


async def test_new_records_come_in_while_following_and_scrolling_up_stops_that_and_says_so() -> None:
    monitor = logs_scene()
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4")
        panel = panel_of(app)
        monitor.log_rows[RUN].append(log_row(0, 900, "brand new"))
        monitor.bump()
        panel._asked_at = float("-inf")
        panel.data_changed()
        await settle(app, pilot)
        assert selected_text(app) == "brand new"
        await pilot.press("k")
        assert "not following any more" in screen_text(app)
        await settle(app, pilot)
        assert "paused, G follows  602/603" in title(app)
        monitor.log_rows[RUN].append(log_row(0, 901, "even newer"))
        monitor.bump()
        panel._asked_at = float("-inf")
        panel.data_changed()
        await settle(app, pilot)
        assert "602/604" in title(app)
        await press(app, pilot, "G")
        assert selected_text(app) == "even newer"
        assert "following" in title(app)


async def test_records_that_come_thousandfold_are_read_every_two_seconds_at_most() -> None:
    monitor = logs_scene()
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4")
        read = len(monitor.log_queries)
        for number in range(900, 1000):
            monitor.log_rows[RUN].append(log_row(0, number, "more"))
            monitor.bump()
            panel_of(app).data_changed()
        await settle(app, pilot)
        assert len(monitor.log_queries) == read


async def test_the_oldest_record_and_back() -> None:
    app = make_app(logs_scene())
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "home")
        assert "step:[    0/ 5000]" in selected_text(app)
        assert "1/602" in title(app)
        await press(app, pilot, "pagedown", "pageup", "pageup")
        assert "step:[    0/ 5000]" in selected_text(app)


async def test_one_rank_one_file_and_all() -> None:
    monitor = logs_scene()
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "a")
        assert "rank 0  following  301" in title(app)
        assert " W Client connected" in screen_text(app), "no rank where all records are of one"
        await press(app, pilot, "f", *"worker_1", "enter")
        assert "worker_1.log  following  301" in title(app)
        assert monitor.log_queries[-1].file == log_key(1)
        await press(app, pilot, "a")
        assert "all ranks" in title(app)
        await press(app, pilot, "f", "down", "enter")
        assert "rank 0" in title(app)


async def test_a_run_of_many_ranks_begins_with_the_selected_one() -> None:
    monitor = logs_scene()
    monitor.run_list[0] = replace(monitor.run_list[0], ranks=scene().run_list[0].ranks * 3)
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4")
        assert "rank 0" in title(app)
        assert monitor.log_queries[-1].rank_id == 0


async def test_the_level_filter_goes_round() -> None:
    app = make_app(logs_scene())
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "s")
        assert "info+" in title(app)
        await press(app, pilot, "s")
        assert "warning+  8" in title(app)
        await press(app, pilot, "s")
        assert "error+  1" in title(app)
        await press(app, pilot, "s")
        assert "602" in title(app)


async def test_the_pinned_fact_is_gone_to_and_then_the_next() -> None:
    app = make_app(logs_scene())
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "home", "p")
        assert selected_text(app).startswith("Traceback")
        assert "1 of 2: rank 1 crashed" in screen_text(app)
        await press(app, pilot, "p")
        assert selected_text(app).startswith("Client connected")
        assert "p 2/2 rank 0 lost a peer" in screen_text(app)
        await press(app, pilot, "p")
        assert selected_text(app).startswith("Traceback")


async def test_a_jump_wins_over_the_level_filter_and_the_chosen_rank() -> None:
    monitor = logs_scene()
    late = log_row(1, 150, "x").place
    monitor.facts[RUN] = [replace(monitor.facts[RUN][0], place=late)]
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "a", "s", "s", "s", "p")
        assert "step:[  150/ 5000]" in selected_text(app)
        assert "all ranks" in title(app)
        assert "error+" not in title(app)


async def test_next_and_previous_error() -> None:
    monitor = logs_scene()
    monitor.log_rows[RUN][98] = log_row(0, 49, "EZ9999 inner error", LogLevel.ERROR)
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "less_than_sign")
        assert selected_text(app).startswith("Traceback")
        await press(app, pilot, "less_than_sign")
        assert selected_text(app).startswith("EZ9999")
        await press(app, pilot, "less_than_sign")
        assert "no error above" in screen_text(app)
        await press(app, pilot, "greater_than_sign")
        assert selected_text(app).startswith("Traceback")
        await press(app, pilot, "greater_than_sign")
        assert "no error below" in screen_text(app)


async def test_search_counts_while_typing_and_goes_round_the_hits() -> None:
    app = make_app(logs_scene())
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4")
        await pilot.press("slash", *"overflow")
        over = app.watch_screen.focused
        assert isinstance(over, Prompt)
        await until(pilot, lambda: "of 6" in screen_text(app))
        await press(app, pilot, "enter")
        assert selected_text(app) == "overflow, loss scale adjust to 1323.0"
        assert "/overflow: 6 of 6" in title(app)
        await press(app, pilot, "N", "N")
        assert "/overflow: 4 of 6" in title(app)
        await press(app, pilot, "n", "n", "n")
        assert "/overflow: 1 of 6" in title(app)
        assert "on from the first hit" in screen_text(app)
        assert "overflow, loss scale adjust to 1123.0" in selected_text(app)
        await press(app, pilot, "escape")
        assert "/overflow" not in title(app)
        await press(app, pilot, "n")
        assert "nothing is searched for" in screen_text(app)


async def test_enter_searches_at_once_and_what_is_not_there_is_said() -> None:
    app = make_app(logs_scene())
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "slash", *"zebra", "enter")
        await settle(app, pilot)
        assert "/zebra: 0 found" in title(app)
        await press(app, pilot, "n")
        assert "nothing found" in screen_text(app)


async def test_a_pattern_that_cannot_be_understood_is_said_in_the_prompt() -> None:
    app = make_app(logs_scene())
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "slash", "slash", "left_parenthesis", "slash")
        await until(pilot, lambda: "a pattern ends inside a group" in screen_text(app))
        await press(app, pilot, "escape")
        assert panel_of(app).search.text == ""


class SlowSearch(FakeMonitor):
    """A search that goes on until it is told to stop."""

    def __init__(self, other: FakeMonitor) -> None:
        super().__init__()
        self.__dict__.update(other.__dict__)
        self.stopped: List[str] = []

    def fetch_log_hits(self, query: LogQuery, words: str, tell: Callable[[LogHits], bool]) -> LogHits:
        first = self.log_rows[RUN][5].place
        hits = LogHits((first,), 128, 40, 100)
        while tell(hits):
            threading.Event().wait(0.01)
        self.stopped.append(words)
        return hits


async def test_a_long_search_tells_how_far_it_is_and_a_new_one_ends_it() -> None:
    monitor = SlowSearch(logs_scene())
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(app, pilot, "4")
        await pilot.press("slash", "a", "enter")
        await until(pilot, lambda: "128 of 128 (searching 40 %)" in title(app))
        assert panel_of(app).search.running
        await pilot.press("slash", "b", "enter")
        await until(pilot, lambda: monitor.stopped == ["a"])
        await pilot.press("escape")
        await until(pilot, lambda: "/ab" not in title(app))
        app.workers.cancel_all()
        await until(pilot, lambda: monitor.stopped == ["a", "ab"])


async def test_enter_shows_the_whole_record_and_y_copies_it(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: List[str] = []
    app = make_app(logs_scene())
    monkeypatch.setattr(app, "copy_to_clipboard", copied.append)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "p", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        over = app.watch_screen.overlay
        assert isinstance(over, RecordWindow)
        text = screen_text(app)
        for part in ("rank 1  2023-11-1", "ERROR", "worker_1.log, at byte 30000", "callback.py:313", "bad shard 7"):
            assert part in text, part
        assert '  File "train.py", line 3' in text, "the lines keep their indentation"
        await pilot.press("Y")
        assert copied == [TRACEBACK]
        await pilot.press("escape")
        assert app.watch_screen.overlay is None


async def test_a_record_that_is_gone_is_said() -> None:
    app = make_app(logs_scene())
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "cannot be read any more" in screen_text(app)


async def test_from_the_curve_to_its_record_and_back() -> None:
    app = make_app(logs_scene())
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "v", "home", *["l"] * 12, "J")
        assert app.watch_screen.view.view == "log"
        assert app.watch_screen.focused is panel_of(app)
        assert "step:[  120/ 5000]" in selected_text(app)
        assert any(row.startswith(">@") for row in screen_rows(app)), "the record of the step is marked"
        await pilot.press(*["k"] * 24)
        await press(app, pilot, "J")
        view = app.watch_screen.view
        assert view.cursor is not None
        assert (view.cursor.tag, view.cursor.index * 10) == ("loss", 110)
        assert app.watch_screen.focused is app.watch_screen.panels["curves"]


async def test_a_record_of_another_rank_takes_its_own_curve() -> None:
    monitor = logs_scene()
    monitor.put(RUN, "loss", [3.0, 2.0, 1.0], rank_id=1)
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "less_than_sign", "J")
        view = app.watch_screen.view
        assert view.rank_id == 1
        assert view.cursor is not None
        assert view.cursor.index == 2, "the point nearest to the step before the crash"


async def test_without_a_step_or_a_record_nothing_jumps() -> None:
    monitor = logs_scene()
    put_records(monitor, [log_row(0, 0, "hello")])
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "J")
        assert "no step is told up to this record" in screen_text(app)
        await press(app, pilot, "1", "J")
        assert "No log of this rank tells of this step." in screen_text(app)


async def test_a_run_without_logs_says_how_to_give_them_and_takes_no_room() -> None:
    app = make_app(scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert not panel_of(app).display
        await press(app, pilot, "4")
        assert "mstui watch ./summary ./train.log" in screen_text(app)
        for key in ("k", "G", "home", "p", "n", "enter", "J", "f", "less_than_sign", "W", "h", "l"):
            await pilot.press(key)
        assert app.watch_screen.overlay is None


def unread(monitor: FakeMonitor) -> None:
    path = f"/runs/{RUN}/train.log"
    monitor.file_list.append(FileStatus(path, RUN, 0, "text-log", FileState.NOT_RECOGNISED, 9000, 9000, 1203, 0))
    monitor.bump()


async def test_a_log_that_is_not_understood_is_said_in_the_header_the_log_and_the_files() -> None:
    monitor = logs_scene()
    unread(monitor)
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)) as pilot:
        await press(app, pilot, "4")
        text = screen_text(app)
        assert "! log not understood (6)" in text.split("\n")[0]
        assert "1203 lines of train.log are not understood. 6 tells what to do." in text
        await press(app, pilot, "6", "down")
        text = screen_text(app)
        assert "not recognised" in text
        assert "[[log_pattern]]" in text
        assert "config.toml" in text


async def test_long_messages_wrap_or_scroll() -> None:
    monitor = logs_scene()
    put_records(monitor, [log_row(0, 0, " ".join(f"word{i}" for i in range(40)))])
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4")
        assert "word39" not in screen_text(app)
        await press(app, pilot, *["l"] * 12)
        assert "word39" in screen_text(app)
        await press(app, pilot, "W")
        assert "word0 " in screen_text(app)
        assert "word39" in screen_text(app)


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)])
@pytest.mark.parametrize("ascii_only", [False, True])
async def test_hostile_logs_are_harmless_at_every_size(size: Any, ascii_only: bool) -> None:
    monitor = logs_scene()
    evil = "\x1b[2J\x1b]52;c;YQ==\x07[bold red]\u202e" + "全" * 100 + "\r\x08" * 20
    put_records(monitor, [log_row(rank, i, evil, LogLevel.CRITICAL) for i in range(30) for rank in range(3)])
    monitor.facts[RUN] = [replace(monitor.facts[RUN][0], text=evil, meaning=evil, code=evil)]
    monitor.log_note = evil
    app = make_app(monitor, ascii=ascii_only)
    async with app.run_test(size=size) as pilot:
        await press(app, pilot, "4", "W", "slash", *"bold", "enter")
        for row in screen_rows(app):
            assert row.isprintable()
            assert cell_len(row) == size[0]
            assert not ascii_only or row.isascii()


async def test_another_run_shows_its_own_log() -> None:
    monitor = logs_scene()
    other = "bert/base"
    rows = [replace(row, place=LogPlace(log_key(0, other), row.place.offset)) for row in records(3, 1)]
    put_records(monitor, rows, other)
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "k", "slash", "a", "enter")
        app.watch_screen.change_view(run_key=other)
        await settle(app, pilot)
        assert "following  3" in title(app)
        assert "/a" not in title(app)


class NeverEnds(FakeMonitor):
    """A huge log on a slow disk: every page says that there is more before it."""

    def fetch_log(self, query: LogQuery, around: Any, before: int, after: int) -> LogPage:
        page = super().fetch_log(query, around, before, after)
        return replace(page, at_start=False)


async def test_the_way_to_the_oldest_record_is_left_by_any_other_move() -> None:
    monitor = NeverEnds()
    monitor.__dict__.update(logs_scene().__dict__)
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4")
        await pilot.press("home", "G")
        await settle(app, pilot)
        assert panel_of(app).window.following


def test_the_points_of_the_scene_are_where_the_tests_think() -> None:
    reading = logs_scene().reading_at(next(iter(logs_scene().data)), XAxis.STEP, 12, 0.0)
    assert reading is not None
    assert (reading.step, reading.wall_time > START) == (120, True)


async def test_a_search_from_the_middle_goes_down_and_one_that_is_behind_is_done_again() -> None:
    monitor = logs_scene()
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await press(app, pilot, "4", "home", "slash", *"overflow", "enter")
        await until(pilot, lambda: "/overflow: 1 of 6" in title(app))
        await press(app, pilot, "N")
        assert "6 of 6" in title(app)
        monitor.log_rows[RUN].append(log_row(0, 900, "overflow, once more"))
        monitor.bump()
        panel_of(app)._asked_at = float("-inf")
        panel_of(app).data_changed()
        await settle(app, pilot)
        assert "6 of 6+" in title(app)
        await press(app, pilot, "n")
        await until(pilot, lambda: "6 of 7" in title(app))
        await press(app, pilot, "n")
        assert selected_text(app) == "overflow, once more"
