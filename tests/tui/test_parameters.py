"""Parameter names in narrow columns, and sentences in narrow panels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui import safe_text
from mstui.tui.parameters import common_prefix, short_name
from mstui.tui.wrapping import paragraph_rows, wrap


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        ((), ""),
        (("network.fc.weight",), ""),
        (("network.fc.weight", "network.fc.bias"), "network.fc."),
        (("net.a.w", "network.a.w"), ""),
        (("fc1.weight", "conv1.weight"), ""),
        (("network.a", "network.a.b", "network.c.d"), "network."),
    ],
)
def test_only_whole_components_that_all_share_are_left_out(names: tuple[str, ...], prefix: str) -> None:
    assert common_prefix(names) == prefix


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (40, "layers.11.attention.wq.weight"),
        (20, "layers.11….wq.weight"),
        (12, "laye….weight"),
    ],
)
def test_a_cut_name_keeps_its_leaf(cells: int, text: str) -> None:
    assert short_name("net.layers.11.attention.wq.weight", cells, prefix="net.") == text


@given(st.text(), st.integers(0, 30), st.booleans())
def test_no_name_is_too_wide_or_harmful(name: str, cells: int, ascii_only: bool) -> None:
    text = short_name(name, cells, ascii_only=ascii_only)
    assert safe_text.width(text) <= cells
    assert "\x1b" not in text
    assert text.isascii() or not ascii_only


def test_a_sentence_is_broken_at_spaces_and_a_long_command_where_the_line_ends() -> None:
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("abcdefghij", 4) == ["abcd", "efgh", "ij"]
    assert wrap("这个训练没有记录", 6) == ["这个训", "练没有", "记录"]
    assert wrap("", 5) == wrap("word", 0) == []


def test_paragraphs_stay_inside_the_panel() -> None:
    rows = paragraph_rows((("a long sentence with words", "text"), ("second", "dim")), 12, 3)
    assert rows == (
        ((" ", "text"), ("a long", "text")),
        ((" ", "text"), ("sentence", "text")),
        ((" ", "text"), ("with words", "text")),
    )
