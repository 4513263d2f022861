"""The checklist before a training: asked one by one, kept, gone on with, printed whole where nobody can be asked."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Iterator, List, Optional, Sequence

import pytest

from mstui import i18n
from mstui.checks.session import Session
from mstui.cli.checklist import INCIDENT, Checklist, checklist, run_identity, whoami
from mstui.errors import StartError
from mstui.journal import Journal
from mstui.knowledge.loader import knowledge
from mstui.safe_text import width
from tests.unit.cli.test_commands import ROOT, mstui

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
) -> Person:
    person = Person(lines or ())
    journal = Journal(str(state))
    code = checklist(
        journal,
        path,
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
    assert run_identity(str(tmp_path / "link")) == str(tmp_path / "a")


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
    assert given.who == whoami()
    assert "@" in given.who


def _session(state: Path) -> Session:
    return Checklist(Journal(str(state)), "", clock=lambda: 7.0, who="", columns=80).session


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
