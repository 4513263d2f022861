"""Learning rates by group: which are told, under which tags."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mstui.record.rates import MOST_RATES, Rates


def grouped(*rates: Any) -> SimpleNamespace:
    """An optimizer of the family that holds its groups in a list."""
    return SimpleNamespace(param_groups=[{"lr": rate} for rate in rates])


def test_without_an_optimizer_there_is_no_rate() -> None:
    rates = Rates()
    assert rates.ask(None) == []
    assert rates.by_tag([]) == {}


def test_a_number_is_told_as_it_is() -> None:
    rates = Rates()
    optimizer = SimpleNamespace(learning_rate=0.1, dynamic_lr=False)
    assert rates.by_tag(rates.ask(optimizer)) == {"learning_rate": 0.1}


def test_groups_that_begin_with_the_same_rate_are_one_for_good() -> None:
    rates = Rates()
    assert rates.by_tag([0.1, 0.1, 0.01]) == {"learning_rate": 0.1, "learning_rate/1": 0.01}
    assert rates.by_tag([0.1, 0.2, 0.1]) == {"learning_rate": 0.1, "learning_rate/1": 0.1}


def test_groups_with_schedules_keep_their_places_when_they_meet() -> None:
    def schedule(factor: float) -> Any:
        return lambda step: SimpleNamespace(reshape=lambda shape: factor * step)

    rates = Rates()
    optimizer = SimpleNamespace(learning_rate=[schedule(1.0), schedule(1.0)], dynamic_lr=True, global_step=3)
    assert rates.by_tag(rates.ask(optimizer)) == {"learning_rate": 3.0, "learning_rate/1": 3.0}


def test_of_many_groups_the_first_are_told() -> None:
    rates = Rates()
    found = rates.by_tag(rates.ask(grouped(*(0.1 + index for index in range(20)))))
    assert len(found) == MOST_RATES
    assert list(found)[-1] == f"learning_rate/{MOST_RATES - 1}"
