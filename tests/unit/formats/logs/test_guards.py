"""Words that must stand in a text, looked for in groups."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mstui.formats.logs.guards import Guards


def test_items_come_in_the_order_given_and_once() -> None:
    guards = Guards([("a", ["loss is", ", loss"]), ("b", ["["]), ("c", ["step loss"]), ("d", ["time"])])
    assert list(guards.present("x [1, loss is 3")) == ["a", "b"]
    assert list(guards.present("step loss is")) == ["a", "c"]
    assert list(guards.present("nothing")) == []
    assert guards.words == ["loss is", ", loss", "[", "step loss", "time"]


@given(
    items=st.lists(st.tuples(st.integers(), st.lists(st.text("abc", max_size=5), min_size=1, max_size=3)), max_size=12),
    text=st.text("abc", max_size=20),
)
def test_the_groups_lose_none(items: list[tuple[int, list[str]]], text: str) -> None:
    guards = Guards(items)
    assert list(guards.present(text)) == [item for item, words in items if any(word in text for word in words)]
