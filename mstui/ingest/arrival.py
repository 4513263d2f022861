"""Tells a decoder when the bytes that it gets were written, for records that do not say it themselves.

Bytes that came in while their file was followed are as old as its mtime. It refuses to give a time to any others: what
lay there before may be minutes or years old.
"""

from __future__ import annotations

from typing import Optional, Protocol, runtime_checkable

from mstui.formats.base import Decoder

UNKNOWN = 0.0
"""the time of old bytes"""


@runtime_checkable
class _Timed(Protocol):
    """A decoder that can be told when its bytes were written."""

    arrival: float


class Arrival:
    """Of one file that is followed."""

    def __init__(self, most: int, *, born: bool) -> None:
        """`most`: bytes of a file that are as new as it is; a longer one may have been copied here.

        `born`: the file came up while its run was followed.
        """
        self._most = most
        self._born = born
        self._timed: Optional[_Timed] = None
        self._old_until = 0
        """what lies before this was written before the file was followed"""

    def born_again(self) -> None:
        """Another content has taken the file's place while it was followed."""
        self._born = True

    def begin(self, decoder: Decoder, size: int) -> None:
        """Reading begins with this decoder, at a file of so many bytes."""
        self._timed = decoder if isinstance(decoder, _Timed) else None
        self._old_until = 0 if self._born and size <= self._most else size

    def tell(self, offset: int, end: int, modified: float, *, live: bool) -> int:
        """Tell the decoder of the bytes from `offset` on; gives back where to stop, at `end` or before it.

        live: they are at the end of the file, and not in its history. modified: mtime, Unix seconds.
        """
        if self._timed is None:
            return end
        old = not live or offset < self._old_until
        self._timed.arrival = UNKNOWN if old else modified
        return self._old_until if live and offset < self._old_until < end else end

    def ended(self) -> None:
        """All that the file held has been read at its end: what comes now is new, and what is unfinished goes on."""
        self._old_until = 0
