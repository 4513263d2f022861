"""Several sources of one tag: whatever order their records come in, the merged curve is that of the definition."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import ScalarColumns, ValueArray
from mstui.model.series import Disagreement, Points, Series, SeriesKey
from mstui.model.sources import SUMMARY, Source, SourceKind
from mstui.store import merged
from mstui.store.run_store import Store

KEY = SeriesKey("run", 0, "loss")
SOURCES = (SUMMARY, Source(SourceKind.TABLE, "table"), Source(SourceKind.LOG, "train.log"))
Record = tuple[int, float]

VALUES = st.sampled_from([1.0, 2.0, 3.0, 5.0, math.nan, math.inf])
RECORDS = st.lists(st.tuples(st.integers(0, 12), VALUES), max_size=14)
RISING = RECORDS.map(lambda records: sorted(records, key=lambda each: each[0]))
HISTORIES = st.lists(RISING | RECORDS, min_size=2, max_size=3)


def batch(number: int, records: list[Record], part: Part = Part.HISTORY, *, joined: bool = False) -> Batch:
    source = SOURCES[number]
    steps = np.asarray([step for step, _ in records], dtype=np.int64)
    values: ValueArray = np.asarray([[value for _, value in records]], dtype=np.float64)
    if source is SUMMARY:
        values = values.astype(np.float32)
    # every source's clock stands still, so that none is taken back for having ended before a restart of another
    columns = ScalarColumns(("loss",), steps, np.full(len(steps), 1e9), values)
    key = FileKey("run", 0, 1, f"file{number}", source)
    return Batch(key, part, (columns,) if records else (), joined=joined)


def current_of(records: list[Record]) -> list[Record]:
    """What holds of one source: a fall of the step takes back what lies at or above it."""
    leftover = len(records) > 1 and records[-1][0] == 0 < records[-2][0]
    current: list[Record] = []
    last = -1
    for step, value in records[:-1] if leftover else records:
        if step < last:
            current = [each for each in current if each[0] < step]
        current.append((step, value))
        last = step
    return current


def by_definition(histories: list[list[Record]]) -> list[Record]:
    currents = [current_of(records) for records in histories]
    merged_records: list[Record] = []
    for step in sorted({step for current in currents for step, _ in current}):
        leader = next(current for current in currents if any(each[0] == step for each in current))
        merged_records += [each for each in leader if each[0] == step]
    return merged_records


def disagreement_by_definition(histories: list[list[Record]]) -> tuple[int, list[int]]:
    """Steps that several have, and those at which they tell different values; all values here are exact."""
    held = [dict(current_of(records)) for records in histories]
    compared, differing = 0, []
    for step in sorted({step for each in held for step in each}):
        values = [each[step] for each in held if step in each]
        compared += len(values) > 1
        plain = [value if math.isfinite(value) else None for value in values]
        if any(value != plain[0] for value in plain[1:]):
            differing.append(step)
    return compared, differing


def flat(stretches: tuple[Points, ...]) -> list[tuple[int, str]]:
    return [(int(s), repr(float(v))) for part in stretches for s, v in zip(part.steps, part.values)]


def told(series: Series | None) -> tuple[object, ...]:
    if series is None:
        return ()
    said = series.disagreement
    plain = None if said is None else (*said[:3], repr(said.value), repr(said.other), *said[5:])
    old = sorted(flat(series.superseded))
    return flat(series.current), old, series.restarts, series.sources, plain


def check(store: Store, histories: list[list[Record]]) -> None:
    series = store.series(KEY)
    expected = [(step, repr(float(value))) for step, value in by_definition(histories)]
    if series is None:
        assert expected == []
        return
    assert flat(series.current) == expected
    for part in series.current:
        assert len(part) > 0
        assert bool(np.all(np.diff(part.steps) >= 0))
    compared, differing = disagreement_by_definition(histories)
    said = series.disagreement
    if differing:
        assert isinstance(said, Disagreement)
        assert (said.compared, said.differing, said.step) == (compared, len(differing), differing[0])
    else:
        assert said is None
    assert series.sources == tuple(SOURCES[i] for i, records in enumerate(histories) if records)


@given(HISTORIES, st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.booleans()), max_size=30), st.booleans())
def test_any_interleaving_asked_at_any_time_is_the_curve_of_merging_once(
    histories: list[list[Record]], turns: list[tuple[int, int, bool]], small: bool
) -> None:
    was = merged.MOST_COALESCED, merged.PIECE
    merged.MOST_COALESCED, merged.PIECE = (2, 3) if small else was
    try:
        store = Store()
        taken = [0] * len(histories)
        given_out: list[tuple[Series, object]] = []
        for number, count, ask in (*turns, *((i, 99, True) for i in range(len(histories)))):
            number %= len(histories)
            records = histories[number][taken[number] : taken[number] + count]
            taken[number] += len(records)
            if records:
                store.apply(batch(number, records))
            if ask:
                check(store, [history[:end] for history, end in zip(histories, taken)])
                series = store.series(KEY)
                if series is not None:
                    given_out.append((series, told(series)))
        fresh = Store()
        for number, records in enumerate(histories):
            if records:
                fresh.apply(batch(number, records))
        assert told(store.series(KEY)) == told(fresh.series(KEY))
        for series, was_told in given_out:
            assert told(series) == was_told, "what was given out stays as it was"
    finally:
        merged.MOST_COALESCED, merged.PIECE = was


@given(HISTORIES, st.integers(0, 14), st.integers(0, 2), st.integers(0, 14))
def test_a_source_whose_tail_is_read_first_gives_the_same(
    histories: list[list[Record]], cut: int, which: int, half: int
) -> None:
    which %= len(histories)
    store = Store()
    for number, records in enumerate(histories):
        if number != which and records:
            store.apply(batch(number, records))
    records = histories[which]
    cut = min(cut, len(records))
    half = min(half, cut)
    for part, own, joined in (
        (Part.TAIL, records[cut:], False),
        (Part.HISTORY, records[:half], False),
        (Part.HISTORY, records[half:cut], True),
    ):
        store.apply(batch(which, own, part, joined=joined))
        store.series(KEY)
    check(store, histories)
