"""Make text from files harmless and fit for cells of a terminal.

Tags, names, log lines and lineage come from files that anybody may have written. What this module returns holds no
control, escape, bidirectional, invisible, private or unassigned character: each is shown as its code in angle brackets
(ESC as `<1b>`), which reads the same in ASCII terminals. It knows nothing of markup: whoever draws must not parse it.
"""

from __future__ import annotations

import unicodedata
from typing import Sequence

DEFAULT_LIMIT = 256
"""Characters kept of one text. Longer than any tag that MindSpore or MindFormers writes, short enough that a table of
thousands of them stays small."""

ELLIPSIS = "…"
ASCII_ELLIPSIS = "~"

MAX_MARKS = 3
"""Combining marks kept on one letter. Vietnamese and Hindi need two or three; a stack of hundreds paints over the lines
above and below."""

_INVISIBLE = frozenset(
    [
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    ]
)
"""Letters and marks by category that nothing draws: fillers, joiners, variation selectors (Unicode's
Default_Ignorable_Code_Point without what `str.isprintable` already refuses)."""

_HANGUL_MEDIAL_FIRST, _HANGUL_FINAL_LAST = 0x1160, 0x11FF
"""Vowels and finals that join the syllable before them: no cell of their own."""

_MARKS = frozenset(["Mn", "Me"])


def safe(text: str, limit: int = DEFAULT_LIMIT, *, ascii_only: bool = False) -> str:
    """The text with everything harmful made visible, at most `limit` characters long.

    A cut text ends in an ellipsis. Spaces of every kind and tabs become one plain space each. With `ascii_only` every
    character outside ASCII is shown by its code too. The cost is bounded by `limit`, not by the text.
    """
    if len(text) <= limit and text.isprintable() and text.isascii():
        return text
    parts: list[str] = []
    length = 0
    marks = MAX_MARKS  # a mark at the very start would land on whatever is drawn to the left
    for char in text[: limit + 1]:
        piece = _visible(char, ascii_only)
        if piece == char and unicodedata.category(char) in _MARKS:
            marks += 1
            if marks > MAX_MARKS:
                piece = _code(char)
        else:
            marks = 0
        parts.append(piece)
        length += len(piece)
        if length > limit:
            break
    if length <= limit and len(text) <= limit:
        return "".join(parts)
    return "".join(parts)[: max(limit - 1, 0)] + (ASCII_ELLIPSIS if ascii_only else ELLIPSIS)


def width(text: str) -> int:
    """Cells that a safe text takes: two for wide East Asian characters, none for combining marks, else one."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def fit(text: str, cells: int, *, middle: bool = True, ellipsis: str = ELLIPSIS) -> str:
    """A safe text cut to at most `cells` cells.

    Cut in the middle, the leaf of a tag (what follows its last "/") stays whole as long as it fits, for that is what
    tells `grad_norm/layer1.conv.weight` from its neighbours. `middle=False` cuts the end.
    """
    if width(text) <= cells:
        return text
    room = cells - width(ellipsis)
    if room < 0:
        return _head(text, max(cells, 0))
    if not middle:
        return _head(text, room) + ellipsis
    leaf = width(text[text.rfind("/") + 1 :])
    least = room - room // 2
    tail = leaf if least <= leaf <= room else least
    return _head(text, room - tail) + ellipsis + _tail(text, tail)


def fit_one(wordings: Sequence[str], cells: int, *, ellipsis: str = ELLIPSIS) -> str:
    """The first of several wordings of a sentence that fits whole; the last one, cut at its end, where none does."""
    return next(
        (text for text in wordings if width(text) <= cells), fit(wordings[-1], cells, middle=False, ellipsis=ellipsis)
    )


def pad(text: str, cells: int, *, middle: bool = True, ellipsis: str = ELLIPSIS) -> str:
    """`fit`, then filled with spaces on the right to exactly `cells` cells."""
    fitted = fit(text, cells, middle=middle, ellipsis=ellipsis)
    return fitted + " " * max(cells - width(fitted), 0)


def _visible(char: str, ascii_only: bool) -> str:
    code = ord(char)
    if 0x20 <= code < 0x7F:
        return char
    if char == "\t" or unicodedata.category(char) == "Zs":
        return " "
    if ascii_only or not char.isprintable() or code in _INVISIBLE:
        return _code(char)
    return char


def _code(char: str) -> str:
    return f"<{ord(char):02x}>"


def _cells(char: str) -> int:
    if _HANGUL_MEDIAL_FIRST <= ord(char) <= _HANGUL_FINAL_LAST or unicodedata.category(char) in _MARKS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _head(text: str, cells: int) -> str:
    """The longest beginning that takes no more than `cells`."""
    used = 0
    for index, char in enumerate(text):
        used += _cells(char)
        if used > cells:
            return text[:index]
    return text


def _tail(text: str, cells: int) -> str:
    """The longest end that takes no more than `cells` and does not begin with a mark."""
    used = 0
    start = len(text)
    for index in range(len(text) - 1, -1, -1):
        own = _cells(text[index])
        used += own
        if used > cells:
            break
        if own:
            start = index
    return text[start:]
