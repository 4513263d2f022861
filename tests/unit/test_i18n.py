"""The language comes from the person's choice, then from the locale; English needs no catalogue."""

from __future__ import annotations

import gettext
from typing import Iterator

import pytest

from mstui import i18n


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    i18n.set_language("en")


CODES = {
    "zh_CN": "zh_CN",
    "zh-cn": "zh_CN",
    "zh": "zh_CN",
    "zh_CN.UTF-8": "zh_CN",
    "zh_Hans@x": "zh_CN",
    "en_US.UTF-8": "en",
    "C.UTF-8": "en",
    "POSIX": "en",
    "fr_FR": None,
    "": None,
}


@pytest.mark.parametrize(("code", "language"), CODES.items())
def test_understands_codes_and_locale_names(code: str, language: str) -> None:
    assert i18n.normalize(code) == language


def test_the_first_locale_variable_that_is_set_decides() -> None:
    assert i18n.language_from_environment({"LANG": "zh_CN.UTF-8"}) == "zh_CN"
    assert i18n.language_from_environment({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}) == "en"
    assert i18n.language_from_environment({"LANG": "zh_CN", "LC_ALL": "", "LC_MESSAGES": "en_GB"}) == "en"
    assert i18n.language_from_environment({"LANG": "fr_FR.UTF-8"}) == "en"
    assert i18n.language_from_environment({}) == "en"


def test_no_choice_means_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert i18n.set_language(None) == "zh_CN"
    assert i18n.current_language() == "zh_CN"


def test_a_language_without_catalogue_is_english() -> None:
    assert i18n.set_language("fr") == "en"
    assert i18n._("no such path") == "no such path"


def test_english_picks_the_form_by_number() -> None:
    i18n.set_language("en")
    assert i18n.ngettext("{n} file", "{n} files", 1) == "{n} file"
    assert i18n.ngettext("{n} file", "{n} files", 0) == "{n} files"


def test_a_message_that_no_catalogue_holds_stays_english() -> None:
    i18n.set_language("zh_CN")
    assert i18n._("never translated 7f3a") == "never translated 7f3a"
    assert i18n._("") == ""


def test_a_marked_message_is_left_alone() -> None:
    i18n.set_language("zh_CN")
    assert i18n.mark("no such path") == "no such path"


class _Foreign(gettext.NullTranslations):
    """A language with separators of its own."""

    def gettext(self, message: str) -> str:
        own = {", ": "、", "{text}, {more}": "{text}，{more}", "; ": "；"}
        own.update({"{head}: {rest}": "{head}：{rest}", "{text} ({more})": "{text}（{more}）"})
        return own.get(message, message)


def test_texts_are_joined_as_the_language_joins_them(monkeypatch: pytest.MonkeyPatch) -> None:
    i18n.set_language("en")
    made = [i18n.enumerated("abc"), i18n.commas("abc"), i18n.clauses("ab"), i18n.headed("a", "b"), i18n.aside("a", "b")]
    assert made == ["a, b, c", "a, b, c", "a; b", "a: b", "a (b)"]
    assert [i18n.commas(()), i18n.commas(["{a}"]), i18n.commas(["{a}", "{b}"])] == ["", "{a}", "{a}, {b}"]
    assert i18n._("a") == "a"
    monkeypatch.setattr(i18n._State, "catalogue", _Foreign())
    made = [i18n.enumerated("abc"), i18n.commas("abc"), i18n.clauses("ab"), i18n.headed("a", "b"), i18n.aside("a", "b")]
    assert made == ["a、b、c", "a，b，c", "a；b", "a：b", "a（b）"]
