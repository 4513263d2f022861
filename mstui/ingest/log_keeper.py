"""Keeps apart the contents of text logs: who reads which, under which key, and what a rotation makes of it.

It makes the readers of logs and finds them again after a rotation; when they read is the ingestor's business.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from typing import AbstractSet, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

from mstui.formats.base import Format
from mstui.ingest.arrange import DiscoveredFile
from mstui.ingest.disk import Disk
from mstui.ingest.forest import Forest
from mstui.ingest.limits import ReadLimits
from mstui.ingest.log_names import LIVE
from mstui.ingest.log_reader import LogReader
from mstui.ingest.rotation import Family, family_of, find, is_copy, place_in_time, twin_of
from mstui.ingest.tail import TailReader
from mstui.ingest.tally import FaultLog
from mstui.model.batch import FileKey

MOST_TRIES = 5
"""for a folder in which files go on changing their names while it is looked at"""


class Settled(NamedTuple):
    """What a rotation has come to, by the paths at which the readers were before."""

    moved: Tuple[Tuple[str, LogReader], ...]
    lost: Tuple[Tuple[str, LogReader], ...]
    """their content lies nowhere any more, and their name holds another one"""


class LogKeeper:
    """The text logs of the loaded runs."""

    def __init__(self, tree: Forest, formats: Sequence[Format], disk: Disk, limits: ReadLimits) -> None:
        self._tree = tree
        self._formats = formats
        self._disk = disk
        self._limits = limits
        self._by_key: Dict[FileKey, LogReader] = {}
        self._families: Dict[Family, List[LogReader]] = defaultdict(list)
        self._ended: Dict[Family, int] = {}
        """when the newest of a family's contents began that are read no more"""
        self._twins: Set[str] = set()
        """files that hold what another one holds that is followed: links, and copies of which no rotation has come"""
        self.unsettled = False
        """files were left out in the last call of `admit` until others have been read"""
        self._told: Dict[str, FaultLog] = {}
        """by path, what is still to be said of contents that were lost there"""

    def find(self, key: FileKey) -> Optional[LogReader]:
        """The reader of a content; None when it is not, or no longer, followed. Any thread."""
        return self._by_key.get(key)

    def admit(
        self, files: Sequence[DiscoveredFile], followed: AbstractSet[str], busy: Callable[[LogReader], bool]
    ) -> Tuple[List[LogReader], List[LogReader]]:
        """Readers for files that have none, and the readers that must be looked at before the rest can have any.

        followed: runs that were followed before these files came up. busy: is a reader still to be looked at or to be
        read at its end.
        """
        self.unsettled = False
        self._twins.difference_update(file.path for file in files if file.key.run_key not in followed)
        ask = self._ask([file for file in files if file.key.run_key in followed], busy)
        self._find_copies(files)
        made: List[LogReader] = []
        new = Counter(family_of(file.key) for file in files)
        for file in sorted(files, key=lambda file: file.log.age if file.log else ()):
            family = family_of(file.key)
            if file.path in self._twins or family in ask:
                continue
            key = place_in_time(file, self._families[family], self._ended.get(family), new[family])
            born = key.run_key in followed
            reader = LogReader(file, key, self._formats, self._disk, self._limits, born=born)
            if file.path in self._told:
                reader.inherit(self._told.pop(file.path))
            self._by_key[key] = reader
            self._families[family].append(reader)
            made.append(reader)
        self.unsettled = self.unsettled or bool(ask)
        return made, [reader for readers in ask.values() for reader in readers]

    def _ask(self, files: Sequence[DiscoveredFile], busy: Callable[[LogReader], bool]) -> Dict[Family, List[LogReader]]:
        """Readers whose content may have moved to one of these files: by the families that must wait for them."""
        by_identity = {each.identity: each for each in self._by_key.values() if each.opened} if files else {}
        ask: Dict[Family, List[LogReader]] = {}
        for file in files:
            family = family_of(file.key)
            others = self._families.get(family, ())
            owner = twin_of(file, by_identity, others)
            if owner is None and file.log is not None and file.log.rotated:
                # one of which no line has been read yet may hold the same: it must be read first
                unread = (each for each in others if not each.proven)
                owner = next((each for each in unread if file.path not in self._twins or busy(each)), None)
            if owner is None:
                self._twins.discard(file.path)
            elif file.path not in self._twins or busy(owner):
                self._twins.add(file.path)
                owner.seek()
                for each in {family, family_of(owner.key)}:
                    ask.setdefault(each, []).append(owner)
        return ask

    def _find_copies(self, files: Sequence[DiscoveredFile]) -> None:
        """A copy that is made before a truncation may be there before anything was read."""
        rotated = [file for file in files if file.log is not None and file.log.rotated]
        live = {family_of(file.key): file.path for file in files if file.log is not None and not file.log.rotated}
        for file in rotated:
            whole = live.get(family_of(file.key), file.path)
            if file.path != whole and is_copy(file.path, whole, self._disk):
                self._twins.add(file.path)
                self.unsettled = True

    def settle(self, reader: LogReader, readers: Mapping[str, TailReader], now: float) -> Settled:
        """The name of this reader holds another content: find out where the contents of its family lie now."""
        folder = os.path.dirname(reader.path)
        group = list(self._families[family_of(reader.key)])
        self._tree.touch(folder, now)
        for _try in range(MOST_TRIES):
            listed = {file.path: file for file in self._tree.logs_in(folder)}
            for other in group:
                if other.displaced is None:
                    other.look(now)
            displaced = [each for each in group if each.displaced is not None]
            held = [path for path, each in readers.items() if each not in displaced]
            found = find(displaced, tuple(listed.values()), held)
            # the folder may have changed again while its files were compared
            self._tree.touch(folder, now)
            if len(found) == len(displaced) or _same(listed, self._tree.logs_in(folder)):
                break
        moved: List[Tuple[str, LogReader]] = []
        lost: List[Tuple[str, LogReader]] = []
        places = {id(each): path for path, each in found.items()}
        for each in displaced:
            before, why = each.path, each.displaced
            if id(each) in places:
                each.move(listed[places[id(each)]])
                moved.append((before, each))
            elif why is not None and why.gone and before not in found:
                each.missing(now)
            else:
                self._tell(before, each)
                self.forget(each)
                lost.append((before, each))
        return Settled(tuple(moved), tuple(lost))

    def forget(self, reader: LogReader) -> None:
        """This content is read no more."""
        family = family_of(reader.key)
        self._by_key.pop(reader.key, None)
        self._families[family] = [each for each in self._families[family] if each is not reader]
        self._ended[family] = max(self._ended.get(family, 0), reader.key.started)

    def _tell(self, path: str, reader: LogReader) -> None:
        if not reader.opened:
            return
        if reader.complete and reader.age != LIVE:
            return  # the oldest of a rotation is removed: that is what a rotation does
        self._told.setdefault(path, FaultLog()).extend(reader.farewell())


def _same(listed: Mapping[str, DiscoveredFile], now: Sequence[DiscoveredFile]) -> bool:
    return {path: file.identity for path, file in listed.items()} == {file.path: file.identity for file in now}
