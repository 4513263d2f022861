from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mstui.model.roles import Role
from mstui.model.runs import FileState, RunStatus
from mstui.tui.header import Header, epoch_text, eta_seconds, run_name, step_text
from tests.tui.alert_scene import alerts_scene
from tests.tui.fakes import START, FakeHost, FakeMonitor, make_run
from tests.tui.log_scene import logs_scene
from tests.tui.scene import RUN, scene


def text_of(monitor: FakeMonitor, width: int = 200, *, compact: bool = False) -> str:
    header = Header(FakeHost(monitor))
    header.compact = compact
    return "".join(text for text, _look in header.draw(width, 1)[0])


def with_run(**changes: Any) -> FakeMonitor:
    monitor = scene()
    monitor.run_list[0] = replace(monitor.run_list[0], **changes)
    return monitor


def test_everything_is_there_when_there_is_room() -> None:
    text = text_of(scene())
    for part in (RUN, "rank 0/8", "step 1000/50000", "epoch 2/100", "ETA 1d03h", "* LIVE", "(events)", "! faults 2"):
        assert part in text, text


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (RunStatus.LIVE, "* LIVE"),
        (RunStatus.STALE, "~ STALE"),
        (RunStatus.ENDED, "= ENDED"),
        (RunStatus.STOPPED, "! STOPPED"),
        (RunStatus.FAILED, "F FAILED"),
        (RunStatus.PENDING, "? NO DATA"),
        (RunStatus.UNREADABLE, "!! UNREADABLE"),
    ],
)
def test_every_state_has_a_word_and_a_glyph(status: RunStatus, word: str) -> None:
    assert word in text_of(with_run(status=status))


def test_a_dead_monitor_comes_before_what_the_run_says() -> None:
    monitor = scene()
    monitor.state = replace(monitor.state, alive=False)
    text = text_of(monitor)
    assert "NOT LIVE" in text
    assert "* LIVE" not in text


def test_why_it_polls_and_how_far_history_is() -> None:
    monitor = scene()
    monitor.state = replace(monitor.state, mode="poll", reason="nfs", bytes_total=1000, bytes_read=345)
    text = text_of(monitor)
    assert "(poll, nfs)" in text
    assert "history 34 %" in text


def test_history_that_is_all_but_read_is_not_called_read() -> None:
    monitor = scene()
    monitor.state = replace(monitor.state, bytes_total=10**9, bytes_read=10**9 - 1)
    assert "history 99 %" in text_of(monitor)


@given(st.integers(1, 220), st.booleans())
def test_the_state_stays_when_there_is_less_and_less_room(width: int, compact: bool) -> None:
    text = text_of(scene(), width, compact=compact)
    if width >= 20:
        assert "LIVE" in text
        assert cell_len(text) <= width


@pytest.mark.parametrize("width", [80, 60])
def test_the_worst_alert_stays_when_there_is_less_room(width: int) -> None:
    text = text_of(alerts_scene(), width)
    assert "‼ critical 1" in text
    assert "LIVE" in text
    assert cell_len(text) < width


def test_one_row_for_everything_has_the_worst_alert_too() -> None:
    text = text_of(alerts_scene(), 30, compact=True)
    assert " ‼1 " in text
    assert cell_len(text) <= 30


def test_the_last_column_is_not_needed() -> None:
    for width in range(20, 200):
        assert cell_len(text_of(scene(), width)) <= width - 1


def test_one_row_for_everything_keeps_the_loss() -> None:
    monitor = scene()
    monitor.put(RUN, "loss", [1.0, float("nan")], role=Role.LOSS)
    assert text_of(monitor, 20, compact=True).endswith(" loss NaN * LIVE")
    assert text_of(monitor, 60, compact=True).strip() == "resnet50/run3 1000/50000 loss NaN * LIVE"


def test_no_run_shows_what_is_watched() -> None:
    text = text_of(FakeMonitor("/data/\x1b[31msummary"))
    assert "/data/<1b>[31msummary" in text
    assert "NO DATA" in text


def test_the_watched_directory_itself_is_called_by_its_name() -> None:
    assert run_name(make_run(".", path="/data/summary/")) == "summary"


def test_steps_epochs_and_eta_need_their_facts() -> None:
    run = make_run("a", facts={})
    assert step_text(run) == "1000"
    assert epoch_text(run) == ""
    assert eta_seconds(run) is None
    planned = replace(run, facts={"planned_steps": 2000, "epoch": 10})
    assert step_text(planned) == "1000/2000"
    assert epoch_text(planned) == "5/10"
    assert eta_seconds(planned) == 1000 * 2.0
    assert eta_seconds(replace(planned, status=RunStatus.ENDED)) is None
    assert eta_seconds(replace(planned, last_step=2000)) is None
    assert eta_seconds(replace(planned, seconds_per_step=None)) is None
    assert step_text(replace(planned, last_step=None)) == ""


@pytest.mark.parametrize("fact", [True, -1, 0, "many", 1.5])
def test_facts_that_make_no_sense_are_left_out(fact: Any) -> None:
    assert step_text(make_run("a", facts={"planned_steps": fact})) == "1000"


def test_the_age_is_coarse() -> None:
    assert "LIVE <5s" in text_of(with_run(last_data=START + 1999))
    assert "STALE 4m" in text_of(with_run(status=RunStatus.STALE, last_data=START + 2000 - 250))


def test_records_that_were_flushed_together_do_not_shorten_the_eta() -> None:
    run = make_run("a", facts={"planned_steps": 2000}, record_interval_s=0.01, seconds_per_step=1.5)
    assert eta_seconds(run) == 1500.0


def test_the_epoch_comes_from_a_tag_where_lineage_does_not_tell() -> None:
    monitor = with_run(facts={})
    assert "epoch" not in text_of(monitor)
    monitor.put(RUN, "epoch", [1.0, 2.5], role=Role.EPOCH)
    assert "epoch 2.5" in text_of(monitor)
    monitor.run_list[0] = replace(monitor.run_list[0], facts={"epoch": 30})
    assert "epoch 2.5/30" in text_of(monitor)
    monitor.put(RUN, "epoch", [float("nan")], role=Role.EPOCH)
    assert "epoch" not in text_of(monitor)


@pytest.mark.parametrize(("seconds", "words"), [(14.9, ""), (16.0, "15s"), (19.9, "15s"), (21.0, "20s"), (300.0, "5m")])
def test_an_old_look_at_the_files_is_said_in_coarse_steps(seconds: float, words: str) -> None:
    monitor = scene()
    host = FakeHost(monitor)
    monitor.state = replace(monitor.state, mode="poll", reason="nfs", last_read=host.now() - seconds)
    text = text_of(monitor)
    assert (f"(poll, nfs, read {words} ago)" if words else "(poll, nfs)") in text


def test_a_selected_run_that_is_not_loaded_yet_is_being_read() -> None:
    assert ". READING 4m" in text_of(with_run(loaded=False, status=RunStatus.STALE, last_data=START + 1750))
    assert "NO DATA" in text_of(with_run(loaded=False, status=RunStatus.PENDING))


def test_what_a_process_told_outlives_everything_but_the_state() -> None:
    monitor = logs_scene()
    for width in (200, 80, 50):
        assert "F FAILED  ✗ crashed rank 1" in text_of(monitor, width)
    assert "crashed" not in text_of(scene())


def test_a_log_that_is_not_understood_is_hinted_at() -> None:
    monitor = scene()
    unread = replace(monitor.file_list[0], state=FileState.NOT_RECOGNISED, path="/runs/x.log")
    monitor.file_list.append(unread)
    assert "! log not understood (6)" in text_of(monitor)
