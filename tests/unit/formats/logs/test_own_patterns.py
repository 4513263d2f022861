"""Patterns that a person gives for logs nobody knows."""

from __future__ import annotations

import pytest

from mstui.errors import ConfigError
from mstui.formats.logs.own_patterns import own_pattern
from tests.unit.formats.logs.reading import read


def test_named_groups_say_what_is_measured() -> None:
    own = own_pattern(
        "mine", r"^it (?P<step>\d+) .*L=(?P<loss>\S+) \((?P<s>[\d.]+)s\) lr (?P<lr>\S+)( gn (?P<gnorm>\S+))?"
    )
    got = read(b"it 7 bla L=2.5 (0.5s) lr 1e-4 gn nan\nit 8 bla L=oops (0.25s) lr [1.e-05]\n", own=[own])
    assert {tag: points for tag, points in got.series.items() if tag != "grad_norm/global"} == {
        "loss": [(7, 2.5)],
        "step_time_ms": [(7, 500.0), (8, 250.0)],
        "learning_rate": [(7, 1e-4), (8, 1e-5)],
    }
    assert [step for step, _value in got.series["grad_norm/global"]] == [7]
    assert got.understood == 2


def test_epochs_make_steps_global_and_other_names_are_tags() -> None:
    own = own_pattern("mine", r"E(?P<epoch>\d+)/S(?P<step>\d+)of(?P<steps>\d+) (?P<wer>[\d.]+)")
    assert read(b"E2/S3of10 0.25\n", own=[own]).series == {"wer": [(13, 0.25)], "epoch": [(13, 2.0)]}


def test_an_own_pattern_comes_before_the_known_ones() -> None:
    own = own_pattern("mine", r"epoch: \d+ step: (?P<step>\d+), loss is (?P<mine>\S+)")
    assert read(b"epoch: 2 step: 7, loss is 2.5\n" * 50, own=[own]).series == {"mine": [(7, 2.5)] * 50}


def test_it_sees_the_line_with_its_header() -> None:
    own = own_pattern("mine", r"^\[2026.*\] .* s(?P<step>\d+) (?P<loss>[\d.]+)$")
    assert read(b"[2026-05-06 10:00:02] INFO: s4 1.5\n", own=[own]).series == {"loss": [(4, 1.5)]}


@pytest.mark.parametrize(
    "pattern",
    [
        "(?P<loss>",
        "(?P<loss>a)(?=b)",
        r"(?P<loss>a)\1",
        "(?i)(?P<loss>a)",
        "loss (.*)",
        "(?P<step>a)",
        "(?P<loss>a)" * 60,
        "((a{99}){99})(?P<b>c)",
    ],
)
def test_what_cannot_be_used_is_refused_with_a_remedy(pattern: str) -> None:
    with pytest.raises(ConfigError) as caught:
        own_pattern("mine", pattern, "mstui.toml [[log_pattern]] 1")
    assert caught.value.where == "mstui.toml [[log_pattern]] 1"
    assert "mine" in str(caught.value)
    assert caught.value.remedy


def test_a_pattern_that_is_too_costly_gives_up_and_is_counted() -> None:
    own = own_pattern("mine", r"((a|aa|aaa|a)*)*(?P<loss>b)c")
    got = read(b"cb" + b"a" * 8000 + b"\n", own=[own])
    assert got.skipped == {"pattern-too-costly": 1}
