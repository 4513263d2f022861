"""Sentences for panels that have nothing to draw: wrapped by cells, so that Chinese text and long commands fit too."""

from __future__ import annotations

from typing import List, Sequence, Tuple

from rich.cells import cell_len, chop_cells

from mstui.tui.lines import Row


def wrap(text: str, width: int) -> List[str]:
    """Lines of at most `width` cells, broken at spaces; a longer word is broken where the line ends."""
    if width <= 0:
        return []
    lines: List[str] = []
    line = ""
    for word in text.split():
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        if line:
            lines.append(line)
        *full, line = chop_cells(word, width) or [""]
        lines.extend(full)
    return [*lines, line] if line else lines


def paragraph_rows(paragraphs: Sequence[Tuple[str, str]], width: int, height: int) -> Tuple[Row, ...]:
    """(text, look) paragraphs as rows with a space at either side; what does not fit `height` is left out."""
    rows: List[Row] = []
    for text, look in paragraphs:
        rows.extend(((" ", "text"), (line, look)) for line in wrap(text, width - 2))
    return tuple(rows[:height])
