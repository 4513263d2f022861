"""From bytes to the texts that a person sees: line ends, bars that overwrite themselves, colours, launchers' prefixes.

It knows no metric and no event. A frame is what ends in a line feed, or in a carriage return that no line feed
follows; a line is one frame or several. The last frame waits for its end.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

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
    text = decode(raw[: 4 * LONGEST_TEXT])
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = text[:LONGEST_TEXT]
    if text[:1] in _LAUNCHER_STARTS:
        found = _LAUNCHER.match(text)
        if found is not None:
            rank = found["mpi"] or found["torch"] or found["worker"]
            return Text(text[found.end() :], int(rank))
    return Text(text, None)
