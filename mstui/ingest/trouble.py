"""What keeps one file from being read: named once, kept until the file can be opened again, retried ever more rarely.

Knows the errors of the operating system, not the bytes: damage inside a file is the decoders' and `cursor`'s.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Optional

from mstui.i18n import _
from mstui.ingest.access import explain_denied
from mstui.ingest.disk import Disk
from mstui.ingest.limits import ReadLimits
from mstui.ingest.tally import FaultLog
from mstui.model.faults import FaultKind, ReadFault
from mstui.model.runs import FileState
from mstui.safe_text import safe

NEVER = math.inf


class Told(NamedTuple):
    """What has come of naming a trouble."""

    news: bool
    """it was not the present trouble already"""
    again_at: float
    """Unix seconds from which another try makes sense; NEVER where only a change of the file helps"""


class Trouble:
    """The present trouble of one file, if any, and the faults that were told of it."""

    def __init__(self, path: str, disk: Disk, limits: ReadLimits) -> None:
        self.state: Optional[FileState] = None
        self.detail = ""
        """what to do about it; safe to show"""
        self.log = FaultLog()
        self._path = path
        self._disk = disk
        self._limits = limits
        self._retry_s = limits.retry_first_s

    def moved(self, path: str) -> None:
        """The file goes by another name."""
        self._path = path
        self.clear()

    def clear(self) -> None:
        """The file can be opened."""
        self.state, self.detail = None, ""

    def recovered(self) -> None:
        """The file was read: the next error is a first one again."""
        self._retry_s = self._limits.retry_first_s

    def failed(self, error: OSError, now: float) -> Told:
        """A call to the operating system failed: name the state, and when to try again."""
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return self.name(FileState.VANISHED, FaultKind.VANISHED, _("the file is gone"), now)
        if isinstance(error, PermissionError):
            told = self.name(FileState.DENIED, FaultKind.DENIED, explain_denied(self._path, self._disk), now)
            return told._replace(again_at=now + self._limits.denied_retry_s)
        return self._unreadable(safe(error.strerror or str(error)), now)

    def broken(self, error: Exception, now: float) -> Told:
        """A decoder met bytes that nobody foresaw."""
        detail = safe(_("the reader failed: {error}").format(error=f"{type(error).__name__}: {error}"))
        return self._unreadable(detail, now)

    def name(self, state: FileState, kind: FaultKind, detail: str, now: float) -> Told:
        """Take a state on; it is a fault of its own unless it has just been told."""
        news = not (self.state is state and self.detail == detail)
        self.state, self.detail = state, detail
        if news and not self._just_told(kind, detail):
            self.log.add(ReadFault(self._path, kind, 0, 0, detail, now))
        return Told(news, NEVER)

    def _unreadable(self, detail: str, now: float) -> Told:
        told = self.name(FileState.UNREADABLE, FaultKind.UNREADABLE, detail, now)
        again_at = now + self._retry_s
        self._retry_s = min(2 * self._retry_s, self._limits.retry_most_s)
        return told._replace(again_at=again_at)

    def _just_told(self, kind: FaultKind, detail: str) -> bool:
        """Retrying must not fill the list with one sentence."""
        last = self.log.kept[-1] if self.log.kept else None
        return last is not None and last.kind is kind and last.detail == detail
