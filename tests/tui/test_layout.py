from __future__ import annotations

from typing import FrozenSet

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.tui.layout import VIEWS, arrange

INSTALLED = frozenset(
    ["vitals", "curves", "layers", "histogram", "runs", "tags", "files", "ranks", "hardware", "log", "alerts"]
)
NO_PARAMETERS = INSTALLED - {"layers", "histogram"}
"""what a run without parameters leaves"""
LATER = frozenset(["checks"])
EVERY = INSTALLED | LATER


def covered_once(width: int, height: int, view: str, zoomed: str, available: FrozenSet[str]) -> bool:
    area = 0
    slots = arrange(width, height, view, zoomed, available)
    for i, a in enumerate(slots):
        if a.width <= 0 or a.height <= 0 or a.x < 0 or a.y < 0 or a.x + a.width > width or a.y + a.height > height:
            return False
        for b in slots[:i]:
            if a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height:
                return False
        area += a.width * a.height
    return area == width * height


@pytest.mark.parametrize("view", VIEWS)
def test_every_size_is_covered_and_nothing_overlaps(view: str) -> None:
    for installed in (INSTALLED, INSTALLED if view == "layers" else NO_PARAMETERS):
        bad = [(w, h) for w in range(1, 221) for h in range(1, 71) if not covered_once(w, h, view, "", installed)]
        assert bad == []


@given(
    st.integers(1, 220),
    st.integers(1, 70),
    st.sampled_from(VIEWS),
    st.sampled_from(["", *sorted(EVERY)]),
    st.sets(st.sampled_from(sorted(LATER))),
)
def test_panels_that_come_later_take_their_place(
    width: int, height: int, view: str, zoomed: str, later: FrozenSet[str]
) -> None:
    assert covered_once(width, height, view, zoomed, INSTALLED | frozenset(later))


@given(st.integers(1, 220), st.integers(1, 70), st.sampled_from(VIEWS), st.sampled_from(["", *sorted(EVERY)]))
def test_no_panel_stands_twice_and_none_that_is_missing_stands_at_all(
    width: int, height: int, view: str, zoomed: str
) -> None:
    for installed in (INSTALLED, NO_PARAMETERS):
        panels = [slot.panel for slot in arrange(width, height, view, zoomed, installed)]
        assert len(panels) == len(set(panels))
        assert set(panels) <= installed | {"header", "strip", "footer"}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_the_view_is_on_the_screen(view: str, size: tuple[int, int]) -> None:
    assert view in [slot.panel for slot in arrange(*size, view, "", INSTALLED)]


def test_a_zoomed_panel_has_the_whole_body() -> None:
    slots = {slot.panel: slot for slot in arrange(120, 40, "curves", "tags", INSTALLED)}
    assert (slots["tags"].width, slots["tags"].height) == (120, 37)
    assert set(slots) == {"header", "tags", "strip", "footer"}


def test_one_row_is_the_header_and_forty_by_ten_still_has_a_curve() -> None:
    assert [slot.panel for slot in arrange(80, 1, "curves", "", INSTALLED)] == ["header"]
    assert [slot.panel for slot in arrange(39, 10, "curves", "", INSTALLED)] == ["header", "vitals"]
    assert [slot.panel for slot in arrange(40, 10, "curves", "", INSTALLED)] == [
        *("header", "curves", "strip", "footer"),
    ]


@pytest.mark.parametrize("zoomed", ["", "curves", "alerts"])
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("size", [(40, 10), (80, 24), (110, 30), (120, 40), (200, 60)])
def test_the_worst_alert_is_on_every_screen_once(view: str, zoomed: str, size: tuple[int, int]) -> None:
    panels = [slot.panel for slot in arrange(*size, view, zoomed, INSTALLED)]
    assert ("alerts" in panels) != ("strip" in panels)


def test_the_strip_is_the_row_above_the_footer() -> None:
    slots = {slot.panel: slot for slot in arrange(80, 24, "curves", "", INSTALLED)}
    assert (slots["strip"].y, slots["strip"].width, slots["strip"].height) == (22, 80, 1)


@pytest.mark.parametrize(("width", "height"), [(120, 40), (200, 60)])
def test_rows_that_the_vitals_do_not_need_go_to_the_panels_below(width: int, height: int) -> None:
    panels = {"vitals", "curves", "layers", "histogram", "tags", "runs"}
    few = {slot.panel: slot for slot in arrange(width, height, "curves", "", panels, 6)}
    many = {slot.panel: slot for slot in arrange(width, height, "curves", "", panels, 99)}
    assert few["vitals"].height == 6
    assert many["vitals"].height == 13, "more figures than the table has room for are not shown"
    assert few["histogram"].height > many["histogram"].height if "histogram" in many else "histogram" in few
