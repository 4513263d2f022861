"""A line to type an answer in: enter gives it when it can be understood, escape gives nothing."""

from __future__ import annotations

from typing import Callable, Sequence

from textual import events

from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit_one, width
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
        super().__init__(question.label[0], question.text, self._judged, close)

    def _judged(self, text: str) -> Verdict:
        self._answer = self._question.judge(text)
        return self._answer

    def draw(self, width_: int, height: int) -> Sequence[Row]:
        """`acknowledge Loss is NaN: bad shard until step 500_   until step 500`; a hint while nothing is typed."""
        question = self._question
        if self.typed.text:
            answer = min(width(self._answer.text), width_ // 2)
            self._label = self._labelled(width_, LEAST_TYPED + answer)
            return super().draw(width_, height)
        verdict = f" {self._answer.text} "
        self._label = self._labelled(width_, width(question.hint[0]) + width(verdict))
        label = f" {self._label} "
        room = max(width_ - width(label) - width(verdict) - 1, 0)
        hint = fit_one(question.hint, room, ellipsis=self._ellipsis)
        blank = " " * (room - width(hint))
        return (((label, "key"), (" ", "selected"), (f"{hint}{blank}", "dim"), (verdict, "info")),)

    def _labelled(self, width_: int, beside: int) -> str:
        """The question in as many words as leave so many cells; in the fewest it may take half of the line."""
        label = self._question.label
        room = max(width_ - len("  ") - 1 - beside, min(width(label[-1]), width_ // 2))
        return fit_one(label, room, ellipsis=self._ellipsis)

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
