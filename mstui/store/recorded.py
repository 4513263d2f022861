"""What a rank has of one tag: from which sources, piece by piece, and which of them tells what is now.

Looks things up and changes nothing; the points of several sources are put together in mstui.store.merged.
"""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from mstui.model.records import FloatArray, IntArray
from mstui.model.sources import Source, SourceKind
from mstui.store.blob_index import BlobState
from mstui.store.columns import GroupState
from mstui.store.generations import LEFTOVER_STEP
from mstui.store.parts import FileParts, Rank, TagName
from mstui.store.rhythm import LATEST_TIME

Stretch = Tuple[GroupState, int]
"""the points of one tag in one piece of a file: the group that holds them, and the row"""


class Recorded(NamedTuple):
    """Every point of a scalar tag that one source of a rank has, piece by piece in training order."""

    source: Source
    parts: List[Stretch]
    files: List[int]
    """which file each part lies in"""


def recorded(rank: Rank, names: Tuple[str, str]) -> List[Recorded]:
    """What each source of a rank has of one tag, the most exact first.

    `names`: the tag's in summaries, and in tables and logs.
    """
    if len(rank.sources) == 1:
        source = rank.sources[0]
        only = Recorded(source, [], [])
        tag = names[0] if source.kind is SourceKind.SUMMARY else names[1]
        for index, file in enumerate(rank.files):
            for piece in file.pieces:
                place = piece.columns.state(tag)
                if place is not None:
                    only.parts.append(place)
                    only.files.append(index)
        return [only] if only.parts else []
    found: Dict[Source, Recorded] = {}
    for index, file in enumerate(rank.files):
        source = file.key.source
        tag = names[0] if source.kind is SourceKind.SUMMARY else names[1]
        for piece in file.pieces:
            place = piece.columns.state(tag)
            if place is not None:
                each = found.get(source)
                if each is None:
                    each = found[source] = Recorded(source, [], [])
                each.parts.append(place)
                each.files.append(index)
    if len(found) < 2:
        return list(found.values())
    own = [source for source in sorted(found) if not source.shared]
    if own and (rank.has_peers or own[-1].kind is SourceKind.LOG):
        return [found[source] for source in own]
    return [found[source] for source in sorted(found)]


def freshest(records: Sequence[Recorded]) -> Optional[Recorded]:
    """The source that tells what is now: its newest point has the latest wall time, or the highest step without any.

    Time before steps, as a record that ended before a restart may have a higher step than the one that goes on.
    """
    if len(records) < 2:
        return records[0] if records else None
    return max(records, key=lambda each: reach((each.parts[-1][0],)))


def reach(states: Sequence[GroupState]) -> Tuple[float, int]:
    """How far groups of one piece go: the latest wall time that is one, or zero, and the highest step."""
    walls = [float(state.wall_times[state.n - 1]) for state in states]
    step = max(last_step_of(state) for state in states)
    return max((wall for wall in walls if 0.0 < wall < LATEST_TIME), default=0.0), step


def newest_files(rank: Rank) -> List[FileParts]:
    """Of each source of a rank the newest file that has scalars, the most exact source first."""
    found: List[FileParts] = []
    for source in rank.sources:
        for file in reversed(rank.files):
            if file.key.source == source and any(piece.columns.width for piece in file.pieces):
                found.append(file)
                break
    return found


def newest_states(file: FileParts) -> Tuple[GroupState, ...]:
    """The groups of the last piece of a file that has any."""
    return next((states for states in (piece.columns.states() for piece in reversed(file.pieces)) if states), ())


def is_rising(parts: Sequence[Stretch]) -> bool:
    """Nothing here was recorded again after a restart: the points are the current ones as they stand."""
    last: Optional[int] = None
    for state, _row in parts:
        if len(state.falls) or (last is not None and state.steps[0] < last):
            return False
        last = int(state.steps[state.n - 1])
    return True


def shape_of(rank: Rank, parts: Sequence[Stretch]) -> Tuple[object, ...]:
    """What stays the same as long as points of a tag are added only, and none stops to hold.

    After a restart that is more than its place: a lone point at the end may be one or not, and older stretches that
    still grow (history is being filled in) may grow beyond it.
    """
    if is_rising(parts):
        return (rank.since,)
    falls = tuple(len(state.falls) for state, _row in parts)
    last = parts[-1][0]
    begins = int(last.falls[-1]) if len(last.falls) else 0
    return (rank.since, falls, last.n - begins == 1, tuple(state.n for state, _row in parts[:-1]))


def newest_stretch(parts: Sequence[Stretch]) -> Tuple[IntArray, FloatArray]:
    """Steps and wall times since the last restart; the remainder that MindSpore flushes at the end is left out."""
    state, _row = parts[-1]
    cuts = [0, *state.falls.tolist()[-2:], state.n]
    begin, end = cuts[-2], cuts[-1]
    if end - begin == 1 and begin and state.steps[begin] == LEFTOVER_STEP:
        begin, end = cuts[-3], cuts[-2]
    return state.steps[begin:end], state.wall_times[begin:end]


def last_step_of(state: GroupState) -> int:
    """Step of the newest record that is not the remainder which MindSpore flushes at the end."""
    step = int(state.steps[state.n - 1])
    return int(state.steps[state.n - 2]) if step == LEFTOVER_STEP and state.n > 1 else step


def newest(
    ranks: Sequence[Rank], name: TagName
) -> Optional[Tuple[Union[GroupState, BlobState], int, Tuple[Source, ...]]]:
    """State and row of the newest file that holds a tag, on the lowest rank that has it, and that rank's sources.

    For payloads, and for runs of which no rank has more than one source of scalars.
    """
    kind, tag = name
    for rank in ranks:
        for file in reversed(rank.files):
            for piece in reversed(file.pieces):
                if kind is None:
                    found = piece.columns.state(tag)
                    if found is not None:
                        return found[0], found[1], rank.sources
                else:
                    state = piece.blobs.state(kind, tag)
                    if state is not None:
                        return state, 0, (file.key.source,)
    return None
