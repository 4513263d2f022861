"""The filter grammar: what each expression lets through, also while it is being typed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mstui.errors import FilterError
from mstui.model.filters import LONGEST_FILTER, Value, parse, parse_strict

TAGS = ["loss/auto", "loss/val", "acc/val", "grad_norm/fc1.weight", "grad norm", "lr"]
FIELDS: dict[str, Value] = {
    "last.loss": 1.5,
    "lr": 1e-3,
    "step": 2000.0,
    "rank": 3.0,
    "status": "LIVE",
    "acc": "0.75",
    "bad": math.nan,
    "big": math.inf,
}


def kept(text: str) -> list[str]:
    found = parse(text)
    return [tag for tag in TAGS if found.matches(tag, FIELDS.get)]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("", TAGS),
        ("   ", TAGS),
        ("loss", ["loss/auto", "loss/val"]),
        ("LOSS", ["loss/auto", "loss/val"]),
        ("loss val", ["loss/val"]),
        ("val loss", ["loss/val"]),
        ("loss | acc", ["loss/auto", "loss/val", "acc/val"]),
        ("loss auto | acc", ["loss/auto", "acc/val"]),
        ("loss|acc val", ["loss/val", "acc/val"]),
        ("loss|acc !val", ["loss/auto"]),
        ("!val", ["loss/auto", "grad_norm/fc1.weight", "grad norm", "lr"]),
        ("!!val", ["loss/val", "acc/val"]),
        ("!loss|acc", ["acc/val", "grad_norm/fc1.weight", "grad norm", "lr"]),
        ('"grad norm"', ["grad norm"]),
        ('!"grad norm" grad', ["grad_norm/fc1.weight"]),
        ("/^l/", ["loss/auto", "loss/val", "lr"]),
        ("/^l/ !/val$/", ["loss/auto", "lr"]),
        (r"/loss\/a/", ["loss/auto"]),
        ("/^(loss|acc).val$/", ["loss/val", "acc/val"]),
        ("/^L/|acc", ["loss/auto", "loss/val", "acc/val", "lr"]),
        ("loss/val", ["loss/val"]),
        ("fc1.weight", ["grad_norm/fc1.weight"]),
        ("nothing", []),
    ],
)
def test_names(text: str, tags: list[str]) -> None:
    assert kept(text) == tags
    assert parse(text).problem == ""


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("last.loss<2", True),
        ("last.loss<1.5", False),
        ("last.loss<=1.5", True),
        ("lr>=1e-3", True),
        ("lr > 1e-3", False),
        ("lr >= 1e-3 step>1000", True),
        ("step>1000 rank=3", True),
        ("rank==3", True),
        ("rank!=3", False),
        ("!rank=3", False),
        ("rank=4|rank=3", True),
        ("rank=4 | step<5", False),
        ("status=live", True),
        ('status="live"', True),
        ("status!=ended", True),
        ("status<3", False),
        ("acc>0.7", True),
        ("acc=0.750", True),
        ("bad=nan", True),
        ("bad!=nan", False),
        ("bad<1", False),
        ("bad>1", False),
        ("big=inf", True),
        ("big>1e300", True),
        ("rank=three", False),
        ("unknown=1", False),
        ("unknown!=1", False),
        ("!unknown=1", True),
        ("loss rank=3", True),
        ("acc rank=3", False),
    ],
)
def test_comparisons(text: str, holds: bool) -> None:
    found = parse(text)
    assert found.problem == ""
    assert found.matches("loss", FIELDS.get) is holds


@pytest.mark.parametrize(
    ("text", "position", "tags"),
    [
        ('loss "va', 5, ["loss/val"]),
        ("loss /v", 5, ["loss/val"]),
        ("loss /v(", 5, ["loss/auto", "loss/val"]),
        ("loss !", 5, ["loss/auto", "loss/val"]),
        ("loss |", 6, ["loss/auto", "loss/val"]),
        ("| loss", 0, ["loss/auto", "loss/val"]),
        ("loss|", 5, ["loss/auto", "loss/val"]),
        ("loss rank>", 10, ["loss/auto", "loss/val"]),
        ("loss rank>x", 10, ["loss/auto", "loss/val"]),
        ("loss >3", 7, []),
        ("<3 loss", 0, ["loss/auto", "loss/val"]),
        ("/[/ loss", 1, ["loss/auto", "loss/val"]),
        ("! loss", 0, ["loss/auto", "loss/val"]),
    ],
)
def test_what_is_not_finished_filters_as_far_as_it_is_understood(text: str, position: int, tags: list[str]) -> None:
    found = parse(text)
    if found.problem:
        assert found.position == position
    else:
        assert text == "loss >3"
    assert kept(text) == tags


def test_a_strict_filter_says_what_is_wrong_and_where() -> None:
    with pytest.raises(FilterError) as caught:
        parse_strict("loss rank>x")
    assert "11" in caught.value.where
    assert "x" in caught.value.what
    assert parse_strict("loss").problem == ""


def test_a_filter_of_any_length_is_cut_and_says_so() -> None:
    found = parse("x" * (LONGEST_FILTER + 1))
    assert found.problem
    assert found.matches("x" * 5000, FIELDS.get)


def test_a_pattern_made_to_hang_comes_back() -> None:
    found = parse("/(a+)+$/ /(.*a){20}b/")
    assert found.problem == ""
    assert not found.matches("a" * 100_000 + "!", FIELDS.get)


@given(st.text(alphabet='ab |!/"<>=.(\\[1é\n', max_size=30))
def test_any_text_is_a_filter(text: str) -> None:
    found = parse(text)
    assert 0 <= found.position <= len(text)
    found.matches("ab 1", FIELDS.get)
    assert (found.problem == "") or found.position >= 0
