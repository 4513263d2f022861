"""Where the payloads of one stretch of one file lie: four growing arrays a (kind, tag), nothing decoded.

One writer appends, any number of threads read a published tuple. Opening files is not its business.
"""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import BlobKind, BlobRefs, FloatArray, IntArray
from mstui.store.columns import GROWTH_DIVISOR, LEAST_ROOM

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
