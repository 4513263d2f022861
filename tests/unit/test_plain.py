"""Plain mode says each event once, in words, with the step."""

from __future__ import annotations

import io
import time
from dataclasses import replace
from typing import List

import pytest

from mstui.model.alert_view import Alert, JournalHealth
from mstui.model.alerts import Evidence, Happening, Incident, Scope, Severity, Symptom, Verdict
from mstui.model.batch import FileKey
from mstui.model.faults import FaultKind, ReadFault
from mstui.model.journal import AlertState, Standing
from mstui.model.log_view import LogPlace, ProcessFact, Weight
from mstui.model.logs import EventKind
from mstui.model.roles import Role
from mstui.model.runs import FileState, FileStatus, RunStatus, WatchState
from mstui.plain import FACTS_A_TURN, FAULTS_A_TURN, PlainReporter, report
from tests.tui.fakes import FakeMonitor

NAN = float("nan")
NOW = 1_800_000_000.0


def words(lines: List[str]) -> List[str]:
    """Lines without their time."""
    return [line[20:] for line in lines]


def training(last: float = 1.25) -> FakeMonitor:
    monitor = FakeMonitor()
    monitor.put("exp", "loss", [3.0, 2.0, last], role=Role.LOSS)
    monitor.put("exp", "lr", [0.1, 0.1, 0.1], role=Role.LEARNING_RATE)
    monitor.put("exp", "weird", [1.0, 1.0, NAN], role=Role.OTHER)
    return monitor


def file(path: str = "/runs/exp/f_MS", **changes: object) -> FileStatus:
    base = FileStatus(path, "exp", 0, "mindspore-summary", FileState.CURRENT, 10, 10, 1, 0)
    return replace(base, **changes)  # type: ignore[arg-type]


def fault(offset: int) -> ReadFault:
    return ReadFault("/runs/exp/f_MS", FaultKind.DAMAGED, offset, 7, "checksum is wrong", NOW)


def test_the_first_turn_says_what_is_watched_and_where_it_stands() -> None:
    monitor = training()
    assert words(PlainReporter(monitor).turn(NOW)) == [
        "watching /runs",
        "files are followed by file system events",
        "run exp; ranks: 1, files: 1, other runs: 0",
        "run exp is live",
        "step 1000, loss 1.25, lr 0.1",
    ]
    assert monitor.calls == ["load exp"]


@pytest.mark.parametrize(
    ("tag_filter", "told"),
    [("weird", "step 1000, weird NaN"), ("lo | last<1", "step 1000, loss 1.25, lr 0.1"), ("nothing", "step 1000")],
)
def test_a_filter_says_which_figures_are_told(tag_filter: str, told: str) -> None:
    lines = words(PlainReporter(training(), tag_filter=tag_filter).turn(NOW))
    assert lines[-1] == told
    assert ("WARNING weird is NaN at step 20" in lines) == (tag_filter == "weird")


def test_what_a_filter_cannot_be_is_said_once() -> None:
    reporter = PlainReporter(training(), tag_filter="loss /[/")
    lines = words(reporter.turn(NOW))
    assert [line for line in lines if line.startswith("left out of the filter: ")] == lines[1:2]
    assert lines[-1] == "step 1000, loss 1.25"
    assert reporter.turn(NOW + 100) == []


def test_a_rank_that_there_is_not_is_said_once_everything_is_read() -> None:
    monitor = training()
    monitor.state = replace(monitor.state, bytes_read=1)
    reporter = PlainReporter(monitor, rank=5)
    assert not any("no rank" in line for line in reporter.turn(NOW))
    monitor.state = replace(monitor.state, bytes_read=monitor.state.bytes_total)
    assert "no rank 5; ranks: 0" in words(reporter.turn(NOW + 1))
    assert not any("no rank" in line for line in reporter.turn(NOW + 100))
    assert not any("no rank" in line for line in PlainReporter(training(), rank=0).turn(NOW))


def test_of_many_ranks_some_are_named() -> None:
    monitor = FakeMonitor()
    monitor.add_run("exp", ranks=1024)
    assert "no rank 2000; ranks: 0, 1, 2, 3, 4, 5, 6, ..., 1023" in words(PlainReporter(monitor, rank=2000).turn(NOW))


def test_lines_begin_with_the_local_time() -> None:
    expected = time.strftime("%Y-%m-%d %H:%M:%S ", time.localtime(NOW))
    assert all(line.startswith(expected) for line in PlainReporter(training()).turn(NOW))


def test_nothing_new_is_silence() -> None:
    reporter = PlainReporter(training())
    reporter.turn(NOW)
    assert reporter.turn(NOW + 100) == []


def test_status_lines_keep_their_distance() -> None:
    monitor = training()
    reporter = PlainReporter(monitor, every_s=10.0)
    reporter.turn(NOW)
    told = []
    for second in range(1, 31):
        monitor.run_list[0] = replace(monitor.run_list[0], last_step=1000 + second)
        told += words(reporter.turn(NOW + second))
    assert [line.split(",")[0] for line in told] == ["step 1010", "step 1020", "step 1030"]


def test_the_first_nan_of_a_figure_is_told_once_and_again_when_history_has_an_earlier_one() -> None:
    monitor = training()
    reporter = PlainReporter(monitor)
    reporter.turn(NOW)
    monitor.put("exp", "loss", [3.0, 2.0, NAN, NAN], role=Role.LOSS)
    assert words(reporter.turn(NOW + 1)) == ["WARNING loss is NaN at step 20"]
    assert reporter.turn(NOW + 2) == []
    monitor.put("exp", "loss", [3.0, float("inf"), NAN], role=Role.LOSS)
    assert words(reporter.turn(NOW + 3)) == ["WARNING loss is +Inf at step 10"]


def test_liveness_changes_are_told() -> None:
    monitor = training()
    reporter = PlainReporter(monitor)
    reporter.turn(NOW)
    told = []
    for status in (RunStatus.STALE, RunStatus.STALE, RunStatus.STOPPED):
        monitor.run_list[0] = replace(monitor.run_list[0], status=status)
        told += words(reporter.turn(NOW + 1))
    assert told == [
        "run exp is stale: nothing new for longer than usual",
        "run exp is stopped without a normal end",
    ]


def test_restarts_are_told_with_their_step() -> None:
    monitor = training()
    reporter = PlainReporter(monitor)
    reporter.turn(NOW)
    monitor.put("exp", "loss", [3.0, 2.0, 1.0], role=Role.LOSS, restarts=(10,))
    assert words(reporter.turn(NOW + 1)) == ["training went back to step 10 and goes on from there"]
    assert reporter.turn(NOW + 2) == []


def test_a_file_that_is_gone_has_no_offset() -> None:
    monitor = training()
    gone = replace(fault(0), kind=FaultKind.VANISHED, length=0, detail="the file is gone")
    monitor.file_list = [file(faults=(gone,), fault_count=1)]
    assert "/runs/exp/f_MS: the file is gone" in words(PlainReporter(monitor).turn(NOW))


def test_a_file_that_may_not_be_opened_is_told_once() -> None:
    monitor = training()
    why = "/runs/exp/f_MS cannot be read: owner root, mode 0400; ask root to run: chmod a+r /runs/exp/f_MS"
    denied = replace(fault(0), kind=FaultKind.DENIED, length=0, detail=why)
    monitor.file_list = [file(state=FileState.DENIED, detail=why, faults=(denied,), fault_count=1)]
    lines = words(PlainReporter(monitor).turn(NOW))
    assert [line for line in lines if "/runs/exp/f_MS" in line] == [why]


def test_faults_are_told_with_file_and_offset_and_a_flood_is_counted() -> None:
    monitor = training()
    monitor.file_list = [file(faults=(fault(64),), fault_count=1)]
    reporter = PlainReporter(monitor)
    assert "/runs/exp/f_MS at byte 64: checksum is wrong; 7 bytes skipped" in words(reporter.turn(NOW))
    many = tuple(fault(offset) for offset in range(20))
    monitor.file_list = [file(faults=many, fault_count=101)]
    told = words(reporter.turn(NOW + 1))
    assert len(told) == FAULTS_A_TURN + 1
    assert told[-1] == "95 more faults"
    assert reporter.turn(NOW + 2) == []


def test_a_file_that_cannot_be_used_is_told_with_what_to_do() -> None:
    monitor = training()
    monitor.file_list = [file(state=FileState.DENIED, detail="ask li to run: chmod g+r f_MS")]
    reporter = PlainReporter(monitor)
    assert "/runs/exp/f_MS cannot be opened: ask li to run: chmod g+r f_MS" in words(reporter.turn(NOW))
    assert reporter.turn(NOW + 1) == []


def test_history_in_the_making_is_said() -> None:
    monitor = training()
    monitor.state = replace(monitor.state, bytes_read=250)
    reporter = PlainReporter(monitor)
    assert words(reporter.turn(NOW))[-1].endswith("history 25 % read")
    monitor.state = replace(monitor.state, bytes_read=1000)
    assert words(reporter.turn(NOW + 10)) == []


def test_polling_and_its_reason_are_said_once_known() -> None:
    monitor = FakeMonitor()
    monitor.state = WatchState("poll", "", 0.0, alive=True, bytes_total=0, bytes_read=0)
    reporter = PlainReporter(monitor)
    assert words(reporter.turn(NOW)) == ["watching /runs"]
    monitor.state = replace(monitor.state, reason="nfs", last_read=NOW)
    assert words(reporter.turn(NOW)) == ["files are looked at in turns (nfs)", "no runs yet"]
    assert reporter.turn(NOW) == []


def test_a_newer_run_is_followed_and_a_wanted_one_is_kept() -> None:
    monitor = training()
    free, bound = PlainReporter(monitor), PlainReporter(monitor, run="exp")
    free.turn(NOW)
    bound.turn(NOW)
    monitor.put("newer", "loss", [9.0], role=Role.LOSS)
    monitor.run_list.reverse()
    assert "run newer; ranks: 1, files: 1, other runs: 1" in words(free.turn(NOW + 1))
    assert bound.turn(NOW + 1) == []


def test_a_run_that_does_not_exist_is_said() -> None:
    assert words(PlainReporter(training(), run="other").turn(NOW))[-1] == "no run other yet; runs found: 1"


def test_names_from_files_are_harmless() -> None:
    monitor = FakeMonitor()
    monitor.put("e\x1b[2Jxp", "lo\u202ess\n", [NAN], role=Role.LOSS)
    for line in PlainReporter(monitor).turn(NOW):
        assert line.isprintable()


def test_reports_until_it_is_told_to_stop() -> None:
    out, waits = io.StringIO(), []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) == 3

    assert report(PlainReporter(training()), out, clock=lambda: NOW, wait=wait)
    assert len(waits) == 3
    assert out.getvalue().count("\n") == 5


@pytest.mark.parametrize("detail", ["ZeroDivisionError"])
def test_ends_when_the_monitor_has_stopped(detail: str) -> None:
    monitor = training()
    monitor.state = replace(monitor.state, alive=False, detail=detail)
    out = io.StringIO()
    assert not report(PlainReporter(monitor), out, clock=lambda: NOW, wait=lambda _s: False)
    assert "NOT LIVE: the monitor stopped: ZeroDivisionError" in out.getvalue()


def fact(text: str = "RuntimeError: boom", **changes: object) -> ProcessFact:
    place = LogPlace(FileKey("exp", 1, 0, "/runs/exp/worker_1.log"), 10)
    base = ProcessFact(EventKind.TRACEBACK, Weight.FATAL, 1, place, NOW, 300, text, "")
    return replace(base, **changes)  # type: ignore[arg-type]


def test_what_processes_told_is_said_once_each_in_one_line() -> None:
    monitor = training()
    killed = fact("Worker process 9 exit", kind=EventKind.WORKER_EXIT, code="-9", meaning="killed", step=None)
    follows = fact("end of file", kind=EventKind.PEER_CLOSED, weight=Weight.TROUBLE, rank_id=0, consequence=True)
    news = fact("saved", kind=EventKind.CHECKPOINT, weight=Weight.NEWS, rank_id=None)
    monitor.facts["exp"] = [fact(), killed, follows, news]
    reporter = PlainReporter(monitor)
    told = [line for line in words(reporter.turn(NOW)) if line.startswith(("FATAL", "WARNING (", "NEWS"))]
    assert told == [
        "FATAL (rank 1, step 300): RuntimeError: boom",
        "FATAL (rank 1): Worker process 9 exit [killed]",
        "WARNING (rank 0, step 300): end of file, which follows from another failure",
        "NEWS (step 300): saved",
    ]
    assert reporter.turn(NOW + 1) == []
    later = fact().place._replace(offset=99)
    monitor.facts["exp"] = [*monitor.facts["exp"][:3], replace(news, text="saved again", step=400, place=later)]
    assert words(reporter.turn(NOW + 2)) == ["NEWS (step 400): saved again"]


def test_a_flood_of_facts_is_counted() -> None:
    monitor = training()
    monitor.facts["exp"] = [fact(place=fact().place._replace(offset=n)) for n in range(FACTS_A_TURN + 3)]
    lines = words(PlainReporter(monitor).turn(NOW))
    assert sum(line.startswith("FATAL") for line in lines) == FACTS_A_TURN
    assert "3 more facts in the logs" in lines


def test_a_failed_run_and_what_a_starting_one_does_are_said() -> None:
    monitor = training()
    reporter = PlainReporter(monitor)
    reporter.turn(NOW)
    monitor.run_list[0] = replace(
        monitor.run_list[0], status=RunStatus.PENDING, facts={"phase": "compiling the graph since 10:00:00"}
    )
    monitor.bump()
    assert words(reporter.turn(NOW + 1)) == ["run exp is no data yet (compiling the graph since 10:00:00)"]
    monitor.run_list[0] = replace(monitor.run_list[0], status=RunStatus.FAILED, facts={})
    monitor.bump()
    assert words(reporter.turn(NOW + 2)) == ["run exp is failed: a process ended with an error or was killed"]


SPIKE = Happening(
    *(Symptom.LOSS_SPIKE, Severity.WARN, Scope(0, "loss"), 40, 40, NOW),
    (Evidence("{value} at step {step}", {"value": 9, "step": 40}),),
)
TROUBLE = Alert("1234abcd", "exp", Incident(1, (SPIKE,)), Standing(AlertState.ACTIVE, NOW))


def test_an_alert_is_one_line_when_it_is_raised_and_one_when_it_clears() -> None:
    monitor = training()
    reporter = PlainReporter(monitor)
    reporter.turn(NOW)
    monitor.verdicts["exp"] = Verdict(("loss-spike",), ())
    monitor.alert_lists["exp"] = (TROUBLE,)
    assert words(reporter.turn(NOW + 1)) == [
        "judged 1 of 1 rules",
        "WARNING Loss spike at step 40 (loss): 9 at step 40 [1234abcd]",
    ]
    assert reporter.turn(NOW + 2) == []
    monitor.alert_lists["exp"] = (replace(TROUBLE, standing=Standing(AlertState.CLEARED, NOW + 3)),)
    assert words(reporter.turn(NOW + 3)) == ["WARNING Loss spike: cleared [1234abcd]"]


def test_a_journal_that_cannot_be_kept_is_said_once() -> None:
    monitor = training()
    reporter = PlainReporter(monitor)
    reporter.turn(NOW)
    monitor.health = JournalHealth(ok=False, detail="/state: read-only file system")
    assert words(reporter.turn(NOW + 1)) == ["the journal cannot be kept: /state: read-only file system"]
    assert reporter.turn(NOW + 2) == []
