"""The bundled runs hold what their run.toml says."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest

from tests.live.recorder_reading import facts, histograms, scalars

tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
RUNS = Path(__file__).parents[2] / "sample_runs"
NAMES = sorted(path.parent.name for path in RUNS.glob("*/run.toml"))
LOGS = {"log_only", "mindformers_log"}


def told(name: str) -> Dict[str, Any]:
    loaded: Dict[str, Any] = tomllib.loads((RUNS / name / "run.toml").read_text("utf-8"))
    return loaded


def folder(name: str) -> Path:
    ranks = sorted((RUNS / name).glob("rank_*"))
    return ranks[0] if ranks else RUNS / name


def test_every_run_of_the_script_is_there() -> None:
    wanted = {"healthy", "loss_nan", "fp16_overflow", "lr_too_large", "vanishing", "exploding", "frozen_layer"}
    assert {*wanted, "dead_relu", "rank_init", "hang", *LOGS} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_says_in_both_languages_what_it_is_and_how_it_was_made(name: str) -> None:
    run = told(name)
    for part in ("title", "summary"):
        assert run[part]["en"]
        assert any("\u4e00" <= char <= "\u9fff" for char in run[part]["zh"])
    assert name in run["made"]["how"]


@pytest.mark.parametrize("name", sorted(set(NAMES) - LOGS))
def test_what_was_recorded_is_what_is_expected(name: str) -> None:
    expected, recorded = told(name)["expect"], scalars(folder(name))
    assert max(recorded) == expected["last_step"]
    assert len({tag for values in recorded.values() for tag in values}) == expected["scalar_tags"]
    assert len(histograms(folder(name))) == expected["histogram_tags"]
    bad: List[int] = [step for step, values in recorded.items() if not math.isfinite(values.get("loss", 0.0))]
    assert min(bad, default=0) == expected["first_non_finite_step"]


def test_the_faults_are_really_there() -> None:
    def last(name: str, tag: str) -> float:
        return [values[tag] for _, values in sorted(scalars(folder(name)).items()) if tag in values][-1]

    assert last("vanishing", "grad_norm/0.weight") < 1e-4 * last("vanishing", "grad_norm/16.weight")
    assert last("dead_relu", "act_zero_frac/3") == 1.0
    assert last("frozen_layer", "update_ratio/2.weight") == 0.0
    assert facts(folder("frozen_layer"))["custom/params_left_out"] == "2.weight,2.bias"
    assert max(values.get("act_nonfinite/3", 0) for values in scalars(folder("fp16_overflow")).values()) > 0
    first, second = (scalars(RUNS / "rank_init" / f"rank_{rank}")[1]["weight_norm/0.weight"] for rank in range(2))
    assert first != second
    assert max(values.get("grad_norm/global", 0) for values in scalars(folder("exploding")).values()) > 1e3


def test_the_hang_is_no_end() -> None:
    known = facts(folder("hang"))
    assert known["custom/planned_steps"] == 600
    assert "optimizer" not in known
