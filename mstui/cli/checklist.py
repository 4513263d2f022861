"""Runs `checklist`: the checks before a training, one question at a time, on any terminal that has lines.

Answers go into the journal, so that the list can be gone on with later, by somebody else too, here or on the check
screen of `watch`. Without a terminal it prints the whole list with the answers so far. Of a run it looks for the files,
for the name that the journal knows it by, and reads nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import TYPE_CHECKING, Callable, Iterator, List, Optional, Tuple

import click

from mstui.checks.markdown import Report, incident_markdown
from mstui.checks.session import Case, Session, session
from mstui.checks.session_notes import Pen
from mstui.checks.session_screen import Ending, Screen, SessionWords
from mstui.cli.explain import WIDEST
from mstui.cli.settings import read_settings
from mstui.config import Settings, default_state_dir
from mstui.errors import StartError
from mstui.i18n import _, current_language, ngettext
from mstui.journal import Journal
from mstui.journal.foreign import left_out_text
from mstui.journal.who import user_at_host
from mstui.knowledge.loader import knowledge
from mstui.knowledge.schema import Flow, Knowledge
from mstui.knowledge.walk import NO, SKIP, UNSURE, YES, Place, state_at
from mstui.knowledge.wrapping import wrap
from mstui.model.journal import Entry
from mstui.safe_text import safe

if TYPE_CHECKING:
    from mstui.monitor.identities import Named

FLOW = "checklist"
INCIDENT = FLOW
"""What the answers are filed under in the journal, here and on the screen, as if it were an incident of the run"""
BACK, QUIT = "b", "q"
KEYS = {"y": YES, "n": NO, "s": SKIP, "u": UNSURE}
INDENT = "  "
CODE_INDENT = "    "
MARKS = {YES: "+", NO: "x", SKIP: "-", UNSURE: "?"}
"""Before an item that was answered; a space before one that was not"""
CAUSES_SHOWN = 2
"""Causes whose fix is printed at once after trouble was found; the end prints all"""

Clock = Callable[[], float]
Ask = Callable[[str], Optional[str]]
"""A line that the person types after a prompt; None at the end of the input"""
Write = Callable[[str], object]


def what_for(path: Optional[str], settings: Settings) -> Optional[Named]:
    """The run, or the folder of one to come, that a list is for; None without a path."""
    if not path:
        return None
    from mstui.cli.settings import FORMATS, formats_with
    from mstui.formats.base import Format
    from mstui.monitor.identities import named_at
    from mstui.registry import collect

    formats = formats_with(settings.log_pattern) or collect(FORMATS, "FORMAT", Format)
    return named_at(path, formats, settings.run)


class Checklist:
    """One list on one terminal."""

    def __init__(
        self,
        journal: Journal,
        named: Optional[Named],
        *,
        clock: Clock,
        who: str,
        columns: int,
        version: str = "",
        base: Optional[Knowledge] = None,
    ) -> None:
        self._journal = journal
        self._path = named.path if named is not None else ""
        self._identity = named.names.identity if named is not None else ""
        self._others: Tuple[str, ...] = named.names.answers if named is not None else ()
        self._clock = clock
        self._who = who
        self._columns = columns
        self._base = base if base is not None else knowledge()
        self._case = Case(flow=FLOW, version=version)
        self._flow: Flow = self._base.flows[FLOW]

    @property
    def session(self) -> Session:
        """Where the list stands, with what others have answered meanwhile."""
        entries: List[Entry] = self._journal.entries(self._identity, self._others).get(INCIDENT, [])
        return session(self._base, self._case, entries)

    @property
    def left_out(self) -> int:
        """Answers that cannot be read, and what else a later mstui has noted about the run."""
        unread = self.session.notes.unread
        return unread + self._journal.state.foreign

    def restart(self) -> None:
        """Take every answer back."""
        at = self.session
        while at.notes.given:
            at = at.plus(self._note(at.undo(self._pen())))

    def walk(self, ask: Ask, write: Write) -> None:
        """Ask one question after the other, until all are answered or the person leaves."""
        at = self.session
        if at.answered:
            before = ngettext(
                "{n} question was answered before; going on.",
                "{n} questions were answered before; going on.",
                at.answered,
            )
            write(before.format(n=at.answered))
        while at.ask is not None:
            shown = SessionWords(at, current_language()).screen()
            assert shown is not None
            write("\n".join(("", *self._question(at, shown))))
            line = ask(self._prompt(shown))
            if line is None:
                write("")
                return
            word, note = _split(line)
            if word == QUIT:
                return
            if word == BACK:
                if not self._note(at.undo(self._pen())):
                    write(_("There is nothing to go back to."))
            elif word in at.ask.choices:
                asked = at.ask.subject
                self._note(at.answer(self._pen(), word, note=note))
                if word == NO:
                    write("\n".join(self._trouble(asked)))
            else:
                write(_("Answer with one of the letters in front."))
            at = self.session

    def listing(self) -> Iterator[str]:
        """The whole list with the answers so far."""
        at = self.session
        yield from self._heading(at)
        for number, place in enumerate(self._places(), 1):
            yield ""
            yield from self._item(at, number, place)

    def ending(self) -> Iterator[str]:
        """What came out, or how many questions are left."""
        at = self.session
        words = SessionWords(at, current_language())
        ending = words.ending()
        if ending is None:
            yield _("Answered: {n} of {total}. The same command goes on.").format(
                n=self._answered(at), total=len(self._places())
            )
            return
        yield f"{ending.title}" + (f": {ending.said}" if ending.said else "")
        yield from self._fixes(ending)

    def markdown(self) -> str:
        """The list and its outcome."""
        named = self._path or _("no run")
        return incident_markdown(Report(self.session, named, self._clock()), current_language())

    # --- pieces

    def _pen(self) -> Pen:
        return Pen(INCIDENT, self._clock(), self._who)

    def _note(self, entries: Tuple[Entry, ...]) -> Tuple[Entry, ...]:
        if entries:
            self._journal.add(self._identity, entries)
        return entries

    def _places(self) -> List[Place]:
        """The items in documented order."""
        return [Place(FLOW, key) for key, state in self._flow.states.items() if not state.is_end]

    def _answered(self, at: Session) -> int:
        return sum(f"{place.flow}:{place.state}" in at.notes.answers for place in self._places())

    def _heading(self, at: Session) -> Iterator[str]:
        yield self._flow.title.text(current_language())
        yield from wrap(self._flow.about.text(current_language()), self._columns)
        if self._path:
            yield safe(self._path, len(self._path))
        if at.answered:
            yield _("Answered: {n} of {total}").format(n=self._answered(at), total=len(self._places()))

    def _question(self, at: Session, shown: Screen) -> Iterator[str]:
        head = f"[{self._answered(at) + 1}/{len(self._places())}] "
        yield from self._text(head + shown.ask, "")
        yield from self._details(shown)

    def _details(self, shown: Screen) -> Iterator[str]:
        yield from self._text(shown.do)
        for line in shown.code.splitlines():
            yield CODE_INDENT + line
        labels = {key: self._base.labels[key].text(current_language()) for key in ("expected", "why")}
        for label, text in ((labels["expected"], shown.expect), (labels["why"], shown.why)):
            if text:
                yield from self._text(f"{label}: {text}")

    @staticmethod
    def _prompt(shown: Screen) -> str:
        texts = {choice.word: choice.text for choice in shown.choices}
        parts = [f"{key}={texts[word]}" for key, word in KEYS.items() if word in texts]
        parts += [f"{key}={text}" for key, text in ((BACK, _("back")), (QUIT, _("leave")))]
        return ", ".join(parts) + " > "

    def _item(self, at: Session, number: int, place: Place) -> Iterator[str]:
        state = state_at(self._base, place)
        step = self._base.steps.get(state.step)
        ask = step.ask if step is not None else state.ask
        word = at.notes.answers.get(f"{place.flow}:{place.state}", "")
        head = f"{MARKS.get(word, ' ')} {number:>2} "
        for at_line, line in enumerate(wrap(ask.text(current_language()), self._columns - len(head))):
            yield (head if at_line == 0 else " " * len(head)) + line
        do = step.do if step is not None else state.do
        if do is not None:
            passage = do.at(self._case.version)
            yield from self._text(passage.text.text(current_language()), CODE_INDENT)
            for line in passage.code.splitlines():
                yield CODE_INDENT + INDENT + line

    def _trouble(self, subject: str) -> Iterator[str]:
        """What to do about trouble that was just found."""
        flow, _colon, key = subject.partition(":")
        for cause in state_at(self._base, Place(flow, key)).accuses[:CAUSES_SHOWN]:
            known = self._base.causes[cause]
            fix = known.fix.at(self._case.version)
            yield from self._text(f"> {known.title.text(current_language())} ({cause})", "")
            yield from self._text(fix.text.text(current_language()))
            for line in fix.code.splitlines():
                yield CODE_INDENT + line

    def _fixes(self, ending: Ending) -> Iterator[str]:
        titles = {line.id: line.title for line in ending.causes}
        for cause, fix, code in ending.fixes:
            yield ""
            yield from self._text(f"{titles[cause]} ({cause})", "")
            yield from self._text(fix)
            for line in code.splitlines():
                yield CODE_INDENT + line

    def _text(self, text: str, indent: str = INDENT) -> Iterator[str]:
        for line in wrap(text, self._columns - len(indent)):
            yield indent + line


def run(path: Optional[str], *, state_dir: Optional[str], markdown: Optional[str], again: bool, version: str) -> int:
    """The command, on this process's terminal."""
    settings = _settings(path)
    named = what_for(path, settings)
    journal = Journal(os.path.abspath(state_dir or settings.state_dir or default_state_dir()))
    try:
        return checklist(
            journal,
            named,
            ask=_ask if sys.stdin.isatty() and sys.stdout.isatty() else None,
            write=click.echo,
            warn=lambda text: click.echo(text, err=True),
            clock=time.time,
            columns=min(shutil.get_terminal_size().columns, WIDEST),
            version=version,
            markdown=markdown,
            again=again,
        )
    finally:
        journal.close()


def _settings(path: Optional[str]) -> Settings:
    return read_settings(path, None, {})


def _ask(prompt: str) -> Optional[str]:
    try:
        return input(prompt)
    except EOFError:
        return None


def checklist(
    journal: Journal,
    named: Optional[Named],
    *,
    ask: Optional[Ask],
    write: Write,
    warn: Write,
    clock: Clock,
    columns: int,
    version: str = "",
    markdown: Optional[str] = None,
    again: bool = False,
) -> int:
    """Walk the list, or print it where nobody can be asked (`ask` None).

    Raises StartError when the Markdown file cannot be written.
    """
    listed = Checklist(journal, named, clock=clock, who=user_at_host(), columns=columns, version=version)
    if named is not None and named.several:
        said = _("{n} runs are below {path}: this list is not of one of them. Name the path of a run for that.")
        warn(said.format(n=named.several, path=safe(named.path, len(named.path))))
    if listed.left_out:
        warn(left_out_text(listed.left_out))
    if again:
        listed.restart()
    if ask is not None:
        listed.walk(ask, write)
    if markdown is not None:
        _save(markdown, listed.markdown())  # before anything is printed: a reader of the output may leave early
    if ask is None:
        write("\n".join(listed.listing()))
    write("\n".join(("", *listed.ending())))
    state = journal.state
    if not state.ok:
        warn(_("the answers could not be kept: {reason}").format(reason=state.detail))
    if markdown is not None:
        write(_("written: {path}").format(path=safe(markdown, len(markdown))))
    return 0


def _save(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    except (OSError, ValueError) as error:
        remedy = _("Name a file in a directory that you may write to.")
        raise StartError(safe(str(error)), safe(path), remedy) from error


def _split(line: str) -> Tuple[str, str]:
    """The answer and the note behind it: "n 0.1 is right" is no with a note. Whole words are understood too."""
    word, _space, note = line.strip().partition(" ")
    word = word.lower()
    return KEYS.get(word, {"back": BACK, "quit": QUIT, "exit": QUIT}.get(word, word)), note.strip()
