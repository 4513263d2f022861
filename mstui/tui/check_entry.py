"""The line in a guided check to type a figure or the names of places in. It knows keys and words, no widget.

What cannot be understood is said while it is typed, and enter does not take it.
"""

from __future__ import annotations

import re
from typing import List, Optional, Sequence, Tuple

from mstui.checks.session_notes import MOST_PLACES_TEXT, number
from mstui.checks.session_screen import Figure
from mstui.i18n import _, commas, ngettext
from mstui.safe_text import fit, safe, width
from mstui.tui.check_rows import Style, places_text
from mstui.tui.lines import Row
from mstui.tui.prompt import MAX_TEXT, Typed

_BETWEEN = re.compile(r"[\s,;]+")


class Entry:
    """Base: one line. `done` once enter has taken it or escape has left it."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.typed = Typed()
        self.done = False
        self.left = False
        """escape: nothing is to be said"""

    def problem(self) -> str:
        """Why what is typed cannot be taken; empty when it can."""
        raise NotImplementedError

    def enter(self) -> None:
        """Take what is typed."""
        raise NotImplementedError

    def press(self, key: str, character: Optional[str]) -> None:
        """Edit, take or leave."""
        if key == "escape":
            self.done = self.left = True
        elif key == "enter":
            if not self.problem():
                self.enter()
        elif character is not None:
            self.typed = self.typed.insert(character)
        else:
            self.typed = self.typed.press(key)

    def paste(self, text: str) -> None:
        """The first line of what is pasted."""
        self.typed = self.typed.insert(text.partition("\n")[0].rstrip("\r"))

    def hint(self) -> str:
        """What can be done now."""
        return _("enter takes it, esc leaves it")

    def rows(self, style: Style) -> List[Row]:
        """Label, what is typed with its cursor, and what is wrong with it or what can be done."""
        before = safe(self.typed.text[: self.typed.at], MAX_TEXT)
        after = safe(self.typed.text[self.typed.at :], MAX_TEXT) + " "
        label = fit(f"{self.label} ", style.columns // 2, middle=False)
        room = max(style.columns - width(label), 2)
        while width(before) > room - 1:
            before = before[1:]
        after = fit(after, room - width(before), middle=False)
        problem = self.problem() if self.typed.text else ""
        said: Row = ((problem, "critical"),) if problem else ((self.hint(), "dim"),)
        return [((label, "key"), (before, "text"), (after[:1], "selected"), (after[1:], "text")), said]


class FiguresEntry(Entry):
    """Figures that a question wants, one after the other; enter on an empty line passes one over."""

    def __init__(self, figures: Sequence[Figure], style: Style) -> None:
        ordered = sorted(figures, key=lambda figure: figure.value is not None)
        self._figures = list(ordered)
        self._style = style
        self.values: List[Tuple[str, float]] = []
        """id and figure, as they were typed"""
        super().__init__("")
        self._name_it()

    def problem(self) -> str:
        """A finite number, or nothing."""
        text = self.typed.text.strip()
        return "" if not text or number(text) is not None else _("a number, such as 10 or 2.3e-1")

    def enter(self) -> None:
        """Take it and ask for the next one."""
        value = number(self.typed.text.strip()) if self.typed.text.strip() else None
        figure = self._figures.pop(0)
        if value is not None:
            self.values.append((figure.id, value))
        self.typed = Typed()
        self.done = not self._figures
        self._name_it()

    def hint(self) -> str:
        """Enter alone passes over."""
        return _("enter takes it, enter alone passes over, esc leaves it")

    def _name_it(self) -> None:
        if self._figures:
            figure = self._figures[0]
            known = f" ({figure.value:g})" if figure.value is not None else ""
            self.label = f"{self._style.plain(figure.text)}{known}:"


class NoteEntry(Entry):
    """Words that go with the next answer."""

    def __init__(self, text: str) -> None:
        super().__init__(_("note for the answer:"))
        self.typed = Typed(text, len(text))

    def problem(self) -> str:
        """Anything can be noted."""
        return ""

    def enter(self) -> None:
        """Take it; an empty one takes the note away."""
        self.done = True


class PlacesEntry(Entry):
    """Names of operators or blocks in their order; several at once, pasted lines too. Enter alone ends the list."""

    def __init__(self, known: Sequence[str], proposed: Sequence[str]) -> None:
        """`known`: those of a list that is named anew; `proposed`: what tab takes over from the run."""
        super().__init__(_("places, in order:"))
        self.names: List[str] = list(known)
        self._proposed = tuple(proposed)

    def problem(self) -> str:
        """One entry of the journal must hold them."""
        size = sum(len(name) + 1 for name in (*self.names, *self._split(self.typed.text)))
        return _("more than one entry can keep: name blocks first") if size > MOST_PLACES_TEXT else ""

    def enter(self) -> None:
        """Add what is typed, or end the list."""
        added = self._split(self.typed.text)
        self.names = list(dict.fromkeys((*self.names, *added)))
        self.typed = Typed()
        self.done = not added
        self.left = self.done and not self.names

    def press(self, key: str, character: Optional[str]) -> None:
        """Tab takes the run's layers, backspace on an empty line takes the last name away."""
        if key == "tab" and self._proposed:
            self.names = list(dict.fromkeys((*self.names, *self._proposed)))
        elif key in ("backspace", "ctrl+h") and not self.typed.text:
            del self.names[-1:]
        else:
            super().press(key, character)

    def paste(self, text: str) -> None:
        """Every line of it."""
        self.names = list(dict.fromkeys((*self.names, *self._split(text))))

    def hint(self) -> str:
        """What is listed already, and what can be done."""
        parts = [_("enter adds, enter alone ends the list")]
        if self._proposed:
            n = len(self._proposed)
            parts.append(ngettext("tab takes {n} layer of this run", "tab takes {n} layers of this run", n).format(n=n))
        return commas(parts)

    def rows(self, style: Style) -> List[Row]:
        """The list above the line."""
        listed = style.paragraph(places_text([safe(name) for name in self.names]), "text") if self.names else []
        return [*listed, *super().rows(style)]

    @staticmethod
    def _split(text: str) -> List[str]:
        return [name for name in _BETWEEN.split(text) if name]
