"""The checklist before a training: asked one by one, kept, gone on with, printed whole where nobody can be asked."""

from __future__ import annotations

import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Iterator, List, Optional, Sequence

import pytest

from mstui import i18n
from mstui.checks.session import Session
from mstui.checks.session_notes import Pen
from mstui.cli.checklist import INCIDENT, Checklist, checklist, what_for
from mstui.config import Settings
from mstui.errors import StartError
from mstui.ingest.watch import WatchMode
from mstui.journal import Journal
from mstui.journal.who import user_at_host
from mstui.knowledge.loader import knowledge
from mstui.monitor import Monitor
from mstui.safe_text import width
from tests.unit.cli.test_commands import ROOT, mstui
from tests.unit.monitor.judged_runs import NOW, losses, write_log

BASE = knowledge()
ITEMS = [state for state in BASE.flows["checklist"].states.values() if not state.is_end]


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    before = i18n.current_language()
    i18n.set_language("en")
    yield
    i18n.set_language(before)


class Person:
    """Types lines, and keeps what is printed."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = iter(lines)
        self.prompts: List[str] = []
        self.printed: List[str] = []
        self.warned: List[str] = []

    def ask(self, prompt: str) -> Optional[str]:
        self.prompts.append(prompt)
        return next(self._lines, None)

    @property
    def text(self) -> str:
        return "\n".join(self.printed)


def sit(
    state: Path,
    lines: Optional[Sequence[str]],
    path: Optional[str] = None,
    *,
    columns: int = 80,
    version: str = "",
    markdown: Optional[str] = None,
    again: bool = False,
    settings: Settings = Settings(),  # noqa: B008
) -> Person:
    person = Person(lines or ())
    journal = Journal(str(state))
    code = checklist(
        journal,
        what_for(path, settings),
        ask=None if lines is None else person.ask,
        write=person.printed.append,
        warn=person.warned.append,
        clock=lambda: 7.0,
        columns=columns,
        version=version,
        markdown=markdown,
        again=again,
    )
    journal.close()
    assert code == 0
    return person


def test_answered_with_yes_throughout_all_is_ruled_out(tmp_path: Path) -> None:
    person = sit(tmp_path, ["y"] * 100)
    assert len(person.prompts) == len(ITEMS) == 24
    assert person.printed[-1].startswith("\nall ruled out")
    assert person.prompts[0] == "y=yes, n=no, s=skip, u=not sure, b=back, q=leave > "


def test_one_question_holds_what_to_do_what_is_expected_and_why(tmp_path: Path) -> None:
    person = sit(tmp_path, ["q"])
    step = BASE.steps["st.lr"]
    assert f"[1/24] {step.ask.en}" in person.text
    for part in (step.do.text.en, step.expect.en, step.why.en):
        assert part[:40] in person.text
    assert "Answered: 0 of 24. The same command goes on." in person.text


def test_trouble_shows_the_fix_at_once_and_again_at_the_end(tmp_path: Path) -> None:
    person = sit(tmp_path, ["n 0.5 in the script", *["y"] * 23])
    cause = BASE.causes["lr-too-large"]
    assert person.text.count(cause.fix.text.en[:40]) == 2
    assert "> Learning rate too large (lr-too-large)" in person.text
    assert "trouble points to" in person.printed[-1]
    (given,) = (each for each in _session(tmp_path).notes.given if each.answer == "no")
    assert given.note == "0.5 in the script"


def test_it_goes_on_where_it_was_left_and_another_person_goes_on_too(tmp_path: Path) -> None:
    sit(tmp_path, ["y", "s", "u", "q"])
    person = sit(tmp_path, ["y"] * 100)
    assert "3 questions were answered before; going on." in person.printed[0]
    assert len(person.prompts) == 21


def test_lists_of_two_runs_are_two_lists(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    sit(tmp_path / "state", ["y", "y", "q"], str(tmp_path / "a"))
    assert len(sit(tmp_path / "state", ["y"] * 100, str(tmp_path / "b")).prompts) == 24
    assert len(sit(tmp_path / "state", ["y"] * 100, str(tmp_path / "link")).prompts) == 22


def test_back_takes_the_last_answer_back_and_says_when_there_is_none(tmp_path: Path) -> None:
    person = sit(tmp_path, ["b", "y", "b", "n", "q"])
    assert "There is nothing to go back to." in person.text
    answers = _session(tmp_path).notes.answers
    assert answers == {"checklist:hp.01": "no"}


@pytest.mark.parametrize("line", ["", "maybe", "1", "\x1b[A", "yess", "=5"])
def test_what_is_no_answer_asks_again(line: str, tmp_path: Path) -> None:
    person = sit(tmp_path, [line, "q"])
    assert len(person.prompts) == 2
    assert "Answer with one of the letters in front." in person.text
    assert _session(tmp_path).answered == 0


@pytest.mark.parametrize("words", [["Y", "N", "S", "U", "Q"], ["yes", "no", "skip", "unsure", "quit"]])
def test_capitals_and_whole_words_are_understood(words: List[str], tmp_path: Path) -> None:
    sit(tmp_path, words)
    assert list(_session(tmp_path).notes.answers.values()) == ["yes", "no", "skip", "unsure"]


def test_the_end_of_the_input_leaves_and_keeps_the_answers(tmp_path: Path) -> None:
    sit(tmp_path, ["y", "y"])
    assert _session(tmp_path).answered == 2


def test_restart_takes_every_answer_back(tmp_path: Path) -> None:
    sit(tmp_path, ["y"] * 100)
    person = sit(tmp_path, ["q"], again=True)
    assert "[1/24]" in person.text
    assert _session(tmp_path).answered == 0


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_without_a_terminal_the_whole_list_is_printed_with_the_answers_so_far(language: str, tmp_path: Path) -> None:
    sit(tmp_path, ["y", "n", "q"])
    i18n.set_language(language)
    person = sit(tmp_path, None, columns=60)
    for number, state in enumerate(ITEMS, 1):
        step = BASE.steps.get(state.step)
        ask = (step.ask if step is not None else state.ask).text(language)
        assert f"{'+' if number == 1 else 'x' if number == 2 else ' '} {number:>2} {ask[:20]}" in person.text
    prose = [line for line in person.text.splitlines() if not line.startswith("      ")]
    assert all(width(line) <= 60 for line in prose)


def test_the_version_chooses_the_text(tmp_path: Path) -> None:
    for version, code in (("1.9.0", "nn.Dropout(keep_prob=0.9)"), ("2.3.0", "    nn.Dropout(p=0.1)\n")):
        lines = ["n" if state.id == "api.01" else "y" for state in ITEMS]
        person = sit(tmp_path / version, lines, version=version)
        assert code in person.printed[-1] + "\n"
        assert "drop 10 %" not in person.printed[-1], "that is for who does not know the version"


def test_the_result_is_written_as_markdown(tmp_path: Path) -> None:
    target = tmp_path / "list.md"
    person = sit(tmp_path, ["n", *["y"] * 23], markdown=str(target))
    text = target.read_text("utf-8")
    assert text.startswith("# Checklist before training\n")
    assert "Learning rate too large" in text
    assert f"written: {target}" in person.text


def test_a_markdown_file_that_cannot_be_written_is_said_and_the_answers_stay(tmp_path: Path) -> None:
    with pytest.raises(StartError, match="No such file"):
        sit(tmp_path, ["y", "q"], markdown=str(tmp_path / "no" / "such.md"))
    assert _session(tmp_path).answered == 1


def test_a_state_directory_that_cannot_be_used_is_said_and_the_walk_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    person = sit(tmp_path / "file" / "state", ["y"] * 100)
    assert len(person.prompts) == 24
    assert len(person.warned) == 1
    assert person.warned[0].startswith("the answers could not be kept:")


def test_who_answers_is_noted(tmp_path: Path) -> None:
    sit(tmp_path, ["y", "q"])
    (given,) = _session(tmp_path).notes.given
    assert given.who == user_at_host()


def _session(state: Path) -> Session:
    return Checklist(Journal(str(state)), None, clock=lambda: 7.0, who="", columns=80).session


# ---- the same list on the screen of `watch`


DATA = Path(__file__).parents[2] / "data" / "summary"


def train(folder: Path, sample: str = "short_healthy") -> Path:
    """A training has written into this folder."""
    shutil.copytree(DATA / sample, folder, dirs_exist_ok=True)
    return folder


class OnScreen:
    """The checklist as the check screen of `watch` asks for it, of the only run or of a named one."""

    def __init__(self, root: Path, state: Path, run: str = "") -> None:
        self.monitor = Monitor(str(root), watch=WatchMode.POLL, clock=lambda: NOW, journal=Journal(str(state)))
        self._run = run
        if run:
            self.monitor.load(run)
        self.monitor.look_once(NOW)

    @property
    def run_key(self) -> str:
        return self._run or self.monitor.runs()[0].key

    @property
    def session(self) -> Session:
        found = self.monitor.fetch_session(self.run_key, INCIDENT, "checklist")
        assert found is not None
        return found

    def say(self, word: str) -> None:
        at = self.session
        self.monitor.note(self.run_key, at.answer(Pen(INCIDENT, NOW, user_at_host()), word))
        self.monitor.look_once(NOW)

    def words(self) -> List[str]:
        return list(self.session.notes.answers.values())

    def leave(self) -> None:
        self.monitor.close()


def on_screen(root: Path, state: Path, run: str = "") -> List[str]:
    screen = OnScreen(root, state, run)
    words = screen.words()
    screen.leave()
    return words


def in_shell(path: Path, state: Path) -> List[str]:
    """Answers that the printed list shows, by their marks."""
    printed = sit(state, None, str(path)).printed[0].splitlines()
    marks = {"+": "yes", "x": "no", "-": "skip", "?": "unsure"}
    return [marks[line[0]] for line in printed if line[:1] in marks and line[2:4].strip().isdigit()]


@pytest.mark.parametrize("watched", ["run", "."], ids=["its folder", "the folder above"])
@pytest.mark.parametrize("named", ["run", "."], ids=["of its folder", "of the folder above"])
def test_an_answer_from_the_shell_is_seen_on_the_screen_and_the_other_way_round(
    watched: str, named: str, tmp_path: Path
) -> None:
    root, state = tmp_path / "out", tmp_path / "state"
    train(root / "run")
    sit(state, ["y", "n", "q"], str(root / named))
    screen = OnScreen(root / watched, state)
    assert screen.words() == ["yes", "no"]
    screen.say("skip")
    assert in_shell(root / named, state) == ["yes", "no", "skip"]
    sit(state, ["b", "u", "q"], str(root / named))
    screen.monitor.look_once(NOW + 5)
    assert screen.words() == ["yes", "no", "unsure"]
    screen.leave()


def test_one_person_is_one_name_in_both(tmp_path: Path) -> None:
    train(tmp_path / "run")
    sit(tmp_path / "state", ["y", "q"], str(tmp_path / "run"))
    screen = OnScreen(tmp_path / "run", tmp_path / "state")
    screen.say("no")
    assert {given.who for given in screen.session.notes.given} == {user_at_host()}
    screen.leave()


@pytest.mark.parametrize("made", [True, False], ids=["an empty folder", "no folder yet"])
def test_a_list_gone_through_before_the_training_is_its_list_afterwards(made: bool, tmp_path: Path) -> None:
    run, state = tmp_path / "run", tmp_path / "state"
    if made:
        run.mkdir()
    sit(state, ["y", "y", "q"], str(run))
    train(run)
    screen = OnScreen(run, state)
    assert screen.words() == ["yes", "yes"]
    screen.say("no")
    screen.leave()
    assert in_shell(run, state) == ["yes", "yes", "no"]


@pytest.mark.parametrize("place", ["out/run", "out"], ids=["for its folder", "for the folder above"])
def test_answers_that_an_earlier_version_filed_under_a_path_are_read_and_can_be_taken_back(
    place: str, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    train(tmp_path / "out" / "run")
    old = Journal(str(state))
    at = Checklist(old, None, clock=lambda: 1.0, who="li@node7", columns=80).session
    assert at.ask is not None
    old.add(os.path.realpath(tmp_path / place), at.answer(Pen(INCIDENT, 1.0, "li@node7"), "no"))
    old.close()
    assert on_screen(tmp_path / "out", state) == ["no"]
    assert in_shell(tmp_path / place, state) == ["no"]
    sit(state, ["b", "q"], str(tmp_path / place))
    assert on_screen(tmp_path / "out", state) == []
    assert in_shell(tmp_path / place, state) == []


def test_of_several_runs_each_has_its_own_list_and_the_folder_above_says_that_it_has_another(tmp_path: Path) -> None:
    root, state = tmp_path / "out", tmp_path / "state"
    train(root / "a")
    train(root / "b", "short_nan")
    sit(state, ["y", "q"], str(root / "a"))
    both = sit(state, ["n", "n", "q"], str(root))
    assert both.warned == [
        f"2 runs are below {root}: this list is not of one of them. Name the path of a run for that."
    ]
    assert on_screen(root, state, "a") == ["yes"]
    assert on_screen(root, state, "b") == []
    assert in_shell(root, state) == ["no", "no"]
    chosen = sit(state, None, str(root), settings=Settings(run="a"))
    assert chosen.warned == []
    assert str(root / "a") in chosen.text


def test_a_run_with_others_below_it_is_meant_by_its_own_path(tmp_path: Path) -> None:
    root, state = train(tmp_path / "out"), tmp_path / "state"
    train(root / "later", "short_nan")
    assert sit(state, ["y", "q"], str(root)).warned == []
    assert on_screen(root, state, ".") == ["yes"]
    assert on_screen(root, state, "later") == []


def test_a_log_alone_has_its_list_too(tmp_path: Path) -> None:
    log = write_log(tmp_path / "run", losses(1, 20))
    for path in (log, log.parent):
        state = tmp_path / f"state of {path.name}"
        sit(state, ["n", "q"], str(path))
        assert on_screen(path, state) == ["no"]


def test_a_folder_whose_name_is_no_text_has_a_list(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/run\xff"))
    try:
        train(folder)
    except OSError:
        pytest.skip("this file system takes no such name")
    sit(tmp_path / "state", ["y", "q"], str(folder))
    assert on_screen(folder, tmp_path / "state") == ["yes"]


def test_answers_of_a_newer_version_are_counted_and_said(tmp_path: Path) -> None:
    sit(tmp_path, ["y", "y", "y", "q"])
    other = sqlite3.connect(tmp_path / "journal.sqlite3")
    other.execute("UPDATE entries SET kind = 'escalated' WHERE seq = 1")
    other.execute("UPDATE entries SET comment = 'yes =1:2' WHERE seq = 2")
    other.commit()
    other.close()
    assert sit(tmp_path, None).warned == ["2 entries of a newer mstui are not shown"]


def test_from_a_pipe_it_prints_the_list_and_from_a_terminal_it_asks(tmp_path: Path) -> None:
    piped = mstui("checklist", "--state-dir", str(tmp_path), "--lang", "zh_CN")
    assert (piped.returncode, piped.stderr) == (0, "")
    assert "训练前检查清单" in piped.stdout
    assert "\x1b" not in piped.stdout

    outer, inner = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "mstui", "checklist", "--state-dir", str(tmp_path), "--lang", "en"],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
    )
    os.close(inner)
    os.write(outer, b"y\nn\nq\n")
    seen = b""
    while True:
        try:
            piece = os.read(outer, 4096)
        except OSError:  # the child has gone
            break
        if not piece:
            break
        seen += piece
    os.close(outer)
    assert child.wait(30) == 0
    assert b"[3/24]" in seen
    assert list(_session(tmp_path).notes.answers.values()) == ["yes", "no"]
    entries = Journal(str(tmp_path)).entries("")
    assert list(entries) == [INCIDENT]
