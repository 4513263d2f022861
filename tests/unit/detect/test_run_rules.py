"""Rules about the run as a whole: crash, NaN stop, stall, slow-down."""

from __future__ import annotations

from typing import Optional

import numpy as np

from mstui.detect.base import Process
from mstui.detect.engine import Engine
from mstui.model.logs import EventKind, LogEvent
from tests.unit.detect.feeding import START, Stream, cleared, decay, raised


def running(engine: Engine, now: float) -> list[tuple[str, int]]:
    return raised(engine.clock(now, Process(running=True)))


def event(kind: EventKind, text: str, step: Optional[int] = None) -> LogEvent:
    return LogEvent(kind, 0, len(text), text, None, step)


def test_a_silence_of_ten_gaps_and_a_minute() -> None:
    engine, _found = Stream().add("loss", decay(60), gap=1.0).engine()
    engine.advance(all_come=True)
    assert running(engine, START + 60 + 59) == []
    assert running(engine, START + 60 + 61) == [("stall", 60)]
    assert running(engine, START + 60 + 100) == []  # the same stall
    assert running(engine, START + 60 + 200) == [("stall", 60)]  # graver


def test_slow_steps_are_given_their_time() -> None:
    engine, _found = Stream().add("loss", decay(60), gap=100.0).engine()
    engine.advance(all_come=True)
    assert running(engine, START + 6000 + 900) == []
    assert running(engine, START + 6000 + 1100) == [("stall", 60)]


def test_before_the_second_record_a_graph_may_compile() -> None:
    engine, _found = Stream().add("loss", [2.3]).engine()
    engine.advance(all_come=True)
    assert running(engine, START + 1000) == []
    assert running(engine, START + 2000) == [("stall", 1)]


def test_a_process_of_which_nothing_is_known_is_not_judged() -> None:
    engine, _found = Stream().add("loss", decay(60)).engine()
    engine.advance(all_come=True)
    assert raised(engine.clock(START + 1e6, Process())) == []
    assert "stall" not in engine.verdict().judged


def test_a_stall_clears_with_the_next_record() -> None:
    stream = Stream().add("loss", decay(60))
    engine, _found = stream.engine()
    engine.advance(all_come=True)
    running(engine, START + 600)
    _rank, tag, _steps, _walls, _values = stream.series[0]
    subject = engine.scene.series[0, tag].subject
    engine.feed(0, tag, subject, np.array([61]), np.array([START + 601]), np.array([1.0]))
    assert cleared(engine.advance(all_come=True)) == [("stall", 61)]


def test_an_exit_code_is_a_crash_and_zero_is_not() -> None:
    engine, _found = Stream().add("loss", decay(60)).engine()
    engine.end()
    assert raised(engine.clock(START + 99, Process(running=False, exit_code=0))) == []
    assert raised(engine.clock(START + 99, Process(running=False, exit_code=137))) == [("crash", 60)]


def test_a_traceback_without_an_exit_code_is_a_crash() -> None:
    engine, _found = Stream().add("loss", decay(60)).engine()
    engine.tell(0, event(EventKind.TRACEBACK, "RuntimeError: [red]boom[/red]"))
    engine.end()
    found = engine.clock(START + 99, Process(running=False))
    assert raised(found) == [("crash", 60)]
    assert "boom" in found[0].evidence[0].say()


def test_a_traceback_that_was_survived_is_none() -> None:
    engine, _found = Stream().add("loss", decay(60)).engine()
    engine.tell(0, event(EventKind.TRACEBACK, "KeyError: 'x'"))
    engine.end()
    assert raised(engine.clock(START + 99, Process(running=False, exit_code=0))) == []


def test_a_crash_is_over_when_the_run_goes_on() -> None:
    engine, _found = Stream().add("loss", decay(60)).engine()
    engine.tell(0, event(EventKind.TRACEBACK, "NameError: name 'x' is not defined"))
    engine.end()
    assert raised(engine.clock(START + 99, Process(running=False))) == [("crash", 60)]
    assert cleared(engine.clock(START + 120, Process())) == [("crash", 60)]
    assert raised(engine.clock(START + 130, Process(running=False))) == [], "those words were of the one before"
    engine.tell(0, event(EventKind.TRACEBACK, "MemoryError"))
    engine.advance(all_come=True)
    (again,) = engine.clock(START + 140, Process(running=False))
    assert "MemoryError" in again.evidence[0].say()


def test_a_traceback_that_came_before_the_restart_was_seen_still_explains_the_next_end() -> None:
    engine, _found = Stream().add("loss", decay(60)).engine()
    engine.tell(0, event(EventKind.TRACEBACK, "KeyError: 'x'"))
    engine.end()
    engine.clock(START + 99, Process(running=False))
    engine.tell(0, event(EventKind.TRACEBACK, "MemoryError"))
    engine.advance(all_come=True)
    assert cleared(engine.clock(START + 120, Process())) == [("crash", 60)]
    assert raised(engine.clock(START + 121, Process(running=False))) == [("crash", 60)]


def test_a_stop_because_of_nan_is_told_from_the_log() -> None:
    engine, _found = Stream().add("loss", decay(60)).engine()
    engine.tell(0, event(EventKind.NAN_STOP, "Invalid loss, terminating training.", step=60))
    assert raised(engine.advance(all_come=True)) == [("loss-nan", 60)]


def test_a_stop_because_of_nan_is_over_when_another_training_runs_and_not_while_the_process_still_ends() -> None:
    engine, _found = Stream().add("loss", decay(60)).engine()
    engine.tell(0, event(EventKind.NAN_STOP, "Invalid loss, terminating training.", step=60))
    engine.advance(all_come=True)
    assert cleared(engine.clock(START + 61, Process(running=True))) == []
    assert cleared(engine.clock(START + 70, Process(running=False, exit_code=0))) == []
    assert cleared(engine.clock(START + 99, Process(running=True))) == [("loss-nan", 60)]


def paced(times: np.ndarray) -> Stream:  # type: ignore[type-arg]
    stream = Stream().add("loss", decay(len(times)))
    rank, tag, steps, _walls, values = stream.series[0]
    stream.series[0] = (rank, tag, steps, START + np.cumsum(times), values)
    return stream


def test_steps_that_take_three_times_as_long_for_good() -> None:
    times = np.full(200, 0.1)
    times[100:] = 0.3
    assert raised(paced(times).judge()) == [("slow-down", 141)]


def test_pauses_and_a_busy_host_are_no_slow_down() -> None:
    rng = np.random.default_rng(3)
    times = 0.1 * np.exp(rng.normal(0, 0.3, 400))
    times[::50] += 3.0
    times[120:145] *= 3
    assert raised(paced(times).judge()) == []


def test_a_slow_down_clears() -> None:
    times = np.full(300, 0.1)
    times[100:160] = 0.3
    assert "slow-down" in dict(cleared(paced(times).judge()))
