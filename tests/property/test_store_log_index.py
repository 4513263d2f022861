"""A log read in any pieces, from the front or with its tail first, has the same places, levels, steps and events."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.logs import EventKind, LogEvent, LogLevel, LogRecords, LogSteps
from mstui.model.sources import Source, SourceKind
from mstui.store import log_chunks
from mstui.store.log_index import LogIndex, LogIndexView

KEY = FileKey("run", 0, 1, "train.log", Source(SourceKind.LOG, "train.log"))
LENGTH = 10
"""bytes of a record"""

RECORDS = st.lists(
    st.tuples(st.integers(0, 5), st.none() | st.sampled_from([0, 1, 2, 3, 1 << 40]), st.booleans()), max_size=30
)
"""level, step or None, is it an event"""
Record = tuple[int, "int | None", bool]


def batch(records: list[Record], first: int, part: Part, *, joined: bool = False) -> Batch:
    places = [(first + i) * LENGTH for i in range(len(records))]
    told = [(step, place) for place, (_, step, _e) in zip(places, records) if step is not None]
    return Batch(
        KEY,
        part,
        log_records=LogRecords(np.array(places, dtype=np.int64), np.array([r[0] for r in records], dtype=np.uint8)),
        log_events=tuple(
            LogEvent(EventKind.OVERFLOW, place, LENGTH, "", None) for place, each in zip(places, records) if each[2]
        ),
        log_steps=LogSteps(
            np.array([s for s, _ in told], dtype=np.int64), np.array([p for _, p in told], dtype=np.int64)
        ),
        joined=joined,
    )


def check(view: LogIndexView, records: list[Record]) -> None:
    number = len(records)
    assert view.complete
    assert view.records == number
    assert view.offsets(0, number).tolist() == [i * LENGTH for i in range(number)]
    assert view.levels(0, number).tolist() == [level for level, _, _ in records]
    for i in range(number):
        assert view.index_of(i * LENGTH + 3) == i
        assert view.end_of(i) == ((i + 1) * LENGTH if i + 1 < number else None)
        assert view.offsets(i, i + 3).tolist() == [j * LENGTH for j in range(i, min(i + 3, number))]
    for least in LogLevel:
        kept = [
            i
            for i, (level, _, _) in enumerate(records)
            if level >= least or (level == LogLevel.UNKNOWN and least <= LogLevel.INFO)
        ]
        chosen = view.select(least)
        assert len(chosen) == len(kept)
        assert chosen.numbers(0, number).tolist() == kept
        assert [chosen.before(i) for i in range(number + 1)] == [sum(k < i for k in kept) for i in range(number + 1)]
    told = [(step, i * LENGTH) for i, (_, step, _) in enumerate(records) if step is not None]
    for i in range(number + 1):
        before = [step for step, place in told if place <= i * LENGTH]
        assert view.step_at(i * LENGTH) == (before[-1] if before else None)
    for step in (-1, 0, 1, 2, 3, 5, 1 << 41):
        at = max((n for n, each in enumerate(told) if each[0] <= step), default=None)
        if at is None:
            assert view.place_of_step(step) is None
        else:
            while at and told[at - 1][0] == told[at][0]:
                at -= 1
            assert view.place_of_step(step) == told[at][1]
    assert [each.offset for each in view.events] == [i * LENGTH for i, each in enumerate(records) if each[2]]
    assert sum(view.event_counts.values()) == len(view.events)


@given(RECORDS, st.lists(st.integers(0, 30), max_size=6), st.integers(0, 30), st.booleans(), st.booleans())
def test_any_pieces_in_either_order(
    records: list[Record], cuts: list[int], tail: int, ahead: bool, small: bool
) -> None:
    was = log_chunks.CHUNK, log_chunks.STRIDE
    log_chunks.CHUNK, log_chunks.STRIDE = (5, 2) if small else was
    try:
        index = LogIndex(KEY)
        tail = min(tail, len(records)) if ahead else len(records)
        bounds = sorted({0, len(records), tail, *(cut for cut in cuts if cut < len(records))})
        pieces = [(begin, records[begin:end]) for begin, end in zip(bounds, bounds[1:])]
        behind = [piece for piece in pieces if piece[0] >= tail]
        front = [piece for piece in pieces if piece[0] < tail]
        for begin, own in behind:
            index.add(batch(own, begin, Part.TAIL))
        for number, (begin, own) in enumerate(front):
            index.add(batch(own, begin, Part.HISTORY, joined=bool(behind) and number == len(front) - 1))
        if behind and not front:
            index.add(batch([], 0, Part.HISTORY, joined=True))
        check(index.view(), records)
    finally:
        log_chunks.CHUNK, log_chunks.STRIDE = was
