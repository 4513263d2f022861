"""Sentences in lines: words are kept whole, Chinese fills its lines, nothing is wider than it may be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mstui.tui.wrapping import wrap


def test_words_stay_whole() -> None:
    assert wrap("loss is nan at step 12", 12) == ["loss is nan", "at step 12"]


def test_chinese_fills_the_line_and_no_line_begins_with_a_mark() -> None:
    assert wrap("被 SIGKILL 杀死，没有留下任何信息。", 14) == ["被 SIGKILL 杀", "死，没有留下任", "何信息。"]
    assert wrap("没有留下任何信息。", 16) == ["没有留下任何信", "息。"]


def test_a_word_wider_than_the_line_is_broken() -> None:
    assert wrap("abcdefgh ij", 5) == ["abcde", "fgh", "ij"]


@given(st.text(alphabet="ab 损失，。(", max_size=60), st.integers(2, 30))
def test_nothing_is_lost_and_nothing_is_too_wide(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(0 < cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
