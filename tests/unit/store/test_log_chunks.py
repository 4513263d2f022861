"""Full chunks answer as growing ones do, in a fraction of the bytes."""

from __future__ import annotations

from typing import List

import numpy as np
import pytest

from mstui.model.records import IntArray
from mstui.store import log_chunks
from mstui.store.log_chunks import Chunk, FullChunk, GrowingChunk, MarkArray, appended

LENGTH = 1000


def both(offsets: IntArray, marks: MarkArray, monkeypatch: pytest.MonkeyPatch) -> List[Chunk]:
    """The same records as a chunk that is full and as one that is not."""
    counted = marks.dtype == np.uint8
    (growing,) = appended((), offsets, marks, counted=counted)
    monkeypatch.setattr(log_chunks, "CHUNK", len(offsets))
    (full,) = appended((), offsets, marks, counted=counted)
    assert isinstance(growing, GrowingChunk)
    assert isinstance(full, FullChunk)
    return [growing, full]


@pytest.mark.parametrize("most", [1, 200, 60_000, 4_000_000])
@pytest.mark.parametrize("kind", ["levels", "one level", "steps", "steps by ten", "back", "the same step"])
def test_a_full_chunk_answers_as_a_growing_one(most: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    offsets = np.cumsum(rng.integers(1, most + 1, LENGTH)).astype(np.int64) + 7
    number = np.arange(LENGTH, dtype=np.int32)
    marks: MarkArray = {
        "levels": rng.integers(0, 6, LENGTH).astype(np.uint8),
        "one level": np.full(LENGTH, 2, dtype=np.uint8),
        "steps": number + 500,
        "steps by ten": number * 10,
        "back": number[::-1].copy(),
        "the same step": np.full(LENGTH, 9, dtype=np.int32),
    }[kind]
    growing, full = both(offsets, marks, monkeypatch)
    assert (growing.base, growing.n, growing.low) == (full.base, full.n, full.low)
    assert growing.counts.tolist() == full.counts.tolist()
    for begin, end in ((0, LENGTH), (0, 1), (255, 257), (256, 512), (700, 700), (900, 5 * LENGTH), (LENGTH, LENGTH)):
        assert growing.offsets(begin, min(end, LENGTH)).tolist() == full.offsets(begin, end).tolist()
        assert growing.marks(begin, min(end, LENGTH)).tolist() == full.marks(begin, end).tolist()
    first, last = int(offsets[0]), int(offsets[-1])
    places = {
        first - 1,
        0,
        first,
        last,
        last + 1,
        last + (1 << 40),
        *offsets[::97].tolist(),
        *(offsets[::89] - 1).tolist(),
    }
    for place in places:
        assert growing.behind(place) == full.behind(place)


def test_a_line_a_step_takes_a_byte_for_its_place_and_none_for_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    number = np.arange(60_000, dtype=np.int32)
    _growing, full = both(number.astype(np.int64) * 40, number, monkeypatch)
    assert full.nbytes < 1.1 * len(number)
