"""The guided check of one incident, or a flow: one question, one screen, from the first to the outcome; its keys."""

from __future__ import annotations

from typing import Optional, Tuple

from textual import events

from mstui.checks.session import Session
from mstui.checks.session_ask import AskKind
from mstui.checks.session_screen import Ending, Screen, SessionWords
from mstui.i18n import _, current_language, headed, mark
from mstui.knowledge.walk import NO, YES, state_at
from mstui.tui import check_rows
from mstui.tui.check_drawing import DrawnCheck
from mstui.tui.check_entry import FiguresEntry, NoteEntry, PlacesEntry
from mstui.tui.check_manual import ManualPages
from mstui.tui.check_rows import Style, answer_of
from mstui.tui.overlay import DOWN, UP

UNSETTLED_S = 1.0
"""seconds for which enter confirms nothing after the answer that was found by itself has turned round"""
KEYS_TEXT = mark(
    "y n s u answer, enter confirms what was found, a adds a note, v enters a figure or places, b takes back, "
    "c causes, d manual, Y copies code, m M write Markdown in this and the other language, j k scroll, esc leaves"
)
LEAVE = ("escape", "q")
SCROLL = (*DOWN, *UP, "pagedown", "pageup", "space", "home", "end")


class CheckWindow(DrawnCheck):
    """`alert_id` empty: the flow alone."""

    def on_paste(self, event: events.Paste) -> None:
        """Into the line that is open."""
        event.stop()
        if self.entry is not None:
            self.entry.paste(event.text)
            self.redraw()

    def press(self, key: str, character: Optional[str]) -> None:
        """One key: to the line to type in, the manual, the causes, or the question."""
        if self.entry is not None:
            self.entry.press(key, character)
            self._end_entry()
        elif self.manual is not None:
            if not self.manual.press(key):
                self.manual = None
        elif self.causes_open:
            self._press_cause(key)
        else:
            self._press_question(key)
        if self.display:
            self.redraw()

    def _press_question(self, key: str) -> None:
        session = self.standing.session
        if key in LEAVE:
            self.close()
            return
        if session is None:
            return
        undo_others, self._undo_others = self._undo_others, False
        if key not in (*DOWN, *UP):
            self.notice = ""
        words = SessionWords(session, current_language())
        screen, ending = words.screen(), words.ending()
        if key in SCROLL:
            self._scroll(key)
        elif key == "b":
            self._undo(session, words, others=undo_others)
        elif key == "c":
            self.causes_open = True
        elif key == "question_mark":
            self.notice = _(KEYS_TEXT)
        elif key == "d":
            self.manual = ManualPages(session.base, self._entry_id(session), session.case.version)
        elif key in ("m", "M"):
            self._save(session, current_language() if key == "m" else check_rows.other_language())
        elif key == "Y":
            self._copy(check_rows.code_to_copy(screen, ending, self._marked))
        elif key == "R" and screen is not None and screen.reference:
            self._copy(screen.reference)
        elif screen is not None:
            self._press_answer(session, screen, key)
        elif ending is not None:
            self._press_ending(session, ending, key)

    def _press_answer(self, session: Session, screen: Screen, key: str) -> None:
        if key in ("v", "a"):
            self._open_entry(session, screen, key)
            return
        word = answer_of([choice.word for choice in screen.choices], key)
        if key == "enter":
            if not screen.offered:
                self.notice = _("Nothing was found by itself: answer with a letter.")
                return
            if self._services.tick() - self._turned_at < UNSETTLED_S:
                self.notice = _("What was found has just changed: look again.")
                return
            word = screen.offered
        if word:
            note, self.note_text = self.note_text, ""
            self._note(session.answer(self._pen(), word, note=note))

    def _press_ending(self, session: Session, ending: Ending, key: str) -> None:
        if key == "enter" and self.standing.more:
            self.standing.go_on()
            self.top = 0
        elif key in self._acts:
            self.close()
            self.screen.call_later(self._acts[key], 0)
        elif key == "tab" and ending.fixes:
            self._marked = (self._marked + 1) % len(ending.fixes)
        elif key in ("y", "n") and self._open_causes(session, ending):
            cause = ending.fixes[min(self._marked, len(ending.fixes) - 1)][0]
            self._note(session.judge(self._pen(), cause, YES if key == "y" else NO))

    def _press_cause(self, key: str) -> None:
        session = self.standing.session
        if key in (*LEAVE, "c") or session is None:
            self.causes_open = False
            return
        lines = SessionWords(session, current_language()).causes()
        current = self._pane.current(lines)
        moves = {**dict.fromkeys(DOWN, 1), **dict.fromkeys(UP, -1), "home": -len(lines), "end": len(lines)}
        if key in moves:
            self._pane.move(lines, moves[key])
        elif current is not None and key in ("d", "enter"):
            self.manual = ManualPages(session.base, current.id, session.case.version)
        elif current is not None and key in ("y", "n"):
            self.causes_open = False
            self._note(session.judge(self._pen(), current.id, YES if key == "y" else NO))
            word = _("it is this") if key == "y" else _("it is not this")
            self.notice = headed(current.title, word)

    def _scroll(self, key: str) -> None:
        by = {
            **dict.fromkeys(DOWN, 1),
            **dict.fromkeys(UP, -1),
            **dict.fromkeys(("pagedown", "space"), self._page),
            "pageup": -self._page,
            "home": -self._last_top,
            "end": self._last_top,
        }[key]
        self.top = min(max(self.top + by, 0), self._last_top)

    def _open_entry(self, session: Session, screen: Screen, key: str) -> None:
        ask = session.ask
        if key == "a":
            self.entry = NoteEntry(self.note_text)
        elif screen.wants:
            self.entry = FiguresEntry(screen.wants, Style(self.size.width, self.ascii_only))
        elif ask is not None and ask.assist:
            search = session.bisection
            proposed = self._layers()
            if "backward" in ask.assist:
                proposed = proposed[::-1]  # seen from the loss
            self.entry = PlacesEntry(search.places if search is not None else (), proposed)
        else:
            self.notice = _("This question wants no figure.")

    def _end_entry(self) -> None:
        entry, session = self.entry, self.standing.session
        if entry is None or session is None or not entry.done:
            return
        self.entry = None
        if isinstance(entry, NoteEntry):
            self.note_text = self.note_text if entry.left else entry.typed.text.strip()
        elif isinstance(entry, FiguresEntry):
            for fact, value in entry.values:
                current = self.standing.session
                assert current is not None
                self._note(current.declare(self._pen(), fact, value))
        elif isinstance(entry, PlacesEntry) and not entry.left and entry.names:
            self._note(session.name_places(self._pen(), entry.names))

    def _layers(self) -> Tuple[str, ...]:
        """Layers of this run in the order of the network, where its parameters are known."""
        tags = self._services.monitor.tags(self._run_key)
        names = [tag.parameter.rpartition(".")[0] or tag.parameter for tag in tags if tag.parameter]
        return tuple(dict.fromkeys(names))

    # ---- what leads elsewhere

    def _entry_id(self, session: Session) -> str:
        """The manual's entry of what is shown."""
        ask, outcome = session.ask, session.outcome
        if ask is None:
            if outcome is not None and outcome.causes:
                return outcome.causes[min(self._marked, len(outcome.causes) - 1)]
            return session.symptoms[0] if session.symptoms else session.case.flow.partition("#")[0]
        if ask.kind in (AskKind.STEP, AskKind.CAUSE):
            return ask.id
        if session.walks:
            place = session.walks[-1].place
            return state_at(session.base, place).step or place.flow
        return ""

    def _copy(self, text: str) -> None:
        self.notice = self._services.copy(text) if text else _("There is no code here.")

    def _save(self, session: Session, language: str) -> None:
        from mstui.tui.check_export import said

        self.notice = _("saving ...")
        screen, app = self.screen, self.app  # the window may be closed while it is written

        def work() -> None:
            written = self._services.save(session, self._run_key, self._incident, language)
            app.call_from_thread(self._tell, said(written))

        screen.run_worker(work, thread=True, group="save", exclusive=True)

    def _tell(self, text: str) -> None:
        if not self.display:
            self._services.say(text)
            return
        self.notice = text
        self.redraw()
