"""Keeps apart the contents of text logs: who reads which, under which key, and what a rotation makes of it.

It makes the readers of logs and finds them again after a rotation; when they read is the ingestor's business.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.formats.base import Format
from mstui.ingest.arrange import DiscoveredFile
from mstui.ingest.disk import Disk
from mstui.ingest.forest import Forest
from mstui.ingest.limits import ReadLimits
from mstui.ingest.log_names import LIVE
from mstui.ingest.log_reader import LogReader
from mstui.ingest.rotation import Family, family_of, find, place_in_time, twin_of
from mstui.ingest.tail import TailReader
from mstui.ingest.tally import FaultLog
from mstui.model.batch import FileKey


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
        self._told: Dict[str, FaultLog] = {}
        """by path, what is still to be said of contents that were lost there"""

    def find(self, key: FileKey) -> Optional[LogReader]:
        """The reader of a content; None when it is not, or no longer, followed. Any thread."""
        return self._by_key.get(key)

    def admit(self, files: Sequence[DiscoveredFile], *, born: bool) -> Tuple[List[LogReader], List[LogReader]]:
        """Readers for files that have none, and the readers that must be looked at before the rest can have any.

        born: their run has been followed before they came up.
        """
        made: List[LogReader] = []
        ask: List[LogReader] = []
        by_identity: Mapping[Tuple[int, int], LogReader] = (
            {reader.identity: reader for reader in self._by_key.values() if reader.opened} if born else {}
        )
        for file in sorted(files, key=lambda file: file.log.age if file.log else (), reverse=True):
            family = family_of(file.key)
            others = self._families.get(family, [])
            owner = twin_of(file, by_identity, others) if born else None
            if owner is not None:
                ask.append(owner)
                continue
            key = place_in_time(file, others, self._ended.get(family, 0))
            reader = LogReader(file, key, self._formats, self._disk, self._limits, born=born)
            if file.path in self._told:
                reader.inherit(self._told.pop(file.path))
            self._by_key[key] = reader
            self._families[family].append(reader)
            made.append(reader)
        return made, ask

    def settle(self, reader: LogReader, readers: Mapping[str, TailReader], now: float) -> Settled:
        """The name of this reader holds another content: find out where the contents of its family lie now."""
        folder = os.path.dirname(reader.path)
        self._tree.touch(folder, now)
        group = list(self._families[family_of(reader.key)])
        for other in group:
            if other.displaced is None:
                other.look(now)
        displaced = [each for each in group if each.displaced is not None]
        held = [path for path, each in readers.items() if each not in displaced]
        found = find(displaced, self._tree.logs_in(folder), held)
        moved: List[Tuple[str, LogReader]] = []
        lost: List[Tuple[str, LogReader]] = []
        places = {id(each): path for path, each in found.items()}
        files = {file.path: file for file in self._tree.logs_in(folder)}
        for each in displaced:
            before, why = each.path, each.displaced
            if id(each) in places:
                each.move(files[places[id(each)]])
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
