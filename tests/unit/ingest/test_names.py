"""What file and folder names say."""

from __future__ import annotations

from typing import List, Optional

import pytest

from mstui.ingest.names import is_skipped_folder, may_be_huge, parse_file_name, place


@pytest.mark.parametrize(
    ("name", "started", "file_id", "stream"),
    [
        ("events.out.events.summary.1796033791.0.vm_MS", 1796033791, 0, "_MS"),
        ("events.out.events.summary.1796033791.7.vm_lineage", 1796033791, 7, "_lineage"),
        ("a.b.out.events.summary.1796033791.11.node-3.cluster.local_MS", 1796033791, 11, "_MS"),
        ("x.out.events.summary.1796033791.3.host", 1796033791, 3, ""),
        ("events.out.events.summary.1578000000.host_MS", 1578000000, None, "_MS"),
        ("events.out.events.summary.1578000000.1.host_explain", 1578000000, 1, "_explain"),
        ("events.out.tfevents.1700000000.host.1234.0", 1700000000, None, ""),
        ("events.out.tfevents.1700000000.host.1234.0.v2", 1700000000, None, ""),
        ("loss.tfevents", None, None, ""),
        ("events.out.events.summary.99999999999999999999.0.vm_MS", None, None, ""),
        ("events.out.events.summary.9999999999999999999.0.vm_MS", None, 0, "_MS"),
        ("", None, None, ""),
    ],
)
def test_a_file_name_gives_second_id_and_stream(
    name: str, started: Optional[int], file_id: Optional[int], stream: str
) -> None:
    said = parse_file_name(name)
    assert (said.started, said.file_id, said.stream) == (started, file_id, stream)


@pytest.mark.parametrize(
    ("folders", "root", "run", "rank"),
    [
        ([], "summary", ".", None),
        ([], "rank_5", ".", 5),
        (["exp1"], "runs", "exp1", None),
        (["exp1", "summary"], "runs", "exp1", None),
        (["rank_0"], "summary", ".", 0),
        (["rank_3", "summary"], "out", ".", 3),
        (["device12"], "out", ".", 12),
        (["exp", "Rank-2", "summary_dir"], "out", "exp", 2),
        (["rank_0", "lr_3", "summary"], "out", "lr_3", 0),
        (["tensorboard", "rank_4"], "out", ".", 4),
        (["worker_1", "rank_9"], "out", "worker_1", 9),
        (["train_parallel6", "summary"], "out", ".", 6),
        (["rank_20240101000000"], "out", "rank_20240101000000", None),
        (["ranking_1"], "out", "ranking_1", None),
    ],
)
def test_folders_give_run_and_rank(folders: List[str], root: str, run: str, rank: Optional[int]) -> None:
    where = place(folders, root)
    assert (where.run_key, where.rank_id) == (run, rank)


@pytest.mark.parametrize(
    "name", ["ckpt_dir", "checkpoint", "model.ckpt", ".git", ".cache", "node_modules", "kernel_meta"]
)
def test_folders_that_hold_no_event_files_are_skipped(name: str) -> None:
    assert is_skipped_folder(name)


@pytest.mark.parametrize("name", ["summary", "rank_0", "checkpointing_test", "exp.1"])
def test_other_folders_are_walked(name: str) -> None:
    assert not is_skipped_folder(name)


def test_hidden_folders_may_hold_whole_trees_and_checkpoint_folders_do_not() -> None:
    assert may_be_huge(".git")
    assert not may_be_huge("ckpt_dir")
