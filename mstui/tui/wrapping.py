"""Sentences for panels that have nothing to draw: wrapped by cells, so that Chinese text and long commands fit too."""

from __future__ import annotations

import re
from typing import List, Sequence, Tuple

from rich.cells import cell_len, chop_cells, get_character_cell_size

from mstui.tui.lines import Row

_WIDE = r"[\u3000-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uff60]"
_PIECES = re.compile(rf" |{_WIDE}|(?:(?!{_WIDE})[^ ])+")
_NOT_FIRST = frozenset("，。；：！？、）》」』】")
"""Chinese marks that no line begins with"""


def wrap(text: str, width: int) -> List[str]:
    """Lines of at most `width` cells, broken at spaces and between Chinese characters, but not before their marks.

    A longer word is broken where the line ends.
    """
    if width <= 0:
        return []
    lines: List[str] = []
    line = ""
    for piece in _pieces(text):
        if cell_len(line) + cell_len(piece.rstrip()) <= width:
            line += piece
            continue
        if line.strip():
            lines.append(line.rstrip())
        *full, line = chop_cells(piece.strip(), width) or [""]
        lines.extend(full)
        line += " " if piece.endswith(" ") else ""
    return [*lines, line.rstrip()] if line.strip() else lines


def _pieces(text: str) -> List[str]:
    """What a line may be broken between: words with the space behind them, Chinese characters with their marks."""
    pieces: List[str] = []
    for found in _PIECES.finditer(" ".join(text.split())):
        part = found[0]
        if pieces and (part == " " or part in _NOT_FIRST):
            pieces[-1] += part
        else:
            pieces.append(part)
    return pieces


def paragraph_rows(paragraphs: Sequence[Tuple[str, str]], width: int, height: int) -> Tuple[Row, ...]:
    """(text, look) paragraphs as rows with a space at either side; what does not fit `height` is left out."""
    rows: List[Row] = []
    for text, look in paragraphs:
        rows.extend(((" ", "text"), (line, look)) for line in wrap(text, width - 2))
    return tuple(rows[:height])


def wrap_as_written(text: str, width: int) -> List[str]:
    """Lines of at most `width` cells of one line of a safe text, its indentation and inner blanks kept.

    Broken at spaces where there are any; an empty text is one empty line.
    """
    width = max(width, 1)
    lines: List[str] = []
    while cell_len(text) > width:
        head = _beginning(text, width)
        cut = len(head) if text[len(head) : len(head) + 1] == " " else head.rfind(" ") + 1
        if not head[:cut].strip():
            cut = len(head)
        lines.append(head[:cut].rstrip())
        text = text[cut:].lstrip(" ")
    return [*lines, text] if text or not lines else lines


def _beginning(text: str, width: int) -> str:
    """What of a text fits, with the marks that belong to its last letter; one character at least."""
    used = 0
    for at, character in enumerate(text):
        used += get_character_cell_size(character)
        if used > width:
            return text[: max(at, 1)]
    return text
