"""What a reader remembers of a file between two looks: enough to tell "more of the same" from "another content".

Holds a few hundred bytes; refuses to believe a name, an inode or a size on its own.
"""

from __future__ import annotations

import os
import stat
import zlib
from dataclasses import dataclass
from typing import NamedTuple, Tuple

from mstui.ingest.disk import OpenFile

SEAL_BYTES = 256
"""bytes kept from the beginning and from before the reading position. A MindSpore record holds its wall time and two
checksums, so two contents that agree in both places are one content."""
WRITE_BITS = 0o222


class Look(NamedTuple):
    """What stat said."""

    identity: Tuple[int, int]
    """st_dev, st_ino"""
    size: int
    mtime_ns: int
    changed: float
    """newer of mtime and ctime, Unix seconds"""
    mode: int

    @property
    def closed(self) -> bool:
        """MindSpore takes the write permission away when it closes a file."""
        return not self.mode & WRITE_BITS

    @property
    def regular(self) -> bool:
        """A plain file, nothing that could block a reader."""
        return stat.S_ISREG(self.mode)


def look_of(info: os.stat_result) -> Look:
    """Take from stat what matters."""
    return Look(
        (info.st_dev, info.st_ino),
        info.st_size,
        info.st_mtime_ns,
        max(info.st_mtime, info.st_ctime),
        info.st_mode,
    )


@dataclass(frozen=True)
class Seal:
    """Bytes that must still be there if the file is the one that was read."""

    identity: Tuple[int, int]
    head: bytes
    offset: int
    """end of `mark` in the file"""
    mark: bytes

    def holds(self, opened: OpenFile) -> bool:
        """Are the bytes still the same?"""
        start = self.offset - len(self.mark)
        return opened.read_at(0, len(self.head)) == self.head and opened.read_at(start, len(self.mark)) == self.mark


def seal(opened: OpenFile, identity: Tuple[int, int], offset: int) -> Seal:
    """Seal what lies before `offset`, which is final."""
    length = min(SEAL_BYTES, offset)
    return Seal(identity, opened.read_at(0, length), offset, opened.read_at(offset - length, length))


def resealed(proof: Seal, begin: int, taken: bytes) -> Seal:
    """Seal more of the same content, by the bytes as they were read from `begin` on.

    Reading them again would seal what may have taken their place in the meantime.
    """
    before = proof.mark if proof.offset == begin else b""
    head = proof.head
    if begin <= len(head) < SEAL_BYTES:
        head = (head[:begin] + taken[:SEAL_BYTES])[:SEAL_BYTES] if begin + len(taken) > len(head) else head
    return Seal(proof.identity, head, begin + len(taken), (before + taken[-SEAL_BYTES:])[-SEAL_BYTES:])


class Suspect(NamedTuple):
    """A last record whose checksum is wrong, and since when it has not changed."""

    offset: int
    length: int
    checksum: int
    since: float
    looks: int

    def again(self, offset: int, data: bytes, now: float) -> Suspect:
        """The same suspect seen once more, or a new one when the bytes are others (or fewer)."""
        if offset == self.offset and len(data) >= self.length and zlib.crc32(data[: self.length]) == self.checksum:
            return Suspect(offset, self.length, self.checksum, self.since, self.looks + 1)
        return first_suspect(offset, data, now)


def first_suspect(offset: int, data: bytes, now: float) -> Suspect:
    """Begin to watch the bytes from `offset` on."""
    return Suspect(offset, len(data), zlib.crc32(data), now, 1)
