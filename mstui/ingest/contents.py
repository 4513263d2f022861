"""What one folder holds, told apart: folders to walk, symlinks to folders, event files by name.

Looks at one folder only and opens no file. What must not be walked is left out here: checkpoint and hidden folders, and
symlinks that lead back up.
"""

from __future__ import annotations

import os
import stat
from typing import Callable, Dict, FrozenSet, List, NamedTuple, Set, Tuple

from mstui.ingest.disk import Disk
from mstui.ingest.names import is_skipped_folder, may_be_huge


class Contents(NamedTuple):
    """The entries of one folder that matter, by name."""

    subfolders: Tuple[str, ...]
    links: Tuple[str, ...]
    """symlinks to folders"""
    files: Dict[str, os.stat_result]
    twins: FrozenSet[str]
    """of the files: symlinks to another one of them"""
    huge: bool
    """holds a skipped folder that may hold a whole tree"""
    capped: bool
    """there are more entries than were asked for"""


def contents(path: str, claims: Callable[[str], bool], disk: Disk, most: int, root: str) -> Contents:
    """Look at a folder. `claims`: could a file of this name be an event file; `root`: what is being watched.

    Raises OSError when the folder cannot be listed, PermissionError also when it can, but not entered.
    """
    entries = disk.list(path, most)
    subfolders: List[str] = []
    links: List[str] = []
    files: Dict[str, os.stat_result] = {}
    linked: Set[str] = set()
    huge = False
    for entry in sorted(entries, key=lambda e: e.name):
        if _is_folder(entry):
            if is_skipped_folder(entry.name):
                huge = huge or may_be_huge(entry.name)
            elif not entry.is_symlink():
                subfolders.append(entry.name)
            elif _leads_down(entry.path, root):
                links.append(entry.name)
        elif claims(entry.name):
            try:
                info = disk.stat(entry.path)
            except PermissionError:
                raise
            except OSError:
                continue
            if stat.S_ISREG(info.st_mode):
                files[entry.name] = info
                if entry.is_symlink():
                    linked.add(entry.name)
    real = {(info.st_dev, info.st_ino) for name, info in files.items() if name not in linked}
    twins = frozenset(name for name in linked if (files[name].st_dev, files[name].st_ino) in real)
    return Contents(tuple(subfolders), tuple(links), files, twins, huge, len(entries) >= most)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _leads_down(link: str, root: str) -> bool:
    """A symlink to the root or above it would only show the same tree again, or the whole machine."""
    target = os.path.realpath(link)
    real_root = os.path.realpath(root)
    return not (real_root == target or real_root.startswith(target.rstrip("/") + "/"))
