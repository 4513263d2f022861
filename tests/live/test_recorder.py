"""Real MindSpore trainings with the recorder: nothing of the training changes, and numpy agrees with every value."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest

from tests.live.recorder_reading import close, facts, histograms, scalars

SCRIPT = Path(__file__).with_name("recorder_trainings.py")
WHOLE = (
    *("model", "loop", "cell", "fixed_scale", "dynamic_scale", "half_precision", "accumulation", "embedding", "large"),
    "adversarial",
)
SCENARIOS = (*WHOLE, "raising")
WITH_NUMPY = ("model", "loop", "cell", "fixed_scale", "embedding", "large")
STEPWISE = ("model", "cell", "fixed_scale", "large", "raising")
LONGEST_S = 600.0

pytestmark = [
    pytest.mark.mindspore,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("mindspore") is None, reason="needs the extra mstui[mindspore]"),
]


class Trainings:
    """What one run of the script left."""

    def __init__(self, out: Path, mode: str) -> None:
        self.out, self.mode = out, mode

    def first(self, name: str) -> int:
        """The first recorded step. A cell that has a graph of its own runs that one first."""
        return 2 if self.mode == "graph" and name in STEPWISE else 1

    def report(self, name: str) -> Dict[str, Any]:
        """Losses with and without, and what was expected."""
        loaded: Dict[str, Any] = json.loads((self.out / f"{name}.json").read_text("utf-8"))
        return loaded


@pytest.fixture(scope="module", params=["graph", "pynative"])
def trainings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trainings:
    """All scenarios in one mode, by one process."""
    out = tmp_path_factory.mktemp(request.param)
    command = [sys.executable, str(SCRIPT), request.param, str(out)]
    environment = {**os.environ, "GLOG_v": "3"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_S, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "mstui" not in done.stderr, "the recorder warned of something"
    return Trainings(out, request.param)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_losses_are_the_same_bit_for_bit(trainings: Trainings, name: str) -> None:
    report = trainings.report(name)
    assert len(report["with"]) == 12
    assert report["with"] == report["without"]


@pytest.mark.parametrize("name", WITH_NUMPY)
def test_numpy_agrees_with_every_value(trainings: Trainings, name: str) -> None:
    recorded = scalars(trainings.out / name)
    expected = trainings.report(name)["expected"]
    assert {int(step) for step in expected} <= set(recorded)
    for step, values in expected.items():
        found = recorded[int(step)]
        if int(step) in {1, 2} - {trainings.first(name)}:
            assert "grad_norm/global" not in found
            continue
        assert set(values) <= set(found), sorted(set(values) - set(found))[:5]
        for tag, wanted in values.items():
            parameter = tag.partition("/")[2]
            size = values.get(f"grad_abs_mean/{parameter}", values.get(f"act_std/{parameter}", 1.0))
            assert close(found[tag], wanted, size), (step, tag, found[tag], wanted)


@pytest.mark.parametrize("name", WHOLE)
def test_every_loss_is_on_the_disk(trainings: Trainings, name: str) -> None:
    recorded = scalars(trainings.out / name)
    losses = [float.fromhex(text) for text in trainings.report(name)["with"]]
    assert [recorded[step]["loss"] for step in range(1, 13)] == pytest.approx(losses, rel=1e-6)


def test_a_parameter_without_gradient_has_weight_statistics_alone(trainings: Trainings) -> None:
    recorded = scalars(trainings.out / "model")[5]
    for name in ("fc1.bias", "head.bias"):
        assert recorded[f"update_ratio/{name}"] == 0.0
        assert f"grad_norm/{name}" not in recorded


def test_who_was_not_given_to_the_optimizer_is_a_fact(trainings: Trainings) -> None:
    for name in ("model", "loop", "cell"):
        known = facts(trainings.out / name)
        assert known["custom/params_left_out"] == "head.bias"
        assert known["custom/params_frozen"] == "fc1.bias"
        assert known["custom/frozen_params"] == "fc1.bias"
        listed = json.loads(str(known["custom/parameters/1"]))
        assert listed[0] == ["fc1.weight", [16, 8], "trained"]
        assert ["head.bias", [3], "left_out"] in listed


def test_what_can_be_found_is_lineage(trainings: Trainings) -> None:
    known = facts(trainings.out / "model")
    wanted = {
        "optimizer": "Momentum", "learning_rate": pytest.approx(0.05), "lr_schedule": "list of 1007 steps",
        "batch_size": 16, "epochs": 1, "steps_per_epoch": 12, "planned_steps": 12, "device_num": 1, "rank_id": 0,
        "loss_function": "CrossEntropyLoss", "network": "Net", "seed": 3, "num_classes": 3,
        "momentum": pytest.approx(0.9),
    }  # fmt: skip
    assert {key: known[f"custom/{key}"] for key in wanted} == wanted
    assert known["optimizer"] == "Momentum", "train_lineage: the training has come to its end"


def test_evaluation_and_epochs_are_recorded(trainings: Trainings) -> None:
    for name in ("model", "loop"):
        last = scalars(trainings.out / name)[12]
        assert last["epoch"] == 1.0
        assert 0.0 <= last["accuracy/val"] <= 1.0
        assert last["loss/val"] > 0.0


def test_histograms_come_less_often(trainings: Trainings) -> None:
    for name in ("model", "loop", "cell"):
        found = histograms(trainings.out / name)
        assert found["weight/fc1.weight"] == found["gradient/fc1.weight"] == {trainings.first(name), 10}


def test_a_fixed_scale_is_recorded_and_taken_out_of_the_gradients(trainings: Trainings) -> None:
    recorded, plain = scalars(trainings.out / "fixed_scale"), scalars(trainings.out / "cell")
    assert recorded[5]["loss_scale"] == 1024.0
    assert recorded[5]["grad_norm/global"] == pytest.approx(plain[5]["grad_norm/global"], rel=1e-3)


def test_a_dynamic_scale_is_the_one_that_the_step_used(trainings: Trainings) -> None:
    recorded = scalars(trainings.out / "dynamic_scale")
    scales = [recorded[step]["loss_scale"] for step in range(1, 13)]
    overflows = [recorded[step]["overflow"] for step in range(1, 13)]
    assert scales[0] == pytest.approx(3e38)
    assert overflows[0] == 1.0
    for before, overflow, after in zip(scales, overflows, scales[1:]):
        assert after == pytest.approx(before / 2**8) if overflow else after >= before
    assert 0.0 in overflows


def test_statistics_wait_for_an_update(trainings: Trainings) -> None:
    # nothing is updated in a step that overflows: the first recorded gradients are those of the first good step
    recorded = scalars(trainings.out / "dynamic_scale")
    first_good = next(step for step in range(1, 13) if not recorded[step]["overflow"])
    with_gradients = [step for step in range(1, 13) if "grad_norm/global" in recorded[step]]
    assert with_gradients[0] == first_good
    assert math.isfinite(recorded[first_good]["grad_norm/global"])
    accumulated = scalars(trainings.out / "accumulation")
    assert [step for step in range(1, 13) if "grad_norm/fc1.weight" in accumulated[step]] == [4, 8, 12]
    assert all(accumulated[step]["update_ratio/fc1.weight"] > 0 for step in (4, 8, 12))


def test_half_precision_is_told_and_recorded(trainings: Trainings) -> None:
    recorded = scalars(trainings.out / "half_precision")
    assert recorded[1]["loss_scale"] == 1024.0
    assert recorded[1]["overflow"] == 0.0
    assert recorded[5]["grad_norm/global"] > 0
    assert "float16" in str(facts(trainings.out / "half_precision")["custom/mixed_precision"])


def test_a_crash_leaves_the_failing_step_and_its_reason(trainings: Trainings) -> None:
    recorded, known = scalars(trainings.out / "crash"), facts(trainings.out / "crash")
    assert max(recorded) == 7
    assert recorded[7]["loss"] > 0
    assert known["custom/ended_by"] == "ValueError: In epoch: 2 step: 1, loss is NAN or INF"
    assert known["custom/ended_at_step"] == 7
    assert "optimizer" not in known, "no train_lineage: it did not come to its end"


def test_a_step_that_raises_leaves_the_users_classes_and_the_next_is_recorded(trainings: Trainings) -> None:
    assert trainings.report("raising")["with"][4] == "its own classes"
    recorded = scalars(trainings.out / "raising")
    assert "grad_norm/fc2.weight" in recorded[6]
    assert "loss" not in recorded.get(5, {})


def test_of_two_optimizers_the_weights_of_both_networks_are_recorded(trainings: Trainings) -> None:
    recorded, known = scalars(trainings.out / "adversarial")[5], facts(trainings.out / "adversarial")
    assert recorded["update_ratio/fc2.weight"] > 0
    assert recorded["update_ratio/other.fc2.weight"] > 0
    assert "grad_norm/global" not in recorded
    assert known["custom/gradients_not_recorded"] == "no optimizer, or several"
    assert known["custom/params_left_out"] == "head.bias,other.head.bias"


def test_beside_mindspores_own_callbacks_nobody_loses_a_file(trainings: Trainings) -> None:
    report = trainings.report("beside")
    assert report["with"] == report["without"]
    beside, without = trainings.out / "beside", trainings.out / "beside_without"

    def kinds(folder: Path) -> List[str]:
        names = [path.name for path in folder.iterdir() if ".mstui_" not in path.name]
        return sorted(re.sub(r"summary\.\d+\.", "", name) for name in names)

    assert kinds(beside) == kinds(without)
    assert len(list(beside.glob("*.mstui_*"))) == 2
    assert ("net-graph.meta" in kinds(beside)) is (trainings.mode == "graph")
    for name in ("net-1_6.ckpt", "net-1_12.ckpt"):
        assert (beside / name).read_bytes() == (without / name).read_bytes()


def test_files_are_closed_as_mindspore_closes_them(trainings: Trainings) -> None:
    for path in (trainings.out / "model").iterdir():
        assert not stat.S_IMODE(path.stat().st_mode) & 0o222
