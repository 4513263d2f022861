"""Pages of logs: every record once and in one order, however they are walked; texts without headers."""

from __future__ import annotations

import random
import time
from typing import List, Optional

import pytest

from mstui.model.log_view import NO_RANK, LogPage, LogPlace, LogQuery, LogRow
from mstui.model.logs import EventKind, LogLevel
from mstui.monitor.log_pages import MOST_MERGED
from tests.unit.monitor.log_runs import RUN, SAMPLES, LogRun, sample
from tests.unit.monitor.test_process_facts import stamped, step

ALL = LogQuery(RUN)
EVERYTHING = 1900


def texts(page: LogPage) -> List[str]:
    return [row.text for row in page.rows]


def walk(run: LogRun, query: LogQuery, size: int, *, forward: bool) -> List[LogPlace]:
    """Every place, page by page from one end."""
    if not forward:
        page = run.logs.page(query, None, size, 0)
        found = [row.place for row in page.rows]
        while not page.at_start:
            page = run.logs.page(query, found[0], size, 0)
            assert len(page.rows) > 1, "no page stands still"
            found = [row.place for row in page.rows[:-1]] + found
        return found
    page = run.logs.page(query, None, EVERYTHING, 0)
    found = [page.rows[0].place]
    while not page.at_end or page.rows[-1].place != found[-1]:
        page = run.logs.page(query, found[-1], 0, size)
        found += [row.place for row in page.rows[1:]]
        if page.at_end:
            return found
        assert len(page.rows) > 1, "no page stands still"
    return found


@pytest.mark.parametrize("size", [2, 10])
@pytest.mark.parametrize("name", ["msrun_worker_exception", "msrun_worker_sigkill", "mindformers_layout", "msrun_ok"])
@pytest.mark.parametrize("level", [LogLevel.UNKNOWN, LogLevel.WARNING])
def test_every_record_comes_once_whichever_way_the_pages_are_walked(name: str, size: int, level: LogLevel) -> None:
    run = sample(name)
    query = LogQuery(RUN, least_level=level)
    whole = run.logs.page(query, None, EVERYTHING, 0)
    places = [row.place for row in whole.rows]
    assert len(set(places)) == len(places) == whole.total > 0
    assert whole.at_start
    assert whole.at_end
    assert walk(run, query, size, forward=True) == places
    assert walk(run, query, size, forward=False) == places


def test_records_of_several_files_stand_in_the_order_of_their_stamps_and_of_their_files() -> None:
    run = LogRun()
    chance = random.Random(5)
    for rank in range(5):
        second = 0.0
        for _record in range(60):
            second += chance.random()
            clock = f"10:00:{second:06.3f}".replace(".", ",")
            run.put(f"worker_{rank}.log", f"[INFO] 2026-05-06 {clock} [a.py:1] f: {rank}\n".encode())
    page = run.logs.page(ALL, None, EVERYTHING, 0)
    walls = [row.wall_time for row in page.rows]
    assert walls == sorted(walls, key=lambda wall: wall or 0.0)
    assert page.total == len(page.rows) == 300
    middle = page.rows[150].place
    part = run.logs.page(ALL, middle, 20, 30)
    assert [row.place for row in part.rows] == [row.place for row in page.rows[130:181]]
    assert part.behind == 130
    assert not part.at_start
    assert not part.at_end


def test_lines_that_were_buffered_stay_where_their_file_has_them() -> None:
    run = LogRun()
    run.put("worker_0.log", stamped("10:00:09", "late") + stamped("10:00:01", "buffered"))
    run.put("worker_1.log", stamped("10:00:05", "between"))
    assert texts(run.logs.page(ALL, None, 10, 0)) == ["between", "late", "buffered"]


def test_ranks_without_stamps_stand_side_by_side_step_by_step() -> None:
    run = LogRun()
    for rank in range(2):
        run.put(f"rank_{rank}/train.log", b"".join(step(number) for number in range(1, 4)))
    assert [row.step for row in run.logs.page(ALL, None, 10, 0).rows] == [1, 1, 2, 2, 3, 3]


def test_prints_behind_the_last_stamp_are_spread_until_the_last_byte_came() -> None:
    begin = time.mktime((2026, 5, 6, 10, 0, 0, -1, -1, -1))
    run = LogRun()
    run.put("worker_0.log", stamped("10:00:00", "a") + step(1) + step(2), modified=begin + 100)
    run.put("worker_1.log", stamped("10:01:00", "b"), modified=begin + 60)
    assert texts(run.logs.page(ALL, None, 10, 0))[2] == "b", "about when step 1 of the other rank was printed"


def test_a_row_has_its_header_taken_apart() -> None:
    run = sample("msrun_worker_exception", only="worker_1")
    page = run.logs.page(LogQuery(RUN, rank_id=1), None, EVERYTHING, 0)
    crash = page.rows[-3]
    assert (crash.event, crash.level, crash.rank_id) == (EventKind.TRACEBACK, LogLevel.ERROR, 1)
    assert (crash.text, crash.lines) == ("Traceback (most recent call last):", 5)
    assert crash.wall_time == page.rows[-8].wall_time, "that of the record before it that has one"
    last = page.rows[-1]
    assert last.text == "Event base dispatch success!"
    assert last.origin.endswith("tcp_server.cc:314 pid 23673")
    assert last.level is LogLevel.INFO
    losses = [(row.step, row.level) for row in page.rows if "loss is" in row.text]
    assert losses == [(1, LogLevel.UNKNOWN), (2, LogLevel.UNKNOWN), (3, LogLevel.UNKNOWN)]


def test_a_launchers_prefix_names_the_rank_and_a_scheduler_belongs_to_none() -> None:
    rows = sample("odd/mpirun_tag_output.log").logs.page(ALL, None, EVERYTHING, 0).rows
    assert {row.rank_id for row in rows} >= {0, 1}
    assert not any("<stdout>" in row.text for row in rows)
    rows = sample("msrun_ok/scheduler.log").logs.page(ALL, None, EVERYTHING, 0).rows
    assert {row.rank_id for row in rows} == {NO_RANK}


@pytest.mark.parametrize(
    ("least", "kept"),
    [
        (LogLevel.UNKNOWN, ["debug", "info", "print", "warning", "error"]),
        (LogLevel.INFO, ["info", "print", "warning", "error"]),
        (LogLevel.WARNING, ["warning", "error"]),
        (LogLevel.CRITICAL, []),
    ],
)
def test_a_level_leaves_out_what_is_below_it_and_keeps_prints_up_to_info(least: LogLevel, kept: List[str]) -> None:
    run = LogRun()
    text = stamped("10:00:00", "debug", "DEBUG") + stamped("10:00:01", "info") + b"epoch: 1 step: 1, loss is 0.5\n"
    text += stamped("10:00:02", "warning", "WARNING") + stamped("10:00:03", "error", "ERROR")
    run.put("train.log", text)
    page = run.logs.page(LogQuery(RUN, least_level=least), None, 10, 0)
    assert [text.replace("epoch: 1 step: 1, loss is 0.5", "print") for text in texts(page)] == kept
    assert page.total == len(kept)


def test_a_place_that_the_level_leaves_out_stands_for_the_next_record() -> None:
    run = LogRun()
    key = run.put(
        "train.log", b"".join(stamped(f"10:00:0{n}", str(n), "ERROR" if n % 3 == 0 else "INFO") for n in range(9))
    )
    second = LogPlace(key, len(stamped("10:00:00", "0", "ERROR")))
    page = run.logs.page(LogQuery(RUN, least_level=LogLevel.ERROR), second, 0, 1)
    assert texts(page) == ["3", "6"]
    assert page.behind == 1


@pytest.mark.parametrize(("rank", "name"), [(0, "worker_0.log"), (1, "worker_1.log")])
def test_a_rank_has_its_own_logs_without_the_scheduler_and_the_console(rank: int, name: str) -> None:
    rows = sample("msrun_ok").logs.page(LogQuery(RUN, rank_id=rank), None, EVERYTHING, 0).rows
    assert {row.place.file.path.rpartition("/")[2] for row in rows} == {name}


def test_of_very_many_logs_those_written_last_are_merged_and_the_rest_is_said() -> None:
    run = LogRun()
    for rank in range(MOST_MERGED + 6):
        run.put(f"worker_{rank}.log", stamped("10:00:00", str(rank)), modified=1000.0 + rank)
    page = run.logs.page(ALL, None, EVERYTHING, 0)
    assert len(page.rows) == MOST_MERGED
    assert str(MOST_MERGED + 6) in page.note
    assert "0" not in texts(page)
    only = run.logs.page(LogQuery(RUN, rank_id=0), None, 5, 0)
    assert (texts(only), only.note) == (["0"], "")


def test_a_log_that_can_no_longer_be_read_is_said() -> None:
    run = sample("msrun_ok", only="worker")
    for key in run.texts:
        run.texts[key] = b""
    page = run.logs.page(ALL, None, 5, 0)
    assert page.rows == ()
    assert "can no longer be read" in page.note


def test_no_logs_are_an_empty_page() -> None:
    page = LogRun().logs.page(ALL, None, 5, 0)
    assert (page.rows, page.total, page.at_start, page.at_end) == ((), 0, True, True)


def test_the_whole_text_of_a_record_has_its_lines_and_is_bounded_and_harmless() -> None:
    run = sample("msrun_worker_exception", only="worker_1")
    row = next(row for row in run.logs.page(ALL, None, EVERYTHING, 0).rows if row.event is EventKind.TRACEBACK)
    lines = run.logs.text(row.place, 10_000).split("\n")
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1] == "RuntimeError: boom"
    assert len(run.logs.text(row.place, 50)) == 50
    evil = LogRun()
    key = evil.put("train.log", stamped("10:00:00", "a\x1b[31m red \x07") + b"  next\x00 line\n")
    assert evil.logs.text(LogPlace(key, 0), 1000).endswith("a red <07>\n  next line")


def first_with(rows: List[LogRow], words: str) -> Optional[LogRow]:
    return next((row for row in rows if words in row.text), None)


@pytest.mark.parametrize("name", ["odd/crlf_windows.log", "odd/gbk_progress_bar.log", "mindnlp/trainer_tqdm_cr.log"])
def test_odd_line_ends_and_encodings_leave_no_trace_in_the_rows(name: str) -> None:
    rows = sample(name).logs.page(ALL, None, EVERYTHING, 0).rows
    assert rows
    assert not any("<0d>" in row.text or "�" in row.text for row in rows)
    assert SAMPLES.exists()
