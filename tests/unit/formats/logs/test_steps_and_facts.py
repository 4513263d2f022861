"""From a point to its line and back, and what the text says of the training as a whole."""

from __future__ import annotations

from typing import Dict

import pytest

from mstui.model.runs import Fact
from tests.unit.formats.logs.reading import SAMPLES, read, sample

MF = (
    "2026-05-06 10:00:00,123 - mindformers[a/b.py:529] - INFO - {{ Epoch:[  {epoch}/  3], step:[ {step:4d}/   40], "
    "loss: 10.5, per_step_time: 1754ms, lr: 1e-06, overflow cond: False, loss_scale: 1.0, global_norm: [1.5]\n"
    "2026-05-06 10:00:00,123 - mindformers[a/b.py:562] - INFO -    0.0% |    | 4.64576 samples/s/p  6:13:02 }}\n"
)

FACTS: Dict[str, Dict[str, Fact]] = {
    "mindspore/lossmonitor_2x.log": {},
    "mindspore/quickstart_loop.log": {"steps_per_epoch": 938},
    "mindformers/mf_1.5_throughput.log": {"epoch": 2, "steps_per_epoch": 6500, "planned_steps": 13000},
    "mindformers/mf_2.1_pynative.log": {"planned_steps": 2000},
    "megatron/mindspeed_llm.log": {"planned_steps": 2000},
    "mindcv/rank0.log": {"epoch": 200, "steps_per_epoch": 5004, "planned_steps": 1_000_800},
    "mindyolo/MindYOLO_2026-05-06_time_10_00_00_rank_0.log": {
        "epoch": 300, "steps_per_epoch": 1849, "planned_steps": 554_700
    },
    "mindocr/log.txt": {"epoch": 20, "steps_per_epoch": 4468, "planned_steps": 89_360},
    "mindnlp/trainer_tqdm_cr.log": {"planned_steps": 30, "steps_per_epoch": 10},  # bars of two releases in one file
}  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_the_length_of_the_training_is_read_where_it_is_printed(name: str) -> None:
    assert sample(name).facts == FACTS[name]


def test_many_lines_at_once_say_as_much_as_line_by_line() -> None:
    text = "".join(MF.format(epoch=k // 40 + 1, step=k % 40 + 1) for k in range(100)).encode()
    got = read(text)
    assert got.facts == {"epoch": 3, "steps_per_epoch": 40, "planned_steps": 120}
    size = len(text) // 100
    assert got.steps == [(k + 1, k * size) for k in range(100)]
    assert read(text, [77]).steps == got.steps


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("using world size: 8, data-parallel size: 2, tensor-model-parallel size: 2", {"device_num": 8}),
        ("  world_size ...................................... 16", {"device_num": 16}),
        ("Running Command: msrun --bind_core=True --worker_num=32 --local_worker_num=8 a.py", {"device_num": 32}),
        ("MindSpore version:  2.10.0", {"custom/mindspore_version": "2.10.0"}),
        ("MindSpore version 2.3.1 and CANN version 8.0.RC3 do not match.",
         {"custom/mindspore_version": "2.3.1", "custom/cann_version": "8.0.RC3"}),
        ("the new version is 3", {}),
        ("hello world 8", {}),
    ],
)  # fmt: skip
def test_devices_and_versions_are_read_from_plain_lines(line: str, facts: Dict[str, Fact]) -> None:
    assert read(f"{line}\n".encode()).facts == facts


def test_facts_are_told_once() -> None:
    from mstui.formats.logs.decoder import TextLogDecoder

    line = b"[2026-05-06 10:00:02] INFO: epoch: [1/20] step: [2/30], loss is 2.5\n"
    decoder = TextLogDecoder("a.log")
    assert decoder.decode(line, 0, at_end=True).facts == {"epoch": 20, "steps_per_epoch": 30, "planned_steps": 600}
    assert decoder.decode(line, len(line), at_end=True).facts == {}


def test_a_step_lies_at_the_record_that_tells_of_it() -> None:
    data = (SAMPLES / "mindspore/fit_eval_metrics.log").read_bytes()
    assert sample("mindspore/fit_eval_metrics.log").steps == [
        (2, 0), (4, data.index(b"epoch: 2 step: 1")),
    ]  # fmt: skip


def test_both_lines_of_a_step_lead_to_it_and_two_records_on_one_line_are_two_steps() -> None:
    got = sample("mindyolo/MindYOLO_2026-05-06_time_10_00_00_rank_0.log")
    assert [step for step, _offset in got.steps[:4]] == [100, 100, 200, 200]
    assert read(b"epoch: 1 step: 1, loss is 2.5epoch: 1 step: 2, loss is 2.4\n\n").steps == [(1, 0), (2, 0)]


def test_a_dictionary_that_waited_for_its_step_is_the_record_of_that_step() -> None:
    data = (SAMPLES / "mindnlp/trainer_tqdm_cr.log").read_bytes()
    begin = sample("mindnlp/trainer_tqdm_cr.log").records[0][0]
    assert sample("mindnlp/trainer_tqdm_cr.log").steps[0] == (10, begin)
    assert begin < data.index(b"{'loss'")
