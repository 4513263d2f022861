"""Which tensors are recorded, and which are reduced together."""

from __future__ import annotations

from mstui.record import plan


def test_all_are_chosen_up_to_a_limit_and_named_ones_without_one() -> None:
    names = [f"layer{index}.weight" for index in range(300)]
    assert plan.selected(names, None, 128) == tuple(range(128))
    assert len(plan.selected(names, "weight", 128)) == 300
    assert plan.selected(names, ["layer7\\.", "layer9\\."], 1) == (7, 9)
    assert plan.selected(names, patterns=False, most=128) == ()


def test_small_tensors_of_one_size_are_reduced_together() -> None:
    groups = plan.grouped([(4, 4), (4,), (16,), (4,), (300, 300), (300, 300), (0, 3)])
    assert [group.members for group in groups] == [(0, 2), (1, 3), (4,), (5,)]
    assert sorted(plan.order_of(groups)) == [0, 1, 2, 3, 4, 5]


def test_an_embedding_table_stays_alone_with_its_rows() -> None:
    groups = plan.grouped([(10, 4), (10, 4)], [True, False])
    assert [(group.members, group.rows) for group in groups] == [((0,), 10), ((1,), 0)]


def test_a_stack_is_bounded() -> None:
    groups = plan.grouped([(plan.SMALL,)] * 40)
    assert all(len(group.members) * group.size <= plan.MOST_STACKED for group in groups)
    assert sum(len(group.members) for group in groups) == 40
