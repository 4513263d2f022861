from __future__ import annotations

from typing import Any, List

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mstui.model.logs import EventKind, LogLevel
from mstui.tui.log_rows import LEVELS, MOST_WRAPPED, marked, record_rows, style_for
from tests.tui.log_scene import log_row

HOSTILE = "loss \x1b[2J\u202e[bold]全角" + "\x00" + "e\u0301" * 50


def texts(text: str, cells: int = 60, ranks: int = 1, mark: str = " ", **more: Any) -> List[str]:
    row = log_row(0, 1, text, **{k: v for k, v in more.items() if k in ("level", "lines", "event", "wall_time")})
    style_more = {k: v for k, v in more.items() if k in ("shift", "wrap", "words", "ascii_only")}
    rows = [row, *(log_row(rank, 1, "x") for rank in range(1, ranks))]
    drawn = record_rows(row, style_for(rows, cells, **style_more), mark)
    return ["".join(part for part, _look in line) for line in drawn]


def test_every_level_has_a_letter() -> None:
    assert set(LEVELS) == set(LogLevel)
    assert len({letter for letter, _look in LEVELS.values()}) == len(LogLevel)


def test_time_level_rank_and_message_and_nothing_else() -> None:
    [line] = texts("epoch: 1 step: 3, loss is 0.25", ranks=12, level=LogLevel.WARNING)
    assert line[9:] == " W  0 epoch: 1 step: 3, loss is 0.25"
    assert line[3] == ":"


def test_columns_that_no_record_needs_are_not_there() -> None:
    [line] = texts("epoch: 1 step: 3, loss is 0.25", level=LogLevel.UNKNOWN, wall_time=None)
    assert line == "   epoch: 1 step: 3, loss is 0.25"


def test_more_lines_of_a_record_are_counted() -> None:
    assert texts("Traceback (most recent call last):", lines=31)[0].endswith("last): +30 lines")
    assert texts("Traceback (most recent call last):", lines=2)[0].endswith("last): +1 line")


def test_a_print_that_is_an_event_of_trouble_looks_like_an_error() -> None:
    row = log_row(0, 1, "Traceback", LogLevel.UNKNOWN, event=EventKind.TRACEBACK)
    [line] = record_rows(row, style_for([row], 60))
    assert line[-2] == ("Traceback", "critical")


def test_long_messages_are_scrolled_or_wrapped() -> None:
    text = " ".join(f"word{i}" for i in range(60))
    [cut] = texts(text, 40)
    assert cut.endswith(">")
    [moved] = texts(text, 40, shift=20)
    assert "<" in moved
    assert "word0" not in moved
    wrapped = texts(text, 40, wrap=True)
    assert len(wrapped) == MOST_WRAPPED
    assert "not shown" in wrapped[-1]
    assert "word59" in "".join(texts(" ".join(f"word{i}" for i in range(20)) + " word59", 40, wrap=True))


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shift", [0, 1, 20, 500])
@pytest.mark.parametrize("ascii_only", [False, True])
@given(text=st.one_of(st.just(HOSTILE), st.text(max_size=200)), cells=st.integers(24, 120), lines=st.integers(1, 900))
def test_hostile_text_is_harmless_and_fits(
    text: str, cells: int, lines: int, wrap: bool, shift: int, ascii_only: bool
) -> None:
    for line in texts(text, cells, wrap=wrap, shift=shift, lines=lines, ascii_only=ascii_only):
        assert cell_len(line) <= cells
        assert line.isprintable()
        assert not ascii_only or line.isascii()


def test_words_are_marked_wherever_they_stand_in_any_case() -> None:
    spans = marked("Loss is NaN, loss scale 2", ("loss", "nan"), "text")
    assert [text for text, look in spans if "match" in look] == ["Loss", "NaN", "loss"]
    assert "".join(text for text, _look in spans) == "Loss is NaN, loss scale 2"
    assert marked("Straße", ("s",), "text") == [("Straße", "text")], "what folds to another length is left alone"
    assert marked("abc", (), "dim") == [("abc", "dim")]
