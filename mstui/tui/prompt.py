"""One line to type in, in the footer's place, for filters. What is typed is tried at once."""

from __future__ import annotations

from typing import Callable, NamedTuple, Sequence, Tuple

from textual import events

from mstui.safe_text import fit, fit_one, safe, width
from mstui.tui.lines import Lines, Row

MAX_TEXT = 500
"""characters of a filter; a longer one is pasted by mistake"""


class Typed(NamedTuple):
    """A text and the place in it where the next character goes."""

    text: str = ""
    at: int = 0

    def insert(self, more: str) -> Typed:
        """With characters added at the cursor."""
        more = more[: max(MAX_TEXT - len(self.text), 0)]
        return Typed(self.text[: self.at] + more + self.text[self.at :], self.at + len(more))

    def press(self, key: str) -> Typed:
        """After an editing key; the same for a key that edits nothing."""
        text, at = self.text, self.at
        if key in ("backspace", "ctrl+h"):
            return Typed(text[: max(at - 1, 0)] + text[at:], max(at - 1, 0))
        if key == "delete":
            return Typed(text[:at] + text[at + 1 :], at)
        if key == "ctrl+u":
            return Typed(text[at:], 0)
        if key == "ctrl+k":
            return Typed(text[:at], at)
        if key == "ctrl+w":
            start = len(text[:at].rstrip().rpartition(" ")[0])
            return Typed(text[:start] + text[at:], start)
        moves = {"left": max(at - 1, 0), "right": min(at + 1, len(text)), "home": 0, "end": len(text)}
        return Typed(text, moves.get(key, at))


class Verdict(NamedTuple):
    """What the filter did: a hit count, or why it cannot be understood."""

    text: str
    bad: bool = False
    shorter: Tuple[str, ...] = ()
    """the same in fewer words, for where there is no room"""

    @property
    def wordings(self) -> Tuple[str, ...]:
        """All, the longest first."""
        return (self.text, *self.shorter)


class Prompt(Lines, can_focus=True):
    """Calls `tried` with every change; enter keeps, escape restores what was there before."""

    def __init__(self, label: str, text: str, tried: Callable[[str], Verdict], close: Callable[[], None]) -> None:
        super().__init__()
        self._label = label
        self._before = text
        self._tried = tried
        self._close = close
        self.typed = Typed(text, len(text))
        self._verdict = tried(text)

    def judge(self, verdict: Verdict) -> None:
        """What has been found out since about the text as it stands."""
        if verdict != self._verdict:
            self._verdict = verdict
            self.redraw()

    def draw(self, width_: int, height: int) -> Sequence[Row]:
        """`filter tags: text_   [3/16]`."""
        del height
        label = f" {self._label} "
        verdict = fit_one([f" {text}" for text in self._verdict.wordings], max((width_ - 2) // 2, 0))
        room = max(width_ - 2 - width(label) - width(verdict), 1)
        before, after = (
            safe(self.typed.text[: self.typed.at], MAX_TEXT),
            safe(self.typed.text[self.typed.at :], MAX_TEXT),
        )
        while width(before) > max(room - 1, 0):
            before = before[1:]
        after = fit(after + " ", room - width(before), middle=False)
        gap = " " * max(room - width(before) - width(after), 0)
        return (
            (
                (label, "key"),
                (before, "text"),
                (after[:1], "selected"),
                (after[1:] + gap, "text"),
                (verdict, "critical" if self._verdict.bad else "info"),
            ),
        )

    def on_key(self, event: events.Key) -> None:
        """Edit; nothing below may see a key."""
        event.stop()
        event.prevent_default()
        if event.key == "enter":
            self._close()
        elif event.key == "escape":
            self._tried(self._before)
            self._close()
        elif event.is_printable and event.character:
            self._edit(self.typed.insert(event.character))
        else:
            self._edit(self.typed.press(event.key))

    def on_paste(self, event: events.Paste) -> None:
        """Only the first line of what is pasted."""
        event.stop()
        self._edit(self.typed.insert(event.text.partition("\n")[0].rstrip("\r")))

    def _edit(self, typed: Typed) -> None:
        changed = typed.text != self.typed.text
        self.typed = typed
        if changed:
            self._verdict = self._tried(typed.text)
        self.redraw()
