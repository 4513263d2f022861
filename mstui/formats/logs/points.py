"""Collects the values of one call of the decoder and gives them as columns."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Tuple

import numpy as np

from mstui.formats.columns import Block, merge
from mstui.formats.logs.producer import BulkRows
from mstui.model.records import ScalarColumns

_Rows = List[Tuple[int, int, float, Tuple[Optional[float], ...]]]
"""number, step, wall time and values of each record"""


class Points:
    """Values in file order."""

    def __init__(self) -> None:
        self._blocks: List[Block[str]] = []
        self._rows: Dict[Tuple[str, ...], _Rows] = {}
        self._next = 0

    def add(self, step: int, wall_time: float, values: Mapping[str, Optional[float]]) -> bool:
        """Take the values of one record; False when there is none among them."""
        if None in values.values():
            values = {tag: value for tag, value in values.items() if value is not None}
        if not values:
            return False
        tags = tuple(values)
        rows = self._rows.get(tags)
        if rows is None:
            rows = self._rows[tags] = []
        rows.append((self._next, step, wall_time, tuple(values.values())))
        self._next += 1
        return True

    def add_bulk(self, bulk: BulkRows) -> None:
        """Take the values of many records in a row."""
        count = len(bulk.steps)
        numbers = np.arange(self._next, self._next + count, dtype=np.int64)
        self._next += count
        whole = [(tag, values) for tag, values, rows in bulk.columns if rows is None]
        if whole:
            plane = np.vstack([values for _tag, values in whole])
            keys = tuple(tag for tag, _values in whole)
            self._blocks.append(Block(keys, numbers, bulk.steps, bulk.wall_times, (plane,)))
        for tag, values, rows in bulk.columns:
            if rows is not None and len(rows):
                block = Block((tag,), numbers[rows], bulk.steps[rows], bulk.wall_times[rows], (values[np.newaxis],))
                self._blocks.append(block)

    def columns(self) -> Tuple[ScalarColumns, ...]:
        """Everything taken so far, each tag once."""
        blocks = list(self._blocks)
        for tags, rows in self._rows.items():
            numbers, steps, walls, values = zip(*rows)
            plane = np.array(values, np.float64).T.reshape(len(tags), len(numbers))
            blocks.append(
                Block(
                    tags, np.array(numbers, np.int64), np.array(steps, np.int64), np.array(walls, np.float64), (plane,)
                )
            )
        return tuple(ScalarColumns(each.keys, each.steps, each.wall_times, each.planes[0]) for each in merge(blocks))
