"""One alert, or one symptom of its timeline, in one row of a width. Columns that do not fit go, the title never."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Tuple

from mstui.i18n import _
from mstui.model.alert_view import Alert
from mstui.model.alerts import Happening
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, pad, width
from mstui.tui.alert_words import GRADES, glyph, places_text, state_look, state_word, step_text, title
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import age

FOLD_WIDTH, GLYPH_WIDTH, WORD_WIDTH, STEP_WIDTH, AGE_WIDTH, STATE_WIDTH = 2, 3, 9, 11, 4, 8
TITLE_WIDTH = 24
"""cells of the longest English title"""
LEAST_TITLE = 12
LEAST_PLACE = 6
"""cells of the place below which its column goes"""
INDENT = 2
"""cells by which the symptoms that followed are moved to the right"""
_WORD, _STEP, _STATE, _PLACE, _AGE = 1, 2, 3, 4, 5


class Style(NamedTuple):
    """What rows depend on apart from the alert."""

    now: float
    ranks: bool
    """the run has several"""
    ascii_only: bool


class _Cell(NamedTuple):
    text: str
    look: str
    width: int
    given_up: int
    """how readily it goes; 0: never"""
    right: bool = False


def alert_row(alert: Alert, cells: int, style: Style, *, unfolded: Optional[bool]) -> Row:
    """`- ‼ critical Loss is NaN  step 120  rank 1 loss x3  5m active`. `unfolded`: None where nothing followed."""
    head = alert.incident.head
    grade = GRADES[alert.severity]
    quiet = state_look(alert) == "dim"
    look = "dim" if quiet else grade.look
    fold = "" if unfolded is None else "-" if unfolded else "+"
    followed = len(alert.incident.timeline)
    name = title(head.symptom) + (f" +{followed}" if followed and not unfolded else "")
    return _row(
        cells,
        style,
        (
            _Cell(fold, "key", FOLD_WIDTH, 0),
            _Cell(glyph(alert.severity, ascii_only=style.ascii_only), look, GLYPH_WIDTH, 0),
            _Cell(_(grade.word), look, WORD_WIDTH, _WORD),
        ),
        _Cell(name, "dim" if quiet else "strong", TITLE_WIDTH, 0),
        (
            _Cell(step_text(head.step), "dim" if quiet else "text", STEP_WIDTH, _STEP),
            _Cell(_where(head, style), "dim" if quiet else "text", 0, _PLACE),
            _Cell(age(style.now - alert.standing.since), "dim", AGE_WIDTH, _AGE, right=True),
            _Cell(state_word(alert), state_look(alert), STATE_WIDTH, _STATE),
        ),
    )


def timeline_row(alert: Alert, happening: Happening, cells: int, style: Style) -> Row:
    """A symptom that followed, indented under its incident."""
    grade = GRADES[happening.severity]
    quiet = state_look(alert) == "dim" or happening.cleared_step is not None
    look = "dim" if quiet else grade.look
    return _row(
        cells,
        style,
        (
            _Cell("", "text", FOLD_WIDTH + INDENT, 0),
            _Cell(glyph(happening.severity, ascii_only=style.ascii_only), look, GLYPH_WIDTH, 0),
            _Cell(_(grade.word), look, WORD_WIDTH, _WORD),
        ),
        _Cell(title(happening.symptom), "dim" if quiet else "text", TITLE_WIDTH - INDENT, 0),
        (
            _Cell(step_text(happening.step), "dim" if quiet else "text", STEP_WIDTH, _STEP),
            _Cell(_where(happening, style), "dim" if quiet else "text", 0, _PLACE),
            _Cell("", "dim", AGE_WIDTH, _AGE),
            _Cell("" if happening.cleared_step is None else _("cleared"), "dim", STATE_WIDTH, _STATE),
        ),
    )


def _where(happening: Happening, style: Style) -> str:
    return places_text(happening, ranks=style.ranks, ascii_only=style.ascii_only)


def _row(cells: int, style: Style, before: Tuple[_Cell, ...], name: _Cell, after: Tuple[_Cell, ...]) -> Row:
    """The title gets what it needs and the place what is left; columns go until the title has its least."""
    front, back = list(before), list(after)

    def left() -> int:
        fixed = sum(cell.width for cell in front) + sum(cell.width + 1 for cell in back if cell.width)
        return cells - fixed

    def least() -> int:
        place = LEAST_PLACE + 1 if any(not cell.width for cell in back) else 0
        wanted = name.width if place else min(name.width, LEAST_TITLE)
        return wanted + place

    while left() < least() and any(cell.given_up for cell in (*front, *back)):
        worst = max((cell for cell in (*front, *back) if cell.given_up), key=lambda cell: cell.given_up)
        if worst in front:
            front.remove(worst)
        else:
            back.remove(worst)
    flexible = any(not cell.width for cell in back)
    room = max(left(), 0)
    for_name = min(room, max(name.width, min(width(name.text), room * 2 // 3))) if flexible else room
    ellipsis = ASCII_ELLIPSIS if style.ascii_only else ELLIPSIS
    spans: List[Span] = [(pad(cell.text, cell.width, middle=False, ellipsis=ellipsis), cell.look) for cell in front]
    spans.append((pad(name.text, for_name, middle=False, ellipsis=ellipsis), name.look))
    for cell in back:
        size = cell.width or max(room - for_name - 1, 0)
        text = fit(cell.text, size, middle=not cell.width, ellipsis=ellipsis)
        blank = " " * (size - width(text))
        spans.append((" " + (blank + text if cell.right else text + blank), cell.look))
    return tuple(span for span in spans if span[0])
