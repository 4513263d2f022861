"""Records of a log as rows: time, level, rank and message, the prefix that all records share left out.

Pure: LogRows in, rows of cells out. At 80 columns the message begins at the eleventh cell, or at the second where no
record has a time.
"""

from __future__ import annotations

from typing import List, Mapping, NamedTuple, Sequence, Tuple

from mstui.i18n import ngettext
from mstui.model.log_view import LogRow
from mstui.model.logs import EventKind, LogLevel
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, safe, width
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import NO_CLOCK, clock
from mstui.tui.wrapping import wrap_as_written

LEVELS: Mapping[LogLevel, Tuple[str, str]] = {
    LogLevel.UNKNOWN: (" ", "text"),
    LogLevel.DEBUG: ("D", "dim"),
    LogLevel.INFO: ("I", "text"),
    LogLevel.WARNING: ("W", "warning"),
    LogLevel.ERROR: ("E", "critical"),
    LogLevel.CRITICAL: ("C", "critical"),
}
"""a letter and a look each"""
STEP_MARK, HIT_MARK = "@", "/"
"""the record of the step under the value cursor; a record that a search has found"""
LONGEST_MESSAGE = 4_000
"""characters of one message that can be scrolled to or wrapped; the details window has the whole record"""
MOST_WRAPPED = 8
"""rows that one wrapped message takes at most"""
CLOCK_WIDTH = len(NO_CLOCK)
TROUBLED = frozenset(
    [
        *(EventKind.NAN_STOP, EventKind.SCALE_ABORT, EventKind.OUT_OF_MEMORY, EventKind.TRACEBACK),
        *(EventKind.EXCEPTION, EventKind.WORKER_EXIT, EventKind.TASK_FAILED, EventKind.JOB_FAILED),
    ]
)
"""events whose record is drawn like an error though it may be a print without a level"""


class RowStyle(NamedTuple):
    """What all rows of one picture share."""

    cells: int
    times: bool
    """some record has a time"""
    rank_digits: int
    """cells for the rank; 0: all records are of one rank"""
    shift: int = 0
    """cells of the messages that are scrolled out to the left"""
    wrap: bool = False
    words: Tuple[str, ...] = ()
    """casefolded; where they occur they are marked"""
    ascii_only: bool = False


def style_for(
    rows: Sequence[LogRow],
    cells: int,
    *,
    shift: int = 0,
    wrap: bool = False,
    words: Tuple[str, ...] = (),
    ascii_only: bool = False,
) -> RowStyle:
    """What these rows need: a column is given only to what they have."""
    ranks = {row.rank_id for row in rows}
    digits = max((len(str(rank)) for rank in ranks if rank >= 0), default=1) if len(ranks) > 1 else 0
    times = any(row.wall_time is not None for row in rows)
    return RowStyle(cells, times, digits, shift, wrap, words, ascii_only)


def record_rows(row: LogRow, style: RowStyle, mark: str = " ") -> List[Row]:
    """One record: one row, or with wrapping up to MOST_WRAPPED."""
    letter, look = LEVELS[row.level]
    if row.event in TROUBLED:
        look = "critical"
    head: List[Span] = [(mark[:1] or " ", "marker")]
    if style.times:
        head.append(((clock(row.wall_time) if row.wall_time is not None else " " * CLOCK_WIDTH) + " ", "dim"))
    head.append((letter + " ", look))
    if style.rank_digits:
        rank = str(row.rank_id) if row.rank_id >= 0 else "-"
        head.append((f"{rank:>{style.rank_digits}} ", "info"))
    used = sum(len(text) for text, _look in head)
    text = safe(row.text, LONGEST_MESSAGE, ascii_only=style.ascii_only)
    n = row.lines - 1
    more = " " + ngettext("+{n} line", "+{n} lines", n).format(n=n) if n > 0 else ""
    room = max(style.cells - used, 1)
    ellipsis = ASCII_ELLIPSIS if style.ascii_only else ELLIPSIS
    more = fit(more, room, middle=False, ellipsis=ellipsis)
    if not style.wrap:
        room = max(room - width(more), 0)
        shown = _cut(text, style.shift, room)
        return [(*head, *marked(shown, style.words, look), (more, "dim"))]
    pieces = wrap_as_written(text, room)
    if len(pieces) > MOST_WRAPPED:
        rest = len(pieces) - MOST_WRAPPED + 1
        pieces = [*pieces[: MOST_WRAPPED - 1], ""]
        more = ngettext("{n} more line is not shown", "{n} more lines are not shown", rest).format(n=rest)
        more = fit(more, room, middle=False, ellipsis=ellipsis)
    if more and width(pieces[-1]) + width(more) > room:
        pieces.append("")
    rows: List[Row] = [(*head, *marked(pieces[0], style.words, look))]
    rows += [((" " * used, "text"), *marked(piece, style.words, look)) for piece in pieces[1:]]
    if more:
        rows[-1] = (*rows[-1], (more, "dim"))
    return rows


def _cut(text: str, shift: int, cells: int) -> str:
    """The part of a text that shows; `<` at the left tells that something is scrolled out."""
    if shift:
        text = "<" + text[shift + 1 :] if len(text) > shift else "<"
    return fit(text, cells, middle=False, ellipsis=">")


def marked(text: str, words: Sequence[str], look: str) -> List[Span]:
    """The text in spans, every occurrence of a word looking like a match."""
    folded = text.casefold()
    if not words or len(folded) != len(text):  # a letter that folds to two would shift what is marked
        return [(text, look)]
    hit = bytearray(len(text))
    for word in words:
        at = folded.find(word) if word else -1
        while at >= 0:
            hit[at : at + len(word)] = b"\1" * len(word)
            at = folded.find(word, at + len(word))
    spans: List[Span] = []
    begun = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or hit[at] != hit[begun]:
            spans.append((text[begun:at], look + " match" if hit[begun] else look))
            begun = at
    return spans
