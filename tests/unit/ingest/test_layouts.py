"""Every layout in which trainings leave their logs: which run, which rank, which source."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Dict, Iterable, Set, Tuple

import pytest

from mstui.ingest.ingestor import Ingestor
from mstui.model.runs import FileState
from tests.unit.ingest.logs import FORMATS, LogFollower, lines

SAMPLES = Path(__file__).resolve().parents[2] / "data" / "logs"
EVENTS = "events.out.events.summary.1796033791.{}.host_MS"


def found(root: Path, paths: Iterable[Path] = ()) -> Dict[str, Set[Tuple[int, str]]]:
    """By run: rank and source of every file."""
    ingestor = Ingestor(str(root), FORMATS, paths=[str(path) for path in paths])
    while not ingestor.scan(0.0, 60.0).complete:
        pass
    return {run.key: {(file.key.rank_id, file.key.source.name) for file in run.files} for run in ingestor.runs()}


def made(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(lines(1, 2))
    return root


LAYOUTS = {
    "msrun in the current folder": (
        ("worker_0.log", "worker_1.log", "scheduler.log"),
        {".": {(0, "2:worker_N.log"), (1, "2:worker_N.log"), (0, "4:scheduler.log")}},
    ),
    "msrun with a name of its own for the workers": (
        ("exp/msrun_log/10.0.0.1_0.log", "exp/msrun_log/10.0.0.1_1.log", "exp/msrun_log/scheduler.log"),
        {
            "exp": {
                (0, "2:msrun_log/10.0.0.1_N.log"),
                (1, "2:msrun_log/10.0.0.1_N.log"),
                (0, "4:msrun_log/scheduler.log"),
            }
        },
    ),
    "mpirun": (
        ("log_output/1/rank.0/stdout", "log_output/1/rank.1/stdout", "log_output/1/rank.1/stderr"),
        {".": {(0, "3:log_output/1/stdout"), (1, "3:log_output/1/stdout"), (1, "4:log_output/1/stderr")}},
    ),
    "a rank table": (
        ("device0/train0.log", "device1/train1.log", "device1/env1.log"),
        {".": {(0, "2:trainN.log"), (1, "2:trainN.log"), (1, "2:env1.log")}},
    ),
    "run_distribute_train": (
        ("train_parallel0/log.txt", "train_parallel1/log.txt"),
        {".": {(0, "1:log.txt"), (1, "1:log.txt")}},
    ),
    "MindFormers before msrun": (
        ("mf_parallel0/mindformers_0.log", "mf_parallel1/mindformers_1.log", "output/log/rank_1/info.log"),
        {".": {(0, "2:mindformers_N.log"), (1, "2:mindformers_N.log"), (1, "1:output/log/info.log")}},
    ),
    "MindFormers with a suffix": (
        ("output/log_a/rank_0/info.log", "output/msrun_log_a/worker_0.log", "output/log_b/rank_0/info.log"),
        {
            "output/log_a": {(0, "1:info.log"), (0, "2:msrun_log_a/worker_N.log")},
            "output/log_b": {(0, "1:info.log")},
        },
    ),
    "a dynamic cluster": (
        ("device/worker_0.log", "device/worker_1.log", "device/scheduler.log"),
        {".": {(0, "2:device/worker_N.log"), (1, "2:device/worker_N.log"), (0, "4:device/scheduler.log")}},
    ),
    "CANN": (
        (
            "exp/plog/debug/plog/plog-7_20260506102658086.log",
            "exp/plog/run/device-3/device-7_20260506102658086.log",
            "exp/plog/operation/device-3/device-7_20260506102658086.log",
        ),
        {
            "exp": {
                (0, "4:plog/debug/plog/plog.log"),
                (3, "4:plog/run/plog.log"),
                (3, "4:plog/operation/plog.log"),
            }
        },
    ),
    "glog": (
        ("d/rank_3/logs/mindspore.log.27825", "d/rank_3/logs/mindspore.h.u.log.INFO.20260506-102102.27825"),
        {"d": {(3, "4:logs/mindspore.log"), (3, "4:logs/mindspore.log.INFO")}},
    ),
    "several machines with ranks of the whole": (
        ("log/node0/worker_0.log", "log/node1/worker_1.log", "log/node1/rank_2/info.log"),
        {".": {(0, "2:log/worker_N.log"), (1, "2:log/worker_N.log"), (2, "1:log/info.log")}},
    ),
    "several machines with a launcher each": (
        ("log/node0/worker_0.log", "log/node1/worker_1.log", "log/node0/console.log", "log/node1/console.log"),
        {
            ".": {
                (0, "2:log/worker_N.log"),
                (1, "2:log/worker_N.log"),
                (0, "3:node0/log/console.log"),
                (0, "3:node1/log/console.log"),
            }
        },
    ),
    "several machines by address": (
        ("exp/10.0.0.1/worker_0.log", "exp/10.0.0.2/worker_8.log"),
        {"exp": {(0, "2:worker_N.log"), (8, "2:worker_N.log")}},
    ),
    "several machines, each counting from 0": (
        ("log/node0/worker_0.log", "log/node1/worker_0.log"),
        {"log/node0": {(0, "2:log/worker_N.log")}, "log/node1": {(0, "2:log/worker_N.log")}},
    ),
    "one script a machine": (
        ("host1/train.log", "host2/train.log"),
        {"host1": {(0, "2:train.log")}, "host2": {(0, "2:train.log")}},
    ),
    "several trainings in one folder": (
        ("logs/resnet_1.log", "logs/bert.log", "logs/console.log"),
        {
            "logs/resnet_1.log": {(0, "2:logs/resnet_1.log")},
            "logs/bert.log": {(0, "2:logs/bert.log")},
            ".": {(0, "3:logs/console.log")},
        },
    ),
    "one training under a name of its own": (("exp/log/bert.log",), {"exp": {(0, "2:log/bert.log")}}),
    "ranks that count from 0 in one folder": (
        ("train0.log", "train1.log"),
        {".": {(0, "2:trainN.log"), (1, "2:trainN.log")}},
    ),
    "attempts that count from 1": (
        ("train1.log", "train2.log"),
        {"train1.log": {(0, "2:train1.log")}, "train2.log": {(0, "2:train2.log")}},
    ),
    "other logs beside those of many ranks": (
        ("worker_0.log", "worker_1.log", "pip.log", "install.log"),
        {".": {(0, "2:worker_N.log"), (1, "2:worker_N.log"), (0, "2:pip.log"), (0, "2:install.log")}},
    ),
    "a log beside a summary": (
        ("exp/train.log", f"exp/summary/{EVENTS.format(0)}"),
        {"exp": {(0, "2:train.log"), (0, "summary")}},
    ),
    "a log of the only card, which is not card 0": (
        ("exp/train.log", f"exp/summary/{EVENTS.format(5)}"),
        {"exp": {(5, "2:train.log"), (5, "summary")}},
    ),
    "two event folders of one training": (
        (f"exp/summary/{EVENTS.format(0)}", "exp/worker/tensorboard/rank_0/events.out.tfevents.1700000000.h"),
        {"exp": {(0, "summary"), (0, "worker/tensorboard")}},
    ),
    "what is no log of a training": (
        ("train.log", "ckpt/save.log", "kernel_meta/build.log", "dump/rank_0/a.npy", ".cache/x.log"),
        {".": {(0, "2:train.log")}},
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_gives_runs_ranks_and_sources(tmp_path: Path, layout: str) -> None:
    names, expected = LAYOUTS[layout]
    assert found(made(tmp_path, *names)) == expected


def test_the_output_of_mindformers_is_one_run() -> None:
    run = found(SAMPLES / "mindformers_layout")
    assert set(run) == {"."}
    assert {rank for rank, _source in run["."]} == {0, 7}
    ordered = sorted(source for rank, source in run["."] if rank == 0)
    assert ordered == [
        "1:output/log/info.log",
        "2:output/msrun_log/worker_N.log",
        "4:output/log/error.log",
        "4:output/msrun_log/scheduler.log",
    ]


def test_every_sample_is_read(tmp_path: Path) -> None:
    root = tmp_path / "logs"
    shutil.copytree(SAMPLES, root)
    follower = LogFollower(root).look()
    read = {os.path.relpath(status.path, root): status for status in follower.ingestor.files()}
    assert len(read) > 60
    for name, status in read.items():
        good = {FileState.CURRENT, FileState.CLOSED, FileState.EMPTY, FileState.WAITING, FileState.TORN}
        assert (name, status.state in good) == (name, True)
        assert (name, status.records > 0 or status.size == 0) == (name, True)


def test_a_second_log_leaves_the_first_where_it_is(tmp_path: Path) -> None:
    ingestor = Ingestor(str(made(tmp_path, "bert.log")), FORMATS)
    ingestor.scan(0.0, 60.0)
    assert [run.key for run in ingestor.runs()] == ["."]
    made(tmp_path, "resnet.log")
    ingestor.scan(10.0, 60.0)
    assert {run.key: [file.path for file in run.files] for run in ingestor.runs()} == {
        ".": [str(tmp_path / "bert.log")],
        "resnet.log": [str(tmp_path / "resnet.log")],
    }


# ---- several PATHs


def test_a_summary_folder_and_a_log_file_are_one_run(tmp_path: Path) -> None:
    made(tmp_path, f"summary/{EVENTS.format(0)}", "log/train.log", "log/other.log")
    paths = (tmp_path / "summary", tmp_path / "log/train.log")
    assert found(tmp_path, paths) == {".": {(0, "summary"), (0, "2:train.log")}}


def test_places_far_apart_are_one_run_when_they_hold_different_records(tmp_path: Path) -> None:
    made(tmp_path, f"data/x/{EVENTS.format(0)}", "home/me/train.log")
    paths = (tmp_path / "data/x", tmp_path / "home/me")
    assert found(tmp_path, paths) == {".": {(0, "data/x"), (0, "2:train.log")}}


def test_two_trainings_keep_their_names(tmp_path: Path) -> None:
    made(tmp_path, f"a/summary/{EVENTS.format(0)}", f"b/summary/{EVENTS.format(0)}", "b/train.log")
    runs = found(tmp_path, (tmp_path / "a", tmp_path / "b"))
    assert runs == {"a": {(0, "a/summary")}, "b": {(0, "b/summary"), (0, "2:train.log")}}
    runs = found(tmp_path, (tmp_path / "a/summary", tmp_path / "b/summary", tmp_path / "b/train.log"))
    assert runs == {"a": {(0, "a/summary")}, "b": {(0, "b/summary"), (0, "2:train.log")}}


def test_runs_below_several_paths_have_keys_from_their_path(tmp_path: Path) -> None:
    made(tmp_path, f"old/lr1/{EVENTS.format(0)}", f"new/lr2/{EVENTS.format(0)}")
    assert set(found(tmp_path, (tmp_path / "old", tmp_path / "new"))) == {"lr1", "lr2"}
    made(tmp_path, f"new/lr1/{EVENTS.format(0)}")
    assert set(found(tmp_path, (tmp_path / "old", tmp_path / "new"))) == {"old/lr1", "new/lr1", "new/lr2"}


def test_log_files_of_several_ranks_are_one_run(tmp_path: Path) -> None:
    made(tmp_path, "worker_0.log", "worker_1.log", "worker_2.log")
    paths = (tmp_path / "worker_0.log", tmp_path / "worker_1.log")
    assert found(tmp_path, paths) == {".": {(0, "2:worker_N.log"), (1, "2:worker_N.log")}}


def test_log_files_of_one_rank_are_a_run_each(tmp_path: Path) -> None:
    made(tmp_path, "bert.log", "resnet.log", "third.log")
    paths = (tmp_path / "bert.log", tmp_path / "resnet.log")
    assert set(found(tmp_path, paths)) == {"bert.log", "resnet.log"}


def test_a_path_given_twice_or_inside_another_counts_once(tmp_path: Path) -> None:
    made(tmp_path, "exp/train.log")
    paths = (tmp_path / "exp", tmp_path / "exp", tmp_path / "exp/train.log")
    ingestor = Ingestor(str(tmp_path), FORMATS, paths=[str(path) for path in paths])
    ingestor.scan(0.0, 60.0)
    (run,) = ingestor.runs()
    assert [file.path for file in run.files] == [str(tmp_path / "exp/train.log")]
    assert not ingestor.watchable
