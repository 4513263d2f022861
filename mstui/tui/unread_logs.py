"""What to say of logs of which no line is understood: how many lines, and how to teach mstui their shape.

File states in, sentences out. Nothing is green over an unread log.
"""

from __future__ import annotations

from typing import List, Sequence, Tuple

from mstui.i18n import _, ngettext
from mstui.model.runs import FileState, FileStatus
from mstui.safe_text import safe
from mstui.tui.panel import Host

EXAMPLE: Tuple[str, ...] = (
    "[[log_pattern]]",
    'name = "mine"',
    "pattern = 'step (?P<step>\\d+).* loss (?P<loss>[-+.\\de]+)'",
)
"""a pattern as the configuration takes it; matches `step 12 of 100: loss 0.25`"""
LONGEST_PATH = 500
LOOK_EVERY_S = 2.0
"""seconds between two looks at the states of the files"""


def not_recognised(files: Sequence[FileStatus]) -> List[FileStatus]:
    """Text files of which nothing is understood."""
    return [file for file in files if file.state is FileState.NOT_RECOGNISED]


def sentence(file: FileStatus, *, ascii_only: bool) -> str:
    """`1203 lines of train.log are not understood.`"""
    name = safe(file.path.rpartition("/")[2], ascii_only=ascii_only)
    text = ngettext("{n} line of {file} is not understood.", "{n} lines of {file} are not understood.", file.records)
    return text.format(n=file.records, file=name)


def remedy(config_path: str, *, ascii_only: bool) -> str:
    """Where a pattern can be given; EXAMPLE shows one."""
    path = safe(config_path, LONGEST_PATH, ascii_only=ascii_only)
    return _("Their shape is unknown to mstui. Describe it in {path}, for example:").format(path=path)


def groups_hint() -> str:
    """What the groups of a pattern may be called."""
    return _("Groups that are known: epoch, step, steps, loss, lr, scale, gnorm, ms, s, acc; any other name is a tag.")


class UnreadLogs:
    """The unread logs of the selected run, looked up seldom: a run may have thousands of files."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._run_key = ""
        self._looked_at = float("-inf")
        self._revision = -1
        self._files: List[FileStatus] = []

    def files(self) -> List[FileStatus]:
        """Text files of which nothing is understood."""
        host = self._host
        now, revision = host.budget.now(), host.monitor.revision
        other = host.view.run_key != self._run_key
        if other or (revision != self._revision and now - self._looked_at >= LOOK_EVERY_S):
            self._run_key, self._looked_at, self._revision = host.view.run_key, now, revision
            self._files = not_recognised(host.monitor.files(self._run_key)) if self._run_key else []
        return self._files
