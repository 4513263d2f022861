"""Lines of the producers that no sample has, and rules that take several lines."""

from __future__ import annotations

import math
from typing import Dict

import pytest

from mstui.formats.logs.decoder import PRODUCERS
from mstui.formats.logs.producer import Producer
from mstui.registry import collect
from tests.unit.formats.logs.reading import SAMPLES, Series, read

ALL = collect(PRODUCERS, "PRODUCER", Producer)

LINES: Dict[str, Dict[str, Series]] = {
    "Epoch: 0, batch:[5/100], loss:6.900000, lr: 0.1000000,  time:0.500000s": {
        "loss": [(5, 6.9)], "learning_rate": [(5, 0.1)], "log_time_s": [(5, 0.5)], "epoch": [(5, 0.0)],
    },
    "epoch: 1 step: 9 , loss is 0.5, average time per step is 12.5": {
        "loss": [(9, 0.5)], "step_time_ms": [(9, 12.5)], "epoch": [(9, 1.0)],
    },
    "step: 30, loss is 0.5, fps is 120.5": {"loss": [(30, 0.5)], "fps": [(30, 120.5)]},
    "epoch 3: epoch time: 100.0, per step time: 10.0, avg loss: 0.25": {
        "epoch_time_ms": [(0, 100.0)], "step_time_ms": [(0, 10.0)], "epoch_mean_loss": [(0, 0.25)],
    },
    "epoch[0], iter[7], loss:(Tensor(shape=[], dtype=Float32, value= 1.5), Tensor(shape=[], dtype=Bool, value= T)": {
        "loss": [(7, 1.5)],
    },
    "[2026-05-06 10:00:00][DEBUG] trainer.py(90)->train(): [train] epoch 1, step: 4, time: 20.5 ms/step, loss: 0.5": {
        "loss": [(4, 0.5)], "step_time_ms": [(4, 20.5)], "epoch": [(4, 1.0)],
    },
    "Metrics: {'Accuracy': 0.98}": {"eval/Accuracy": [(0, 0.98)]},
    "Evaluate Score: {'Accuracy': 0.5}": {"eval/Accuracy": [(0, 0.5)]},
    "result: {'top_1_accuracy': 0.75} ckpt= a.ckpt": {"eval/top_1_accuracy": [(0, 0.75)]},
    "{'acc': 0.98, 'name': 'x'}": {"eval/acc": [(0, 0.98)]},
    "At step 40, learning_rate change to 0.001": {"learning_rate": [(40, 0.001)]},
    "Epoch:[1/ 2], step:[1 319], loss: 1.5, per_step_time: 10ms, overflow cond: True, loss_scale: 2, global_norm [9]": {
        "loss": [(1, 1.5)], "step_time_ms": [(1, 10.0)], "overflow": [(1, 1.0)], "loss_scale": [(1, 2.0)],
        "grad_norm/global": [(1, 9.0)], "epoch": [(1, 1.0)],
    },
    "{'loss': 0.5, 'learning_rate': 1e-4, 'step': 20}": {"loss": [(20, 0.5)], "learning_rate": [(20, 1e-4)]},
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_line_gives_its_values(line: str) -> None:
    got = read(f"{line}\n".encode())
    for tag, points in LINES[line].items():
        assert got.series[tag] == points
    assert got.understood == 1


def test_dictionaries_without_bars_are_counted() -> None:
    got = read(b"{'loss': 0.5, 'epoch': 0.1}\n{'loss': 0.4, 'epoch': 0.2}\n{'eval_loss': 0.3}\n")
    assert got.series["loss"] == [(1, 0.5), (2, 0.4)]
    assert got.series["eval/loss"] == [(2, 0.3)]


def test_a_zero_loss_counts_when_the_loss_was_near_zero() -> None:
    lines = [
        f"epoch: 1 step: {step}, loss is {loss}\n" for step, loss in enumerate(["0.0", "0.5", "0.0", "0.004", "0.0"], 1)
    ]
    got = read("".join(lines).encode())
    assert got.series["loss"] == [(2, 0.5), (4, 0.004), (5, 0.0)]
    assert got.skipped == {"loss-zero": 2}


def test_a_stage_without_loss_never_gives_zeros() -> None:
    got = read(b"the loss on the last card is valid.\nepoch: 1 step: 1, loss is 0.001\nepoch: 1 step: 2, loss is 0.0\n")
    assert got.series["loss"] == [(1, 0.001)]


def test_a_loss_scale_that_falls_to_one_is_kept() -> None:
    lines = "".join(
        f"time: 1 local_rank: 0, epoch: 1, step: {step}, loss is 2.5, overflow is False, loss scale is {scale}\n"
        for step, scale in enumerate([1.0, 2.0, 1.0], 1)
    )
    assert read(lines.encode()).series["loss_scale"] == [(2, 2.0), (3, 1.0)]


def test_what_loops_print_behind_the_loss_in_lossmonitor_s_words_is_read_too() -> None:
    got = read(
        b"epoch: 1 step: 1, loss is 2.5, overflow: True, loss_scale: 1024.0\n"
        b"epoch: 1 step: 2, loss is 2.25, lr: 0.01, overflow: False, loss_scale: 512.0\n"
        b"epoch: 1 step: 3, loss is 2.0, lr is 1e-3\n"
    )
    assert got.series["loss"] == [(1, 2.5), (2, 2.25), (3, 2.0)]
    assert got.series["overflow"] == [(1, 1.0), (2, 0.0)]
    assert got.series["loss_scale"] == [(1, 1024.0), (2, 512.0)]
    assert got.series["learning_rate"] == [(2, 0.01), (3, 0.001)]


def test_a_missing_megatron_loss_is_nan_until_it_is_back() -> None:
    head = " iteration {}/ 9 | learning rate: 1.0E-06 | "
    text = "".join(
        head.format(k) + ("lm loss: 1.5E+00 |\n" if k in (2, 4) else "grad norm: 1.0 |\n") for k in range(1, 5)
    )
    losses = read(text.encode()).series["lm_loss"]
    assert [step for step, _value in losses] == [2, 3, 4]
    assert math.isnan(losses[1][1])


def test_epoch_means_give_no_step_time_where_steps_have_their_own() -> None:
    text = (SAMPLES / "mindformers/mf_0.3.log").read_bytes()
    assert (4, 61.728) not in read(text).series["step_time_ms"]


@pytest.mark.parametrize("producer", ALL, ids=lambda producer: producer.name)
def test_every_producer_has_guards_that_are_ascii(producer: Producer) -> None:
    for shape in producer.shapes:
        assert shape.guards
        assert all(word and word.isascii() for word in shape.words)


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.log")), ids=lambda path: path.name)
def test_what_a_shape_matches_holds_one_of_its_guards(path: object) -> None:
    assert hasattr(path, "read_bytes")
    for line in path.read_bytes().decode("utf-8", "replace").splitlines():
        for producer in ALL:
            for shape in producer.shapes:
                if shape.compiled.search(line):
                    assert any(word in line for word in shape.words), (shape.pattern, line)
