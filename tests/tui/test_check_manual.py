from __future__ import annotations

from typing import Set

import pytest

from mstui.i18n import set_language
from mstui.knowledge.loader import knowledge
from mstui.safe_text import width
from mstui.tui.check_manual import ManualPages
from mstui.tui.check_rows import Style
from tests.tui.check_scene import check_scene, press
from tests.tui.scene import make_app, screen_text

BASE = knowledge()
STYLE = Style(76, ascii_only=False)
IDS = sorted({*BASE.symptoms, *BASE.causes, *BASE.steps, *BASE.flows, *BASE.topics})


def links(word: str) -> Set[str]:
    return {link.id for link in ManualPages(BASE, word).page(76).links}


@pytest.mark.parametrize("symptom", sorted(BASE.symptoms))
def test_a_symptom_links_to_its_causes_and_checks(symptom: str) -> None:
    entry = BASE.symptoms[symptom]
    wanted = {suspect.cause for suspect in entry.suspects} | {question.step for question in entry.questions}
    assert wanted - {symptom} <= links(symptom)


@pytest.mark.parametrize("cause", sorted(BASE.causes))
def test_a_cause_links_to_its_symptoms_and_topics(cause: str) -> None:
    suspecting = {key for key, s in BASE.symptoms.items() if any(x.cause == cause for x in s.suspects)}
    assert (suspecting | set(BASE.causes[cause].topics)) - {cause} <= links(cause)


def test_words_of_sentences_are_no_links() -> None:
    pages = ManualPages(BASE, "st.lr")
    page = pages.page(76)
    for link in page.links:
        assert page.lines[link.line][link.start : link.end] == link.id
    sentences = [line for line in page.lines if line.startswith("  ") and line.rstrip().endswith(".")]
    assert sentences
    assert not {page.lines[link.line] for link in page.links if "-" not in link.id and "." not in link.id} & set(
        sentences
    )


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_every_entry_can_be_drawn_in_its_width(language: str) -> None:
    set_language(language)
    try:
        for word in ("", *IDS):
            pages = ManualPages(BASE, word)
            rows = pages.rows(STYLE, 500)
            assert len(rows) > 3, word
            assert all(sum(width(text) for text, _look in row) <= STYLE.columns for row in rows), word
    finally:
        set_language("en")


def test_links_are_followed_and_the_way_leads_back() -> None:
    pages = ManualPages(BASE, "loss-flat")
    pages.rows(STYLE, 20)
    pages.press("tab")
    pages.press("enter")
    first = pages.word
    assert first in links("loss-flat")
    pages.rows(STYLE, 20)
    pages.press("tab")
    pages.press("enter")
    pages.press("backspace")
    assert pages.word == first
    pages.press("backspace")
    pages.press("backspace")
    assert pages.word == "loss-flat", "the first page stays"
    assert not pages.press("escape")


def test_the_selected_link_is_on_the_screen() -> None:
    pages = ManualPages(BASE, "loss-flat")
    for _ in range(60):
        rows = pages.rows(STYLE, 10)
        pages.press("tab")
        rows = pages.rows(STYLE, 10)
        assert any("selected" in look for row in rows for _text, look in row)


def test_an_unknown_entry_says_so() -> None:
    assert "no entry of this name" in "".join(
        text for row in ManualPages(BASE, "x\x1b").rows(STYLE, 5) for text, _ in row
    )


async def test_the_manual_opens_from_everywhere_with_the_list_of_all() -> None:
    app = make_app(check_scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await press(pilot, app, ("E",))
        text = screen_text(app)
        assert "Symptoms" in text
        await press(pilot, app, ("tab", "enter"))
        assert "How it is recognised" in screen_text(app)
        await press(pilot, app, ("pagedown", "end", "home", "escape"))
        assert app.watch_screen.overlay is None
