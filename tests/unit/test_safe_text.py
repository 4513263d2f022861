"""Hostile text is shown, never obeyed; cut text keeps what tells it apart."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.safe_text import DEFAULT_LIMIT, MAX_MARKS, fit, fit_one, pad, safe, width

HOSTILE = {
    "escape sequence": ("a\x1b[31mred", "a<1b>[31mred"),
    "bell and backspace": ("\x07\x08", "<07><08>"),
    "delete": ("\x7f", "<7f>"),
    "eight-bit CSI": ("\x9b2J", "<9b>2J"),
    "newline and carriage return": ("a\nb\r", "a<0a>b<0d>"),
    "tab is one space": ("a\tb", "a b"),
    "no-break and ideographic space": ("a\u00a0b\u3000c", "a b c"),
    "right-to-left override": ("\u202egpj.exe", "<202e>gpj.exe"),
    "isolates": ("\u2066x\u2069", "<2066>x<2069>"),
    "marks of direction": ("\u200e\u200f\u061c", "<200e><200f><61c>"),
    "zero-width": ("lo\u200bss\ufeff", "lo<200b>ss<feff>"),
    "line and paragraph separators": ("\u2028\u2029", "<2028><2029>"),
    "lone surrogate": ("\ud800", "<d800>"),
    "tag characters": ("\U000e0041", "<e0041>"),
    "private use": ("\ue000", "<e000>"),
    "unassigned": ("\u0378", "<378>"),
    "invisible letters": ("\u3164\ufe0f", "<3164><fe0f>"),
    "markup stays text": ("[/red][link=x]", "[/red][link=x]"),
    "Chinese is kept": ("损失/训练", "损失/训练"),
    "accent is kept": ("re\u0301sume\u0301", "re\u0301sume\u0301"),
    "leading mark": ("\u0301a", "<301>a"),
}


@pytest.mark.parametrize(("text", "shown"), HOSTILE.values(), ids=HOSTILE.keys())
def test_shows_what_is_hostile(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_a_stack_of_marks_is_cut_down() -> None:
    shown = safe("a" + "\u0301" * 50, limit=1000)
    assert shown.startswith("a" + "\u0301" * MAX_MARKS + "<301>")


def test_ascii_terminals_get_ascii() -> None:
    assert safe("损失 é", ascii_only=True) == "<635f><5931> <e9>"
    assert safe("损" * 100, limit=10, ascii_only=True) == "<635f><63~"


@given(st.text(alphabet=st.characters(codec=None)), st.integers(min_value=1, max_value=40))
def test_every_result_is_printable_bounded_and_stable(text: str, limit: int) -> None:
    shown = safe(text, limit)
    assert shown.isprintable()
    assert len(shown) <= limit
    assert safe(shown, limit) == shown


def test_every_character_of_unicode_is_harmless() -> None:
    bad = [
        code
        for code in range(sys.maxunicode + 1)
        if not (shown := safe("x" + chr(code))).isprintable()
        or any(unicodedata.category(c)[0] == "C" or unicodedata.category(c) in ("Zl", "Zp") for c in shown)
    ]
    assert bad == []


def test_a_megabyte_is_not_walked() -> None:
    class Counted(str):
        """Fails when somebody iterates over the whole text."""

        def __iter__(self):  # type: ignore[no-untyped-def]
            raise AssertionError("walked the whole text")

    shown = safe(Counted("\x1b" * 1_000_000))
    assert len(shown) == DEFAULT_LIMIT
    assert shown.endswith("…")


WIDTHS = {"loss": 4, "损失": 4, "e\u0301": 1, "│…": 2, "ﾊ": 1, "각": 2, "": 0}


@pytest.mark.parametrize(("text", "cells"), WIDTHS.items())
def test_counts_cells(text: str, cells: int) -> None:
    assert width(text) == cells


def test_cut_in_the_middle_the_leaf_stays_whole() -> None:
    assert fit("grad_norm/backbone.layer1/conv.weight", 20) == "grad_nor…conv.weight"
    assert fit("grad_norm/backbone.layer1.0.conv.weight", 20) == "grad_norm…onv.weight"
    assert fit("short/loss", 20) == "short/loss"


def test_cut_at_the_end_the_beginning_stays() -> None:
    assert fit("abcdefgh", 5, middle=False) == "abcd…"
    assert fit("损失损失", 6, middle=False) == "损失…"


def test_an_ascii_ellipsis_can_be_asked_for() -> None:
    assert fit("abcdefgh", 5, middle=False, ellipsis="~") == "abcd~"


@given(st.text(alphabet="ab/损é\u0301"), st.integers(min_value=-1, max_value=12), st.booleans())
def test_a_fitted_text_fits(text: str, cells: int, middle: bool) -> None:
    assert width(fit(text, cells, middle=middle)) <= max(cells, 0)
    if cells >= 0:
        assert width(pad(text, cells, middle=middle)) == cells


def test_the_first_wording_that_fits_is_taken_and_only_the_last_is_ever_cut() -> None:
    wordings = ("acknowledge all:", "确认全部:", "ack:")
    assert [fit_one(wordings, cells) for cells in (16, 15, 9, 8, 3)] == [
        wordings[0],
        wordings[1],
        wordings[1],
        "ack:",
        "ac…",
    ]
