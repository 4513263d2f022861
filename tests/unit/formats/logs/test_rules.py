"""Events by what a line says, and which of a burst are told."""

from __future__ import annotations

from typing import Dict, Optional

import pytest

from mstui.formats.logs import codes
from mstui.formats.logs.burst import Burst
from mstui.formats.logs.rules import RULES, Rule, said
from mstui.model.logs import EventKind
from tests.unit.formats.logs.reading import SAMPLES, read

LINES = [
    ("The current value of loss is nan, terminate training.", EventKind.NAN_STOP, "", {}),
    ("loss is nan, terminate training.", EventKind.NAN_STOP, "", {}),
    ("there is nan in local_norm with value [nan], terminate training.", EventKind.NAN_STOP, "", {}),
    ("ValueError: epoch: 1 step: 2. Invalid loss, terminating training.", EventKind.NAN_STOP, "", {}),
    ("SilentCheck detect SDC at step: 12", EventKind.SILENT_CORRUPTION, "", {}),
    ("CheckSum detects SDC on rank 3", EventKind.SILENT_CORRUPTION, "", {}),
    ("SDC 3 strikes and out on rank: 5", EventKind.SILENT_CORRUPTION, "", {}),
    ("Memory isn't enough and alloc failed, kernel name: x, alloc size: 8B.", EventKind.OUT_OF_MEMORY, "",
     {"size": "8"}),
    ("Insufficient shared memory available", EventKind.OUT_OF_MEMORY, "", {}),
    ("EE1002: stream synchronize timeout", EventKind.TASK_FAILED, "EE1002", {}),
    ("error cqe status 12", EventKind.DEVICE_LINK, "", {}),
    ("Generator worker process timeout.", EventKind.DATA_PIPELINE, "", {}),
    ("Exception thrown from dataset pipeline. Refer to 'Dataset", EventKind.DATA_PIPELINE, "", {}),
    ("Bad performance attention, it takes more than 25 seconds to", EventKind.DATA_PIPELINE, "", {}),
    ("......Saving ckpt......", EventKind.CHECKPOINT, "", {}),
    ("Finish saving safetensors of epoch 1 step 20 using 3.4 seconds", EventKind.CHECKPOINT, "",
     {"what": "safetensors", "seconds": "3.4"}),
    ("  successfully saved checkpoint at iteration     100 to x", EventKind.CHECKPOINT, "", {}),
    ("Start compiling 'Net.construct' and it will take a while.", EventKind.GRAPH_COMPILATION, "",
     {"phase": "Start", "name": "Net.construct"}),
    ("Worker process 77 exit with exception.", EventKind.WORKER_EXIT, "", {"pid": "77"}),
    ("Topology build timed out., retry(240/1200).", EventKind.NODE_TIMEOUT, "", {"retry": "240"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "code", "fields"), LINES)
def test_a_line_says_what_it_means(text: str, kind: EventKind, code: str, fields: Dict[str, str]) -> None:
    event = said(text, codes=True)
    assert event is not None
    assert (event.kind, event.code, event.fields) == (kind, code, fields)


@pytest.mark.parametrize(
    "text",
    [
        "Device queue thread had been interrupted by TdtHandle::DestroyHandle, you can ignore the above error: EI0006",
        "Topology build timed out., retry(4/1200).",
        "Cluster currently has 8 alive nodes.",
        "prevent memory overflow during save or load checkpoint file.",
        "Load dynamic library: libmindspore_ops_ascend.so failed. cannot open shared object file: No such file",
        "commit abcE12345 and VALUE_E99999x",
        "loss: nan",
    ],
)
def test_what_only_sounds_bad_says_nothing(text: str) -> None:
    assert said(text, codes=True) is None


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.kind.value} {rule.guards[0]}")
def test_what_a_rule_matches_holds_one_of_its_guards(rule: Rule) -> None:
    texts = [text for text, _kind, _code, _fields in LINES]
    for path in SAMPLES.rglob("*.log"):
        texts += path.read_bytes().decode("utf-8", "replace").splitlines()
    matching = [text for text in texts if rule.compiled.search(text)]
    assert matching
    assert [text for text in matching if not any(guard in text for guard in rule.guards)] == []


def test_an_event_with_a_later_step_and_rank_names_them() -> None:
    event = said(
        "Current global norm [44.3] of step 12 has been 3 consecutive times greater than threshold: 3.0", codes=True
    )
    assert event is not None
    assert (event.step, event.fields) == (12, {"norm": "44.3", "times": "3", "threshold": "3.0"})
    other: Optional[object] = said("CheckSum detects SDC on rank 3", codes=True)
    assert getattr(other, "rank", None) == 3


def test_codes_know_family_and_meaning_in_two_languages() -> None:
    known = codes.meaning("EI0002")
    assert known is not None
    assert known.family.startswith("HCCL")
    assert "notification" in known.english
    assert "超时" in known.chinese
    unknown = codes.meaning("E80012")
    assert unknown is not None
    assert (unknown.family, unknown.english) == ("operator plugin (shapes and types)", "")
    assert codes.meaning("X12345") is None


def test_every_documented_code_has_a_family_and_both_languages() -> None:
    for code, texts in codes._table()["codes"].items():
        known = codes.meaning(code)
        assert known is not None, code
        assert known.family, code
        assert set(texts) == {"en", "zh"}, code


class TestBurst:
    """What is told of many lines about one thing."""

    def test_a_kind_is_told_once_until_the_training_goes_on(self) -> None:
        burst = Burst()
        assert [burst.admits(EventKind.PEER_CLOSED, "", "a") for _turn in range(3)] == [True, False, False]
        burst.progress()
        assert burst.admits(EventKind.PEER_CLOSED, "", "a")

    def test_a_minute_between_stamps_begins_another_burst_a_few_seconds_do_not(self) -> None:
        burst = Burst()
        burst.stamp(1000.0)
        burst.admits(EventKind.OUT_OF_MEMORY, "", "")
        burst.stamp(1030.0)
        assert not burst.admits(EventKind.OUT_OF_MEMORY, "", "")
        burst.stamp(900.0)
        assert burst.admits(EventKind.OUT_OF_MEMORY, "", "")

    def test_codes_are_told_one_by_one_but_inner_ones_only_first(self) -> None:
        burst = Burst()
        order = ["EZ9999", "EI0002", "EI0002", "EE9999", "EZ9999", "EL0004", "E39999"]
        told = [code for code in order if burst.admits(codes.kind_of(code), code, "")]
        assert told == ["EZ9999", "EI0002", "EL0004"]

    def test_failed_tasks_follow_from_what_came_before(self) -> None:
        burst = Burst()
        assert burst.admits(EventKind.HCCL_TIMEOUT, "", "")
        assert not burst.admits(EventKind.TASK_FAILED, "", "")
        assert not burst.admits(EventKind.ASCEND_CODE, "EE9999", "")

    def test_overflows_are_told_when_they_say_something_else(self) -> None:
        burst = Burst()
        texts = ["overflow, scale 2", "overflow, scale 2", "overflow, scale 1"]
        assert [burst.admits(EventKind.OVERFLOW, "", text) for text in texts] == [True, False, True]

    def test_lost_log_lines_are_told_once_a_file(self) -> None:
        got = read(b"--- Logging error ---\nepoch: 1 step: 1, loss is 2.5\n" * 3)
        assert [each.kind for each in got.events] == [EventKind.LOG_LOST]
