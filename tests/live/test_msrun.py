"""A real training of two workers under msrun, watched while it runs: healthy, one killed, one with an exception.

All three are started at once: each mostly waits for its cluster to form.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import threading
import time
from pathlib import Path
from typing import Dict, Iterator, List, Sequence, Set, Tuple

import pytest

from mstui.model.log_view import ProcessFact, Weight
from mstui.model.logs import EventKind
from mstui.model.runs import RunStatus
from mstui.model.series import SeriesKey
from mstui.monitor import Monitor
from tests.live.two_worker_jobs import MSRUN, started

SCRIPT = Path(__file__).with_name("two_workers.py")
LONGEST_S = 240.0
EPOCHS = 4
STEPS = 6 * EPOCHS
FAULTY_RANK = 1
FAULT_AT = 9
PRINTED = re.compile(r"epoch: (\d+) step: (\d+), loss is (\S+)")

pytestmark = [
    pytest.mark.mindspore,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("mindspore") is None, reason="needs the extra mstui[mindspore]"),
    pytest.mark.skipif(MSRUN is None, reason="msrun comes with MindSpore"),
]


class Watched:
    """A job, and what a monitor saw of it while it ran."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        folder.mkdir()
        self.process = started(folder, SCRIPT, str(EPOCHS), "0.2", *options)
        self.statuses: Set[RunStatus] = set()
        self.facts_live: Set[Tuple[EventKind, Weight]] = set()
        self.counts: List[int] = []
        self.monitor = Monitor(str(folder))
        self._watcher = threading.Thread(target=self._watch)
        self.monitor.start(lambda _: None)
        self._watcher.start()

    def _watch(self) -> None:
        until = time.monotonic() + LONGEST_S
        while self.process.poll() is None and time.monotonic() < until:
            self.statuses |= {run.status for run in self.monitor.runs() if run.loaded}
            self.facts_live |= {(fact.kind, fact.weight) for fact in self.facts}
            self.counts.append(len(self.losses(0)))
            time.sleep(0.1)

    def wait(self) -> None:
        """Until the job is over and everything is read."""
        self._watcher.join()
        assert self.process.poll() is not None, "the job takes far too long"
        self.monitor.read_now()
        until = time.monotonic() + 20.0
        while time.monotonic() < until and not self.settled():
            time.sleep(0.1)

    def settled(self) -> bool:
        """Has the monitor all losses that the workers printed, and everything else up to the ends of the files."""
        state = self.monitor.watch_state()
        everything = all(file.consumed >= file.size for file in self.monitor.files())
        return everything and state.bytes_read == state.bytes_total and self.losses(0) == self.printed(0)

    def close(self) -> None:
        """End whatever still runs."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._watcher.join()
        self.monitor.stop()

    @property
    def run_key(self) -> str:
        """The only run there is."""
        [run] = self.monitor.runs()
        return run.key

    @property
    def facts(self) -> Sequence[ProcessFact]:
        """What the processes have told so far."""
        runs = self.monitor.runs()
        return self.monitor.process_facts(runs[0].key) if runs else ()

    def losses(self, rank_id: int) -> Dict[int, float]:
        """Loss by global step, as the monitor has it now."""
        runs = self.monitor.runs()
        series = self.monitor.series(SeriesKey(runs[0].key, rank_id, "loss")) if runs else None
        return {
            step: value
            for points in (series.current if series is not None else ())
            for step, value in zip(points.steps.tolist(), points.values.tolist())
        }

    def printed(self, rank_id: int) -> Dict[int, float]:
        """The same, as the worker printed it."""
        text = (self.folder / "msrun_log" / f"worker_{rank_id}.log").read_text(errors="replace")
        return {(int(e) - 1) * 6 + int(s): float(value) for e, s, value in PRINTED.findall(text)}

    def status_of(self, rank_id: int) -> RunStatus:
        """The status of one rank."""
        [run] = self.monitor.runs()
        return next(rank.status for rank in run.ranks if rank.rank_id == rank_id)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dict[str, Watched]]:
    """The three jobs, over."""
    folder = tmp_path_factory.mktemp("msrun")
    started: Dict[str, Watched] = {}
    try:
        started["healthy"] = Watched(folder / "healthy")
        started["killed"] = Watched(folder / "killed", "--kill", "--at", str(FAULT_AT))
        started["raised"] = Watched(folder / "raised", "--raise", "--at", str(FAULT_AT))
        for job in started.values():
            job.wait()
        yield started
    finally:
        for job in started.values():
            job.close()


def test_two_workers_are_one_run_and_every_loss_of_both_is_seen(jobs: Dict[str, Watched]) -> None:
    job = jobs["healthy"]
    assert sorted(job.printed(0)) == list(range(1, STEPS + 1))
    for rank_id in (0, 1):
        assert job.losses(rank_id) == job.printed(rank_id)
    assert job.losses(0) != job.losses(1)
    assert len({count for count in job.counts if count}) > 5, "the curve grew while the training ran"


def test_a_healthy_job_raises_nothing_from_its_start_to_its_end(jobs: Dict[str, Watched]) -> None:
    job = jobs["healthy"]
    assert job.process.returncode == 0
    assert [fact for fact in job.facts if fact.weight is not Weight.NEWS] == []
    assert {weight for _, weight in job.facts_live} <= {Weight.NEWS}
    assert RunStatus.LIVE in job.statuses
    assert RunStatus.FAILED not in job.statuses
    assert {job.status_of(0), job.status_of(1)} <= {RunStatus.LIVE, RunStatus.ENDED}


def test_a_killed_worker_is_the_cause_and_its_peer_a_consequence(jobs: Dict[str, Watched]) -> None:
    job = jobs["killed"]
    causes = [fact for fact in job.facts if fact.weight is Weight.FATAL and not fact.consequence]
    assert [(fact.kind, fact.rank_id, fact.code) for fact in causes] == [(EventKind.WORKER_EXIT, FAULTY_RANK, "-9")], (
        job.facts
    )
    assert job.facts[0] == causes[0], "what explains most comes first"
    assert job.status_of(FAULTY_RANK) is RunStatus.FAILED
    assert [run.status for run in job.monitor.runs()] == [RunStatus.FAILED]


def test_a_killed_worker_is_told_before_the_job_has_ended(jobs: Dict[str, Watched]) -> None:
    assert (EventKind.WORKER_EXIT, Weight.FATAL) in jobs["killed"].facts_live


def test_an_exception_is_one_fact_with_its_traceback(jobs: Dict[str, Watched]) -> None:
    job = jobs["raised"]
    causes = [fact for fact in job.facts if fact.weight is Weight.FATAL and not fact.consequence]
    assert causes[0].rank_id == FAULTY_RANK
    assert causes[0].kind in (EventKind.EXCEPTION, EventKind.TRACEBACK)
    assert f"this step was to fail: {FAULT_AT}" in causes[0].text
    text = job.monitor.fetch_log_text(causes[0].place, 20_000)
    assert "Traceback (most recent call last)" in text
    assert f"RuntimeError: this step was to fail: {FAULT_AT}" in text
    assert job.status_of(FAULTY_RANK) is RunStatus.FAILED


def test_the_line_of_a_step_is_found_from_the_curve_and_back(jobs: Dict[str, Watched]) -> None:
    job = jobs["healthy"]
    key = SeriesKey(job.run_key, FAULTY_RANK, "loss")
    place = job.monitor.log_place(key, 8)
    assert place is not None
    assert job.monitor.fetch_log_text(place, 1000).startswith("epoch: 2 step: 2, loss is")
    assert job.monitor.log_step(place) == 8
