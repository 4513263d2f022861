"""Where the contents of rotated logs lie now, and the place of a new content among the others of its family.

A rename keeps the inode, a copy keeps the bytes: what has the inode and the bytes is the content, then what has the
bytes. It refuses to believe an inode alone: a file that is removed leaves its inode to the next one that is made. It
opens files to compare a few hundred bytes, through the readers.
"""

from __future__ import annotations

import os
from typing import Dict, Iterable, List, Mapping, Optional, Sequence, Tuple

from mstui.ingest.arrange import DiscoveredFile
from mstui.ingest.disk import Disk
from mstui.ingest.evidence import seal
from mstui.ingest.log_reader import LogReader
from mstui.model.batch import FileKey
from mstui.model.sources import Source

ROOM_S = 64
"""between the seconds of two contents of one family, for those that came and were put aside between two looks"""
Family = Tuple[str, str, int, Source]
"""run, folder, rank and source: contents that follow each other"""


def family_of(key: FileKey) -> Family:
    """The family of a content; a rotation leaves a log in its folder."""
    return key.run_key, os.path.dirname(key.path), key.rank_id, key.source


def find(displaced: Sequence[LogReader], files: Sequence[DiscoveredFile], held: Iterable[str]) -> Dict[str, LogReader]:
    """By path, the reader whose content lies there now. `held`: paths at which other readers are still right."""
    free = {file.path: file for file in files}
    for path in held:
        free.pop(path, None)
    found: Dict[str, LogReader] = {}
    left: List[LogReader] = []
    for reader in displaced:
        same = (path for path, file in free.items() if file.identity == reader.identity)
        _take(reader, same, free, found, left)
    for reader in left:
        family = family_of(reader.key)
        alike = [file for file in free.values() if family_of(file.key) == family]
        alike.sort(key=lambda file: (file.path == reader.path, tuple(file.log.age) if file.log else ()))
        _take(reader, (file.path for file in alike), free, found, [])
    return found


def _take(
    reader: LogReader,
    paths: Iterable[str],
    free: Dict[str, DiscoveredFile],
    found: Dict[str, LogReader],
    left: List[LogReader],
) -> None:
    path = next((path for path in paths if reader.holds_in(path)), None)
    if path is None:
        left.append(reader)
    else:
        found[path] = reader
        del free[path]


def twin_of(
    file: DiscoveredFile, by_identity: Mapping[Tuple[int, int], LogReader], family: Iterable[LogReader]
) -> Optional[LogReader]:
    """The reader whose content a new file holds as well, or is about to hold: a rotation in the middle of its work."""
    same = by_identity.get(file.identity)
    if same is not None and same.path != file.path and os.path.dirname(same.path) == os.path.dirname(file.path):
        return same
    if file.log is None or not file.log.rotated:
        return None
    alike = (reader for reader in family if reader.path != file.path)
    return next((each for each in alike if each.holds_in(file.path) or each.begins_like(file.path)), None)


def is_copy(path: str, of: str, disk: Disk) -> bool:
    """Does a file that nobody has read hold what another one begins with: a copy, or one that is being made."""
    try:
        with disk.open(path) as copy, disk.open(of) as whole:
            size = copy.stat().st_size
            if size > whole.stat().st_size:
                return False
            return size == 0 or seal(copy, (0, 0), size).holds(whole)
    except OSError:
        return False


def place_in_time(file: DiscoveredFile, others: Iterable[LogReader], least: Optional[int], new: int) -> FileKey:
    """The key of a new content.

    Contents are ordered by their names' age, for copied files keep no order of their times, and several rotations may
    fall into one second. others: readers of its family; least: when the last one began that is gone; new: how many new
    contents of the family there are, this one included; older ones have been placed before.
    """
    key = file.key
    if file.log is None:
        return key
    older = None if file.log.rotated else least
    newer = None
    for reader in others:
        if reader.age < file.log.age or (reader.age == file.log.age and reader.key.path == file.path):
            older = reader.key.started if older is None else max(older, reader.key.started)
        elif reader.age > file.log.age:
            newer = reader.key.started if newer is None else min(newer, reader.key.started)
    if newer is None:
        return key if older is None else _begun(key, max(key.started, older + ROOM_S))
    return _begun(key, min(key.started, newer - ROOM_S - new) if older is None else older + 1)


def _begun(key: FileKey, started: int) -> FileKey:
    return FileKey(key.run_key, key.rank_id, started, key.path, key.source)
