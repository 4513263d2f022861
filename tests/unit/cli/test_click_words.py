"""What click says to a person is in our catalogue."""

from __future__ import annotations

import importlib
from typing import Callable, List, Set

import click
import pytest

from mstui.cli.click_words import FORMS, MESSAGES
from mstui.cli.commands import build

NOT_SHOWN = {"path", "%(prog)s, version %(version)s"}
"""the name of a kind of argument, in whose place our own names stand; and two names without a word to translate"""
MISTYPED = [
    ["--help"],
    ["watch", "--help"],
    ["check", "--help"],
    ["wtach"],
    ["check", ".", "--fail-onn", "warn"],
    ["check", ".", "--fail-on", "warm"],
    ["check", ".", "--total-steps", "0"],
    ["check", ".", "--total-steps", "many"],
    ["check", ".", "--total-steps"],
    ["check", ".", "--process", "gone"],
    ["check", ".", "--json=yes"],
    ["check", ".", "too", "many"],
    ["check"],
    ["watch", ".", "--refresh", "99"],
    [],
]


def _saying(said: Set[str]) -> Callable[..., str]:
    def say(message: str, *_rest: object) -> str:
        said.add(message)
        return message

    return say


@pytest.mark.parametrize("arguments", MISTYPED, ids=" ".join)
def test_whatever_click_says_of_a_command_is_named(
    arguments: List[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: Set[str] = set()
    for name in ("core", "exceptions", "types", "parser", "decorators", "formatting"):
        module = importlib.import_module(f"click.{name}")
        for function in ("_", "ngettext"):
            if hasattr(module, function):
                monkeypatch.setattr(module, function, _saying(said))
    try:
        build().main(args=arguments, prog_name="mstui", standalone_mode=False)
    except click.ClickException as error:
        error.show()
    printed = "".join(capsys.readouterr())
    assert printed
    assert said
    assert said - NOT_SHOWN <= {*MESSAGES, *(one for one, _many in FORMS)}
