"""Several ranks in one file, told apart by the launcher's prefix: each has its own steps, losses and scales."""

from __future__ import annotations

from typing import List

import pytest

from tests.unit.formats.logs.reading import read, sample

LOSS = "epoch: {epoch} step: {step}, loss is {loss}\n"


@pytest.mark.parametrize("sizes", [[], [1], [17]])
def test_each_rank_keeps_its_own_values(sizes: List[int]) -> None:
    data = b"".join(
        f"[1,{rank}]<stdout>:{LOSS.format(epoch=step // 3 + 1, step=step % 3 + 1, loss=step + rank / 4)}".encode()
        for step in range(6)
        for rank in (2, 0, 1)
    )
    got = read(data, sizes)
    assert got.series == {}
    assert got.ranks[2]["loss"] == [(step + 1, step + 0.5) for step in range(6)]
    assert got.ranks[0]["loss"] == [(step + 1, float(step)) for step in range(6) if step]  # 0.0 is no loss
    assert got.ranks[1]["loss"] == [(step + 1, step + 0.25) for step in range(6)]
    assert got.skipped == {"loss-zero": 1}


def test_ranks_that_are_at_other_steps_do_not_shift_each_other() -> None:
    lines = [
        "[rank0]: " + LOSS.format(epoch=1, step=9, loss=1.5),
        "[rank1]: " + LOSS.format(epoch=1, step=2, loss=2.5),
        "[rank0]: " + LOSS.format(epoch=2, step=1, loss=1.25),
        "[rank1]: " + LOSS.format(epoch=2, step=1, loss=2.25),
    ]
    got = read("".join(lines).encode())
    assert got.ranks[0]["loss"] == [(9, 1.5), (10, 1.25)]
    assert got.ranks[1]["loss"] == [(2, 2.5), (3, 2.25)]


def test_steps_lead_to_the_lines_of_the_first_rank() -> None:
    data = "[rank1]: " + LOSS.format(epoch=1, step=1, loss=1.5) + "[rank0]: " + LOSS.format(epoch=1, step=1, loss=2.5)
    assert read(data.encode()).steps == [(1, 0)]


def test_a_stage_without_loss_does_not_hide_the_loss_of_another() -> None:
    lines = [
        "worker-0: " + LOSS.format(epoch=1, step=1, loss="0.0"),
        "worker-1: " + LOSS.format(epoch=1, step=1, loss=2),
    ]
    got = read("".join(lines).encode())
    assert got.series == {}
    assert got.ranks == {0: {"epoch": [(1, 1.0)]}, 1: {"loss": [(1, 2.0)], "epoch": [(1, 1.0)]}}


def test_overflow_of_one_rank_is_no_streak_of_another() -> None:
    line = "worker-{}: epoch: 1, step: 5, outputs are (Tensor(shape=[1], dtype=Float32, value= [ 9.5]), Tensor(shape=[], dtype=Bool, value= {}))\n"  # noqa: E501
    got = read("".join(line.format(rank, flag) for rank, flag in ((0, True), (1, False), (0, True))).encode())
    assert got.told == [("overflow", "", 5, 0)]


def test_mpirun_names_the_ranks_of_a_sample() -> None:
    got = sample("odd/mpirun_tag_output.log")
    assert got.series == {}
    assert got.ranks[0]["loss"] == [(1, 2.3051)]
    assert got.ranks[1] == {"loss": [(1, 2.3102)], "epoch": [(1, 1.0)]}


def test_without_prefixes_the_file_says_whose_values_they_are() -> None:
    got = read(LOSS.format(epoch=1, step=1, loss=2.5).encode())
    assert got.ranks == {}


@pytest.mark.parametrize("sizes", [[], [1], [40]])
def test_what_is_printed_without_prefix_stays_the_files_own_whoever_is_named_before_or_behind_it(
    sizes: List[int],
) -> None:
    lines = [
        LOSS.format(epoch=1, step=1, loss=1.5),
        "[1,3]<stdout>:" + LOSS.format(epoch=1, step=1, loss=2.5),
        LOSS.format(epoch=1, step=2, loss=1.25),
    ]
    got = read("".join(lines).encode(), sizes)
    assert got.series["loss"] == [(1, 1.5), (2, 1.25)]
    assert got.ranks[3]["loss"] == [(1, 2.5)]
