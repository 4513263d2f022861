"""What could not be read, said with file and offset. A fault never stops the rest."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FaultKind(Enum):
    """Why bytes were not used."""

    DAMAGED = "damaged"
    """A checksum stayed wrong, or a length was impossible; the reader went on at the next good record."""
    MALFORMED = "malformed"
    """The checksums are right, the message inside is not one that the format allows."""
    OVERSIZED = "oversized"
    """A record larger than mstui is willing to hold in memory; verified and skipped."""
    TRUNCATED = "truncated"
    """The file shrank below what had been read; read again from the start."""
    REPLACED = "replaced"
    """Another file (inode) appeared under the name; read again from the start."""
    VANISHED = "vanished"
    DENIED = "denied"
    NOT_EVENTS = "not-events"
    """The name promises an event file, the first bytes are something else."""
    UNREADABLE = "unreadable"
    """The operating system reports an error (stale NFS handle, I/O error)."""


@dataclass(frozen=True)
class ReadFault:
    """One thing that could not be read."""

    path: str
    kind: FaultKind
    offset: int
    """byte offset in the file at which the trouble starts"""
    length: int
    """bytes skipped because of it; 0 when nothing was lost"""
    detail: str
    """what was found, in words; already safe to show"""
    wall_time: float
    """when mstui saw it, Unix seconds; 0.0 from code that has no clock (decoders)"""
