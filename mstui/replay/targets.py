"""Where a replay is written: a directory of its own, which goes away with it."""

from __future__ import annotations

import os
import shutil
import tempfile

_PREFIX = "replay-"


def make_target(state_dir: str) -> str:
    """A new empty directory for one replay. Those that killed processes left behind are removed on the way."""
    parent = os.path.join(state_dir, "replays")
    os.makedirs(parent, mode=0o700, exist_ok=True)
    for name in os.listdir(parent):
        owner = name[len(_PREFIX) :].split("-")[0]
        if name.startswith(_PREFIX) and owner.isdigit() and not _alive(int(owner)):
            remove_target(os.path.join(parent, name))
    return tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent)


def remove_target(path: str) -> None:
    """Remove a replay's directory, as far as it can be removed."""
    shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
