"""The causes of an incident: likeliest on top, ruled out ones struck through, and what moved the selected one.

It knows no keys of the window and no monitor; what is done about a cause is the window's part.
"""

from __future__ import annotations

from typing import List, Optional, Sequence

from mstui.checks.session_screen import CauseLine
from mstui.i18n import _
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, pad, width
from mstui.tui.check_rows import Style
from mstui.tui.lines import Row

BAR_CELLS = 6
FULL_SCORE = 12
"""points from which the bar is full: twice what is called likely"""
LEAST_REASONS = 6
"""rows under the list that the selected cause's reasons get at least, where it has any"""


class CausesPane:
    """Selection and scroll position, kept on the same cause while the order changes."""

    def __init__(self) -> None:
        self.selected = ""
        """id of the selected cause; empty: the first one"""
        self._top = 0

    def at(self, lines: Sequence[CauseLine]) -> int:
        """Position of the selected cause; the first where it is gone."""
        return next((i for i, line in enumerate(lines) if line.id == self.selected), 0)

    def current(self, lines: Sequence[CauseLine]) -> Optional[CauseLine]:
        """The selected cause."""
        return lines[self.at(lines)] if lines else None

    def move(self, lines: Sequence[CauseLine], by: int) -> None:
        """Another one; it stops at the ends."""
        if lines:
            self.selected = lines[min(max(self.at(lines) + by, 0), len(lines) - 1)].id

    def rows(self, lines: Sequence[CauseLine], style: Style, height: int, *, focused: bool) -> List[Row]:
        """Heading, list, and the sentences that moved the selected one."""
        rows: List[Row] = [((_("Causes, likeliest first"), "strong"),)]
        if not lines:
            return [*rows, *style.paragraph(_("No cause is suspected."), "dim")]
        at = self.at(lines)
        reasons = self._reasons(lines[at], style)
        room = max(height - 2 - min(len(reasons), max(LEAST_REASONS, height - 2 - len(lines))), 1)
        self._top = max(min(self._top, at, max(len(lines) - room, 0)), at - room + 1, 0)
        words = max(width(line.word) for line in lines)
        for i, line in enumerate(lines[self._top : self._top + room], self._top):
            rows.append(_row(line, words, style, marked=i == at, focused=focused))
        return [*rows, (), *reasons][: max(height, 0)]

    @staticmethod
    def _reasons(line: CauseLine, style: Style) -> List[Row]:
        """Why it stands where it stands."""
        rows: List[Row] = [*style.paragraph(line.title, "strong"), ((line.id, "dim"),)]
        if not line.reasons:
            rows += style.paragraph(_("Nothing that was seen or answered moved it yet."), "dim")
        for points, said in line.reasons:
            rows += style.hanging(f"{points:+d}", said, head_look="warning" if points > 0 else "ok")
        return rows


def bar(score: int, *, ascii_only: bool) -> str:
    """A score as so many of BAR_CELLS cells."""
    full = min(max(round(score * BAR_CELLS / FULL_SCORE), 0), BAR_CELLS)
    filled, blank = ("#", ".") if ascii_only else ("█", "·")
    return filled * full + blank * (BAR_CELLS - full)


def _row(line: CauseLine, words: int, style: Style, *, marked: bool, focused: bool) -> Row:
    mark = ">" if marked else " "
    look = "old" if line.refuted else "strong" if marked else "text"
    drawn = " " * BAR_CELLS if line.refuted else bar(line.score, ascii_only=style.ascii_only)
    word = pad(line.word, words)
    room = max(style.columns - 4 - BAR_CELLS - words, 0)
    title = fit(style.plain(line.title), room, middle=False, ellipsis=ASCII_ELLIPSIS if style.ascii_only else ELLIPSIS)
    tail = " selected" if marked and focused else ""
    struck = " struck" if line.refuted else ""
    return (
        (f"{mark} ", "key" + tail),
        (drawn, ("dim" if line.refuted else "marker") + tail),
        (f" {word} ", "dim" + tail),
        (title, look + struck + tail),
        (" " * (room - width(title)), "text" + tail),
    )
