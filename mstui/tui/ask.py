"""A line to type an answer in: enter gives it when it can be understood, escape gives nothing."""

from __future__ import annotations

from typing import Callable, Sequence

from textual import events

from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, width
from mstui.tui.alert_asking import Question
from mstui.tui.lines import Row
from mstui.tui.prompt import Prompt, Verdict

LEAST_TYPED = 20
"""cells that the answer keeps beside a long question"""


class AskPrompt(Prompt):
    """Shows a Question in the footer's place."""

    def __init__(self, question: Question, close: Callable[[], None], *, ascii_only: bool = False) -> None:
        self._question = question
        self._answer = Verdict("")
        self._ellipsis = ASCII_ELLIPSIS if ascii_only else ELLIPSIS
        super().__init__(question.label, question.text, self._judged, close)

    def _judged(self, text: str) -> Verdict:
        self._answer = self._question.judge(text)
        return self._answer

    def draw(self, width_: int, height: int) -> Sequence[Row]:
        """`acknowledge Loss is NaN: bad shard until step 500_   until step 500`; a hint while nothing is typed."""
        room = max(width_ - 4 - LEAST_TYPED - min(width(self._answer.text), width_ // 2), 0)
        self._label = fit(self._question.label, max(room, width_ // 4), middle=False, ellipsis=self._ellipsis)
        if self.typed.text:
            return super().draw(width_, height)
        label, verdict = f" {self._label} ", f" {self._answer.text} "
        room = max(width_ - width(label) - width(verdict) - 2, 0)
        hint = fit(self._question.hint, room, middle=False, ellipsis=self._ellipsis)
        blank = " " * (room - width(hint))
        return (((label, "key"), (" ", "selected"), (f"{hint}{blank}", "dim"), (verdict, "info")),)

    def on_key(self, event: events.Key) -> None:
        """Enter with what cannot be understood stays; everything else is the line's own."""
        if event.key != "enter":
            super().on_key(event)
            return
        event.stop()
        event.prevent_default()
        if self._answer.bad:
            return
        self._close()
        self._question.accept(self.typed.text)
