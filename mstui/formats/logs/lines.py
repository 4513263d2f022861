"""From bytes to the texts that a person sees: line ends, bars that overwrite themselves, colours, launchers' prefixes.

It knows no metric and no event. A frame is what ends in a line feed, or in a carriage return that no line feed
follows; a line is one frame or several. The last frame waits for its end.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Optional, Tuple

LONGEST_FRAME = 1024 * 1024
"""Bytes of a frame that are read; a longer one is cut. The longest honest ones are dumps of tensors and configs."""
LONGEST_TEXT = 8192
"""Characters of a text that patterns look at; the longest record with metrics (BERT's tuple of tensors) has 300."""

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)|[@-Z\\^_])")
_LAUNCHER = re.compile(
    r"(?:\[\d{1,9},(?P<mpi>\d{1,9})\]<std(?:out|err|diag)>:|\[(?:rank|default)(?P<torch>\d{1,9})\]:\s?"
    r"|worker-(?P<worker>\d{1,9}): )"
)
_LAUNCHER_STARTS = frozenset("[w")


class Text(NamedTuple):
    """One frame, cleaned."""

    text: str
    rank: Optional[int]
    """named by the launcher's prefix"""
    begins: int = 0
    """characters of that prefix"""
    rank_span: Optional[Tuple[int, int]] = None
    """where the rank stands in it"""
    plain: bool = False
    """nothing but that prefix was taken off: valid UTF-8, no colours, not cut"""


Place = Tuple[str, Optional[int], int, int]
"""text, rank, offset and end of a frame"""


class Frame:
    """A cleaned frame and where it lies in the file."""

    __slots__ = ("end", "fresh", "offset", "rank", "text")

    def __init__(self, text: str, rank: Optional[int], offset: int, end: int, *, fresh: bool) -> None:
        self.text = text
        self.rank = rank
        self.offset = offset
        self.end = end
        self.fresh = fresh
        """no record of the same line was before it"""

    @property
    def place(self) -> Place:
        """Its text, its rank, where it begins and ends."""
        return self.text, self.rank, self.offset, self.end


def complete_until(data: bytes) -> int:
    """Bytes up to the end of the last line feed."""
    return data.rfind(b"\n") + 1


def frames_until(data: bytes, begin: int) -> int:
    """Where the last frame that a carriage return ended is over, in an unfinished line that begins at `begin`.

    The last byte does not count: a line feed may follow it.
    """
    return data.rfind(b"\r", begin, max(len(data) - 1, begin)) + 1 or begin


def decode(raw: bytes) -> str:
    """UTF-8, else GBK, else UTF-8 with replacement characters."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        try:
            return raw.decode("gbk")
        except UnicodeDecodeError:
            return raw.decode("utf-8", "replace")


def clean(raw: bytes) -> Text:
    """The text of a frame without colours and without the launcher's prefix."""
    plain = len(raw) <= LONGEST_TEXT
    try:
        text = raw[: 4 * LONGEST_TEXT].decode("utf-8")
    except UnicodeDecodeError:
        text, plain = decode(raw[: 4 * LONGEST_TEXT]), False
    if "\x1b" in text:
        text, plain = _ANSI.sub("", text), False
    text = text[:LONGEST_TEXT]
    if text[:1] in _LAUNCHER_STARTS:
        found = _LAUNCHER.match(text)
        if found is not None and found.lastgroup is not None:
            span = found.span(found.lastgroup)
            return Text(text[found.end() :], int(text[slice(*span)]), found.end(), span, plain)
    return Text(text, None, 0, None, plain)
