"""From decoded pieces to columns: each key at most once, rows in file order, keys with the same rows share arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Generic, List, Sequence, Tuple, TypeVar

import numpy as np
import numpy.typing as npt

from mstui.model.records import FloatArray, IntArray

K = TypeVar("K")
Plane = npt.NDArray[Any]


@dataclass(frozen=True)
class Block(Generic[K]):
    """Rows that hold one figure (or several: one per plane) for each of the same keys."""

    keys: Tuple[K, ...]
    """a key may occur twice: an event may hold two values of one tag"""
    rows: IntArray
    """[n] record numbers, rising"""
    steps: IntArray
    wall_times: FloatArray
    planes: Tuple[Plane, ...]
    """each [len(keys), n]"""


@dataclass(frozen=True)
class Merged(Generic[K]):
    """The same after merging: no key is in two of these, or twice in one."""

    keys: Tuple[K, ...]
    steps: IntArray
    wall_times: FloatArray
    planes: Tuple[Plane, ...]


def merge(blocks: Sequence[Block[K]]) -> List[Merged[K]]:
    """Join the blocks of each key in the order of their rows, those of one row in the order given."""
    if len(blocks) == 1 and len(set(blocks[0].keys)) == len(blocks[0].keys):  # what a live file gives, every time
        only = blocks[0]
        return [Merged(only.keys, only.steps, only.wall_times, only.planes)]
    places: Dict[K, List[Tuple[int, int]]] = {}
    for number, block in enumerate(blocks):
        for line, key in enumerate(block.keys):
            places.setdefault(key, []).append((number, line))
    groups: Dict[Tuple[int, ...], List[K]] = {}
    for key, where in places.items():
        groups.setdefault(tuple(number for number, _ in where), []).append(key)
    return [_join(blocks, signature, keys, places) for signature, keys in groups.items()]


def _join(
    blocks: Sequence[Block[K]], signature: Tuple[int, ...], keys: List[K], places: Dict[K, List[Tuple[int, int]]]
) -> Merged[K]:
    parts = [blocks[number] for number in signature]
    if len(parts) == 1:
        only = parts[0]
        if len(keys) == len(only.keys):
            return Merged(only.keys, only.steps, only.wall_times, only.planes)
        lines = [places[key][0][1] for key in keys]
        return Merged(tuple(keys), only.steps, only.wall_times, tuple(plane[lines] for plane in only.planes))
    rows = np.concatenate([part.rows for part in parts])
    steps = np.concatenate([part.steps for part in parts])
    walls = np.concatenate([part.wall_times for part in parts])
    planes = []
    for number in range(len(parts[0].planes)):
        pieces = []
        for turn, part in enumerate(parts):
            lines = [places[key][turn][1] for key in keys]
            plane = part.planes[number]
            pieces.append(plane if lines == list(range(len(part.keys))) else plane[lines])
        with np.errstate(invalid="ignore"):  # float32 beside float64: widening a signalling NaN is no news
            planes.append(np.concatenate(pieces, axis=1))
    if (rows[1:] < rows[:-1]).any():
        order = np.argsort(rows, kind="stable")
        steps, walls = steps[order], walls[order]
        planes = [plane[:, order] for plane in planes]
    return Merged(tuple(keys), steps, walls, tuple(planes))
