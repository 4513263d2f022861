"""Bisecting finds the first wrong place, whatever it is, and prints what to put where."""

from __future__ import annotations

from typing import Tuple

import pytest

from mstui.knowledge.bisect import Bisection, both_snippets, snippet
from mstui.knowledge.loader import knowledge

BASE = knowledge()


def search(size: int, first_wrong: int) -> Tuple[Bisection, int]:
    """Search among `size` places of which those from `first_wrong` on differ; how many looks it took."""
    found = Bisection(tuple(f"op{at}" for at in range(size)))
    looks = 0
    while not found.over:
        at = found.next_at
        assert at is not None
        found = found.answer(agrees=at < first_wrong)
        looks += 1
    return found, looks


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 50])
def test_the_first_wrong_place_is_found_in_logarithmic_looks(size: int) -> None:
    for first_wrong in range(size):
        found, looks = search(size, first_wrong)
        assert found.found == f"op{first_wrong}"
        assert looks <= Bisection(tuple(map(str, range(size)))).steps_left + 1


def test_when_all_agree_one_look_tells() -> None:
    found, looks = search(20, 20)
    assert (found.found, found.over, looks) == ("", True, 1)


def test_nothing_to_search_is_over_at_once() -> None:
    assert Bisection(()).over
    with pytest.raises(ValueError, match="over"):
        Bisection(()).answer(agrees=True)


def test_snippets_name_the_place_for_the_version() -> None:
    here, there = both_snippets(BASE.assists["bisect-forward"], "layer1.conv", "2.3.0")
    assert here.startswith("ops.Print()('layer1.conv'")
    assert "print('layer1.conv'" in there
    assert "ReduceMean" in snippet(BASE.assists["bisect-forward"].here, "x", "1.9.0")
    assert "InsertGradientOf" in snippet(BASE.assists["bisect-backward"].here, "x")
    assert "register_hook" in snippet(BASE.assists["bisect-backward"].reference, "x")


def test_a_hostile_name_cannot_leave_its_quotes() -> None:
    said = snippet(BASE.assists["bisect-forward"].here, "a'); import os; os.system('x')\n\x1b[2J", "2.3.0")
    assert said.count("'") == 2
    assert "\n" not in said
    assert "\x1b" not in said
