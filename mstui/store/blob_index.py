"""Where the payloads of one stretch of one file lie: four growing arrays a (kind, tag), nothing decoded.

One writer appends, any number of threads read a published tuple. Opening files is not its business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import BlobKind, BlobRefs, FloatArray, IntArray
from mstui.store.columns import GROWTH_DIVISOR, LEAST_ROOM
from mstui.store.generations import LEFTOVER_STEP

BlobName = Tuple[BlobKind, str]


class BlobState(NamedTuple):
    """References as they stood after one append; only [:n] has a meaning."""

    n: int
    steps: IntArray
    wall_times: FloatArray
    offsets: IntArray
    lengths: IntArray

    def refs(self, kind: BlobKind, tag: str) -> BlobRefs:
        """The references as views."""
        n = self.n
        return BlobRefs(kind, tag, self.steps[:n], self.wall_times[:n], self.offsets[:n], self.lengths[:n])


def _extended(own: npt.NDArray[Any], n: int, more: npt.NDArray[Any]) -> npt.NDArray[Any]:
    end = n + len(more)
    if end > len(own):
        fresh = np.empty(max(end + end // GROWTH_DIVISOR, LEAST_ROOM), dtype=own.dtype)
        fresh[:n] = own[:n]
        own = fresh
    own[n:end] = more
    return own


_EMPTY = BlobState(
    0,
    np.empty(0, dtype=np.int64),
    np.empty(0, dtype=np.float64),
    np.empty(0, dtype=np.int64),
    np.empty(0, dtype=np.int64),
)


class BlobIndex:
    """Payload references of one file part, in file order."""

    def __init__(self) -> None:
        self._states: Dict[BlobName, BlobState] = {}

    def append(self, refs: BlobRefs) -> None:
        """Add references behind what is there."""
        if not len(refs.steps):
            return
        name = (refs.kind, refs.tag)
        old = self._states.get(name, _EMPTY)
        self._states[name] = BlobState(
            old.n + len(refs.steps),
            _extended(old.steps, old.n, refs.steps),
            _extended(old.wall_times, old.n, refs.wall_times),
            _extended(old.offsets, old.n, refs.offsets),
            _extended(old.lengths, old.n, refs.lengths),
        )

    def state(self, kind: BlobKind, tag: str) -> Optional[BlobState]:
        """A new object after every append to this name; None when there is no such payload."""
        return self._states.get((kind, tag))

    @property
    def names(self) -> Tuple[BlobName, ...]:
        """Every (kind, tag), in order of first appearance."""
        return tuple(self._states)


@dataclass(frozen=True)
class BlobPlaces:
    """Every payload of one tag that holds now, in step order, whatever file it lies in. One entry a step."""

    kind: BlobKind
    tag: str
    paths: Tuple[str, ...]
    files: IntArray
    """[n] index into paths"""
    steps: IntArray
    wall_times: FloatArray
    offsets: IntArray
    lengths: IntArray
    superseded: int
    """payloads that a restart or a second record of the same step replaced"""

    def __len__(self) -> int:
        return len(self.steps)


def join_places(kind: BlobKind, tag: str, found: List[Tuple[str, BlobState]]) -> BlobPlaces:
    """Join the references of several files; newest generation and last duplicate win.

    As for scalars, a lone step 0 at the end of a file is a remainder and supersedes nothing.
    """
    paths = tuple(dict.fromkeys(path for path, _ in found))
    number = {path: index for index, path in enumerate(paths)}
    refs = [state.refs(kind, tag) for _, state in found]
    files = np.concatenate([np.full(state.n, number[path], dtype=np.int64) for path, state in found])
    steps = np.concatenate([ref.steps for ref in refs])
    # a payload holds when no later one has its step or a lower one
    never = np.iinfo(np.int64).max
    closes = np.append(files[1:] != files[:-1], True)
    leftover = np.zeros(len(steps), dtype=np.bool_)
    leftover[1:] = closes[1:] & (files[1:] == files[:-1]) & (steps[1:] == LEFTOVER_STEP) & (steps[:-1] > LEFTOVER_STEP)
    counted = np.where(leftover, never, steps)
    later = np.full(len(steps), never, dtype=np.int64)
    later[:-1] = np.minimum.accumulate(counted[:0:-1])[::-1]
    holds = (steps < later) & ~leftover
    return BlobPlaces(
        kind,
        tag,
        paths,
        files[holds],
        steps[holds],
        np.concatenate([ref.wall_times for ref in refs])[holds],
        np.concatenate([ref.offsets for ref in refs])[holds],
        np.concatenate([ref.lengths for ref in refs])[holds],
        int(len(steps) - np.count_nonzero(holds)),
    )
