"""What processes told in their logs: the cause by name, everything else as what follows from it, each thing once."""

from __future__ import annotations

from typing import List, Optional

import pytest

from mstui.i18n import set_language
from mstui.model.log_view import Weight
from mstui.model.logs import EventKind
from tests.unit.monitor.log_runs import SAMPLES, LogRun, sample

TRACE = b"""Traceback (most recent call last):
  File "train.py", line 9, in <module>
    train()
%s
"""


def stamped(clock: str, words: str, level: str = "INFO") -> bytes:
    return f"[{level}] 2026-05-06 {clock},000 [train.py:1] log: {words}\n".encode()


def step(number: int) -> bytes:
    return f"epoch: 1 step: {number}, loss is 0.5\n".encode()


HEALTHY = [
    "msrun_ok",
    "glog_dir",
    "mindformers/mf_2.1_pynative_nonlast_pp_stage.log",
    "mindformers/mf_1.9_pipeline_rank0_loss_zero.log",
    "mindformers/mf_lr_none_scale_unavailable.log",
    "mindspore/lossmonitor_2x.log",
    "mindcv/rank0.log",
    "odd/console_8_workers_interleaved.log",
]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_training_tells_nothing_above_news(name: str) -> None:
    run = sample(name)
    assert [fact for fact in run.facts if fact.weight is not Weight.NEWS] == []
    assert run.failed == []


def test_a_crash_is_one_fact_wherever_it_is_told() -> None:
    run = sample("msrun_worker_exception")
    (crash,) = run.causes
    assert (crash.kind, crash.rank_id, crash.ranks, crash.count) == (EventKind.TRACEBACK, 1, (1,), 2)
    assert crash.text == "RuntimeError: boom"
    assert crash.step == 3
    assert crash.place.file.path.endswith("worker_1.log")
    assert run.failed == [1]
    follow = {fact.kind for fact in run.facts if fact.consequence}
    assert follow == {EventKind.WORKER_EXIT, EventKind.PEER_CLOSED, EventKind.NODE_TIMEOUT, EventKind.JOB_FAILED}


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [("msrun_worker_sigkill", "-9", "likely the kernel"), ("msrun_worker_sigsegv", "-11", "SIGSEGV")],
)
def test_a_killed_worker_is_named_by_its_exit_code_and_not_by_the_scheduler(name: str, code: str, words: str) -> None:
    run = sample(name)
    (killed,) = run.causes
    assert (killed.kind, killed.rank_id, killed.code) == (EventKind.WORKER_EXIT, 1, code)
    assert words in killed.meaning
    assert run.failed == [1]
    (scheduler,) = [fact for fact in run.facts if fact.kind is EventKind.NODE_TIMEOUT]
    assert scheduler.consequence, "it names worker 0, which msrun killed afterwards"


def test_without_the_console_the_worker_whose_log_just_ends_is_the_cause() -> None:
    run = sample("msrun_worker_sigkill", only="worker_|scheduler")
    (cause,) = run.causes
    assert (cause.kind, cause.rank_id, cause.ranks) == (EventKind.PEER_CLOSED, 1, (0,))
    assert "its log just ends" in cause.meaning
    assert run.failed == [1]


def test_a_console_alone_names_the_worker_of_its_traceback() -> None:
    run = sample("msrun_worker_exception/console.log")
    (crash,) = run.causes
    assert (crash.kind, crash.rank_id) == (EventKind.TRACEBACK, 1)


def test_a_scheduler_alone_blames_nobody_by_name_when_it_misses_several() -> None:
    run = sample("msrun_worker_sigkill/scheduler.log")
    (missed,) = run.causes
    assert (missed.kind, missed.rank_id) == (EventKind.NODE_TIMEOUT, None)
    assert run.failed == []
    assert run.logs.lives["run"].over is not None


def test_mpirun_names_rank_and_signal() -> None:
    (killed,) = sample("odd/mpirun_tag_output.log").causes
    assert (killed.kind, killed.rank_id, killed.code) == (EventKind.WORKER_EXIT, 1, "-9")


@pytest.mark.parametrize(
    ("name", "kinds", "words"),
    [
        ("hccl_ei0002_notify_timeout.log", [EventKind.HCCL_TIMEOUT], "late, hung or dead"),
        ("hccl_ei0006_socket_timeout.log", [EventKind.HCCL_TIMEOUT], "connection between two ranks"),
        ("oom_variants.log", [EventKind.OUT_OF_MEMORY] * 3, "host memory (pinned)"),
        ("aicore_ez9999.log", [EventKind.TASK_FAILED, EventKind.ASCEND_CODE, EventKind.TASK_FAILED], "on the device"),
    ],
)
def test_failures_of_devices_are_told_by_code_with_their_meaning(name: str, kinds: List[EventKind], words: str) -> None:
    causes = sample(f"ascend/{name}").causes
    assert [fact.kind for fact in causes] == kinds
    assert words in causes[0].meaning


def test_a_traceback_and_the_code_behind_it_are_one_fact() -> None:
    (fact,) = sample("ascend/hccl_ei0006_socket_timeout.log").causes
    data = (SAMPLES / "ascend" / "hccl_ei0006_socket_timeout.log").read_bytes()
    assert data[fact.place.offset :].startswith(b"Traceback"), "the place is the traceback's"
    assert (fact.code, fact.count) == ("EI0006", 1)


def test_meanings_of_codes_are_documented_in_both_languages() -> None:
    try:
        set_language("zh_CN")
        (fact,) = sample("ascend/hccl_ei0006_socket_timeout.log").causes
        assert "建链超时" in fact.meaning
    finally:
        set_language("en")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("mindspore/nan_raises_valueerror.log", EventKind.NAN_STOP),
        ("mindspore/dynamic_loss_scale_abort.log", EventKind.SCALE_ABORT),
    ],
)
def test_a_training_that_stopped_itself_says_why_and_not_only_that_it_raised(name: str, kind: EventKind) -> None:
    run = sample(name)
    assert [(fact.kind, fact.count) for fact in run.facts] == [(kind, 1)]
    assert run.facts[0].meaning
    assert run.failed == [0]


def test_the_same_exception_on_every_rank_is_one_fact_with_all_ranks() -> None:
    run = LogRun()
    for rank in (3, 1, 2):
        error = TRACE % f"RuntimeError: Call rt api failed on device {rank}, ret: 507011".encode()
        run.put(f"worker_{rank}.log", stamped(f"10:00:0{4 - rank}", "begin") + step(7) + error)
    (fact,) = run.causes
    assert (fact.rank_id, fact.ranks, fact.count) == (3, (1, 2, 3), 3), "rank 3 was first"
    assert run.failed == [1, 2, 3]


def test_a_training_that_crashes_twice_at_different_steps_has_two_crashes() -> None:
    run = LogRun()
    error = TRACE % b"RuntimeError: boom"
    run.put("train.log", step(5) + error + step(1) + step(9) + error)
    assert [fact.step for fact in run.facts if fact.kind is EventKind.TRACEBACK] == [5, 9]


def test_time_outs_of_peers_follow_from_the_crash_of_another_rank() -> None:
    run = LogRun()
    run.put("worker_1.log", stamped("10:00:00", "begin") + step(5) + TRACE % b"ValueError: bad sample")
    late = (
        b"[ERROR] HCCL(17,python):2026-05-06-10:30:00.000.000 [hcom.cc:1]17 Wait:EI0002: The wait execution timed out\n"
    )
    run.put("worker_0.log", step(5) + late)
    (cause,) = run.causes
    assert cause.rank_id == 1
    (peer,) = [fact for fact in run.facts if fact.consequence]
    assert (peer.kind, peer.ranks) == (EventKind.HCCL_TIMEOUT, (0,))
    assert run.failed == [1], "rank 0 waits, it has not failed by itself"


def test_a_worker_killed_after_its_own_error_is_not_called_killed_by_the_kernel() -> None:
    run = LogRun()
    memory = b"RuntimeError: Device memory isn't enough and alloc failed, alloc size: 8192B\n"
    run.put("worker_1.log", stamped("10:00:00", "x") + memory)
    head = b"[%s] ME(1:2,MainProcess):2026-05-06-10:00:0%d.000.000 [mindspore/x.py:1] "
    own = b"[WARNING] DISTRIBUTED(99,7f,python):2026-05-06-10:00:01.000.000 [mindspore/x.cc:1] F] "
    run.put("worker_1.log", own + b"This node 1 rank id: 1\n")
    run.put("console.log", head % (b"ERROR", 9) + b"Worker process 99 exit with exception. Error code: -9.\n")
    (cause,) = run.causes
    assert (cause.kind, cause.rank_id) == (EventKind.OUT_OF_MEMORY, 1)
    (killed,) = [fact for fact in run.facts if fact.kind is EventKind.WORKER_EXIT]
    assert killed.consequence
    assert "likely" not in killed.meaning


def test_of_checkpoints_the_last_one_is_told_with_the_number_of_all() -> None:
    run = LogRun()
    for number in range(1, 4):
        saved = stamped(f"10:0{number}:00", f"Finish saving ckpt of epoch 1 step {number} using 3.4 seconds")
        run.put("rank_0/info.log", step(number) + saved)
    (fact,) = run.facts
    assert (fact.kind, fact.weight, fact.step, fact.count) == (EventKind.CHECKPOINT, Weight.NEWS, 3, 3)
    assert fact.text.startswith("Finish saving ckpt of epoch 1 step 3")


@pytest.mark.parametrize(("overflows", "weight"), [(5, Weight.NEWS), (25, Weight.TROUBLE)])
def test_a_few_overflows_are_how_a_loss_scale_settles_and_many_in_a_row_are_trouble(
    overflows: int, weight: Weight
) -> None:
    run = LogRun()
    lines = [
        f"2026-05-06 10:00:{number:02},000 [WARNING] overflow detected in epoch 1 step {number}\n{{}}"
        for number in range(overflows)
    ]
    text = "".join(line.format(step(number).decode()) for number, line in enumerate(lines))
    run.put("train.log", text.encode())
    (fact,) = run.facts
    assert (fact.kind, fact.weight, fact.count) == (EventKind.OVERFLOW, weight, overflows)


def test_a_slow_data_pipeline_is_trouble_and_no_end() -> None:
    run = LogRun()
    run.put("train.log", stamped("10:00:00", "Bad performance attention, it takes more than 25 seconds", "WARNING"))
    (fact,) = run.facts
    assert (fact.kind, fact.weight) == (EventKind.DATA_PIPELINE, Weight.TROUBLE)
    assert "slower than the training" in fact.meaning
    assert run.failed == []


def test_words_of_a_log_are_made_harmless() -> None:
    run = LogRun()
    run.put("train.log", step(1) + TRACE % b"RuntimeError: \x1b]0;owned\x07 [bold]x\xe2\x80\xae")
    (fact,) = run.facts
    assert "\x1b" not in fact.text
    assert "\u202e" not in fact.text
    assert "[bold]x" in fact.text


@pytest.mark.parametrize(
    ("lines", "phase"),
    [
        (stamped("10:00:00", "Start compiling 'train'"), "compiling the graph since 10:00:00"),
        (
            stamped("10:00:00", "Start compiling 'train'") + stamped("10:20:00", "End compiling 'train'"),
            "graph compiled at 10:20:00, first step to come",
        ),
        (b"", ""),
    ],
)
def test_before_the_first_step_the_phase_is_told(lines: bytes, phase: Optional[str]) -> None:
    run = LogRun()
    run.put("train.log", stamped("09:59:00", "hello") + lines)
    assert run.logs.lives["run"].phase == phase
