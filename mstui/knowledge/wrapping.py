"""Lines of at most so many cells: broken at spaces and between Chinese characters. No markup, no terminal."""

from __future__ import annotations

from typing import Iterator, List

from mstui.safe_text import width

NEVER_FIRST = frozenset("，。；：、！？）》」』】”’%…,.;:!?)]}")
"""Marks that belong to what stands before them"""
NEVER_LAST = frozenset("（《「『【“‘([{")
"""Marks that belong to what follows"""


def wrap(text: str, cells: int) -> List[str]:
    """The text in lines of at most `cells` cells; a longer word is broken where the line ends. One line at least."""
    cells = max(cells, 2)
    lines: List[str] = []
    line = ""
    for piece in _pieces(text):
        if width(line) + width(piece.rstrip(" ")) <= cells:
            line += piece
            continue
        if line.strip():
            lines.append(line.rstrip(" "))
        line = piece.lstrip(" ")
        while width(line.rstrip(" ")) > cells:
            head = _head(line, cells)
            lines.append(head)
            line = line[len(head) :]
    return [*lines, line.rstrip(" ")] if line.strip() or not lines else lines


def _pieces(text: str) -> Iterator[str]:
    """What must stay together: a word with the spaces after it, or a wide character with the marks around it."""
    piece = ""
    for char in " ".join(text.split()):
        if piece and _may_break(piece[-1], char):
            yield piece
            piece = ""
        piece += char
    if piece:
        yield piece


def _may_break(before: str, after: str) -> bool:
    if after == " " or after in NEVER_FIRST or before in NEVER_LAST:
        return False
    return before == " " or width(before) > 1 or width(after) > 1


def _head(text: str, cells: int) -> str:
    used = 0
    for at, char in enumerate(text):
        used += width(char)
        if used > cells:
            return text[: max(at, 1)]
    return text
