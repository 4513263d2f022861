"""A root that is one file, and what rotations have put beside it.

It looks at names and opens no file; what the file is it is told.
"""

from __future__ import annotations

import os
import stat
from typing import Callable, Dict, List, Optional

from mstui.ingest.arrange import DiscoveredFile, describe, renewed
from mstui.ingest.disk import Disk
from mstui.ingest.log_names import parse_log_name
from mstui.ingest.names import place
from mstui.model.sources import SourceKind


class LoneFile:
    """The file under the name of the root, if it is one. A text log keeps its rotated files when it is gone itself."""

    def __init__(self, path: str, peek: Callable[[str], SourceKind], disk: Disk, most: int) -> None:
        """`peek`: what the file is to a run; `most`: entries of its folder that are looked at."""
        self._path = path
        self._folder, self._name = os.path.split(path)
        self._peek = peek
        self._disk = disk
        self._most = most
        self._where = place((), os.path.basename(self._folder))
        self._file: Optional[DiscoveredFile] = None
        self._is_log = False
        """it is, or was, a text log"""
        self._rotated: Dict[str, DiscoveredFile] = {}

    def files(self) -> List[DiscoveredFile]:
        """The file and the rotated ones."""
        own = [self._file] if self._file is not None else []
        return [*own, *self._rotated.values()]

    def concerns(self, path: str) -> bool:
        """May a change there be one of a rotation."""
        return self._is_log and self._folder in (path, os.path.dirname(path))

    def see(self, info: Optional[os.stat_result]) -> bool:
        """Take note of what stat says; None: there is nothing. True when something has changed."""
        before = self.files()
        if info is None or not stat.S_ISREG(info.st_mode):
            self._file = None
        elif self._file is None:
            self._file = describe(self._path, self._name, self._where, info, self._peek(self._path))
            self._is_log = self._file.log is not None
        else:
            self._file = renewed(self._file, info)
        if self._is_log:
            self._list_rotated()
        return self.files() != before

    def forget(self) -> None:
        """The root is a folder."""
        self._file, self._is_log, self._rotated = None, False, {}

    def _list_rotated(self) -> None:
        try:
            names = [entry.name for entry in self._disk.list(self._folder, self._most)]
        except OSError:
            return
        before, self._rotated = self._rotated, {}
        for name in names:
            if name == self._name or not name.startswith(self._name) or not parse_log_name(name).rotated:
                continue
            path = os.path.join(self._folder, name)
            try:
                info = self._disk.stat(path)
            except OSError:
                continue
            if stat.S_ISREG(info.st_mode):
                known = before.get(name)
                self._rotated[name] = (
                    renewed(known, info) if known else describe(path, name, self._where, info, SourceKind.LOG)
                )
