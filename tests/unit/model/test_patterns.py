"""The pattern search agrees with Python's where it knows the syntax, and never backtracks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.patterns import LONGEST_PATTERN, Pattern, PatternError

TEXTS = [
    *(
        "",
        "a",
        "b",
        "ab",
        "abab",
        "aab",
        "loss",
        "LOSS/auto",
        "fc1.weight",
        "a\nb",
        "x-y",
        "a]b",
        "12",
        " ",
        "é",
        "(a)",
    ),
]
PATTERNS = [
    *("", "a", "ab", "a|b", "a*", "^a", "a$", "^a$", "^$", "^(ab)+$", "(a|b)*b$", "a{2}", "^a{1,2}b", "a{2,}"),
    *("(?:ab){2}$", "^.{3}$", r"\d", r"^\D+$", r"\w+\.\w", r"\s", "[ab]", "[^ab]", "[a-c]$", "^[^a-z]+$", r"[\d-]"),
    *("[]x]", "[a-]", "x?y", "a+?b", "^a??b", "fc[0-9]\\.weight", "(loss|acc)/auto", "^(a|ab)(b|)$", "(((a)))"),
    *("(a*)*", "(a+)+$", "|a", "^(|x)$", r"\(a\)", "a{0}b", "(a{2}){2}", "(a|b){2,3}$"),
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_finds_what_python_finds(pattern: str) -> None:
    ours = Pattern(pattern)
    for text in TEXTS:
        expected = re.search(pattern, text, re.IGNORECASE | re.DOTALL) is not None
        assert ours.search(text) == expected, text


PIECES = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "(a|b)", "(ab)", "^", "$", "(a|)"])
REPEATS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,2}", "{0,1}"])


@given(st.lists(st.tuples(PIECES, REPEATS), max_size=5), st.text("abc", max_size=7))
def test_any_pattern_of_the_subset_means_what_it_means_to_python(pieces: list[tuple[str, str]], text: str) -> None:
    pattern = "".join(piece + (repeat if piece not in "^$" else "") for piece, repeat in pieces)
    assert Pattern(pattern).search(text) == (re.search(pattern, text) is not None)


def test_patterns_that_hang_a_backtracking_engine_come_back() -> None:
    text = "a" * 2000 + "!"

    for pattern in (
        "(a+)+$",
        "(a|aa)+$",
        "(a*)*b",
        "(.*a){20}$",
        "(.*)" * 9 + "[^!]$",
        "(a?){50}a{50}b",
    ):
        assert not Pattern(pattern).search(text)


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("(a", 0),
        ("a)", 1),
        ("[a", 0),
        ("*a", 0),
        ("a|+", 2),
        ("a{x}", 1),
        ("a{2", 1),
        ("a{5,2}", 1),
        ("a{1000}", 1),
        ("a\\", 1),
        (r"\1", 0),
        (r"\bx", 0),
        ("(?=a)", 2),
        ("(?P<x>a)", 2),
        ("[z-a]", 4),
        (r"[a-\d]", 5),
        ("x" * (LONGEST_PATTERN + 1), LONGEST_PATTERN),
        ("((((a{50}){50}){50}){50})", 0),
    ],
)
def test_what_is_not_in_the_subset_is_refused_with_its_place(pattern: str, position: int) -> None:
    with pytest.raises(PatternError) as caught:
        Pattern(pattern)
    assert caught.value.reason
    assert abs(caught.value.position - position) <= 1


@given(st.text(alphabet="ab()[]{}*+?|^$.\\-,12dw", max_size=30))
def test_any_text_is_a_pattern_or_refused(pattern: str) -> None:
    place = 0
    try:
        Pattern(pattern).search("abab12")
    except PatternError as error:
        place = error.position
    assert 0 <= place <= len(pattern)
