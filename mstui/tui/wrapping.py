"""Sentences for panels that have nothing to draw: wrapped by cells, so that Chinese text and long commands fit too."""

from __future__ import annotations

from typing import List, Sequence, Tuple

from rich.cells import cell_len, get_character_cell_size

from mstui.knowledge import wrapping
from mstui.tui.lines import Row


def wrap(text: str, width: int) -> List[str]:
    """Lines of at most `width` cells, as the manual's are; none where nothing is said or there is no room."""
    return wrapping.wrap(text, width) if width > 0 and text.strip() else []


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
