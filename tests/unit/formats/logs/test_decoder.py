"""How bytes become records: ends of lines, bars, prefixes, encodings, oversized lines, stretches read in turn."""

from __future__ import annotations

import time

import pytest

from mstui.formats.logs.decoder import TextLogDecoder
from mstui.formats.logs.lines import LONGEST_FRAME
from mstui.model.logs import EventKind, LogLevel
from tests.unit.formats.logs.reading import SAMPLES, read

LOSS = b"epoch: 1 step: %d, loss is 2.5\n"


def test_the_unfinished_last_line_waits_and_asks_for_no_certain_size() -> None:
    part = TextLogDecoder("a").decode(b"epoch: 1 step: 1, loss is 2.5\nepoch: 1 st", 0, at_end=True)
    assert (part.consumed, part.need, part.records) == (30, 0, 1)


def test_a_bar_gives_a_record_a_line_and_its_frames_are_read_as_they_come() -> None:
    decoder = TextLogDecoder("a")
    bar = b"\rEpoch 0:  10%|#         | 1/10 [00:00<00:00, 9it/s, loss=2.5]"
    first = decoder.decode(bar + b"\rEpoch 0:  20%|##  ", 0, at_end=True)
    assert first.consumed == len(bar) + 1
    assert first.records == 1
    assert [column.tags for column in first.columns] == [("loss",)]
    later = decoder.decode(
        b"Epoch 0:  20%|##        | 2/10 [00:00<00:00, 9it/s, loss=2.0]\n", first.consumed, at_end=True
    )
    assert later.records == 0
    assert later.columns[0].steps.tolist() == [2]


def test_lines_without_header_belong_to_the_record_with_one() -> None:
    header = b"[INFO] ME(1:2,M):2026-05-06-10:00:01.0. [a.py:1] dump\n"
    got = read(header + b"  first\nsecond\n" + header)
    assert got.records == [(0, LogLevel.INFO), (len(header) + 15, LogLevel.INFO)]


def test_prints_are_records_of_their_own_but_indented_lines_are_not() -> None:
    got = read(b"one\ntwo\n  of two\nthree\n")
    assert [offset for offset, _level in got.records] == [0, 4, 17]


def test_a_traceback_is_a_record_at_error_level_with_what_follows_it() -> None:
    data = (SAMPLES / "ascend/hccl_ei0006_socket_timeout.log").read_bytes()
    begin = data.index(b"Traceback")
    assert read(data).records[-1] == (begin, LogLevel.ERROR)


def test_another_process_may_write_into_a_traceback() -> None:
    got = read(
        b"Traceback (most recent call last):\n"
        b'  File "a.py", line 1, in <module>\n'
        b"epoch: 1 step: 3, loss is 2.5\n"
        b"[INFO] ME(1:2,M):2026-05-06-10:00:01.0. [a.py:1] noise\n"
        b"    f()\n"
        b"zmq.error.Again: Resource temporarily unavailable\n"
    )
    assert [(each.kind, each.fields) for each in got.events] == [(EventKind.TRACEBACK, {"type": "zmq.error.Again"})]
    assert got.series["loss"] == [(3, 2.5)]


def test_chained_exceptions_are_marked_and_stay_one_record() -> None:
    one = b'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1\n'
    chain = b"\nDuring handling of the above exception, another exception occurred:\n\n"
    got = read(one + chain + one.replace(b"KeyError: 1", b"ValueError: 2"))
    assert len(got.records) == 1
    assert [each.fields for each in got.events] == [{"type": "KeyError"}, {"type": "ValueError", "chained": "1"}]


def test_an_exception_without_traceback_is_an_event_too() -> None:
    got = read(b"KeyboardInterrupt:\nRuntimeError: nothing special\n")
    assert [each.kind for each in got.events] == [EventKind.EXCEPTION, EventKind.EXCEPTION]


@pytest.mark.parametrize(
    ("prefix", "rank"), [(b"[1,5]<stdout>:", 5), (b"[rank2]: ", 2), (b"[default7]:", 7), (b"worker-1: ", 1)]
)
def test_launchers_prefixes_name_the_rank(prefix: bytes, rank: int) -> None:
    got = read(prefix + LOSS % 1 + prefix + b"EL0004: no memory\n")
    assert got.ranks[rank]["loss"] == [(1, 2.5)]
    assert [(each.code, each.rank_id) for each in got.events] == [("EL0004", rank)]


def test_encodings_may_change_from_line_to_line() -> None:
    lines = "错误 RuntimeError\n".encode("gbk") + "错误 RuntimeError: 内存\n".encode() + b"\xff\xfe RuntimeError\n"
    got = read(b"RuntimeError: " + lines)
    assert got.events[0].text == "RuntimeError: 错误 RuntimeError"
    assert got.consumed == len(lines) + 14


def test_colours_are_taken_off() -> None:
    assert read(b"\x1b[31mepoch: 1 \x1b]0;title\x07step: 1, loss\x1b[0m is 2.5\n").series["loss"] == [(1, 2.5)]


@pytest.mark.parametrize("sizes", [[], [4096], [LONGEST_FRAME // 2]])
def test_a_line_that_is_too_long_is_cut_and_said(sizes: list[int]) -> None:
    data = LOSS % 1 + b"x" * (LONGEST_FRAME + 500) + b"\n" + LOSS % 2
    begin = len(LOSS % 1)
    got = read(data, sizes)
    assert got.series["loss"] == [(1, 2.5), (2, 2.5)]
    assert got.faults == [("oversized", begin + LONGEST_FRAME, 500)]
    assert got.consumed == len(data)


def test_an_endless_line_does_not_pile_up() -> None:
    decoder = TextLogDecoder("a")
    part = decoder.decode(b"x" * (2 * LONGEST_FRAME), 0, at_end=True)
    assert part.consumed == 2 * LONGEST_FRAME


def test_a_record_without_stamp_gets_the_time_of_arrival_and_one_with_it_its_own() -> None:
    got = read(LOSS % 1 + b"[2026-05-06 10:00:02] INFO: epoch: 1 step: 2, loss is 2.5\n", arrival=1000.0)
    assert got.walls["loss"] == [1000.0, time.mktime((2026, 5, 6, 10, 0, 2, -1, -1, -1))]
    assert read(LOSS % 1).walls["loss"] == [0.0]


def test_history_and_tail_of_one_file_do_not_disturb_each_other() -> None:
    lines = [b"epoch: %d step: %d, loss is 2.5\n" % (k // 3 + 1, k % 3 + 1) for k in range(12)]
    head, tail = b"".join(lines[:6]), b"".join(lines[6:])
    apart = TextLogDecoder("a")
    assert apart.decode(lines[0], 0, at_end=False).consumed == len(lines[0])  # the ingest's look at the beginning
    apart.decode(tail[: 3 * len(lines[0])], len(head), at_end=False)
    first = apart.decode(head, 0, at_end=False)
    rest = apart.decode(tail[3 * len(lines[0]) :], len(head) + 3 * len(lines[0]), at_end=True)
    assert first.columns[0].steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert rest.columns[0].steps.tolist() == [10, 11, 12]


def test_reading_the_same_bytes_again_gives_the_same() -> None:
    decoder = TextLogDecoder("a")
    data = LOSS % 1 + LOSS % 2
    one, other = decoder.decode(data, 0, at_end=True), decoder.decode(data, 0, at_end=True)
    assert one.columns[0].steps.tolist() == other.columns[0].steps.tolist() == [1, 2]
