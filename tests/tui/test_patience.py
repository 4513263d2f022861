"""Charts wait for their turn on the link; what a person asked for does not."""

from __future__ import annotations

from typing import List, Tuple

import pytest

from mstui.tui.budget import DEBT, PATIENCE_S, LinkBudget
from mstui.tui.lines import Row
from mstui.tui.patience import Patience

WIDTH, HEIGHT = 56, 12
NAMES = ["loss", "accuracy", "lr"]


class Clock:
    """Seconds that go by when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def whole(letter: str) -> Tuple[Row, ...]:
    """A picture in which every cell is this letter."""
    return tuple(((letter * WIDTH, "smooth"),) for _ in range(HEIGHT))


def edge(letter: str, last: str) -> Tuple[Row, ...]:
    """The same with another last cell in one row: the newest point."""
    rows = list(whole(letter))
    rows[3] = ((letter * (WIDTH - 1) + last, "smooth"),)
    return tuple(rows)


def letters(pictures: List[Tuple[Row, ...]]) -> str:
    return "".join(picture[0][0][0][0] for picture in pictures)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def budget(clock: Clock) -> LinkBudget:
    return LinkBudget(clock, rate=1_000.0, burst=3_000.0)


@pytest.fixture
def patience(budget: LinkBudget) -> Patience:
    found = Patience(budget)
    found.choose([(name, whole("a")) for name in NAMES], WIDTH, 100.0)
    return found


def test_a_budget_fills_up_to_its_burst_and_no_further(clock: Clock, budget: LinkBudget) -> None:
    assert budget.left == 3_000.0
    budget.spend(2_500)
    assert budget.left == 500.0
    clock.now += 1.0
    assert budget.left == 1_500.0
    clock.now += 60.0
    assert budget.left == 3_000.0


def test_the_debt_of_a_whole_repaint_is_bounded(clock: Clock, budget: LinkBudget) -> None:
    budget.spend(80_000)
    clock.now += DEBT / 1_000.0 + 0.1
    assert budget.left > 0


def test_with_room_on_the_link_every_chart_is_shown_as_it_is(patience: Patience) -> None:
    with patience:
        shown = patience.choose([("loss", whole("b")), ("accuracy", edge("a", "x"))], WIDTH, 100.0)
    assert shown == [whole("b"), edge("a", "x")]
    assert not patience.holding


def test_without_room_whole_charts_keep_their_last_picture(patience: Patience, budget: LinkBudget) -> None:
    budget.spend(3_000)
    with patience:
        assert letters(patience.choose([(name, whole("b")) for name in NAMES], WIDTH, 100.0)) == "aaa"
    assert patience.holding


def test_the_newest_point_is_always_shown(patience: Patience, budget: LinkBudget) -> None:
    budget.spend(6_000)
    with patience:
        shown = patience.choose([(name, edge("a", "x")) for name in NAMES], WIDTH, 100.0)
    assert shown == [edge("a", "x")] * 3


def test_charts_take_turns_and_the_longest_waiting_is_first(
    patience: Patience, budget: LinkBudget, clock: Clock
) -> None:
    budget.spend(1_000)
    seen = []
    for picture in "bcdefghi":
        before = budget.left
        with patience:
            shown = patience.choose([(name, whole(picture)) for name in NAMES], WIDTH, clock.now)
        seen.append(letters(shown))
        if picture in seen[-1]:
            budget.spend(1_700)
        assert picture not in seen[-1] or before >= 1_500, "only with room on the link"
        clock.now += 1.0
    assert seen[0] == "baa", "one fits, the first"
    assert all(any(picture != "a" for picture in column) for column in zip(*seen)), "nobody waits for ever"


def test_a_link_that_is_always_full_still_lets_one_chart_through_now_and_then(
    patience: Patience, budget: LinkBudget, clock: Clock
) -> None:
    drawn_anew = 0
    for second in range(30):
        budget.spend(5_000)
        with patience:
            shown = patience.choose([(name, whole(chr(98 + second % 20))) for name in NAMES], WIDTH, clock.now)
        drawn_anew += letters(shown).count(chr(98 + second % 20))
        clock.now += 1.0
    assert 30 / PATIENCE_S - 2 <= drawn_anew <= 30 / PATIENCE_S + 1


def test_what_a_person_asked_for_is_shown_at_once(patience: Patience, budget: LinkBudget) -> None:
    budget.spend(6_000)
    assert letters(patience.choose([(name, whole("b")) for name in NAMES], WIDTH, 100.0)) == "bbb"
    assert not patience.holding


def test_a_chart_that_is_new_on_the_page_is_shown_whatever_it_costs(patience: Patience, budget: LinkBudget) -> None:
    budget.spend(6_000)
    with patience:
        assert letters(patience.choose([("other", whole("c")), ("loss", whole("b"))], WIDTH, 100.0)) == "ca"
