from __future__ import annotations

from typing import List

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.model.log_view import LogPage, LogQuery, LogRow
from mstui.model.logs import LogLevel
from mstui.tui.log_window import EDGE, HELD, LogWindow
from tests.tui.fakes import FakeMonitor
from tests.tui.log_scene import put_records, records
from tests.tui.scene import RUN

QUERY = LogQuery(RUN)


def one_row(row: LogRow) -> int:
    del row
    return 1


def monitor_with(number: int) -> FakeMonitor:
    monitor = FakeMonitor()
    monitor.add_run(RUN, 1)
    put_records(monitor, records(number, ranks=1))
    return monitor


def settle(window: LogWindow, monitor: FakeMonitor, query: LogQuery = QUERY) -> int:
    """Fetch until nothing more is asked for, as the panel does; how many fetches that took."""
    fetches = 0
    while window.request(query) != window.loaded:
        request = window.request(query)
        window.take(request, monitor.fetch_log(request.query, request.around, request.before, request.after))
        fetches += 1
        assert fetches < 5, "it asks for ever"
    return fetches


def steps_shown(window: LogWindow, height: int = 10) -> List[object]:
    first, end = window.visible(height, one_row)
    return [row.step for row in window.rows[first:end]]


def test_the_newest_records_are_held_and_the_end_is_followed() -> None:
    monitor, window = monitor_with(1000), LogWindow()
    assert settle(window, monitor) == 1
    assert steps_shown(window)[-2:] == [998, None]
    put_records(monitor, records(1003, ranks=1))
    window.loaded = None
    settle(window, monitor)
    assert steps_shown(window)[-1] == 1002
    assert window.following


def test_going_up_stops_following_and_what_comes_later_moves_nothing() -> None:
    monitor, window = monitor_with(1000), LogWindow()
    settle(window, monitor)
    window.move(-3)
    settle(window, monitor)
    before = steps_shown(window)
    row = window.current()
    assert not window.following
    assert row is not None
    assert row.step == 996
    put_records(monitor, records(1010, ranks=1))
    window.loaded = None
    settle(window, monitor)
    assert steps_shown(window) == before
    window.follow()
    settle(window, monitor)
    assert steps_shown(window)[-2:] == [1008, None] or steps_shown(window)[-1] == 1009


def test_paging_up_reaches_the_first_record_and_holds_a_bounded_stretch() -> None:
    monitor, window = monitor_with(700), LogWindow()
    settle(window, monitor)
    for _ in range(70):
        window.move(-10)
        settle(window, monitor)
        assert len(window.rows) <= 2 * HELD + 1
    row = window.current()
    assert row is not None
    assert row.step == 0
    for _ in range(70):
        window.move(10)
        settle(window, monitor)
    assert window.at() == len(window.rows) - 1
    assert window.page.at_end


def test_moving_inside_of_what_is_held_reads_nothing() -> None:
    monitor, window = monitor_with(1500), LogWindow()
    settle(window, monitor)
    window.move(-1)
    settle(window, monitor)
    assert settle(window, monitor) == 0
    for _ in range(HELD - EDGE - 1):
        window.move(-1)
        assert window.request(QUERY) == window.loaded


def test_a_record_far_away_is_fetched_and_shown_in_the_middle() -> None:
    monitor, window = monitor_with(1500), LogWindow()
    settle(window, monitor)
    window.go(monitor.log_rows[RUN][1234].place)
    settle(window, monitor)
    shown = steps_shown(window)
    assert 1234 in shown
    assert shown.index(1234) == 5


def test_a_level_filter_keeps_the_place() -> None:
    monitor, window = monitor_with(1500), LogWindow()
    settle(window, monitor)
    window.go(monitor.log_rows[RUN][1250].place)
    settle(window, monitor)
    query = LogQuery(RUN, least_level=LogLevel.WARNING)
    window.anchor = window.selected
    settle(window, monitor, query)
    row = window.current()
    assert row is not None
    assert row.place.offset == 1199 * 100, "the warning before record 1250"


def test_nothing_held_is_no_trouble() -> None:
    window = LogWindow()
    window.move(-1)
    window.move(1)
    assert window.current() is None
    assert window.visible(10, one_row) == (0, 0)


@given(st.lists(st.integers(-90, 60), max_size=8), st.integers(1, 40), st.integers(1, 300), st.integers(1, 4))
def test_the_selection_always_shows(moves: List[int], height: int, number: int, tall: int) -> None:
    monitor, window = monitor_with(number), LogWindow()
    settle(window, monitor)

    def rows_of(row: LogRow) -> int:
        return 1 + row.place.offset // 100 % tall

    for by in moves:
        window.move(by)
        settle(window, monitor)
        first, end = window.visible(height, rows_of)
        assert first <= window.at() < end
        if rows_of(window.rows[window.at()]) <= height:
            used = sum(rows_of(row) for row in window.rows[first : window.at() + 1])
            assert used <= height


@pytest.mark.parametrize("height", [1, 5, 200])
def test_where_the_end_is_followed_the_newest_record_is_in_the_last_row(height: int) -> None:
    monitor, window = monitor_with(50), LogWindow()
    settle(window, monitor)
    _first, end = window.visible(height, one_row)
    assert end == 50


def test_a_page_of_another_run_does_not_keep_the_selection() -> None:
    window = LogWindow()
    rows = tuple(records(5, ranks=1))
    window.go(rows[3].place)
    window.take(window.request(QUERY), LogPage((), at_start=True, at_end=True, total=0))
    assert window.current() is None
    window.take(window.request(QUERY), LogPage(rows, at_start=True, at_end=True, total=5))
    row = window.current()
    assert row is not None
    assert row.place == rows[3].place
