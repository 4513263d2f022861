"""Finds runs and their files below a path without opening one of them. The rule for runs and ranks is in `names`.

A scan goes in cycles over the whole tree, in turns of a given length, and goes on where it stopped: a home directory
given by mistake costs time, never the screen. A folder whose mtime stands still is not read again. It refuses to walk
into checkpoint folders, hidden folders, trees the kernel makes up, and round symlink loops; real folders go before
symlinked ones, so that `latest -> run_7` does not take run_7's name.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from dataclasses import dataclass, field
from typing import Callable, Deque, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from mstui.i18n import _
from mstui.ingest.access import explain_denied
from mstui.ingest.alone import LoneFile
from mstui.ingest.arrange import DiscoveredFile, describe, renewed
from mstui.ingest.contents import contents
from mstui.ingest.disk import Disk
from mstui.ingest.filesystems import Mounts, read_mounts
from mstui.ingest.names import Place, is_skipped_folder, place
from mstui.model.faults import FaultKind, ReadFault
from mstui.model.sources import SourceKind
from mstui.safe_text import safe

MSRUN_PREFIX = "msrun_"
SUFFIXED = "msrun_log_"
"""MindFormers with MF_LOG_SUFFIX: msrun_log_a lies beside log_a and belongs to it"""


@dataclass(frozen=True)
class ScanLimits:
    """Where a scan stops. Reaching a cap is said, never silent."""

    depth: int = 12
    """folders below the root; layouts seen in practice end at 5"""
    folders: int = 50_000
    entries_per_folder: int = 200_000
    files: int = 200_000
    """event files listed"""
    racy_s: float = 2.0
    """a folder changed this recently is read again: file systems with coarse clocks hide a second change"""
    refresh_s: float = 30.0
    """sizes and times of files that nobody has loaded are looked at again this often"""


class ScanProgress(NamedTuple):
    """How far the scan of the tree has come."""

    complete: bool
    """the whole tree has been seen at least once"""
    folders: int
    files: int
    note: str
    """a cap that was reached, in words; empty when the listing is whole"""


@dataclass
class _Folder:
    """What is known of one folder."""

    path: str
    names: Tuple[str, ...]
    """folder names from the root downwards"""
    where: Optional[Place] = None
    """where its files belong; told when the first of them is seen"""
    identity: Tuple[int, int] = (-1, -1)
    mtime_ns: int = -1
    racy_until: float = 0.0
    refresh_at: float = 0.0
    files: Dict[str, DiscoveredFile] = field(default_factory=dict)
    subfolders: Tuple[str, ...] = ()
    links: Tuple[str, ...] = ()
    """symlinks to folders"""
    huge: bool = False
    """holds a skipped folder that may hold a whole tree"""
    denied: Optional[ReadFault] = None
    capped: bool = False


class Discovery:
    """The tree below one root, as far as it has been seen."""

    def __init__(
        self,
        root: str,
        kind_of: Callable[[str], Optional[SourceKind]],
        peek: Callable[[str], SourceKind],
        disk: Disk,
        monotonic: Callable[[], float],
        *,
        limits: Optional[ScanLimits] = None,
        mounts: Callable[[], Mounts] = read_mounts,
    ) -> None:
        """`kind_of`: what a file of this name is to a run; None when it is nothing.

        `peek`: what the root is, if it is a file; the only one that is ever opened for a listing.
        """
        self.root = os.path.abspath(root)
        self._kind_of = kind_of
        self._disk = disk
        self._monotonic = monotonic
        self._limits = limits or ScanLimits()
        self._mounts = mounts
        self._root_name = os.path.basename(self.root)
        self._folders: Dict[str, _Folder] = {}
        self._alone = LoneFile(self.root, peek, disk, self._limits.entries_per_folder)
        self._queue: Deque[Tuple[str, Tuple[str, ...]]] = deque()
        self._link_queue: Deque[Tuple[str, Tuple[str, ...]]] = deque()
        self._visited: Set[Tuple[int, int]] = set()
        self._seen: Set[str] = set()
        self._forbidden_devices: frozenset[int] = frozenset()
        self._file_count = 0
        self._deep = False
        self._capped: Optional[str] = None
        self._huge = False
        self._cycling = False
        self._cycles = 0
        self.revision = 0
        """rises when the listing changed"""

    def scan(self, now: float, budget_s: float) -> bool:
        """Go on with the cycle, or begin one, for about `budget_s` seconds. True when the cycle is finished."""
        deadline = self._monotonic() + budget_s
        if not self._cycling:
            self._begin()
        while self._queue or self._link_queue:
            path, names = self._queue.popleft() if self._queue else self._link_queue.popleft()
            self._visit(path, names, now)
            if self._monotonic() >= deadline and (self._queue or self._link_queue):
                return False
        self._finish()
        return True

    def touch(self, path: str, now: float) -> None:
        """Look at one place at once, because something is said to have changed there. Outside the root: ignored."""
        if path == self.root or self._alone.concerns(path):
            folder = self._folders.get(self.root)
            self._reread(self.root, folder.names if folder else (), now)
            return
        parent = os.path.dirname(path)
        known = self._folders.get(path)
        if known is not None:
            self._reread(path, known.names, now)
            return
        above = self._folders.get(parent)
        if above is None:
            return
        name = os.path.basename(path)
        try:
            info = self._disk.stat(path)
        except OSError:
            self._forget_file(above, name)
            return
        if stat.S_ISDIR(info.st_mode):
            if not is_skipped_folder(name) and len(above.names) < self._limits.depth:
                self._reread(path, (*above.names, name), now)
        elif stat.S_ISREG(info.st_mode) and self._claims(name):
            self._put_file(above, name, info)

    def refresh(self, path: str, now: float) -> None:
        """Read one known folder again if it has changed, and what is new below it."""
        folder = self._folders.get(path)
        if folder is not None:
            self._reread(path, folder.names, now, force=False)

    def files(self) -> Iterable[DiscoveredFile]:
        """Every event file seen, in no particular order."""
        yield from self._alone.files()
        for folder in self._folders.values():
            yield from folder.files.values()

    def folders(self) -> List[str]:
        """Every folder walked."""
        return list(self._folders)

    def denied(self) -> List[Tuple[Place, ReadFault]]:
        """Folders that could not be entered, and where they belong."""
        return [(self._place(f), f.denied) for f in self._folders.values() if f.denied is not None]

    @property
    def watchable(self) -> bool:
        """The tree is small enough, as far as one can know, to be watched as a whole."""
        return self._cycles > 0 and not self._huge and not self._note()

    @property
    def progress(self) -> ScanProgress:
        """How far the scan has come."""
        count = self._file_count + len(self._alone.files())
        return ScanProgress(self._cycles > 0, len(self._folders), count, self._note())

    def _begin(self) -> None:
        self._cycling = True
        self._deep = False
        self._visited = set()
        self._seen = set()
        self._forbidden_devices = self._mounts().pseudo_devices
        self._queue.append((self.root, ()))

    def _finish(self) -> None:
        for path in [p for p in self._folders if p not in self._seen]:
            self._drop(path)
        self._huge = any(folder.huge for folder in self._folders.values())
        self._capped = next((folder.path for folder in self._folders.values() if folder.capped), None)
        self._cycling = False
        self._cycles += 1

    def _note(self) -> str:
        limits = self._limits
        if len(self._folders) >= limits.folders:
            return _("listing stopped at {n} folders").format(n=limits.folders)
        if self._file_count >= limits.files:
            return _("listing stopped at {n} event files").format(n=limits.files)
        if self._capped is not None:
            return _("only the first {n} entries of {path} are listed").format(
                n=limits.entries_per_folder, path=safe(self._capped)
            )
        if self._deep:
            return _("folders more than {n} levels deep are not listed").format(n=limits.depth)
        return ""

    def _reread(self, path: str, names: Tuple[str, ...], now: float, *, force: bool = True) -> None:
        """Read a folder and all new ones below it, outside the cycle."""
        waiting = [(path, names)]
        while waiting:
            path, names = waiting.pop()
            folder = self._folders.get(path)
            if folder is not None and force:
                folder.mtime_ns = -1
            waiting += [sub for sub in self._read_folder(path, names, now) if sub[0] not in self._folders]

    def _visit(self, path: str, names: Tuple[str, ...], now: float) -> None:
        if path not in self._folders and len(self._folders) >= self._limits.folders:
            return
        self._queue.extend(self._read_folder(path, names, now, visited=self._visited))
        folder = self._folders.get(path)
        if folder is not None:
            self._seen.add(path)
            self._link_queue.extend(self._below(folder, folder.links))

    def _read_folder(
        self, path: str, names: Tuple[str, ...], now: float, visited: Optional[Set[Tuple[int, int]]] = None
    ) -> List[Tuple[str, Tuple[str, ...]]]:
        """Bring what is known of a folder up to date; the real folders in it are returned."""
        try:
            info = self._disk.stat(path)
        except PermissionError:
            self._deny(path, names, now)
            return []
        except OSError:
            self._drop(path)
            if path == self.root:
                self.revision += self._alone.see(None)
            return []
        if not stat.S_ISDIR(info.st_mode):
            if path in self._folders:
                self._drop(path)
            if path == self.root:
                self.revision += self._alone.see(info)
            return []
        if path == self.root:
            self._alone.forget()
        identity = (info.st_dev, info.st_ino)
        if info.st_dev in self._forbidden_devices:
            return []
        if visited is not None:
            if identity in visited:
                return []
            visited.add(identity)
        folder = self._folders.get(path)
        if folder is None:
            folder = self._folders[path] = _Folder(path, names)
            self.revision += 1
        unchanged = folder.mtime_ns == info.st_mtime_ns and folder.identity == identity and now >= folder.racy_until
        if not unchanged or now >= folder.refresh_at or folder.denied is not None:
            if not self._list_folder(folder, now):
                return []
            folder.identity = identity
            folder.mtime_ns = info.st_mtime_ns
            recent = now - self._limits.racy_s <= info.st_mtime
            folder.racy_until = now + self._limits.racy_s if recent else 0.0
            folder.refresh_at = now + self._limits.refresh_s
        return self._below(folder, folder.subfolders)

    def _below(self, folder: _Folder, subfolders: Iterable[str]) -> List[Tuple[str, Tuple[str, ...]]]:
        if len(folder.names) >= self._limits.depth:
            self._deep = self._deep or bool(folder.subfolders)
            return []
        return [(os.path.join(folder.path, name), (*folder.names, name)) for name in subfolders]

    def _list_folder(self, folder: _Folder, now: float) -> bool:
        try:
            held = contents(folder.path, self._claims, self._disk, self._limits.entries_per_folder, self.root)
        except PermissionError:
            self._deny(folder.path, folder.names, now)
            return False
        except OSError:
            self._drop(folder.path)
            return False
        folder.capped, folder.huge, folder.denied = held.capped, held.huge, None
        folder.subfolders, folder.links = held.subfolders, held.links
        for name in [n for n in folder.files if n not in held.files]:
            self._forget_file(folder, name)
        for name, info in held.files.items():
            if name not in held.twins:
                self._put_file(folder, name, info)
        return True

    def _put_file(self, folder: _Folder, name: str, info: os.stat_result) -> None:
        known = folder.files.get(name)
        if known is None:
            if self._file_count >= self._limits.files:
                return
            kind = self._kind_of(name)
            if kind is None:
                return
            self._file_count += 1
            folder.files[name] = describe(os.path.join(folder.path, name), name, self._place(folder), info, kind)
            self.revision += 1
        else:
            folder.files[name] = fresh = renewed(known, info)
            self.revision += fresh is not known

    def _claims(self, name: str) -> bool:
        return self._kind_of(name) is not None

    def _place(self, folder: _Folder) -> Place:
        """Where the files of a folder belong."""
        if folder.where is None:
            folder.where = self._placed(folder)
        return folder.where

    def _placed(self, folder: _Folder) -> Place:
        names = folder.names
        above = self._folders.get(os.path.dirname(folder.path)) if names else None
        last = names[-1] if names else ""
        if above is not None and last.startswith(SUFFIXED) and last[len(MSRUN_PREFIX) :] in above.subfolders:
            return place((*names[:-1], last[len(MSRUN_PREFIX) :]), self._root_name)._replace(kept=last, folders=names)
        return place(names, self._root_name)

    def _forget_file(self, folder: _Folder, name: str) -> None:
        if folder.files.pop(name, None) is not None:
            self._file_count -= 1
            self.revision += 1

    def _deny(self, path: str, names: Tuple[str, ...], now: float) -> None:
        folder = self._folders.get(path)
        if folder is None:
            folder = self._folders[path] = _Folder(path, names)
        if folder.denied is None:
            detail = explain_denied(path, self._disk)
            folder.denied = ReadFault(path, FaultKind.DENIED, 0, 0, detail, now)
            self.revision += 1
        folder.subfolders = folder.links = ()

    def _drop(self, path: str) -> None:
        folder = self._folders.pop(path, None)
        if folder is not None:
            self._file_count -= len(folder.files)
            self.revision += 1
