"""Gathers what the decoders of one call found, as blocks that `merge` joins into columns."""

from __future__ import annotations

import struct
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
_F32 = struct.Struct("<f").unpack_from


class _Lines:
    """Records of one shape, one after the other."""

    __slots__ = ("figures", "rows", "sizes", "steps", "walls")

    def __init__(self) -> None:
        self.rows: List[int] = []
        self.steps: List[int] = []
        self.walls: List[float] = []
        self.figures: List[Sequence[float]] = []
        self.sizes: List[Sequence[int]] = []

    def add(self, row: int, step: int, wall: float, figures: Sequence[float]) -> None:
        self.rows.append(row)
        self.steps.append(step)
        self.walls.append(wall)
        self.figures.append(figures)


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
            self._add_narrow(row, event.step, event.wall_time, tuple(event.tags), event.places)
        if event.wide:
            tags = tuple(tag for tag, _, _ in event.wide)
            values = [value for _, value, _ in event.wide]
            _lines(self._wide, tags).add(row, event.step, event.wall_time, values)
        if event.blobs:
            keys = tuple((kind, tag) for kind, tag, _, _ in event.blobs)
            lines = _lines(self._blobs, keys)
            lines.add(row, event.step, event.wall_time, [at for _, _, at, _ in event.blobs])
            lines.sizes.append([size for _, _, _, size in event.blobs])

    def add_followed(self, row: int, plan: Plan, got: Followed) -> None:
        """One record by a plan."""
        lines = self._plans.get(plan)
        if lines is None:
            lines = self._plans[plan] = (_Lines(), _Lines())
        data = self._data
        if plan.tags:
            lines[0].add(row, got.step, got.wall_time, [_F32(data, at)[0] for at in got.places])
        if plan.blobs:
            lines[1].add(row, got.step, got.wall_time, got.offsets)
            lines[1].sizes.append(got.lengths)

    def add_taken(self, rows: IntArray, template: Template, taken: Taken) -> None:
        """Many records by a template."""
        if template.tags:
            self._scalars.append(Block(template.tags, rows, taken.steps, taken.wall_times, (taken.narrow,)))
        if template.wide_tags:
            self._scalars.append(Block(template.wide_tags, rows, taken.steps, taken.wall_times, (taken.wide,)))

    def _add_narrow(self, row: int, step: int, wall: float, tags: Tuple[str, ...], places: Sequence[int]) -> None:
        data = self._data
        _lines(self._narrow, tags).add(row, step, wall, [_F32(data, at)[0] for at in places])

    def columns(self) -> Tuple[ScalarColumns, ...]:
        """Scalars, each tag once."""
        planned = [(plan.tags, lines) for plan, (lines, _) in self._plans.items() if plan.tags]
        blocks = list(self._scalars)
        for found, width in (
            (planned, np.float32),
            (self._narrow.items(), np.float32),
            (self._wide.items(), np.float64),
        ):
            blocks.extend(
                Block(tags, *_heads(lines), (np.array(lines.figures, dtype=width).T,)) for tags, lines in found
            )
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
