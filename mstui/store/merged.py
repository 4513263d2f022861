"""One curve out of several records of the same training: a summary, a table, logs.

At a step that two of them have, the one that sorts first holds; steps that only one has are kept. The result is a copy
in blocks that are never written again, so that whoever holds one keeps it. When points are added, only what lies at or
behind the first new step is merged again. Which records there are, and under what names, is the run store's business.

Restarts of one training are told by each record that lives through them. The restarts and the superseded points shown
are those of the first source that tells of any. A source that ended before such a restart, and so tells of none, is
taken back from there on as well; that its clock agrees with the other's has to be assumed.
"""

from __future__ import annotations

from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from mstui.model.records import FloatArray, IntArray, ValueArray
from mstui.model.series import Disagreement, Points
from mstui.model.sources import Source
from mstui.store.generations import Generations
from mstui.store.recorded import Stretch
from mstui.store.rhythm import LATEST_TIME
from mstui.store.rounding import Digits, differ, refined

COALESCED_TIMES = 4
"""A block is joined to the one in front of it when that is less than this many times as long: there are few blocks, and
over a run a point is copied about once a power of four of its length."""
PIECE = 1 << 16
"""Points of the longest source that are merged together."""
MOST_COALESCED = 1 << 18
"""Points from which a block is left alone, so that no turn copies more than a few megabytes."""
COMPARED, DIFFERS = 1, 2
"""Flags of a point whose step several sources have."""

_BEGINNING = int(np.iinfo(np.int64).min)
_NEVER = int(np.iinfo(np.int64).max)


class Input(NamedTuple):
    """What one source has of a tag."""

    source: Source
    shape: Tuple[object, ...]
    """as long as it is the same, points were added at the ends only and none was taken away"""
    parts: Tuple[Stretch, ...]
    generations: Generations


class Block(NamedTuple):
    """A piece of the merged curve, in rising step order."""

    points: Points
    flags: npt.NDArray[np.uint8]
    compared: int
    differing: int
    walls_rise: bool

    def before(self, step: int) -> Block:
        """What lies in front of a step."""
        points, end = self.points, int(np.searchsorted(self.points.steps, step))
        flags = self.flags[:end]
        kept = Points(points.steps[:end], points.wall_times[:end], points.values[:end])
        return Block(kept, flags, *_counted(flags), self.walls_rise)


class _Seen(NamedTuple):
    """What of one source has been merged."""

    source: Source
    shape: Tuple[object, ...]
    counts: Tuple[int, ...]
    """points of each stretch"""
    limit: int
    """step from which on it is taken back"""
    digits: Digits


class Merged(NamedTuple):
    """A merged curve at one moment."""

    blocks: Tuple[Block, ...]
    generations: Generations
    walls_rise: bool
    """within each block"""
    disagreement: Optional[Disagreement]
    seen: Tuple[_Seen, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of the copies."""
        arrays = (each for block in self.blocks for each in (block.points.steps, block.points.wall_times, block.flags))
        return sum(each.nbytes for each in arrays) + sum(block.points.values.nbytes for block in self.blocks)


def merge(inputs: Sequence[Input], before: Optional[Merged] = None) -> Merged:
    """Merge sources, the most exact first; `before`: the result for fewer points of the same series."""
    teller = next((each for each in inputs if each.generations.restarts), None)
    limits = [_limit(each, teller) for each in inputs]
    currents = [_before(each.generations.current, limit) for each, limit in zip(inputs, limits)]
    known = before.seen if before is not None else ()
    seen = [_looked_at(known[i] if i < len(known) else None, *each) for i, each in enumerate(zip(inputs, limits))]
    cut = _first_new(known, seen, inputs)
    blocks = () if before is None else _kept(before.blocks, cut)
    for block in _pieces(currents, [each.digits for each in seen], cut):
        blocks = _with(blocks, block)
    past = list(teller.generations.superseded) if teller is not None else []
    for each, limit in zip(inputs, limits):
        past += _behind(each.generations.current, limit)
    generations = Generations(
        tuple(block.points for block in blocks),
        tuple(past),
        teller.generations.restarts if teller is not None else (),
    )
    first = before.disagreement if before is not None else None
    if first is None or (cut is not None and first.step >= cut):
        first = _first_disagreement(blocks, inputs, currents, [each.digits for each in seen])
    if first is not None:
        counts = (sum(block.compared for block in blocks), sum(block.differing for block in blocks))
        first = first._replace(compared=counts[0], differing=counts[1])
    return Merged(blocks, generations, all(block.walls_rise for block in blocks), first, tuple(seen))


def _limit(each: Input, teller: Optional[Input]) -> int:
    """The step from which on a source was overwritten by a restart that it does not tell of."""
    if teller is None or each is teller or each.generations.restarts:
        return _NEVER
    ended = float(each.generations.current[-1].wall_times[-1])
    if not 0.0 < ended < LATEST_TIME:
        return _NEVER
    return min((step for step, wall in teller.generations.restarts if ended < wall < LATEST_TIME), default=_NEVER)


def _before(stretches: Sequence[Points], limit: int) -> List[Points]:
    if limit == _NEVER:
        return list(stretches)
    cut = [(points, int(np.searchsorted(points.steps, limit))) for points in stretches]
    return [Points(each.steps[:n], each.wall_times[:n], each.values[:n]) for each, n in cut if n]


def _behind(stretches: Sequence[Points], limit: int) -> List[Points]:
    if limit == _NEVER:
        return []
    cut = [(points, int(np.searchsorted(points.steps, limit))) for points in stretches]
    return [Points(each.steps[n:], each.wall_times[n:], each.values[n:]) for each, n in cut if n < len(each)]


def _looked_at(known: Optional[_Seen], each: Input, limit: int) -> _Seen:
    """What is to be remembered of a source; its digits refined by what it has got."""
    counts = tuple(state.n for state, _row in each.parts)
    grown = known is not None and known.source == each.source and len(known.counts) == len(counts)
    digits = known.digits if known is not None and known.source == each.source else Digits()
    for i, (state, row) in enumerate(each.parts):
        begin = known.counts[i] if grown and known is not None else 0
        if state.n > begin:
            digits = refined(digits, state.values[row, begin : state.n])
    return _Seen(each.source, each.shape, counts, limit, digits)


def _first_new(known: Sequence[_Seen], seen: Sequence[_Seen], inputs: Sequence[Input]) -> Optional[int]:
    """The lowest step that has come since, None without any; the beginning when more than that has changed."""
    if len(known) != len(seen):
        return _BEGINNING
    first: Optional[int] = None
    for was, now, each in zip(known, seen, inputs):
        if was._replace(counts=()) != now._replace(counts=()) or len(was.counts) != len(now.counts):
            return _BEGINNING
        for before, (state, _row) in zip(was.counts, each.parts):
            if state.n < before:
                return _BEGINNING
            if state.n > before:
                step = int(state.steps[before])
                first = step if first is None else min(first, step)
    return first


def _kept(blocks: Sequence[Block], cut: Optional[int]) -> Tuple[Block, ...]:
    """Blocks as far as they lie in front of a step; None: all of them."""
    out: List[Block] = []
    for block in blocks:
        steps = block.points.steps
        if cut is None or int(steps[-1]) < cut:
            out.append(block)
            continue
        if int(steps[0]) < cut:
            out.append(block.before(cut))
        break
    return tuple(out)


def _pieces(currents: Sequence[Sequence[Points]], digits: Sequence[Digits], cut: Optional[int]) -> Iterator[Block]:
    """Everything from a step on, merged; None: nothing. In pieces, whose working memory stays in the cache."""
    if cut is None:
        return
    bounds = {cut}
    for points in max(currents, key=lambda stretches: sum(map(len, stretches)), default=()):
        begin = int(np.searchsorted(points.steps, cut))
        bounds.update(points.steps[begin + PIECE :: PIECE].tolist())
    edges = sorted(bounds)
    for low, high in zip(edges, [*edges[1:], None]):
        piece = _piece(currents, digits, low, high)
        if piece is not None:
            yield piece


def _piece(
    currents: Sequence[Sequence[Points]], digits: Sequence[Digits], low: int, high: Optional[int]
) -> Optional[Block]:
    """The steps from `low` up to, not including, `high`; to the end without one."""
    steps: List[IntArray] = []
    walls: List[FloatArray] = []
    values: List[ValueArray] = []
    owners: List[npt.NDArray[np.int16]] = []
    for number, stretches in enumerate(currents):
        for points in stretches:
            begin = int(np.searchsorted(points.steps, low)) if int(points.steps[-1]) >= low else len(points)
            end = len(points) if high is None else int(np.searchsorted(points.steps, high))
            if begin < end:
                steps.append(points.steps[begin:end])
                walls.append(points.wall_times[begin:end])
                values.append(points.values[begin:end])
                owners.append(np.full(end - begin, number, dtype=np.int16))
    if not steps:
        return None
    every, owner = np.concatenate(steps), np.concatenate(owners)
    order = np.argsort(every, kind="stable")  # sources stand in their order, so that of one step the first leads
    every, owner = every[order], owner[order]
    wall, value = np.concatenate(walls)[order], np.concatenate(values)[order]
    new_step = np.append(True, every[1:] != every[:-1])
    new_run = new_step.copy()
    new_run[1:] |= owner[1:] != owner[:-1]
    runs = np.flatnonzero(new_run)
    if len(runs) == np.count_nonzero(new_step):
        return _block(every, wall, value, np.zeros(len(every), dtype=np.uint8))
    flags = np.zeros(len(every), dtype=np.uint8)
    ends = np.append(runs[1:], len(every)) - 1
    leads = new_step[runs]
    leader = np.flatnonzero(leads)[np.cumsum(leads) - 1]
    others = np.flatnonzero(~leads)
    ours, theirs = ends[leader[others]], ends[others]
    flags[ours] = COMPARED
    for pair in np.unique(owner[ours].astype(np.int64) * len(currents) + owner[theirs]).tolist():
        mine, other = divmod(pair, len(currents))
        which = (owner[ours] == mine) & (owner[theirs] == other)
        odd = differ(value[ours[which]], value[theirs[which]], digits[mine], digits[other])
        flags[ours[which][odd]] = DIFFERS
    holds = np.repeat(leads, ends - runs + 1)
    return _block(every[holds], wall[holds], value[holds], flags[holds])


def _counted(flags: npt.NDArray[np.uint8]) -> Tuple[int, int]:
    differing = int(np.count_nonzero(flags == DIFFERS))
    return int(np.count_nonzero(flags)), differing


def _block(steps: IntArray, walls: FloatArray, values: ValueArray, flags: npt.NDArray[np.uint8]) -> Block:
    rise = bool((walls[1:] >= walls[:-1]).all()) and bool(np.isfinite(walls[-1]))
    return Block(Points(steps, walls, values), flags, *_counted(flags), rise)


def _with(blocks: Tuple[Block, ...], last: Block) -> Tuple[Block, ...]:
    """One more block behind, joined to those in front of it where they are not much longer."""
    joined = [last]
    size = len(last.points)
    front = len(blocks)
    while front and len(blocks[front - 1].points) < min(COALESCED_TIMES * size, MOST_COALESCED):
        front -= 1
        joined.insert(0, blocks[front])
        size += len(blocks[front].points)
    if len(joined) == 1:
        return (*blocks, last)
    parts = [block.points for block in joined]
    return (
        *blocks[:front],
        _block(
            np.concatenate([each.steps for each in parts]),
            np.concatenate([each.wall_times for each in parts]),
            np.concatenate([each.values for each in parts]),
            np.concatenate([block.flags for block in joined]),
        ),
    )


def _first_disagreement(
    blocks: Sequence[Block], inputs: Sequence[Input], currents: Sequence[Sequence[Points]], digits: Sequence[Digits]
) -> Optional[Disagreement]:
    """Where it is; its counts are for the caller to fill in."""
    block = next((block for block in blocks if block.differing), None)
    if block is None:
        return None
    at = int(np.argmax(block.flags == DIFFERS))
    step = int(block.points.steps[at])
    told = [(number, _value_at(stretches, step)) for number, stretches in enumerate(currents)]
    values = [(number, value) for number, value in told if value is not None]
    mine, ours = values[0]
    other, theirs = next(
        (number, value) for number, value in values[1:] if differ(ours, value, digits[mine], digits[number])[0]
    )
    sources = inputs[mine].source, inputs[other].source
    return Disagreement(0, 0, step, float(ours[0]), float(theirs[0]), *sources)


def _value_at(stretches: Sequence[Points], step: int) -> Optional[ValueArray]:
    """[1] the value that holds at a step; None without one."""
    for points in reversed(stretches):
        end = int(np.searchsorted(points.steps, step, side="right"))
        if end and int(points.steps[end - 1]) == step:
            return points.values[end - 1 : end]
    return None
