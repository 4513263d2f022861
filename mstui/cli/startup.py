"""Can the command begin? Each check raises StartError with what is wrong, where, and what to do now."""

from __future__ import annotations

import os
import stat
import sys
from typing import Callable, Mapping, Sequence, TextIO, Tuple

from mstui.assets import SAMPLE_RUNS, asset_dir, sample_names
from mstui.errors import StartError
from mstui.i18n import _
from mstui.ingest.access import explain_denied
from mstui.ingest.disk import RealDisk
from mstui.safe_text import safe

MAX_SIBLINGS = 10_000
"""Names compared with a misspelt one"""


def common_root(paths: Sequence[str], claims: Callable[[str], bool]) -> Tuple[str, Tuple[str, ...]]:
    """What absolute paths share, and the paths themselves where they are several.

    A path inside another one is part of it, unless it is a file under a name that is not claimed: only because a person
    names it is it read.
    """
    found = list(dict.fromkeys(paths))
    apart = [
        path
        for path in found
        if not any(path != other and _below(path, other) for other in found)
        or (os.path.isfile(path) and not claims(os.path.basename(path)))
    ]
    if len(apart) == 1:
        return apart[0], ()
    return os.path.commonpath(apart), tuple(apart)


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def check_path(path: str) -> str:
    """The absolute path, once it is known to exist and to be readable."""
    shown = safe(path)
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise StartError(_("no such file or directory"), shown, _similar(path)) from None
    except PermissionError:
        raise StartError(_("permission denied"), shown, explain_denied(os.path.abspath(path), RealDisk())) from None
    except (OSError, ValueError) as error:
        remedy = _("Look whether the file system is mounted and answers.")
        raise StartError(safe(str(error)), shown, remedy) from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise StartError(_("neither a directory nor a file"), shown, _("Name a directory that a training writes into."))
    needed = os.R_OK | os.X_OK if stat.S_ISDIR(mode) else os.R_OK
    if not os.access(path, needed):
        raise StartError(_("permission denied"), shown, explain_denied(os.path.abspath(path), RealDisk()))
    return os.path.abspath(path)


def recorded_path(path: str) -> str:
    """`check_path`, and bundled sample runs by their names when nothing of that name exists."""
    if path in sample_names() and not os.path.exists(path):
        return os.path.join(asset_dir(SAMPLE_RUNS), path)
    return check_path(path)


def _similar(path: str) -> str:
    """The nearest thing that does exist."""
    import difflib  # only on the way to an error message

    parent = os.path.dirname(os.path.abspath(path))
    while not os.path.isdir(parent):
        parent = os.path.dirname(parent)
    try:
        names = os.listdir(parent)[:MAX_SIBLINGS]
    except OSError:
        names = []
    wrong = os.path.relpath(os.path.abspath(path), parent).split(os.sep)[0]
    close = difflib.get_close_matches(wrong, names, n=1)
    if close:
        return _("Did you mean {path}?").format(path=safe(os.path.join(parent, close[0])))
    return _("The nearest directory that exists is {path}.").format(path=safe(parent))


def check_terminal(environ: Mapping[str, str], *streams: TextIO) -> None:
    """The screen needs a terminal for keys and for drawing (Textual draws on stderr)."""
    for stream in streams or (sys.stdin, sys.stdout, sys.stderr):
        if not stream.isatty():
            remedy = _("Without a terminal use --plain: one line per event.")
            raise StartError(_("{name} is not a terminal").format(name=stream.name.strip("<>")), "", remedy)
    if environ.get("TERM", "") in ("", "dumb"):
        remedy = _("Set TERM to what your terminal is, or use --plain: one line per event.")
        raise StartError(_('TERM is "{term}"').format(term=environ.get("TERM", "")), "", remedy)
