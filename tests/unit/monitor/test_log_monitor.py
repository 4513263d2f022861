"""The monitor on text logs, from files to answers: which are a training, whether it lives, what its processes told."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import List, Optional

import pytest

from mstui.model.alerts import Symptom
from mstui.model.journal import AlertState
from mstui.model.log_view import LogQuery, Weight
from mstui.model.logs import EventKind
from mstui.model.runs import FileState, RankInfo, RunInfo, RunStatus
from mstui.model.series import SeriesKey
from mstui.monitor import Monitor
from mstui.monitor.log_life import START_S
from tests.unit.monitor.log_runs import SAMPLES
from tests.unit.monitor.test_process_facts import TRACE

SUMMARIES = Path(__file__).parents[2] / "data" / "summary"
BEGIN = 1_800_000_000.0


class Watched:
    """A folder that a training writes into, and a monitor on it; time passes only as told."""

    def __init__(self, folder: Path, first_run: Optional[str] = None) -> None:
        self.folder = folder
        self.now = BEGIN
        self.monitor = Monitor(str(folder), clock=lambda: self.now, first_run=first_run)

    def write(self, name: str, text: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as stream:
            stream.write(text)
        os.utime(path, (self.now, self.now))

    def later(self, seconds: float) -> None:
        self.now += seconds
        self.read()

    def read(self) -> None:
        while self.monitor.run_once(self.now).more:
            pass

    @property
    def run(self) -> RunInfo:
        (run,) = self.monitor.runs()
        return run

    def status(self) -> RunStatus:
        """Of the only run."""
        return self.run.status

    @property
    def ranks(self) -> List[RunStatus]:
        return [rank.status for rank in self.run.ranks]


def copied(tmp_path: Path, name: str) -> Watched:
    """A sample whose files are as old as the beginning."""
    shutil.copytree(SAMPLES / name, tmp_path / "exp")
    for path in (tmp_path / "exp").rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (BEGIN, BEGIN))
    watched = Watched(tmp_path / "exp")
    watched.later(1.0)
    return watched


def step(number: int) -> bytes:
    return f"epoch: 1 step: {number}, loss is {1 / (number + 1)}\n".encode()


def beat(number: int) -> bytes:
    clock = f"10:{number // 60:02}:{number % 60:02}.000.000"
    return (
        f"[WARNING] DISTRIBUTED(9,7f,python):2026-05-06-{clock} [mindspore/ccsrc/meta_server_node.cc:91] Finalize] "
        "Cluster currently has 2 alive nodes.\n"
    ).encode()


def test_a_healthy_start_of_msrun_is_live_and_says_nothing_bad(tmp_path: Path) -> None:
    watched = copied(tmp_path, "msrun_ok")
    assert watched.status() is RunStatus.LIVE
    assert watched.ranks == [RunStatus.LIVE, RunStatus.LIVE]
    facts = watched.monitor.process_facts(watched.run.key)
    assert [fact for fact in facts if fact.weight is not Weight.NEWS] == []


@pytest.mark.parametrize(
    ("name", "kind", "meaning"),
    [
        ("msrun_worker_exception", EventKind.TRACEBACK, ""),
        ("msrun_worker_sigkill", EventKind.WORKER_EXIT, "likely"),
        ("msrun_worker_sigsegv", EventKind.WORKER_EXIT, "SIGSEGV"),
    ],
)
def test_a_worker_that_died_fails_the_run_and_its_rank_alone(
    tmp_path: Path, name: str, kind: EventKind, meaning: str
) -> None:
    watched = copied(tmp_path, name)
    assert watched.status() is RunStatus.FAILED
    assert watched.ranks == [RunStatus.STOPPED, RunStatus.FAILED]
    first = watched.monitor.process_facts(watched.run.key)[0]
    assert (first.kind, first.rank_id, first.consequence) == (kind, 1, False)
    assert meaning in first.meaning


def test_a_scheduler_that_counts_its_nodes_is_no_sign_of_life(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    for number in range(1, 6):
        watched.write("worker_0.log", step(number))
        watched.write("worker_1.log", step(number))
        watched.write("scheduler.log", beat(number))
        watched.later(5.0)
    assert watched.status() is RunStatus.LIVE
    for number in range(6, 60):
        watched.write("scheduler.log", beat(number))
        watched.later(5.0)
    assert watched.status() is RunStatus.STALE
    assert watched.run.last_data < watched.now - 200, "its age is that of the last step"
    watched.write("worker_0.log", step(6))
    watched.later(1.0)
    assert watched.status() is RunStatus.LIVE
    assert watched.ranks == [RunStatus.LIVE, RunStatus.STALE]


def test_a_training_that_stopped_long_ago_is_not_alive_because_it_is_read_now(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.read()
    watched.write("train.log", b"".join(step(number) for number in range(1, 2000)))
    watched.later(86_400.0)
    assert watched.status() is RunStatus.STALE


def test_chatter_of_a_worker_without_steps_is_no_sign_of_life_either(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    for number in range(1, 6):
        watched.write("worker_0.log", step(number))
        watched.later(5.0)
    for number in range(100):
        watched.write("worker_0.log", beat(number))
        watched.later(5.0)
    assert watched.status() is RunStatus.STALE


def test_before_the_first_step_a_run_is_pending_with_its_phase_for_as_long_as_compilation_takes(
    tmp_path: Path,
) -> None:
    watched = Watched(tmp_path)
    watched.write("worker_0.log", b"[INFO] 2026-05-06 10:00:00,000 [train.py:1] log: Start compiling 'train'\n")
    watched.later(START_S + 60)
    assert watched.status() is RunStatus.PENDING
    assert watched.run.facts["phase"] == "compiling the graph since 10:00:00"
    watched.write("worker_0.log", step(1))
    watched.later(1.0)
    assert watched.status() is RunStatus.LIVE
    assert "phase" not in watched.run.facts


def test_a_scheduler_alone_is_never_green(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    for number in range(5):
        watched.write("scheduler.log", beat(number))
        watched.later(5.0)
        assert watched.status() is RunStatus.PENDING


def test_a_training_that_came_to_its_planned_end_has_ended(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    line = "2026-05-06 10:00:0{n},000 - mindformers - INFO - {{ Epoch:[  1/  1], step:[    {n}/    3], loss: 1.5, "
    line += "per_step_time: 10ms, lr: 1e-05, overflow cond: False, loss_scale: 1.0\n"
    for number in range(1, 4):
        assert not watched.monitor.runs() or watched.status() is not RunStatus.ENDED
        watched.write("worker_0.log", line.format(n=number).encode())
        watched.later(5.0)
    assert watched.run.facts["planned_steps"] == 3
    assert watched.status() is RunStatus.ENDED


def test_a_failed_training_that_makes_steps_again_lives(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    crash = b'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nRuntimeError: boom\n'
    watched.write("train.log", step(1) + step(2) + crash)
    watched.later(1.0)
    assert watched.status() is RunStatus.FAILED
    watched.later(3600.0)
    assert watched.status() is RunStatus.FAILED
    watched.write("train.log", step(3))
    watched.later(1.0)
    assert watched.status() is RunStatus.LIVE


def test_a_log_of_which_nothing_is_understood_is_never_green(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.write("train.log", b"".join(b"it %d obj=%d.5\n" % (n, n) for n in range(2000)))
    watched.later(1.0)
    (file,) = watched.monitor.files()
    assert file.state is FileState.NOT_RECOGNISED
    assert watched.status() is RunStatus.UNREADABLE
    assert "pattern of your own" in str(watched.run.facts["phase"])


def rank_of(run: RunInfo, rank_id: int) -> RankInfo:
    return next(rank for rank in run.ranks if rank.rank_id == rank_id)


def test_logs_of_ranks_in_their_folders_are_one_run_with_a_table(tmp_path: Path) -> None:
    watched = copied(tmp_path, "mindformers_layout")
    run = watched.run
    assert [rank.rank_id for rank in run.ranks] == [0, 7]
    assert rank_of(run, 7).status is RunStatus.FAILED
    table = watched.monitor.rank_table(run.key)
    assert table is not None
    assert [(row.rank_id, row.last_step) for row in table.rows] == [(0, 4), (7, 4)]
    (fact,) = [fact for fact in watched.monitor.process_facts(run.key) if fact.weight is Weight.FATAL]
    assert (fact.kind, fact.rank_id) == (EventKind.TASK_FAILED, 7)


def test_a_point_leads_to_its_line_and_the_line_back_to_its_step(tmp_path: Path) -> None:
    watched = copied(tmp_path, "msrun_worker_exception")
    place = watched.monitor.log_place(SeriesKey(watched.run.key, 1, "loss"), 2)
    assert place is not None
    assert watched.monitor.fetch_log_text(place, 100).startswith("epoch: 1 step: 2, loss is")
    assert place.file.path.endswith("worker_1.log")
    assert watched.monitor.log_step(place) == 2
    crash = watched.monitor.process_facts(watched.run.key)[0]
    assert watched.monitor.log_step(crash.place) == 3
    assert watched.monitor.log_place(SeriesKey(watched.run.key, 1, "loss"), 99) == watched.monitor.log_place(
        SeriesKey(watched.run.key, 1, "loss"), 3
    )
    assert watched.monitor.log_place(SeriesKey(watched.run.key, 9, "loss"), 3) is None


def test_log_files_are_listed_with_what_was_understood(tmp_path: Path) -> None:
    watched = copied(tmp_path, "msrun_ok")
    files = watched.monitor.log_files(watched.run.key)
    assert {os.path.basename(file.path) for file in files} == {
        *("console.log", "scheduler.log", "worker_0.log", "worker_1.log")
    }
    assert all(file.complete and 0 < file.understood <= file.records for file in files)
    assert watched.monitor.fetch_log(LogQuery(watched.run.key), None, 500, 0).total == sum(f.records for f in files)


def test_a_rotated_log_keeps_its_places(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.write("log/rank_0/info.log", b"[INFO] 2026-05-06 10:00:00,000 [a.py:1] f: first\n" + step(1))
    watched.later(1.0)
    page = watched.monitor.fetch_log(LogQuery(watched.run.key), None, 10, 0)
    os.rename(tmp_path / "log/rank_0/info.log", tmp_path / "log/rank_0/info.log.1")
    watched.write("log/rank_0/info.log", b"[INFO] 2026-05-06 10:00:09,000 [a.py:1] f: second\n" + step(2))
    watched.later(10.0)
    assert [row.text for row in watched.monitor.fetch_log(LogQuery(watched.run.key), None, 10, 0).rows] == [
        *("first", "epoch: 1 step: 1, loss is 0.5", "second", "epoch: 1 step: 2, loss is 0.3333333333333333")
    ]
    assert watched.monitor.fetch_log_text(page.rows[0].place, 200).endswith("first")


def test_a_summary_and_a_log_of_one_run_are_one_run(tmp_path: Path) -> None:
    shutil.copytree(SUMMARIES / "default_pynative", tmp_path / "exp" / "summary")
    watched = Watched(tmp_path)
    watched.write("exp/train.log", b"[INFO] 2026-05-06 10:00:00,000 [a.py:1] f: hello\n" + step(1))
    watched.later(1.0)
    assert watched.run.key == "exp"
    assert watched.run.facts["optimizer"]
    assert len(watched.monitor.log_files("exp")) == 1


def test_a_training_is_chosen_before_newer_chatter_of_the_framework(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.write("exp/worker_0.log", step(1))
    watched.now += 100
    watched.write("other/scheduler.log", beat(1))
    watched.read()
    assert [run.key for run in watched.monitor.runs()] == ["exp", "other"]
    assert [run.loaded for run in watched.monitor.runs()] == [True, False]


def test_of_two_that_are_as_new_the_one_with_a_summary_comes_first(tmp_path: Path) -> None:
    shutil.copytree(SUMMARIES / "default_pynative", tmp_path / "a")
    for path in (tmp_path / "a").iterdir():
        os.utime(path, (BEGIN, BEGIN))
    watched = Watched(tmp_path)
    watched.now += 5
    watched.write("b/worker_0.log", step(1))
    watched.read()
    assert [(run.key, run.loaded) for run in watched.monitor.runs()] == [("a", True), ("b", False)]
    watched.now += 600
    watched.write("b/worker_0.log", step(2))
    watched.later(5.0)
    assert watched.monitor.runs()[0].key == "b", "it goes on, the other does not"


def test_several_paths_are_one_training(tmp_path: Path) -> None:
    shutil.copytree(SUMMARIES / "default_pynative", tmp_path / "summary")
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "train.log").write_bytes(b"[INFO] 2026-05-06 10:00:00,000 [a.py:1] f: x\n" + step(1))
    (tmp_path / "log" / "other.log").write_bytes(step(9))
    paths = (str(tmp_path / "summary"), str(tmp_path / "log" / "train.log"))
    monitor = Monitor(str(tmp_path), clock=lambda: BEGIN, paths=paths)
    while monitor.run_once(BEGIN).more:
        pass
    (run,) = monitor.runs()
    assert run.facts["optimizer"]
    assert [os.path.basename(file.path) for file in monitor.log_files(run.key)] == ["train.log"]


def test_unloaded_logs_are_forgotten(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "msrun_worker_sigkill", tmp_path / "killed")
    watched = Watched(tmp_path, first_run="killed")
    watched.write("other/worker_0.log", step(1))
    watched.read()
    assert watched.monitor.process_facts("killed")
    watched.monitor.load("other")
    watched.monitor.unload("killed")
    watched.read()
    assert watched.monitor.process_facts("killed") == ()
    assert watched.monitor.log_files("killed") == ()
    watched.monitor.load("killed")
    watched.read()
    assert watched.monitor.process_facts("killed")


def console(step: int, ranks: int = 2) -> bytes:
    """What mpirun shows of one step: every line says whose it is."""
    return b"".join(
        b"[1,%d]<stdout>:epoch: 1 step: %d, loss is %.4f\n" % (rank, step, 2.0 + rank / 10 - step / 100)
        for rank in range(ranks)
    )


def test_a_console_in_which_every_line_names_its_rank_is_a_live_training_of_those_ranks(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    for step in range(1, 40):
        watched.write("console.log", console(step))
        watched.later(5.0)
    assert [(rank.rank_id, rank.last_step, rank.file_count) for rank in watched.run.ranks] == [(0, 39, 1), (1, 39, 1)]
    assert watched.ranks == [RunStatus.LIVE, RunStatus.LIVE]
    assert watched.status() is RunStatus.LIVE
    watched.later(3600.0)
    assert watched.ranks == [RunStatus.STALE, RunStatus.STALE]
    assert watched.status() is RunStatus.STALE


def test_ranks_of_a_console_are_told_apart_when_one_was_killed(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "odd" / "mpirun_tag_output.log", tmp_path)
    watched = Watched(tmp_path)
    watched.later(5.0)
    assert {rank.rank_id: rank.status for rank in watched.run.ranks} == {0: RunStatus.STOPPED, 1: RunStatus.FAILED}
    assert watched.status() is RunStatus.FAILED


def test_ranks_in_files_of_their_own_stay_what_the_files_say(tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "odd" / "mpirun_output_filename", tmp_path / "out")
    watched = Watched(tmp_path)
    watched.later(5.0)
    assert [(rank.rank_id, rank.last_step) for rank in watched.run.ranks] == [(0, 10), (1, 10)]


STOPPED = (
    b"ValueError: In epoch: 1 step: 6, loss is NAN or INF, training process cannot continue, terminating training."
)


@pytest.mark.parametrize(
    ("content", "symptom"),
    [
        (TRACE % b"NameError: name 'x' is not defined", Symptom.CRASH),
        (b"".join(map(step, range(1, 6))) + TRACE % STOPPED, Symptom.LOSS_NAN),
    ],
)
def test_what_ended_a_training_is_over_when_its_log_is_emptied_and_another_one_writes_into_it(
    tmp_path: Path, content: bytes, symptom: Symptom
) -> None:
    watched = Watched(tmp_path)
    watched.write("train.log", content)
    for _look in range(3):
        watched.later(3.0)
    assert watched.status() is RunStatus.FAILED
    (alert,) = watched.monitor.alerts(watched.run.key)
    assert (alert.incident.head.symptom, alert.standing.state) == (symptom, AlertState.ACTIVE)
    (tmp_path / "train.log").write_bytes(b"")
    watched.later(1.0)
    for number in range(1, 20):
        watched.write("train.log", step(number))
        watched.later(1.0)
    assert watched.status() is RunStatus.LIVE
    assert {alert.standing.state for alert in watched.monitor.alerts(watched.run.key)} == {AlertState.CLEARED}
    assert {fact.weight for fact in watched.monitor.process_facts(watched.run.key)} == {Weight.NEWS}
