"""The only door to the file system for reading. Tests put another one in its place.

It refuses to keep anything open: a file is opened, read and closed within one `with` block.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ContextManager, Iterator, List, Protocol

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
"""Non-blocking, for a FIFO that carries the name of an event file must not hang the reader."""


@dataclass(frozen=True)
class OpenFile:
    """One open file, valid inside the `with` block that gave it."""

    descriptor: int

    def stat(self) -> os.stat_result:
        """Of the file that is really open, which may no longer be the one under the name."""
        return os.fstat(self.descriptor)

    def read_at(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes; fewer only where the file ends."""
        first = os.pread(self.descriptor, length, offset)
        if len(first) == length or not first:
            return first
        pieces = [first]
        have = len(first)
        while have < length:
            piece = os.pread(self.descriptor, length - have, offset + have)
            if not piece:
                break
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)


class Disk(Protocol):
    """What reading needs of a file system. Every call may raise OSError."""

    def stat(self, path: str) -> os.stat_result:
        """Of what the name leads to, symlinks followed."""
        ...

    def list(self, path: str, limit: int) -> List[os.DirEntry[str]]:
        """Up to `limit` entries of a folder."""
        ...

    def open(self, path: str) -> ContextManager[OpenFile]:
        """Open for reading."""
        ...


class RealDisk:
    """The machine's own file system."""

    def stat(self, path: str) -> os.stat_result:
        """Of what the name leads to, symlinks followed."""
        return os.stat(path)

    def list(self, path: str, limit: int) -> List[os.DirEntry[str]]:
        """Up to `limit` entries of a folder."""
        found: List[os.DirEntry[str]] = []
        with os.scandir(path) as entries:
            for entry in entries:
                if len(found) == limit:
                    break
                found.append(entry)
        return found

    @contextmanager
    def _opened(self, path: str) -> Iterator[OpenFile]:
        descriptor = os.open(path, _READ_FLAGS)
        try:
            yield OpenFile(descriptor)
        finally:
            os.close(descriptor)

    def open(self, path: str) -> ContextManager[OpenFile]:
        """Open for reading."""
        return self._opened(path)
