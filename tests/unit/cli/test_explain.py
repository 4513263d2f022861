"""The manual from a shell: pages, the list, and what is near a misspelt id."""

from __future__ import annotations

from typing import Iterator, List

import pytest

from mstui import i18n
from mstui.cli import _run
from mstui.cli.explain import NAMES_SHOWN, explain, near
from mstui.errors import ConfigError
from mstui.knowledge.loader import knowledge
from mstui.safe_text import width
from tests.hygiene.test_imports import loaded_by
from tests.unit.cli.test_commands import mstui

BASE = knowledge()


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    before = i18n.current_language()
    i18n.set_language("en")
    yield
    i18n.set_language(before)


@pytest.mark.parametrize("word", ["loss-nan", "lr-too-large", "st.lr", "lr", "check1", "dropout-argument"])
def test_every_kind_of_page_is_printed(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(word, columns=80) == 0
    printed = capsys.readouterr().out
    assert word in printed
    assert "Sources" in printed
    assert "\x1b" not in printed


def test_every_id_has_a_page_in_both_languages(capsys: pytest.CaptureFixture[str]) -> None:
    for language in ("en", "zh_CN"):
        i18n.set_language(language)
        for word in (*BASE.symptoms, *BASE.causes, *BASE.steps, *BASE.flows, *BASE.topics):
            assert explain(word, columns=80) == 0
            assert word in capsys.readouterr().out


def test_the_list_names_every_page(capsys: pytest.CaptureFixture[str]) -> None:
    explain("", columns=80)
    printed = capsys.readouterr().out
    assert all(word in printed for word in (*BASE.symptoms, *BASE.causes, *BASE.steps, *BASE.flows, *BASE.topics))


@pytest.mark.parametrize("columns", [40, 80])
def test_lines_keep_to_the_width(columns: int, capsys: pytest.CaptureFixture[str]) -> None:
    explain("loss-nan", columns=columns)
    assert all(width(line) <= columns for line in capsys.readouterr().out.splitlines())


def test_a_version_chooses_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    explain("st.dropout", columns=80, version="1.9.0")
    old = capsys.readouterr().out
    explain("st.dropout", columns=80, version="2.3.0")
    assert "keep_prob=0.9" in old
    assert "p=0.1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("los-nan", ["loss-nan"]),
        ("droput", ["st.dropout"]),
        ("LR-TOO-LARGE", ["lr-too-large"]),
        ("shuffle", ["no-shuffle"]),
    ],
)
def test_near_ids_are_proposed_for_an_unknown_one(typed: str, meant: List[str]) -> None:
    names = near(BASE, typed)
    assert set(meant) <= set(names)
    assert len(names) <= NAMES_SHOWN
    with pytest.raises(ConfigError) as told:
        explain(typed, columns=80)
    assert meant[0] in told.value.remedy


def test_a_word_of_a_title_finds_its_page_in_either_language() -> None:
    assert "class-imbalance" in near(BASE, "不均衡")
    assert "loss-oscillate" in near(BASE, "oscillates")


@pytest.mark.parametrize("typed", ["qqqqqq", "\x1b[31m", "x" * 10_000])
def test_what_is_like_nothing_gets_the_way_to_the_list(typed: str) -> None:
    with pytest.raises(ConfigError) as told:
        explain(typed, columns=80)
    assert "explain --list" in told.value.remedy
    assert "\x1b" not in told.value.what
    assert len(told.value.what) < 400


def test_from_a_shell_it_prints_plain_text_and_an_unknown_id_ends_with_2() -> None:
    done = mstui("explain", "loss-nan", "--lang", "zh_CN", "--columns", "60")
    assert (done.returncode, done.stderr) == (0, "")
    assert "现象 loss-nan" in done.stdout
    assert "\x1b" not in done.stdout
    wrong = mstui("explain", "los-nan")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith('mstui: no page "los-nan"\n  Did you mean one of these? loss-nan')


def test_the_command_needs_neither_numpy_nor_a_terminal_library() -> None:
    quiet = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    "
    loaded = loaded_by(quiet + "from mstui.cli.explain import explain; explain('loss-nan', columns=80)")
    assert not loaded & {"numpy", "textual", "rich", "plotext", "watchdog", "google"}


def test_the_command_line_knows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["explain", "--list"]) == 0
    assert "loss-nan" in capsys.readouterr().out
    assert _run(["explain", "loss-nan", "--columns", "40", "--mindspore", "2.3.0"]) == 0
    assert "Loss is NaN" in capsys.readouterr().out
