"""A failure holds until steps prove that the training went on; buffered output is no proof."""

from __future__ import annotations

from mstui.model.log_view import Weight
from tests.unit.monitor.log_runs import NOW, SAMPLES, LogRun, sample
from tests.unit.monitor.test_process_facts import TRACE, stamped, step

CRASH = TRACE % b"RuntimeError: boom"


def test_a_training_whose_log_ends_in_a_traceback_has_failed() -> None:
    run = LogRun()
    run.put("train.log", step(1) + step(2) + CRASH)
    assert run.failed == [0]


def test_steps_right_behind_a_traceback_were_buffered_and_prove_nothing() -> None:
    run = LogRun()
    run.put("train.log", CRASH + b"".join(step(number) for number in range(1, 100)))
    assert run.failed == [0]


def test_steps_farther_away_than_any_buffer_prove_that_it_went_on() -> None:
    run = LogRun()
    run.put("train.log", step(1) + CRASH + b"".join(step(number) for number in range(2, 400)))
    assert run.failed == []
    (fact,) = run.facts
    assert fact.weight is Weight.TROUBLE, "somebody caught it"


def test_a_step_stamped_minutes_later_proves_it_too() -> None:
    run = LogRun()
    later = b"2026-05-06 10:05:00,000 - mindformers - INFO - { Epoch:[  1/  2], step:[    9/   10], loss: 1.5, "
    later += b"per_step_time: 10ms, lr: 1e-05, overflow cond: False, loss_scale: 1.0\n"
    run.put("train.log", stamped("10:00:00", "begin") + CRASH)
    assert run.failed == [0]
    run.put("train.log", later, now=NOW + 2)
    assert run.failed == []


def test_a_step_that_arrives_after_the_failure_was_seen_proves_it() -> None:
    run = LogRun()
    run.put("train.log", step(1) + CRASH, now=NOW)
    run.put("train.log", step(1), now=NOW + 3600, caught_up=True)
    assert run.failed == []


def test_bytes_that_are_no_steps_prove_nothing() -> None:
    run = LogRun()
    run.put("train.log", step(1) + CRASH)
    for minute in range(3):
        run.put("train.log", stamped(f"11:0{minute}:00", "alive") * 100, now=NOW + 3600 + minute, caught_up=True)
    assert run.failed == [0]


def test_fault_tolerance_that_resumes_has_got_over_it() -> None:
    assert sample("mindformers/mf_tre_global_norm.log").failed == []


def test_a_launcher_that_starts_workers_again_begins_anew() -> None:
    run = sample("msrun_worker_sigkill", only="console")
    assert run.failed == [1]
    console = (SAMPLES / "msrun_worker_sigkill" / "console.log").read_bytes()
    run.put("msrun_worker_sigkill/console.log", console[: console.index(b"[WARNING]")], now=NOW + 60)
    assert run.failed == []
    assert run.logs.lives["run"].over is None
    run.put("msrun_worker_sigkill/console.log", console[console.index(b"[WARNING]") :], now=NOW + 120)
    assert run.failed == [1], "and it failed again"


def test_a_worker_log_that_was_begun_anew_is_a_new_life() -> None:
    run = LogRun()
    run.put("worker_0.log", step(1) + CRASH, started=100)
    assert run.failed == [0]
    run.put("worker_0.log", step(1), started=200, now=NOW + 60)
    assert run.failed == []


def test_worker_logs_that_grow_after_the_launcher_fell_silent_outlive_its_words() -> None:
    run = sample("msrun_worker_sigkill", only="console")
    run.put("msrun_log/worker_1.log", step(1), started=1, modified=NOW - 10)
    assert run.failed == [1]
    run.put("msrun_log/worker_1.log", step(2), started=1, modified=NOW + 600, now=NOW + 600)
    assert run.failed == []


def test_a_crash_before_the_steps_begin_again_is_history() -> None:
    run = LogRun()
    run.put("train.log", b"".join(map(step, range(1, 9))) + CRASH)
    run.put("train.log", step(1) + step(2) + step(3), now=NOW + 3600, caught_up=True)
    assert run.failed == []
    (fact,) = run.facts
    assert fact.weight is Weight.NEWS, "nobody caught it: another training runs"


def test_a_crash_before_the_first_step_is_history_when_another_content_has_taken_the_name() -> None:
    run = LogRun()
    run.put("train.log", CRASH, started=100)
    run.put("train.log", step(1), started=200, now=NOW + 3600, caught_up=True)
    assert run.failed == []
    (fact,) = run.facts
    assert fact.weight is Weight.NEWS


def test_steps_that_go_on_in_the_next_part_of_a_rotated_log_show_that_it_was_caught() -> None:
    run = LogRun()
    run.put("train.log", step(1) + step(2) + CRASH, started=100)
    run.put("train.log", step(3) + step(4), started=200, now=NOW + 3600, caught_up=True)
    (fact,) = run.facts
    assert fact.weight is Weight.TROUBLE


def test_ranks_that_tell_the_same_steps_in_one_console_prove_no_new_start() -> None:
    run = LogRun()
    lines = b"".join(b"[rank%d] " % rank + step(number) for number in range(1, 300) for rank in (0, 1))
    run.put("console.log", b"[rank0] " + step(1) + CRASH + lines)
    assert [fact.weight for fact in run.facts] == [Weight.TROUBLE]


def test_what_a_launcher_told_of_the_job_before_is_history() -> None:
    run = sample("msrun_worker_sigkill", only="console")
    console = (SAMPLES / "msrun_worker_sigkill" / "console.log").read_bytes()
    run.put("msrun_worker_sigkill/console.log", console[: console.index(b"[WARNING]")], now=NOW + 60)
    assert {fact.weight for fact in run.facts} == {Weight.NEWS}
