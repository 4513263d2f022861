"""The rows above a log's records: what went wrong first, a log that is not understood, what is left out.

Pure: facts, files and a note in, rows out.
"""

from __future__ import annotations

from typing import List, Sequence

from mstui.i18n import _
from mstui.model.log_view import ProcessFact
from mstui.model.runs import FileStatus
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, safe, width
from mstui.tui.keymap import key_text
from mstui.tui.lines import Row, Span
from mstui.tui.process_words import pinned_row, serious
from mstui.tui.unread_logs import sentence

LEAST_HEIGHT = 4
"""body rows from which rows are spent on more than the pinned fact"""
JUMP = "p"
"""key that goes to the pinned fact, unless it was bound to another one"""


def notice_rows(
    facts: Sequence[ProcessFact],
    pinned: int,
    unread: Sequence[FileStatus],
    note: str,
    cells: int,
    height: int,
    *,
    ascii_only: bool,
) -> List[Row]:
    """At most three rows, fewer where the body has few; `pinned` is the fact's place among the serious ones."""
    rows: List[Row] = []
    if serious(facts):
        rows.append(pinned_row(facts, pinned, key_text(JUMP), ascii_only=ascii_only))
    if height >= LEAST_HEIGHT:
        if unread:
            said = sentence(unread[0], ascii_only=ascii_only) + " " + _("6 tells what to do.")
            rows.append((("! ", "warning"), (said, "warning")))
        if note:
            rows.append((("! ", "warning"), (safe(note, ascii_only=ascii_only), "warning")))
    return [_cut(row, cells, ASCII_ELLIPSIS if ascii_only else ELLIPSIS) for row in rows]


def _cut(row: Row, cells: int, ellipsis: str) -> Row:
    spans: List[Span] = []
    for text, look in row:
        text = fit(text, cells, middle=False, ellipsis=ellipsis)
        spans.append((text, look))
        cells -= width(text)
    return tuple(spans)
