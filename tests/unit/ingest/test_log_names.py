"""What the names of text logs say."""

from __future__ import annotations

import time
from typing import Optional

import pytest

from mstui.ingest.log_names import CLEAN, CONSOLE, LIVE, SYSTEM, WHOLE, parse_log_name


@pytest.mark.parametrize(
    ("name", "family", "rank", "exactness"),
    [
        ("info.log", "info.log", None, CLEAN),
        ("rank0.log", "rankN.log", 0, CLEAN),
        ("rank_12.log", "rank_N.log", 12, CLEAN),
        ("train_rank3.log", "train_rankN.log", 3, CLEAN),
        ("MindYOLO_2026-05-06_time_10_00_00_rank_7.log", "MindYOLO_rank_N.log", 7, CLEAN),
        ("2021-06-01_time_09_30_00_rank_1.log", "rank_N.log", 1, CLEAN),
        ("log.txt", "log.txt", None, CLEAN),
        ("worker_3.log", "worker_N.log", 3, WHOLE),
        ("mindformers_5.log", "mindformers_N.log", 5, WHOLE),
        ("device_3.log", "device_N.log", 3, WHOLE),
        ("train.log", "train.log", None, WHOLE),
        ("nohup.out", "nohup.out", None, CONSOLE),
        ("stdout", "stdout", None, CONSOLE),
        ("console.log", "console.log", None, CONSOLE),
        ("slurm-12345_7.out", "slurm.out", None, CONSOLE),
        ("scheduler.log", "scheduler.log", None, SYSTEM),
        ("error.log", "error.log", None, SYSTEM),
        ("stderr", "stderr", None, SYSTEM),
        ("mindspore.log.27825", "mindspore.log", None, SYSTEM),
        ("mindspore.log.512", "mindspore.log", None, SYSTEM),
        ("mindspore.node0.user.log.INFO.20260506-102102.27825", "mindspore.log.INFO", None, SYSTEM),
        ("plog-162844_20260506102658086.log", "plog.log", None, SYSTEM),
        ("device-162844_20260506102658086.log", "plog.log", None, SYSTEM),
    ],
)
def test_names_that_belong_to_the_training_of_their_folder(
    name: str, family: str, rank: Optional[int], exactness: int
) -> None:
    said = parse_log_name(name)
    assert (said.family, said.rank, said.exactness, said.known) == (family, rank, exactness, True)
    assert not said.rotated


@pytest.mark.parametrize(
    "name", ["resnet_1.log", "bert.log", "pip.log", "mf_1.9_pipeline_rank0_loss_zero.log", "a.out"]
)
def test_other_names_may_be_a_training_of_their_own(name: str) -> None:
    assert not parse_log_name(name).known


@pytest.mark.parametrize(
    ("name", "loose"),
    [("train3.log", 3), ("log_0.txt", 0), ("node0_3.log", 3), ("bert.log", None), ("a_12345678.log", None)],
)
def test_a_number_at_the_end_may_be_a_rank(name: str, loose: Optional[int]) -> None:
    said = parse_log_name(name)
    assert (said.rank, said.loose_rank) == (None, loose)


@pytest.mark.parametrize(
    "names",
    [
        ["train.log.10", "train.log.2", "train.log.1", "train.log"],
        ["info.log.2026-05-06", "info.log.2026-05-07", "info.log"],
        ["nohup.out-20260506", "nohup.out-20260507-1778036400", "nohup.out"],
        ["mindspore.log.27825.2", "mindspore.log.27825.1", "mindspore.log.27825"],
        ["rank_3.log.2026-05-06_10-00-00", "rank_3.log.2026-05-06_11-00-00", "rank_3.log"],
    ],
)
def test_rotated_files_are_of_one_family_and_in_the_order_of_writing(names: list[str]) -> None:
    said = [parse_log_name(name) for name in names]
    assert len({each.family for each in said}) == 1
    assert [each.age for each in said] == sorted(each.age for each in said)
    assert [each.rotated for each in said] == [True] * (len(names) - 1) + [False]
    assert said[-1].age == LIVE


def test_a_time_in_the_name_is_local_time() -> None:
    expected = int(time.mktime((2026, 5, 6, 10, 26, 58, 0, 0, -1)))
    assert parse_log_name("plog-1_20260506102658086.log").started == expected
    assert parse_log_name("plog-1_20269906102658086.log").started is None
