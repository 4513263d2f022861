"""The offline manual: every page in both languages, within the width, with what belongs to it."""

from __future__ import annotations

from typing import Set

import pytest

from mstui.knowledge.loader import knowledge
from mstui.knowledge.manual import CODE_INDENT, Manual
from mstui.knowledge.schema import CHINESE
from mstui.safe_text import width

BASE = knowledge()
LANGUAGES = ("en", CHINESE)
IDS = sorted({*BASE.symptoms, *BASE.causes, *BASE.steps, *BASE.flows, *BASE.topics})


def code_lines() -> Set[str]:
    passages = [cause.fix for cause in BASE.causes.values()] + [step.do for step in BASE.steps.values()]
    passages += [topic.body for topic in BASE.topics.values()]
    codes = [code for p in passages for code in (p.code, *(variant.code for variant in p.variants))]
    return {CODE_INDENT + line for code in codes for line in code.splitlines()}


CODE = code_lines()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("columns", [80, 40])
def test_every_page_keeps_to_its_width_code_aside(language: str, columns: int) -> None:
    manual = Manual(BASE, language, columns)
    for word in IDS:
        page = manual.page(word)
        assert page, word
        assert [line for line in page if width(line) > columns and line not in CODE] == [], word
        assert page[-1].strip(), word


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_list_names_every_id(language: str) -> None:
    text = "\n".join(Manual(BASE, language).listing())
    assert [word for word in IDS if f"  {word} " not in text] == []


def test_every_page_names_its_sources() -> None:
    manual = Manual(BASE, "en")
    assert [word for word in IDS if not any(line.startswith("  - ") for line in manual.page(word))] == []


def test_an_id_of_two_kinds_shows_both() -> None:
    manual = Manual(BASE, "en")
    assert manual.find("grad-vanish") == ("symptom", "cause")
    page = manual.page("grad-vanish")
    assert page[0] == "Symptom grad-vanish"
    assert "Explanation grad-vanish" in page


def test_a_check_may_be_named_without_its_prefix() -> None:
    manual = Manual(BASE, CHINESE)
    assert manual.find("dropout") == ("check",)
    assert manual.page("dropout") == manual.page("st.dropout")
    assert manual.find("nothing-like-it") == ()
    assert manual.page("nothing-like-it") == ()


def test_the_version_chooses_the_text_and_without_one_all_are_shown() -> None:
    old = "\n".join(Manual(BASE, "en", version="1.9.0").page("dropout-inverted"))
    new = "\n".join(Manual(BASE, "en", version="2.3.0").page("dropout-inverted"))
    both = "\n".join(Manual(BASE, "en").page("dropout-inverted"))
    assert "keep_prob=0.9" in old
    assert "p=0.1)" in new.replace("PyTorch: nn.Dropout(p=0.1)", "")
    assert "keep_prob=0.9" not in new
    assert "[MindSpore <2.0]" in both
    assert "[MindSpore >=2.0]" in both


def test_a_variant_that_changes_only_the_code_repeats_the_text_once() -> None:
    page = Manual(BASE, "en").page("loss-scale-bad")
    assert sum("ms.DynamicLossScaleManager" in line for line in page) == 1
    assert sum("ms.amp.DynamicLossScaleManager" in line for line in page) == 1


def test_a_cause_names_where_it_is_suspected_and_examined() -> None:
    page = "\n".join(Manual(BASE, "en", 200).page("no-shuffle"))
    assert "Suspected for: data-order-s, dead-relu, grad-zero, loss-diverge, loss-flat" in page
    assert "Examined by: st.shuf" in page


def test_a_page_is_the_same_in_structure_in_both_languages() -> None:
    for word in IDS:
        english, chinese = Manual(BASE, "en", 2000).page(word), Manual(BASE, CHINESE, 2000).page(word)
        assert len(english) == len(chinese), word
