"""Gathers what the decoders of one call found, as blocks that `merge` joins into columns."""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple, TypeVar

import numpy as np
import numpy.typing as npt

from mstui.formats.columns import Block, merge
from mstui.formats.plan import Followed, Plan
from mstui.formats.template import Taken, Template
from mstui.formats.wire import Event
from mstui.model.records import BlobKind, BlobRefs, IntArray, ScalarColumns

K = TypeVar("K")
BlobKey = Tuple[BlobKind, str]


class _Lines:
    """Records of one shape, one after the other."""

    __slots__ = ("figures", "raw", "rows", "sizes", "steps", "walls")

    def __init__(self) -> None:
        self.rows: List[int] = []
        self.steps: List[int] = []
        self.walls: List[float] = []
        self.figures: List[Sequence[float]] = []
        self.sizes: List[Sequence[int]] = []
        self.raw: List[bytes] = []

    def add(self, row: int, step: int, wall: float) -> None:
        self.rows.append(row)
        self.steps.append(step)
        self.walls.append(wall)


class Gathering:
    """Everything one call of `decode` found. Rows are record numbers, by which the file's order is restored."""

    def __init__(self, data: bytes, base: int) -> None:
        self._data = data
        self.base = base
        self._scalars: List[Block[str]] = []
        self._narrow: Dict[Tuple[str, ...], _Lines] = {}
        self._wide: Dict[Tuple[str, ...], _Lines] = {}
        self._blobs: Dict[Tuple[BlobKey, ...], _Lines] = {}
        self._plans: Dict[Plan, Tuple[_Lines, _Lines]] = {}
        self.skipped: Dict[str, int] = {}

    def add_event(self, row: int, event: Event) -> None:
        """One record from the general walk."""
        for word in event.skipped:
            self.skipped[word] = self.skipped.get(word, 0) + 1
        if event.tags:
            lines = _lines(self._narrow, tuple(event.tags))
            lines.add(row, event.step, event.wall_time)
            lines.raw.append(self._float32s(event.places))
        if event.wide:
            lines = _lines(self._wide, tuple(tag for tag, _, _ in event.wide))
            lines.add(row, event.step, event.wall_time)
            lines.figures.append([value for _, value, _ in event.wide])
        if event.blobs:
            lines = _lines(self._blobs, tuple((kind, tag) for kind, tag, _, _ in event.blobs))
            lines.add(row, event.step, event.wall_time)
            lines.figures.append([at for _, _, at, _ in event.blobs])
            lines.sizes.append([size for _, _, _, size in event.blobs])

    def add_followed(self, row: int, plan: Plan, got: Followed) -> None:
        """One record by a plan."""
        lines = self._plans.get(plan)
        if lines is None:
            lines = self._plans[plan] = (_Lines(), _Lines())
        narrow, blobs = lines
        if plan.tags:
            narrow.add(row, got.step, got.wall_time)
            narrow.raw.append(self._float32s(got.places))
        if plan.blobs:
            blobs.add(row, got.step, got.wall_time)
            blobs.figures.append(got.offsets)
            blobs.sizes.append(got.lengths)

    def add_taken(self, rows: IntArray, template: Template, taken: Taken) -> None:
        """Many records by a template."""
        if template.tags:
            self._scalars.append(Block(template.tags, rows, taken.steps, taken.wall_times, (taken.narrow,)))
        if template.wide_tags:
            self._scalars.append(Block(template.wide_tags, rows, taken.steps, taken.wall_times, (taken.wide,)))

    def _float32s(self, places: Sequence[int]) -> bytes:
        """Their bytes as they are: on the way through a Python float a NaN may change its bits."""
        data = self._data
        return b"".join([data[at : at + 4] for at in places])

    def columns(self) -> Tuple[ScalarColumns, ...]:
        """Scalars, each tag once."""
        planned = [(plan.tags, lines) for plan, (lines, _) in self._plans.items() if plan.tags]
        blocks = list(self._scalars)
        for tags, lines in [*planned, *self._narrow.items()]:
            values = np.frombuffer(b"".join(lines.raw), dtype="<f4").reshape(-1, len(tags))
            blocks.append(Block(tags, *_heads(lines), (values.T,)))
        for tags, lines in self._wide.items():
            blocks.append(Block(tags, *_heads(lines), (np.array(lines.figures, dtype=np.float64).T,)))
        return tuple(
            ScalarColumns(part.keys, part.steps, part.wall_times, np.ascontiguousarray(part.planes[0]))
            for part in merge(blocks)
        )

    def blobs(self) -> Tuple[BlobRefs, ...]:
        """Payloads, each kind and tag once, at their offsets in the file."""
        planned = [(plan.blobs, lines) for plan, (_, lines) in self._plans.items() if plan.blobs]
        blocks = [
            Block(
                keys,
                *_heads(lines),
                (
                    np.ascontiguousarray((np.array(lines.figures, dtype=np.int64) + self.base).T),
                    np.ascontiguousarray(np.array(lines.sizes, dtype=np.int64).T),
                ),
            )
            for keys, lines in [*planned, *self._blobs.items()]
        ]
        found: List[BlobRefs] = []
        for part in merge(blocks):
            offsets, lengths = part.planes
            found.extend(
                BlobRefs(kind, tag, part.steps, part.wall_times, offsets[line], lengths[line])
                for line, (kind, tag) in enumerate(part.keys)
            )
        return tuple(found)


def _lines(known: Dict[Tuple[K, ...], _Lines], keys: Tuple[K, ...]) -> _Lines:
    lines = known.get(keys)
    if lines is None:
        lines = known[keys] = _Lines()
    return lines


def _heads(lines: _Lines) -> Tuple[IntArray, IntArray, npt.NDArray[np.float64]]:
    return (
        np.array(lines.rows, dtype=np.int64),
        np.array(lines.steps, dtype=np.int64),
        np.array(lines.walls, dtype=np.float64),
    )
