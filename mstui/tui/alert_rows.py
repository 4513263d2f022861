"""One alert, or one symptom of its timeline, in one row of a width. Columns that do not fit go, the title never."""

from __future__ import annotations

from typing import List, NamedTuple, Optional, Sequence, Tuple

from mstui.i18n import _
from mstui.model.alert_view import Alert
from mstui.model.alerts import Happening
from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, pad, width
from mstui.tui.alert_words import GRADES, Place, glyph, place_of, state_look, state_word, step_text, title
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import age

FOLD_WIDTH, GLYPH_WIDTH, WORD_WIDTH, STEP_WIDTH, AGE_WIDTH, STATE_WIDTH = 2, 3, 9, 11, 4, 8
TITLE_WIDTH = 26
"""cells of the longest English title, moved to the right by INDENT"""
LEAST_TITLE = 12
LEAST_PLACE = 6
"""cells of the place below which its column goes"""
INDENT = 2
"""cells by which the symptoms that followed are moved to the right"""
_WORD, _STEP, _STATE, _PLACE, _AGE = range(1, 6)


class Style(NamedTuple):
    """What rows depend on apart from the alert."""

    now: float
    ranks: bool
    """the run has several"""
    ascii_only: bool
    name_width: int = TITLE_WIDTH
    step_width: int = STEP_WIDTH


def style_for(alerts: Sequence[Alert], now: float, *, ranks: bool, ascii_only: bool) -> Style:
    """Columns that are as wide as these alerts need, so that more is left for the places."""
    happenings = [each for alert in alerts for each in alert.incident.happenings]
    names = [width(_name(alert, unfolded=False)) for alert in alerts]
    names += [width(title(each.symptom)) + INDENT for each in happenings]
    steps = [width(step_text(each.step)) for each in happenings]
    return Style(now, ranks, ascii_only, min(max(names, default=0), TITLE_WIDTH), max(steps, default=0))


class _Cell(NamedTuple):
    text: str
    look: str
    width: int
    given_up: int
    """how readily it goes; 0: never"""
    right: bool = False
    place: Optional[Place] = None
    """instead of a text: takes the room that is left"""


def alert_row(alert: Alert, cells: int, style: Style, *, unfolded: Optional[bool]) -> Row:
    """`- ‼ critical Loss is NaN  step 120  rank 1 loss x3  5m active`. `unfolded`: None where nothing followed."""
    head = alert.incident.head
    grade = GRADES[alert.severity]
    quiet = state_look(alert) == "dim"
    look = "dim" if quiet else grade.look
    fold = "" if unfolded is None else "-" if unfolded else "+"
    return _row(
        cells,
        style,
        (
            _Cell(fold, "key", FOLD_WIDTH, 0),
            _Cell(glyph(alert.severity, ascii_only=style.ascii_only), look, GLYPH_WIDTH, 0),
            _Cell(_(grade.word), look, WORD_WIDTH, _WORD),
        ),
        _Cell(_name(alert, unfolded=bool(unfolded)), "dim" if quiet else "strong", style.name_width, 0),
        (
            _Cell(step_text(head.step), "dim" if quiet else "text", style.step_width, _STEP),
            _place(head, "dim" if quiet else "text", style),
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
        _Cell(title(happening.symptom), "dim" if quiet else "text", style.name_width - INDENT, 0),
        (
            _Cell(step_text(happening.step), "dim" if quiet else "text", style.step_width, _STEP),
            _place(happening, "dim" if quiet else "text", style),
            _Cell("", "dim", AGE_WIDTH, _AGE),
            _Cell("" if happening.cleared_step is None else _("cleared"), "dim", STATE_WIDTH, _STATE),
        ),
    )


def _name(alert: Alert, *, unfolded: bool) -> str:
    """`Overflow streak +2`: what it is called by, and how much of it is folded away."""
    followed = len(alert.incident.timeline)
    more = f" +{followed}" if followed and not unfolded else ""
    return title(alert.incident.head.symptom) + more


def _place(happening: Happening, look: str, style: Style) -> _Cell:
    return _Cell("", look, 0, _PLACE, place=place_of(happening, ranks=style.ranks, ascii_only=style.ascii_only))


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
        text = cell.place.fitted(size, ellipsis) if cell.place is not None else cell.text
        text = fit(text, size, middle=False, ellipsis=ellipsis)
        blank = " " * (size - width(text))
        spans.append((" " + (blank + text if cell.right else text + blank), cell.look))
    return tuple(span for span in spans if span[0])
