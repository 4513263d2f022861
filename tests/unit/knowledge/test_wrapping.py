"""Lines are broken at spaces and between Chinese characters, and never start with a closing mark."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mstui.knowledge.wrapping import NEVER_FIRST, wrap
from mstui.safe_text import width


def test_words_stay_whole() -> None:
    assert wrap("the loss is not a number", 10) == ["the loss", "is not a", "number"]


def test_chinese_breaks_between_characters() -> None:
    assert wrap("学习率过大时损失震荡", 8) == ["学习率过", "大时损失", "震荡"]


def test_a_closing_mark_stays_with_what_it_closes() -> None:
    assert wrap("学习率过，大时", 8) == ["学习率", "过，大时"]


def test_an_opening_mark_goes_to_the_next_line() -> None:
    assert wrap("学习率（过大）", 8) == ["学习率", "（过大）"]


def test_latin_words_in_chinese_stay_whole() -> None:
    assert wrap("使用 keep_prob 参数", 12) == ["使用", "keep_prob 参", "数"]


def test_a_word_longer_than_the_line_is_broken() -> None:
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]


def test_an_empty_text_is_one_empty_line() -> None:
    assert wrap("", 10) == [""]


@given(st.text(alphabet="ab c学习，。（）,.", max_size=60), st.integers(4, 30))
def test_nothing_is_lost_and_nothing_is_too_wide(text: str, cells: int) -> None:
    lines = wrap(text, cells)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(width(line) <= cells for line in lines)


def test_marks_that_close_are_known() -> None:
    assert "，" in NEVER_FIRST
