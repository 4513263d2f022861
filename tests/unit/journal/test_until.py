from __future__ import annotations

from typing import Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.journal.until import FORMS, Said, forms_by_length, parse_said, parse_snooze, parse_until, until_text
from mstui.model.journal import FOR_EVER, Until, UntilKind

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("ever", FOR_EVER),
        ("30m", Until(UntilKind.TIME, NOW + 1800)),
        ("90 s", Until(UntilKind.TIME, NOW + 90)),
        ("2H", Until(UntilKind.TIME, NOW + 7200)),
        ("1d", Until(UntilKind.TIME, NOW + 86400)),
        ("step 500", Until(UntilKind.STEP, 500)),
        ("Step  20k", Until(UntilKind.STEP, 20_000)),
        ("restart", Until(UntilKind.RESTART)),
        ("worse", Until(UntilKind.WORSE)),
        ("", None),
        ("monday", None),
        ("30", None),
        ("30m 5s", None),
        ("step", None),
        ("9999999d", None),
    ],
)
def test_every_form_is_understood_and_nothing_else(text: str, until: Optional[Until]) -> None:
    assert parse_until(text, NOW) == until


def test_every_example_of_the_message_is_understood() -> None:
    assert all(parse_until(form, NOW) is not None for form in FORMS.split(", "))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", Said("", FOR_EVER)),
        ("known bad shard", Said("known bad shard", FOR_EVER)),
        ("bad  shard until step 500", Said("bad shard", Until(UntilKind.STEP, 500))),
        ("until worse", Said("", Until(UntilKind.WORSE))),
        ("waits until monday until ever", Said("waits until monday", FOR_EVER)),
        ("waits until monday", Said("waits", None)),
        ("until", Said("", None)),
    ],
)
def test_a_comment_may_stand_before_it(text: str, said: Said) -> None:
    assert parse_said(text, NOW) == said


@given(st.text(max_size=60))
def test_no_text_is_too_strange(text: str) -> None:
    said = parse_said(text, NOW)
    assert said.until is None or until_text(said.until, "12:00")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("30m", Said("", Until(UntilKind.TIME, NOW + 1800))),
        ("step 500 new shard comes", Said("new shard comes", Until(UntilKind.STEP, 500))),
        ("30 m later", Said("later", Until(UntilKind.TIME, NOW + 1800))),
        ("later", Said("later", None)),
        ("", Said("", None)),
    ],
)
def test_a_snooze_begins_with_how_long(text: str, said: Said) -> None:
    assert parse_snooze(text, NOW) == said


def test_shorter_lists_of_examples_name_whole_ones_and_say_that_there_are_more() -> None:
    whole, *shorter = forms_by_length()
    assert whole == FORMS
    assert shorter[0] == "30m, step 500, restart, worse, ..."
    assert shorter[-1] == "30m, ..."
