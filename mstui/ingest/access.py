"""Says why a file or folder cannot be read and what to ask for. Changes nothing and never tries to.

MindSpore writes 0600 files, 0400 once closed, into 0700 folders, so a second person on the machine meets this first.
"""

from __future__ import annotations

import grp
import os
import pwd
import shlex
import stat
from typing import Optional, Tuple

from mstui.i18n import _
from mstui.ingest.disk import Disk
from mstui.safe_text import safe

PATH_LENGTH_SHOWN = 240
"""characters of a path inside a sentence"""


def explain_denied(path: str, disk: Disk) -> str:
    """Owner, group and mode of what is in the way, and the command its owner would have to run. Safe to show."""
    barrier, info = _barrier(path, disk)
    if info is None:
        return _("permission denied, and nothing about {path} can be seen").format(path=_shown(path))
    folder = barrier if stat.S_ISDIR(info.st_mode) else os.path.dirname(barrier)
    who = "g" if info.st_gid in {os.getegid(), *os.getgroups()} else "a"
    wish = f"chmod -R {who}+rX {shlex.quote(folder)}"
    owner = _user_name(info.st_uid)
    text = (
        _("folder {path} cannot be entered: owner {owner}, group {group}, mode {mode}; ask {owner} to run: {command}")
        if stat.S_ISDIR(info.st_mode)
        else _("{path} cannot be read: owner {owner}, group {group}, mode {mode}; ask {owner} to run: {command}")
    )
    return text.format(
        path=_shown(barrier),
        owner=owner,
        group=_group_name(info.st_gid),
        mode=format(stat.S_IMODE(info.st_mode), "04o"),
        command=_shown(wish),
    )


def _barrier(path: str, disk: Disk) -> Tuple[str, Optional[os.stat_result]]:
    """The path itself when it can be seen, else the nearest folder above it that can: that one is not to be entered."""
    current = path
    while True:
        try:
            return current, disk.stat(current)
        except PermissionError:  # noqa: PERF203 - a few levels at most
            parent = os.path.dirname(current)
            if parent == current:
                return current, None
            current = parent
        except OSError:
            return current, None


def _shown(text: str) -> str:
    return safe(text, PATH_LENGTH_SHOWN)


def _user_name(uid: int) -> str:
    try:
        return safe(pwd.getpwuid(uid).pw_name)
    except KeyError:
        return f"uid {uid}"


def _group_name(gid: int) -> str:
    try:
        return safe(grp.getgrgid(gid).gr_name)
    except KeyError:
        return f"gid {gid}"
