from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mstui.tui import alert_rows, alert_words
from mstui.tui.alert_rows import alert_row, style_for, timeline_row
from mstui.tui.lines import Row
from tests.tui.alert_scene import NOW, nan_alert, some_alerts


def text_of(row: Row) -> str:
    return "".join(text for text, _look in row)


@given(st.integers(8, 160), st.booleans(), st.booleans())
def test_every_row_is_as_wide_as_its_panel(cells: int, ranks: bool, ascii_only: bool) -> None:
    style = style_for(some_alerts(), NOW, ranks=ranks, ascii_only=ascii_only)
    rows = [alert_row(each, cells, style, unfolded=None) for each in some_alerts()]
    rows += [timeline_row(nan_alert(), each, cells, style) for each in nan_alert().incident.timeline]
    assert {cell_len(text_of(row)) for row in rows} == {cells}
    assert not ascii_only or all(text_of(row).isascii() for row in rows)


def test_at_80_columns_a_row_says_everything() -> None:
    style = style_for(some_alerts(), NOW, ranks=True, ascii_only=False)
    text = text_of(alert_row(nan_alert(), 79, style, unfolded=False))
    for part in ("+ ‼", "critical", "Overflow streak +2", "step 600", "rank 0", "13m", "active"):
        assert part in text, text


def test_word_and_glyph_outlast_the_other_columns() -> None:
    style = style_for(some_alerts(), NOW, ranks=True, ascii_only=False)
    texts = [text_of(alert_row(nan_alert(), cells, style, unfolded=False)) for cells in range(79, 20, -1)]
    assert all("‼" in text and "Overflow" in text for text in texts)
    narrow = text_of(alert_row(nan_alert(), 45, style, unfolded=False))
    assert "critical" in narrow
    assert "13m" not in narrow


def test_what_followed_is_moved_to_the_right() -> None:
    style = style_for((nan_alert(),), NOW, ranks=True, ascii_only=False)
    head = text_of(alert_row(nan_alert(), 79, style, unfolded=True))
    later = text_of(timeline_row(nan_alert(), nan_alert().incident.timeline[0], 79, style))
    assert head.startswith("- ‼")
    assert later.index("✗") == head.index("‼") + alert_rows.INDENT
    assert "cleared" in later


@pytest.fixture
def long_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another language, every text of which is wide and twice as long."""

    def translated(text: str) -> str:
        return "【" + text + "长" * len(text) + "】"

    monkeypatch.setattr(alert_words, "_", translated)
    monkeypatch.setattr(alert_rows, "_", translated)


@pytest.mark.parametrize("cells", [38, 77, 79, 111, 199])
@pytest.mark.usefixtures("long_words")
def test_long_words_of_another_language_never_leave_the_panel(cells: int) -> None:
    style = style_for(some_alerts(), NOW, ranks=True, ascii_only=False)
    for each in some_alerts():
        assert cell_len(text_of(alert_row(each, cells, style, unfolded=False))) == cells
    for each_later in nan_alert().incident.timeline:
        assert cell_len(text_of(timeline_row(nan_alert(), each_later, cells, style))) == cells
