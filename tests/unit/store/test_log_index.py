"""Where records of a log lie: numbers, levels, steps and events, whatever way the file is read."""

from __future__ import annotations

from typing import Optional, Sequence

import numpy as np
import pytest

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.logs import EventKind, LogEvent, LogLevel, LogRecords, LogSteps
from mstui.model.records import ScalarColumns
from mstui.model.sources import Source, SourceKind
from mstui.store import log_chunks
from mstui.store.log_index import MOST_EVENTS, LogIndex, LogIndexView
from mstui.store.run_store import Store

KEY = FileKey("run", 0, 1, "train.log", Source(SourceKind.LOG, "train.log"))
INFO, WARNING, ERROR, UNKNOWN = LogLevel.INFO, LogLevel.WARNING, LogLevel.ERROR, LogLevel.UNKNOWN


def batch(
    offsets: Sequence[int] = (),
    levels: Sequence[int] = (),
    *,
    part: Part = Part.HISTORY,
    steps: Sequence[tuple[int, int]] = (),
    events: Sequence[LogEvent] = (),
    joined: bool = False,
    drop_tail: bool = False,
) -> Batch:
    own = list(levels) or [INFO] * len(offsets)
    told: Optional[LogSteps] = None
    if steps:
        told = LogSteps(np.array([step for step, _ in steps]), np.array([offset for _, offset in steps]))
    records = LogRecords(np.array(offsets, dtype=np.int64), np.array(own, dtype=np.uint8))
    return Batch(
        KEY,
        part,
        log_records=records,
        log_events=tuple(events),
        log_steps=told,
        joined=joined,
        drop_tail=drop_tail,
    )


def event(offset: int, kind: EventKind = EventKind.OVERFLOW) -> LogEvent:
    return LogEvent(kind, offset, 10, "text", None)


def view_of(*batches: Batch) -> LogIndexView:
    index = LogIndex(KEY)
    for each in batches:
        index.add(each)
    return index.view()


@pytest.fixture(params=[1 << 16, 3])
def small_chunks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_chunks, "CHUNK", request.param)
    monkeypatch.setattr(log_chunks, "STRIDE", 2)


@pytest.mark.usefixtures("small_chunks")
def test_records_have_numbers_in_file_order_and_end_where_the_next_one_begins() -> None:
    view = view_of(batch([0, 10, 25], [INFO, ERROR, UNKNOWN]), batch([40, 41], [WARNING, INFO]))
    assert view.records == 5
    assert view.offsets(0, 9).tolist() == [0, 10, 25, 40, 41]
    assert view.offsets(1, 4).tolist() == [10, 25, 40]
    assert view.levels(1, 4).tolist() == [ERROR, UNKNOWN, WARNING]
    assert [view.index_of(offset) for offset in (0, 9, 10, 39, 40, 41, 999)] == [0, 0, 1, 2, 3, 4, 4]
    assert [view.end_of(index) for index in range(5)] == [10, 25, 40, 41, None]


def test_a_byte_in_front_of_the_first_known_record_belongs_to_none() -> None:
    view = view_of(batch([100, 110], part=Part.TAIL))
    assert view.index_of(99) is None
    assert view.index_of(100) == 0
    assert view_of().index_of(0) is None


@pytest.mark.usefixtures("small_chunks")
def test_history_in_front_of_the_tail_moves_numbers_but_no_offsets() -> None:
    index = LogIndex(KEY)
    index.add(batch([100, 110], [ERROR, INFO], part=Part.TAIL))
    early = index.view()
    index.add(batch([0, 10, 20, 30]))
    index.add(batch([120], part=Part.TAIL))
    view = index.view()
    assert not view.complete
    assert view.offsets(0, 9).tolist() == [0, 10, 20, 30, 100, 110, 120]
    assert view.end_of(3) is None, "what lies between history and tail is not known yet"
    assert view.select(ERROR).numbers(0, 9).tolist() == [4]
    assert early.offsets(0, 9).tolist() == [100, 110]
    index.add(batch([50, 60], joined=True))
    index.add(batch([130]))
    whole = index.view()
    assert whole.complete
    assert whole.offsets(0, 99).tolist() == [0, 10, 20, 30, 50, 60, 100, 110, 120, 130]
    assert whole.end_of(5) == 100


def test_a_tail_that_began_inside_damage_is_forgotten() -> None:
    view = view_of(batch([100], part=Part.TAIL, events=[event(100)]), batch([0, 40], drop_tail=True))
    assert view.offsets(0, 9).tolist() == [0, 40]
    assert view.events == ()
    assert view.complete


@pytest.mark.usefixtures("small_chunks")
def test_a_level_selects_records_and_prints_are_kept_up_to_info() -> None:
    levels = [UNKNOWN, LogLevel.DEBUG, INFO, WARNING, ERROR, UNKNOWN, LogLevel.CRITICAL, INFO]
    view = view_of(batch(range(0, 80, 10), levels))
    expected = {
        UNKNOWN: list(range(8)),
        LogLevel.DEBUG: list(range(8)),
        INFO: [0, 2, 3, 4, 5, 6, 7],
        WARNING: [3, 4, 6],
        ERROR: [4, 6],
        LogLevel.CRITICAL: [6],
    }
    for level, numbers in expected.items():
        chosen = view.select(level)
        assert len(chosen) == len(numbers)
        assert chosen.numbers(0, 99).tolist() == numbers
        for begin in range(9):
            assert chosen.numbers(begin, begin + 2).tolist() == numbers[begin : begin + 2]
            assert chosen.before(begin) == sum(number < begin for number in numbers)
        assert chosen.before(99) == len(numbers)


@pytest.mark.usefixtures("small_chunks")
def test_from_a_step_to_its_record_and_back() -> None:
    told = [(1, 10), (2, 20), (2, 25), (4, 40), (5, 50), (3, 60), (4, 70)]
    view = view_of(batch(steps=told[:3]), batch(steps=told[3:]))
    assert view.place_of_step(1) == 10
    assert view.place_of_step(2) == 20, "the first of several records of a step"
    assert view.place_of_step(3) == 60, "told again after a restart from step 3"
    assert view.place_of_step(4) == 70
    assert view.place_of_step(99) == 70
    assert view.place_of_step(0) is None
    assert [view.step_at(offset) for offset in (9, 10, 24, 39, 55, 60, 99)] == [None, 1, 2, 2, 5, 3, 4]
    inside = view.steps(20, 50)
    assert inside.steps.tolist() == [2, 2, 4]
    assert inside.offsets.tolist() == [20, 25, 40]


def test_a_step_that_many_records_tell_of_begins_with_the_first_of_them() -> None:
    view = view_of(*(batch(steps=[(7, offset)]) for offset in range(0, 100, 10)))
    assert view.place_of_step(7) == 0
    assert view.place_of_step(8) == 0


def test_a_step_told_in_front_of_a_gap_is_not_that_of_a_record_behind_it() -> None:
    view = view_of(batch([100, 150], part=Part.TAIL, steps=[(9, 150)]), batch([0, 10], steps=[(1, 10)]))
    assert view.step_at(120) is None
    assert view.step_at(50) == 1
    assert view.step_at(150) == 9


def test_steps_beyond_32_bits_and_places_beyond_4_gib_are_kept() -> None:
    far = 5 << 32
    view = view_of(batch([0, far, far + 1], steps=[(1, 0), (1 << 40, far)]), batch([far + 9], steps=[(3, far + 9)]))
    assert view.offsets(0, 9).tolist() == [0, far, far + 1, far + 9]
    assert view.index_of(far - 1) == 0
    assert view.index_of(far + 5) == 2
    assert view.place_of_step(1 << 40) == far + 9
    assert view.steps(0, far + 99).steps.tolist() == [1, 1 << 40, 3]


def test_events_are_kept_from_both_ends_and_counted() -> None:
    many = [event(offset) for offset in range(1000)]
    rare = event(500, EventKind.TRACEBACK)
    view = view_of(batch(events=many[:600]), batch(events=[rare, *many[600:]]))
    kept = [each.offset for each in view.events if each.kind is EventKind.OVERFLOW]
    assert kept == [*range(MOST_EVENTS), *range(1000 - MOST_EVENTS, 1000)]
    assert rare in view.events
    assert view.event_counts == {EventKind.OVERFLOW: 1000, EventKind.TRACEBACK: 1}


def test_events_of_history_come_before_those_of_the_tail() -> None:
    view = view_of(batch(part=Part.TAIL, events=[event(90)]), batch(events=[event(5)], joined=True))
    assert [each.offset for each in view.events] == [5, 90]
    assert view.event_counts == {EventKind.OVERFLOW: 2}


def test_a_record_takes_less_than_six_bytes_and_a_view_stays_as_it_was() -> None:
    index = LogIndex(KEY)
    index.add(batch([0]))
    first = index.view()
    for begin in range(1, 300_000, 1000):
        index.add(batch(range(begin * 80, (begin + 1000) * 80, 80)))
    assert index.records == 300_001
    assert index.bytes_used / index.records < 6.0
    assert first.records == 1


def test_the_store_keeps_logs_by_run_and_counts_and_frees_them() -> None:
    store = Store()
    other = FileKey("run", 1, 1, "worker_1.log", Source(SourceKind.LOG, "worker"))
    store.apply(Batch(other, Part.HISTORY, log_records=LogRecords(np.array([0]), np.array([2], dtype=np.uint8))))
    store.apply(batch([0, 7]))
    assert [log.key for log in store.logs("run")] == [KEY, other]
    found = store.log(KEY)
    assert found is not None
    assert found.records == 2
    assert store.memory()["log_records"] == 3
    assert store.memory()["used"] > 0
    assert store.ranks("run") == (), "a log that measures nothing makes no rank"
    assert store.revision == 2
    store.drop("run")
    assert store.logs("run") == ()
    assert store.log(KEY) is None
    assert store.memory()["log_records"] == 0


def test_a_log_has_both_records_and_points() -> None:
    store = Store()
    columns = ScalarColumns(("loss",), np.array([3]), np.array([1e9]), np.array([[0.5]]))
    store.apply(
        Batch(KEY, Part.TAIL, (columns,), log_records=LogRecords(np.array([50]), np.array([0], dtype=np.uint8)))
    )
    store.apply(batch([0], joined=True))
    assert store.last_step("run") == 3
    log = store.log(KEY)
    assert log is not None
    assert log.view().complete
