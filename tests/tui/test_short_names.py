"""Names that share a narrow column: what tells them apart stays."""

from __future__ import annotations

import re
from typing import List, Tuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.safe_text import ASCII_ELLIPSIS, ELLIPSIS, fit, safe, width
from mstui.tui.short_names import endings, short_names

MSPROBE = tuple(
    f"grad_unreduced_{figure}/layers.0.mlp.linear_fc1.weight" for figure in ("min", "max", "mean", "norm", "nans")
)


@pytest.mark.parametrize("cells", [80, 46, 41, 30, 22, 15, 10, 6])
def test_statistics_of_one_layer_stay_apart_at_every_width_of_a_column(cells: int) -> None:
    assert len(set(short_names(MSPROBE, cells))) == len(MSPROBE)


def test_what_differs_stays_whole_with_what_names_the_parameter() -> None:
    assert short_names(MSPROBE, 22)[:3] == ("grad…_min/…fc1.weight", "grad…_max/…fc1.weight", "grad…_mean/…fc1.weight")


def test_one_end_stays_whole_where_the_other_still_says_something() -> None:
    names = ("loss", "eval/Top_1_Accuracy", "eval/Top_5_Accuracy")
    assert short_names(names, 14) == ("loss", "ev…_1_Accuracy", "ev…_5_Accuracy")
    assert short_names(("abcdefg_1_hijklmnopqrs", "abcdefg_2_hijklmnopqrs"), 17)[0] == "abcdefg_1_…nopqrs"


def test_a_long_common_end_is_not_given_up_for_a_whole_start() -> None:
    assert short_names(MSPROBE, 30)[0] == "grad_un…_min/…near_fc1.weight"


def test_names_that_differ_when_each_is_cut_alone_are_left_at_that() -> None:
    names = ("network.encoder.first.weight", "decoder.second.bias")
    assert short_names(names, 12) == tuple(fit(name, 12) for name in names)


def test_differences_in_two_places_are_both_kept() -> None:
    names = [f"layers.{layer}.mlp.fc{number}.weight" for layer in (0, 1, 10, 11) for number in (1, 2)]
    assert len(set(short_names(names, 12))) == len(names)


def test_two_cuts_that_meet_are_one() -> None:
    names = [f"{'q' * 14}{middle}xaxb/{'z' * 12}" for middle in ("cxb", "bxc")]
    assert short_names(names, 6) == ("…cxb…", "…bxc…")


def test_equal_names_stay_equal_and_none_need_no_room() -> None:
    assert short_names(("a" * 30, "a" * 30), 10) == (fit("a" * 30, 10),) * 2
    assert short_names((), 10) == ()


def test_an_ascii_terminal_gets_its_own_ellipsis() -> None:
    for names in (MSPROBE, (MSPROBE[0], "x" * 40)):
        assert all(text.isascii() for text in short_names(names, 22, ellipsis=ASCII_ELLIPSIS))


NAMES = st.lists(
    st.one_of(st.text(max_size=40), st.text("ab/._", max_size=40), st.text("a全é\u0301", max_size=20)).map(safe),
    max_size=12,
)


@given(NAMES, st.integers(0, 30))
def test_no_text_is_too_wide_and_what_fits_is_untouched(names: List[str], cells: int) -> None:
    texts = short_names(names, cells)
    assert len(texts) == len(names)
    for name, text in zip(names, texts):
        assert width(text) <= cells
        assert width(name) > cells or text == name


@given(NAMES, st.integers(1, 30))
def test_a_text_is_made_of_pieces_of_its_name_in_their_order(names: List[str], cells: int) -> None:
    for name, text in zip(names, short_names(names, cells)):
        if ELLIPSIS not in name:
            assert re.fullmatch(".*".join(map(re.escape, text.split(ELLIPSIS))), name), (name, text)


@given(NAMES, st.integers(0, 30))
def test_never_are_fewer_told_apart_than_by_cutting_each_alone(names: List[str], cells: int) -> None:
    assert len(set(short_names(names, cells))) >= len({fit(name, cells) for name in names})


PART = st.text("abcdefgh", min_size=1, max_size=6)


@given(
    st.lists(PART, max_size=5),
    st.lists(PART, min_size=1, max_size=12, unique=True),
    st.lists(PART, max_size=5),
    st.sampled_from("/._"),
    st.integers(8, 40),
)
def test_names_that_differ_in_one_short_component_never_look_alike(
    start: List[str], differing: List[str], end: List[str], separator: str, cells: int
) -> None:
    names = [separator.join([*start, part, *end]) for part in differing]
    assert len(set(short_names(names, cells))) == len(names)


@given(NAMES.flatmap(lambda names: st.tuples(st.just(names), st.permutations(names))), st.integers(0, 30))
def test_the_order_of_the_names_does_not_matter(orders: Tuple[List[str], List[str]], cells: int) -> None:
    names, others = orders
    assert dict(zip(names, short_names(names, cells))) == dict(zip(others, short_names(others, cells)))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("accuracy/val", "loss/val"), ("accuracy/val", "loss/val")),
        (("accuracy/val",), ("accuracy/val",)),
        (("eval/accuracy",), ("accuracy",)),
        (("eval/Top_1_Accuracy", "eval/Top_5_Accuracy"), ("Top_1_Accuracy", "Top_5_Accuracy")),
        (("a/x/rate", "b/x/rate"), ("a/x/rate", "b/x/rate")),
        (("eval/loss",), ("eval/loss",)),
        (("loss",), ("loss",)),
        (("a/b", "a/b"), ("b", "b")),
    ],
)
def test_the_last_components_that_say_what_it_is(names: Tuple[str, ...], said: Tuple[str, ...]) -> None:
    assert endings(names, taken=("loss",)) == said


@given(st.lists(st.text("ab/", max_size=8), max_size=8))
def test_different_tags_have_different_endings(tags: List[str]) -> None:
    assert len(set(endings(tags))) == len(set(tags))
