"""The disk may be slow, full or read-only: the training never notices, and nothing is lost silently."""

from __future__ import annotations

import errno
import logging
import os
import threading
from pathlib import Path
from typing import Any, Iterator

import pytest

from mstui.formats.decoders import mindspore_summary
from mstui.record import writer as module
from mstui.record.writer import Writer


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.WARNING, "mstui.record"):
        yield caplog


def steps_in(path: Path) -> Any:
    found = mindspore_summary.FORMAT.make_decoder("f").decode(path.read_bytes(), 0, at_end=True)
    assert found.consumed == path.stat().st_size
    return [step for column in found.columns for step in column.steps.tolist()]


def test_what_was_flushed_can_be_read_while_the_training_runs(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "deep" / "er", 3, lambda: 1000.0)
    for step in (1, 2, 3):
        writer.summary(step, [("loss", 1.0)])
    assert writer.flush()
    (path,) = (tmp_path / "deep" / "er").iterdir()
    assert path.name.startswith("events.out.events.summary.1000.3.")
    assert path.name.endswith("_MS")
    assert steps_in(path) == [1, 2, 3]
    assert path.stat().st_mode & 0o200
    writer.close()
    assert not path.stat().st_mode & 0o222


def test_a_name_that_is_taken_is_never_written_over(tmp_path: Path) -> None:
    first, second = Writer(tmp_path, 0, lambda: 1000.0), Writer(tmp_path, 0, lambda: 1000.0)
    first.summary(1, [("loss", 1.0)])
    assert first.flush()
    second.summary(2, [("loss", 2.0)])
    assert second.flush()
    assert [steps_in(path) for path in sorted(tmp_path.iterdir())] == [[1], [2]]
    first.close()
    second.close()


def test_a_full_disk_ends_the_recording_at_a_record(
    tmp_path: Path, logged: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer(tmp_path, 0, lambda: 1000.0)
    writer.summary(1, [("loss", 1.0)])
    assert writer.flush()
    real = os.write

    def full(handle: int, data: Any) -> int:
        if len(data) > 10:
            return real(handle, data[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    for step in (2, 3, 4):
        writer.summary(step, [("loss", 1.0)])
        writer.flush()
    monkeypatch.undo()
    writer.close()
    assert writer.failure == "No space left on device"
    assert [record.levelno for record in logged.records] == [logging.WARNING]
    (path,) = tmp_path.iterdir()
    assert steps_in(path) == [1]


def test_a_directory_that_cannot_be_made_is_said_once(tmp_path: Path, logged: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    writer = Writer(tmp_path / "file" / "summary", 0)
    writer.summary(1, [("loss", 1.0)])
    writer.flush()
    writer.summary(2, [("loss", 1.0)])
    writer.close()
    assert writer.failure
    assert len(logged.records) == 1


def test_a_slow_disk_costs_records_and_never_the_trainings_time(
    tmp_path: Path, logged: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    real = os.write

    def slow(handle: int, data: Any) -> int:
        go_on.wait(10)
        return real(handle, data)

    monkeypatch.setattr(os, "write", slow)
    writer = Writer(tmp_path, 0)
    for step in range(1, 1001):
        writer.summary(step, [("loss", 1.0)])
    assert 1000 - module.MOST_QUEUED - 1 <= writer.dropped < 1000
    go_on.set()
    writer.close()
    (path,) = tmp_path.iterdir()
    assert len(steps_in(path)) == 1000 - writer.dropped
    assert "dropped" in logged.text
