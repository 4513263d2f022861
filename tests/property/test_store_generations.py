"""Any order of steps, files and batches: the store's generations are those of the definition, and no point is lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import ScalarColumns
from mstui.model.series import Points, SeriesKey
from mstui.store import generations
from mstui.store.run_store import Store

STEPS = st.lists(st.integers(min_value=0, max_value=9), min_size=1, max_size=12)
FILES = st.lists(STEPS, min_size=1, max_size=4)

Record = tuple[int, int]
"""step, and a number that tells each record from every other"""


def by_definition(files: list[list[Record]]) -> tuple[list[Record], list[Record]]:
    """One record after the other: a fall of the step takes back what lies at or above it."""
    current: list[Record] = []
    old: list[Record] = []
    for file in files:
        steps = [step for step, _ in file]
        leftover = len(file) > 1 and steps[-1] == 0 and steps[-2] > 0
        last: int | None = current[-1][0] if current else None
        for step, number in file[:-1] if leftover else file:
            if last is not None and step < last:
                old += [record for record in current if record[0] >= step]
                current = [record for record in current if record[0] < step]
            current.append((step, number))
            last = step
        if leftover:
            old.append(file[-1])
    return current, old


def flat(stretches: tuple[Points, ...]) -> list[Record]:
    return [(int(s), int(v)) for part in stretches for s, v in zip(part.steps, part.values)]


def filled(files: list[list[Record]], cuts: list[int], *, tail: bool) -> Store:
    store = Store()
    for index, file in enumerate(files):
        key = FileKey("run", 0, index, f"file{index}")
        cut = cuts[index % len(cuts)] % (len(file) + 1)
        order = [(Part.HISTORY, file[:cut], False), (Part.HISTORY, file[cut:], False)]
        if tail:
            order = [(Part.TAIL, file[cut:], False), (Part.HISTORY, file[:cut], True)]
        for part, records, joined in order:
            steps = np.asarray([step for step, _ in records], dtype=np.int64)
            values = np.asarray([[number for _, number in records]], dtype=np.float32)
            store.apply(Batch(key, part, (ScalarColumns(("loss",), steps, 1.0 + steps, values),), joined=joined))
    return store


@given(FILES, st.lists(st.integers(0, 12), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_current_and_superseded_are_those_of_the_definition(
    steps: list[list[int]], cuts: list[int], tail: bool, merged: bool
) -> None:
    number = iter(range(1000))
    files = [[(step, next(number)) for step in file] for file in steps]
    was = generations.MOST_STRETCHES
    generations.MOST_STRETCHES = 1 if merged else was
    try:
        series = filled(files, cuts, tail=tail).series(SeriesKey("run", 0, "loss"))
    finally:
        generations.MOST_STRETCHES = was
    assert series is not None
    current, old = by_definition(files)
    assert flat(series.current) == current
    assert sorted(flat(series.superseded)) == sorted(old)
    for part in (*series.current, *series.superseded):
        assert bool(np.all(np.diff(part.steps) >= 0))
        assert len(part) > 0


TAGS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True)


@given(st.lists(TAGS, min_size=1, max_size=15))
def test_whatever_tags_come_together_each_series_is_one_row_with_all_its_points(batches: list[list[str]]) -> None:
    store = Store()
    expected: dict[str, list[Record]] = {}
    for step, tags in enumerate(batches):
        values = np.asarray([[step * 10 + place] for place in range(len(tags))], dtype=np.float32)
        columns = ScalarColumns(tuple(tags), np.array([step]), np.array([step + 1.0]), values)
        store.apply(Batch(FileKey("run", 0, 1, "f"), Part.HISTORY, (columns,)))
        for place, tag in enumerate(tags):
            expected.setdefault(tag, []).append((step, step * 10 + place))
    for tag, records in expected.items():
        series = store.series(SeriesKey("run", 0, tag))
        assert series is not None
        assert len(series.current) == 1
        assert flat(series.current) == records
    assert {info.tag: info.points for info in store.tags("run")} == {t: len(r) for t, r in expected.items()}
    assert [info.tag for info in sorted(store.tags("run"), key=lambda i: i.first_seen)] == list(expected)
