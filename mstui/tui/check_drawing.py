"""How a guided check is drawn: the question or the outcome, the causes beside it where there is room, and the keys.

One question fits a screen of 80x24; where it does not, it scrolls and says so. It decides nothing.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

from mstui.checks.session import Session
from mstui.checks.session_screen import CauseLine, Ending, Screen, SessionWords
from mstui.i18n import _, current_language
from mstui.journal.foreign import left_out_text
from mstui.safe_text import width
from mstui.tui import check_rows
from mstui.tui.alert_words import step_text, title
from mstui.tui.check_causes import CausesPane
from mstui.tui.check_entry import Entry as EntryLine
from mstui.tui.check_life import LiveCheck
from mstui.tui.check_live import accepted
from mstui.tui.check_manual import ManualPages
from mstui.tui.check_rows import Group, Style
from mstui.tui.lines import Row
from mstui.tui.verdict_words import journal_text

WIDE_FROM = 104
"""cells inside the frame from which the causes stand beside the question"""
CAUSES_SHARE = 0.42
MOST_CAUSES_COLUMNS = 72
QUESTION_COLUMNS = 96
"""cells beyond which lines are tiring to read"""
NOTICE_ROWS = 3


class DrawnCheck(LiveCheck):
    """What is on the screen, and what of it a person has opened."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.entry: Optional[EntryLine] = None
        """the line to type in"""
        self.note_text = ""
        """what goes with the next answer"""
        self.manual: Optional[ManualPages] = None
        self.causes_open = False
        """the causes have the keys"""
        self._pane = CausesPane()
        self._page = 1
        self._last_top = 0

    def body(self, width: int, height: int) -> Sequence[Row]:
        """The question or the outcome, the causes beside it where there is room, and the keys."""
        session = self.standing.session
        if self._was_cleared is None:
            self._see_alert()
        if session is None:
            self.title_text, self.hint = _("check"), _("esc leaves")
            said = _("This alert is no longer there.") if self._gone else _("reading ...")
            return Style(width, self.ascii_only).paragraph(said, "dim")
        words = SessionWords(session, current_language())
        screen, ending = words.screen(), words.ending()
        self.title_text = self._title(session, words)
        if self.manual is not None:
            style = Style(min(width, QUESTION_COLUMNS), self.ascii_only)
            rows = self.manual.rows(style, height)
            self.hint = self.manual.hint()
            return rows
        self.hint = _("b undo   c causes   d manual   m Markdown   esc leaves, answers are kept")
        lines = words.causes()
        if width >= WIDE_FROM:
            self.hint += "   " + _("M Markdown in the other language")
        if width < WIDE_FROM:
            if self.causes_open:
                self.hint = _("y it is this   n it is not   d manual   j k move   c back")
                return self._pane.rows(lines, Style(width, self.ascii_only), height, focused=True)
            return self._left(session, words, screen, ending, Style(width, self.ascii_only), height)
        return self._both(session, words, (screen, ending), lines, (width, height))

    def _both(
        self,
        session: Session,
        words: SessionWords,
        shown: Tuple[Optional[Screen], Optional[Ending]],
        lines: Sequence[CauseLine],
        size: Tuple[int, int],
    ) -> List[Row]:
        """Question and causes side by side."""
        columns, height = size
        right = min(int(columns * CAUSES_SHARE), MOST_CAUSES_COLUMNS)
        left = columns - right - 3
        style = Style(min(left, QUESTION_COLUMNS), self.ascii_only)
        question = self._left(session, words, *shown, style, height)
        causes = self._pane.rows(lines, Style(right, self.ascii_only), height, focused=self.causes_open)
        if self.causes_open:
            self.hint = _("y it is this   n it is not   d manual   j k move   c back")
        rule = "|" if self.ascii_only else "│"
        rows: List[Row] = []
        for at in range(height):
            row = question[at] if at < len(question) else ()
            blank = " " * max(left - sum(width(text) for text, _look in row), 0)
            rows.append((*row, (blank + f" {rule} ", "rule"), *(causes[at] if at < len(causes) else ())))
        return rows

    def _left(
        self,
        session: Session,
        words: SessionWords,
        screen: Optional[Screen],
        ending: Optional[Ending],
        style: Style,
        height: int,
    ) -> List[Row]:
        """The question or the outcome, and below it what is said and which keys there are."""
        foot = self._foot(session, screen, ending, style)
        room = max(height - len(foot) - 1, 1)
        if screen is not None:
            groups = check_rows.question_groups(session, words, screen, style, room, self.title_text)
        elif ending is not None:
            groups = check_rows.ending_groups(session, words, ending, self._marked, accepted(session), style)
        else:
            groups = []
        left = room - sum(map(len, groups)) - len(groups)
        groups += [group for group in [check_rows.answered_group(words, style, left)] if group]
        rows = check_rows.stacked(groups, room)
        self._page, self._last_top = room, max(len(rows) - room, 0)
        self.top = min(max(self.top, 0), self._last_top)
        shown = rows[self.top : self.top + room]
        shown += [()] * (room - len(shown))
        more = _("j k: {first}-{last} of {rows} rows").format(
            first=self.top + 1, last=self.top + room, rows=len(rows)
        ) if self._last_top else ""  # fmt: skip
        return [*shown, ((more, "dim"),), *foot]

    def _foot(self, session: Session, screen: Optional[Screen], ending: Optional[Ending], style: Style) -> Group:
        rows: Group = []
        if self.entry is not None:
            return self.entry.rows(style)
        health = self._services.monitor.journal_health()
        rows += style.paragraph(journal_text(health, ascii_only=self.ascii_only), "warning")[:NOTICE_ROWS]
        rows += style.paragraph(left_out_text(health.foreign + session.notes.unread), "dim")[:NOTICE_ROWS]
        rows += style.paragraph(self.notice, "info")[:NOTICE_ROWS]
        if self.standing.more:
            rows += style.paragraph(_("Something new was seen that can be asked about: enter goes on."), "warning")
        if self.note_text:
            rows += style.paragraph(_("with the answer: {note}").format(note=self.note_text), "key")[:NOTICE_ROWS]
        answers = check_rows.answer_row(screen, style) if screen is not None else ()
        own = _keys_row(self._own_keys(session, screen, ending))
        if sum(width(text) for text, _look in (*answers, *own)) <= style.columns:
            return [*rows, (*answers, *own)]
        return [*rows, answers, own]

    def _own_keys(self, session: Session, screen: Optional[Screen], ending: Optional[Ending]) -> List[Tuple[str, str]]:
        """Keys that not every question has."""
        keys: List[Tuple[str, str]] = []
        ask = session.ask
        if ask is not None and (ask.wants or ask.assist):
            keys.append(("v", _("value") if ask.wants else _("places")))
        if check_rows.code_to_copy(screen, ending, self._marked):
            keys.append(("Y", _("copy the code")))
        if screen is not None and screen.reference:
            keys.append(("R", _("copy the reference's")))
        if ending is not None and self._open_causes(session, ending):
            keys += [("y", _("it is this")), ("n", _("it is not"))]
        if ending is not None and len(ending.fixes) > 1:
            keys.append(("tab", _("next cause")))
        if ending is not None and self._acts:
            keys += [("a", _("ack")), ("I", _("intended"))]
        return keys

    def _title(self, session: Session, words: SessionWords) -> str:
        alert = self._alert()
        if alert is not None and not self._flow:
            head = alert.incident.head
            what = f"{title(head.symptom)}  {step_text(head.step)}"
        else:
            flow = self._flow.partition("#")[0]
            what = session.base.flows[flow].title.text(current_language()) if flow in session.base.flows else flow
        if session.ask is None:
            outcome = session.outcome
            return f"{what}   {words.outcome_title(outcome.kind)}" if outcome is not None else what
        number, most = session.answered + 1, session.answered + session.remaining
        return what + "   " + _("question {n} of at most {most}").format(n=number, most=most)

    @staticmethod
    def _open_causes(session: Session, ending: Ending) -> bool:
        """The marked cause can still be accepted or rejected."""
        return bool(ending.fixes) and not accepted(session)


def _keys_row(keys: Sequence[Tuple[str, str]]) -> Row:
    return tuple(span for key, text in keys for span in ((key, "key"), (f" {text}  ", "dim")))
