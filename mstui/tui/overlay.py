"""Windows over the panels: one widget in the middle of the screen that takes every key while it is open.

They are not Textual screens: only the cells they cover are repainted when they come and go.
"""

from __future__ import annotations

import re
from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

from textual import events
from textual.geometry import Region, Size

from mstui.i18n import _
from mstui.safe_text import fit, width
from mstui.tui.lines import Lines, Row, Span
from mstui.tui.slots import centred

MAX_WIDTH = 100
"""columns beyond which lines of text are tiring to read"""
MARGIN = 2
"""cells of the panels that stay in sight at each side where there is room"""
FRAME_ROWS = 2
FRAME_COLUMNS = 4

GAP = "  "
"""blanks that keep two texts of a row apart"""
_APART = re.compile("  +")
"""what stands between two keys of a hint"""

CLOSING = ("escape", "q", "question_mark")
DOWN, UP = ("j", "down"), ("k", "up")


class Overlay(Lines, can_focus=True):
    """Base: a frame with a title, a body, and a hint in the lower rule."""

    def __init__(self, title: str, close: Callable[[], None], *, ascii_only: bool = False) -> None:
        super().__init__()
        self.title_text = title
        self.hint = ""
        self.close = close
        self.ascii_only = ascii_only
        self.top = 0
        """first line of the body that is shown"""

    def wanted(self, columns: int, rows: int) -> Tuple[int, int]:
        """Width and height that the content would like on a screen of this size, frame included."""
        raise NotImplementedError

    def region_in(self, size: Size) -> Region:
        """Its place on a screen of this size."""
        return centred(size, *self.wanted(size.width, size.height))

    def body(self, width: int, height: int) -> Sequence[Row]:
        """The rows inside the frame."""
        raise NotImplementedError

    def press(self, key: str, character: Optional[str]) -> None:
        """A key while this is open."""
        raise NotImplementedError

    def data_changed(self) -> None:
        """The monitor has a new revision."""

    def draw(self, width: int, height: int) -> Sequence[Row]:
        """Frame and body."""
        side, dash = ("|", "-") if self.ascii_only else ("│", "─")
        corners = "++++" if self.ascii_only else "┌┐└┘"
        inner = max(width - FRAME_COLUMNS, 0)
        rows = list(self.body(inner, max(height - FRAME_ROWS, 0)))[: max(height - FRAME_ROWS, 0)]
        rows += [()] * (height - FRAME_ROWS - len(rows))
        return (
            _rule(corners[:2], dash, self.title_text, "title-focus", width),
            *(((f"{side} ", "rule"), *_exactly(row, inner), (f" {side}", "rule")) for row in rows),
            _rule(corners[2:], dash, keys_that_fit(self.hint, _rule_room(width)), "dim", width),
        )

    def on_key(self, event: events.Key) -> None:
        """Nothing below the window may see a key."""
        event.stop()
        event.prevent_default()
        self.press(event.key, event.character if event.is_printable else None)


def keys_that_fit(hint: str, cells: int) -> str:
    """As many keys of a hint as fit, whole. The last, which says how to leave, stays; the others go from the right."""
    if width(hint) <= cells:
        return hint
    *entries, last = _APART.split(hint)
    while entries and width(GAP.join([*entries, last])) > cells:
        entries.pop()
    return GAP.join([*entries, last])


def _rule_room(width_: int) -> int:
    """Cells of a text in a rule: a corner, a dash and a blank stay at each side."""
    return max(width_ - 6, 0)


def _rule(corners: str, dash: str, text: str, look: str, width_: int) -> Row:
    text = f" {fit(text, _rule_room(width_), middle=False)} " if text else ""
    rest = max(width_ - 3 - width(text), 0)
    return ((corners[0] + dash, "rule"), (text, look), (dash * rest + corners[1], "rule"))


def _exactly(row: Row, width_: int) -> Row:
    """A row cut or filled to a width, so that the frame's right side stands where it should."""
    spans: List[Span] = []
    left = width_
    for text, look in row:
        text = fit(text, left, middle=False)
        spans.append((text, look))
        left -= width(text)
    return (*spans, (" " * left, "text"))


class TextOverlay(Overlay):
    """Text to read and scroll."""

    def __init__(
        self,
        title: str,
        lines: Callable[[int], Sequence[Row]],
        close: Callable[[], None],
        *,
        follows_data: bool = False,
        ascii_only: bool = False,
    ) -> None:
        """`lines` gives all rows for a width; with `follows_data` it is asked again when the monitor has new data."""
        super().__init__(title, close, ascii_only=ascii_only)
        self.follows_data = follows_data
        self._lines_for = lines
        self._page = 1

    def wanted(self, columns: int, rows: int) -> Tuple[int, int]:
        """As high as the text, as wide as is good to read."""
        wide = min(columns - 2 * MARGIN if columns > MAX_WIDTH // 2 else columns, MAX_WIDTH)
        return wide, min(len(self._lines_for(wide - FRAME_COLUMNS)) + FRAME_ROWS, rows)

    def body(self, width: int, height: int) -> Sequence[Row]:
        """The page of the text that is scrolled to."""
        lines = self._lines_for(width)
        self._page = max(height, 1)
        last = max(len(lines) - height, 0)
        self.top = min(max(self.top, 0), last)
        parts = [f"{self.top + 1}-{min(self.top + height, len(lines))}/{len(lines)}  j k"] if last else []
        parts += [hint for hint in (self.more_hint(), _("esc closes")) if hint]
        self.hint = "   ".join(parts)
        return lines[self.top : self.top + height]

    def data_changed(self) -> None:
        """Say it anew where it is about the data."""
        if self.follows_data:
            self.redraw()

    def more_hint(self) -> str:
        """What other keys do, for the lower rule."""
        return ""

    def press(self, key: str, character: Optional[str]) -> None:
        """Scroll or close."""
        del character
        if key in (*CLOSING, "enter"):
            self.close()
            return
        steps = {
            **dict.fromkeys(DOWN, 1),
            **dict.fromkeys(UP, -1),
            "pagedown": self._page,
            "space": self._page,
            "pageup": -self._page,
            "home": -self.top,
            "end": len(self._lines_for(max(self.size.width - FRAME_COLUMNS, 1))),
            "G": len(self._lines_for(max(self.size.width - FRAME_COLUMNS, 1))),
        }
        self.top = max(self.top + steps.get(key, 0), 0)
        self.redraw()


class Choice(NamedTuple):
    """One line of a Chooser."""

    value: str
    label: str
    """safe to show"""
    note: str = ""
    """shown dim at the right"""
    letter: str = ""
    """a key that chooses it at once"""


class Chooser(Overlay):
    """Pick one of a list: arrows and enter, by letter, or by typing a part of it."""

    def __init__(
        self,
        title: str,
        choices: Sequence[Choice],
        chosen: Callable[[str], None],
        close: Callable[[], None],
        *,
        current: str = "",
        sentences: bool = False,
        ascii_only: bool = False,
    ) -> None:
        """`sentences`: a choice begins with what matters; of a name the end matters as much."""
        super().__init__(title, close, ascii_only=ascii_only)
        self._sentences = sentences
        self._choices = choices
        self._chosen = chosen
        self._by_letter = any(choice.letter for choice in choices)
        self.query_text = ""
        self.selected = next((i for i, choice in enumerate(choices) if choice.value == current), 0)

    @property
    def shown(self) -> List[Choice]:
        """The choices that what was typed leaves, in their order: every word must occur in the label or the note."""
        words = self.query_text.casefold().split()
        texts = ((choice, f"{choice.label} {choice.note}".casefold()) for choice in self._choices)
        return [choice for choice, text in texts if all(word in text for word in words)]

    def wanted(self, columns: int, rows: int) -> Tuple[int, int]:
        """As wide as the widest choice, as high as the list."""
        widest = max((width(c.label) + width(c.note) + 4 for c in self._choices), default=0)
        wide = max(widest + FRAME_COLUMNS, width(self.title_text) + 6, 40)
        return min(wide, columns, MAX_WIDTH), min(len(self._choices) + FRAME_ROWS + (not self._by_letter), rows)

    def body(self, width: int, height: int) -> Sequence[Row]:
        """What is typed, then the choices."""
        rows: List[Row] = []
        if not self._by_letter:
            rows.append((("> ", "key"), (self.query_text, "text"), ("_", "dim")))
        room = max(height - len(rows), 0)
        shown = self.shown
        self.selected = min(self.selected, max(len(shown) - 1, 0))
        self.top = max(min(self.top, self.selected), self.selected - room + 1, 0)
        for i, choice in enumerate(shown[self.top : self.top + room], self.top):
            rows.append(self._row(choice, width, i == self.selected))
        if not shown:
            rows.append(((_("nothing matches"), "dim"),))
        self.hint = _("enter chooses   esc closes")
        return rows

    def _row(self, choice: Choice, cells: int, selected: bool) -> Row:
        mark = ">" if selected else " "
        letter = f"{choice.letter} " if choice.letter else ""
        note = fit(choice.note, max(cells // 2, 0))
        gap = GAP if note else ""
        label = fit(choice.label, max(cells - 1 - len(letter) - len(gap) - width(note), 0), middle=not self._sentences)
        label += " " * max(cells - 1 - len(letter) - width(label) - width(note), 0)
        tail = " selected" if selected else ""
        return ((mark, "key" + tail), (letter, "key" + tail), (label, "text" + tail), (note, "dim" + tail))

    def press(self, key: str, character: Optional[str]) -> None:
        """Move, type, choose or close."""
        shown = self.shown
        if key == "escape":
            self.close()
            return
        letters = {choice.letter: choice for choice in self._choices if choice.letter}
        if key == "enter" or (self._by_letter and character in letters):
            choice = letters[character] if key != "enter" and character else None
            if choice is None and shown:
                choice = shown[self.selected]
            if choice is not None:
                self.close()
                self._chosen(choice.value)
            return
        moves = {"down": 1, "tab": 1, "up": -1, "shift+tab": -1, "pagedown": 10, "pageup": -10}
        if self._by_letter:
            moves.update({"j": 1, "k": -1})
        if key in moves:
            self.selected = min(max(self.selected + moves[key], 0), max(len(shown) - 1, 0))
        elif key in ("backspace", "ctrl+h"):
            self.query_text = self.query_text[:-1]
        elif key == "ctrl+u":
            self.query_text = ""
        elif character is not None and not self._by_letter:
            self.query_text += character
            self.selected = 0
        self.redraw()
