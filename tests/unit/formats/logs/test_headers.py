"""Every header that is printed before a message."""

from __future__ import annotations

import time
from typing import Optional, Tuple

import pytest

from mstui.formats.logs.headers import Stamps, parse
from mstui.model.logs import LogLevel

MINUTE = time.mktime((2026, 5, 6, 10, 0, 0, -1, -1, -1))
CPP = (
    "[WARNING] DEVICE(22197,7f1786202b80,python):2026-05-06-10:00:23.992.394 [mindspore/ccsrc/x.cc:54] Initialize] text"
)
CANN = "[ERROR] HCCL(162844,python):2026-05-06-10:00:58.086.834 [task.cc:604][168498]Task failed"
Case = Tuple[str, LogLevel, float, str, str, Optional[int]]

CASES = [
    (CPP, LogLevel.WARNING, 23.992394, "text", "22197", None),
    ("[V20000] ME(1,7f,python):2026-05-06-10:00:01.000.001 [a.cc:1] F] x", LogLevel.DEBUG, 1.000001, "x", "1", None),
    ("[EXCEPTION] GE(1,7f,p):2026-05-06-10:00:01.500.000 [a.cc:1] F] x", LogLevel.ERROR, 1.5, "x", "1", None),
    ("[INFO] ME(7:1,MainProcess):2026-05-06-10:00:07.850.00 [a.py:4] x", LogLevel.INFO, 7.085, "x", "7", None),
    ("[INFO] ME(7:1,Worker-1:1):2026-05-06-10:00:07.100.0 [a.py:4] x", LogLevel.INFO, 7.001, "x", "7", None),
    ("[INFO] ME(7:1,MainProcess):2026-05-06-10:00:08.0. [a.py:4] x", LogLevel.INFO, 8.0, "x", "7", None),
    ("[INFO] ME(7:1,MainProcess):2026-05-06-10:00:07.351.000 [a.py:4] x", LogLevel.INFO, 7.351, "x", "7", None),
    (CANN, LogLevel.ERROR, 58.086834, "[168498]Task failed", "162844", None),
    ("[TRACE] HCCL(8,p):2026-05-06-10:00:10.455.138 [status:stop] [h] x", LogLevel.DEBUG, 10.455138, "x", "8", None),
    ("[EVENT] TEFUSION(8,p):2026-05-06-10:00:10.455.138 [h.cc:1]x", LogLevel.INFO, 10.455138, "x", "8", None),
    ("2026-05-06 10:00:02,123 - mindformers - INFO - x", LogLevel.INFO, 2.123, "x", "", None),
    ("2026-05-06 10:00:02,123 - mindformers[callback.py:317] - INFO - x", LogLevel.INFO, 2.123, "x", "", None),
    ("2026-05-06 10:00:02,123 - mindformers/abs/log[a/b.py:5] - WARNING - x", LogLevel.WARNING, 2.123, "x", "", None),
    ("2026-05-06 10:00:02,123 - [a/b.py:5] - INFO - x", LogLevel.INFO, 2.123, "x", "", None),
    ("[INFO] 2026-05-06 10:00:02,123 [a/b.py:5] print_output_info: x", LogLevel.INFO, 2.123, "x", "", None),
    ("[2026-05-06 10:00:02] mindcv.utils.callbacks INFO - x", LogLevel.INFO, 2.0, "x", "", None),
    ("[2026-05-06 10:00:02] WARNING: x", LogLevel.WARNING, 2.0, "x", "", None),
    ("[2026-05-06 10:00:02][DEBUG] x", LogLevel.DEBUG, 2.0, "x", "", None),
    (" [2026-05-06 10:00:02] iteration 1", LogLevel.UNKNOWN, 2.0, "iteration 1", "", None),
    ("[2026-05-06 10:00:02] INFO     a text   callbacks.py:147", LogLevel.INFO, 2.0, "a text", "", None),
    ("2026-05-06 10:00:02,123 [INFO] x", LogLevel.INFO, 2.123, "x", "", None),
    ("2026-05-06 10:00:02,123:ERROR:x", LogLevel.ERROR, 2.123, "x", "", None),
    ("2026-05-06 10:00:09 (4120) [rank 3] [INFO] x", LogLevel.INFO, 9.0, "x", "4120", 3),
    ("2026-05-06 10:00:27.363613 info 18 [TTP controller.cpp:1512] x", LogLevel.INFO, 27.363613, "x", "18", None),
    ("[ERROR] 2026-05-06-10:00:54 (PID:927, Device:3, RankID:3) x", LogLevel.ERROR, 54.0, "x", "927", 3),
    ("[PID: 210] 2026-05-06-10:00:40.384.694 M(EL0004): x", LogLevel.ERROR, 40.384694, "M(EL0004): x", "210", None),
    ("[WARNING|modeling_utils.py:1203] 2026-05-06 10:00:00,123 >> x", LogLevel.WARNING, 0.123, "x", "", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "level", "seconds", "message", "pid", "rank"), CASES)
def test_a_header_says_when_how_bad_and_who(
    text: str, level: LogLevel, seconds: float, message: str, pid: str, rank: Optional[int]
) -> None:
    header = parse(text, Stamps())
    assert header is not None
    assert header.wall_time == pytest.approx(MINUTE + seconds, abs=1e-6)
    assert (header.level, header.message, header.pid, header.rank) == (level, message, pid, rank)


def test_the_source_is_kept() -> None:
    header = parse(CPP, Stamps())
    assert header is not None
    assert header.source == "mindspore/ccsrc/x.cc:54"


def test_a_record_that_rich_wrapped_may_leave_out_its_time() -> None:
    header = parse(" " * 22 + "INFO     Validation Top_1:  callbacks.py:187", Stamps())
    assert header is not None
    assert (header.wall_time, header.message, header.wrapped) == (None, "Validation Top_1:", True)


@pytest.mark.parametrize(
    "text",
    ["epoch: 1 step: 1, loss is 2.3", "  File x", "", "[1, 2, 3]", "Log file created at: 2026/05/06 10:21:02", "2026"],
)
def test_what_has_no_header_is_said_to_have_none(text: str) -> None:
    assert parse(text, Stamps()) is None


@pytest.mark.parametrize(
    "stamp", ["2026-13-06 10:00:00", "2026-05-40 10:00:00", "2026-05-06 25:00:00", "9999-99-99 99:99:99"]
)
def test_impossible_times_are_no_times(stamp: str) -> None:
    header = parse(f"[{stamp}] INFO: x", Stamps())
    assert header is not None
    assert (header.wall_time, header.message) == (None, "x")
