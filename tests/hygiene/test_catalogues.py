"""Every string is translated, with the same placeholders, and the compiled catalogues are those that were edited."""

from __future__ import annotations

import ast
import importlib.util
import string
from pathlib import Path
from types import ModuleType
from typing import List, Set, Tuple

import pytest

from mstui import i18n

babel = pytest.importorskip("babel", reason="Babel comes with the dependency group static (Python 3.10)")

ROOT = Path(__file__).parents[2]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mstui_messages", ROOT / "scripts" / "messages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MESSAGES = script()
LANGUAGES = [language for language in i18n.LANGUAGES if language != i18n.SOURCE_LANGUAGE]


def placeholders(text: str) -> Set[Tuple[str, str]]:
    return {
        (name, spec or "") for _literal, name, spec, _conversion in string.Formatter().parse(text) if name is not None
    }


def texts(message: object) -> List[str]:
    return list(message) if isinstance(message, (tuple, list)) else [str(message)]


def test_every_language_has_a_catalogue_and_none_is_unknown() -> None:
    assert MESSAGES.languages() == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_of_the_sources_is_translated(language: str) -> None:
    catalogue = MESSAGES.read_catalogue(language)
    wanted = [message.id for message in MESSAGES.extracted() if message.id]
    known = {str(texts(message.id)) for message in catalogue if message.id}
    assert [message for message in wanted if str(texts(message)) not in known] == []
    assert [message.id for message in MESSAGES.untranslated(catalogue)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders_agree(language: str) -> None:
    wrong = []
    for message in MESSAGES.read_catalogue(language):
        if not message.id or "{m,n}" in str(message.id):
            continue
        allowed = set().union(*(placeholders(text) for text in texts(message.id)))
        wrong += [(message.id, text) for text in texts(message.string) if placeholders(text) != allowed]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_catalogue_is_the_edited_one(language: str) -> None:
    compiled = MESSAGES.po_path(language).with_suffix(".mo").read_bytes()
    assert compiled == MESSAGES.compiled(MESSAGES.read_catalogue(language))


def test_the_other_language_is_spoken() -> None:
    i18n.set_language("zh_CN")
    try:
        assert i18n._("no such file or directory") == "没有这个文件或目录"
        assert i18n.ngettext("{n} fault", "{n} faults", 2) == "{n} 处错误"
    finally:
        i18n.set_language("en")


def test_babel_sees_every_message() -> None:
    """What stands inside an f-string it does not."""
    seen = {text for message in MESSAGES.extracted() if message.id for text in texts(message.id)}
    missed = []
    for path in sorted((ROOT / "mstui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "mark"):
                [given] = node.args
                if isinstance(given, ast.Constant) and given.value not in seen:
                    missed.append(f"{path.relative_to(ROOT)}:{node.lineno} {given.value!r}")
    assert missed == []
