"""Whatever is read when, the same trouble is found, and it keeps its name."""

from __future__ import annotations

import gc
import os
import random
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Callable, Dict, List

import pytest

from mstui.assets import SAMPLE_RUNS, asset_dir
from mstui.detect import engine
from mstui.detect.base import Chunk, Detector, Process
from mstui.detect.engine import load_rules
from mstui.model.alerts import IncidentState, Symptom
from mstui.monitor import Monitor, judge, supply
from mstui.monitor.rulebook import all_rules
from tests.unit.monitor.judged_runs import (
    FINISHED,
    NOW,
    alerts_of,
    judged,
    look,
    losses,
    monitor_of,
    told,
    write_log,
)

SUMMARIES = Path(__file__).parents[2] / "data" / "summary"
SOURCES: Dict[str, Path] = {
    "a summary with a loss that becomes NaN": SUMMARIES / "short_nan",
    "a summary with a spike": SUMMARIES / "long_spike",
    "a summary of vanishing gradients": Path(asset_dir(SAMPLE_RUNS)) / "vanishing",
    "summary and log of one training": Path(asset_dir(SAMPLE_RUNS)) / "loss_nan",
    "two ranks": Path(asset_dir(SAMPLE_RUNS)) / "rank_init",
}


def fed(source: Path, target: Path, seed: int, pieces: int) -> Monitor:
    """A monitor that has watched these files grow, each at a pace of its own."""
    chance = random.Random(seed)
    files = sorted(path for path in source.rglob("*") if path.is_file() and path.suffix not in (".toml", ".json"))
    data = {path: path.read_bytes() for path in files}
    cuts: Dict[Path, List[int]] = {}
    for path, content in data.items():
        jitter = [(at + chance.uniform(-1.0, 1.0)) / pieces for at in range(1, pieces)]
        inner = sorted(min(max(int(len(content) * each), 0), len(content)) for each in jitter)
        cuts[path] = [*inner, len(content)]
    now = [NOW]
    monitor = monitor_of(target, now, process=Process())
    written = dict.fromkeys(files, 0)
    for piece in range(pieces):
        for path in chance.sample(files, len(files)):
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            with copy.open("ab") as stream:
                stream.write(data[path][written[path] : cuts[path][piece]])
            written[path] = cuts[path][piece]
            os.utime(copy, (NOW, NOW))
        look(monitor, now, chance.choice([0.3, 1.2, 6.0]))
    monitor.look_once(now[0])
    return monitor


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_the_incidents_are_those_of_the_whole_however_it_grew(source: Path, seed: int, tmp_path: Path) -> None:
    live = fed(source, tmp_path / "run", seed, pieces=12)
    whole = judged(tmp_path / "run", process=Process())
    assert told(live) == told(whole)
    assert told(whole), "there is something to be found"


def test_a_verdict_is_given_when_the_history_is_read_and_not_before(tmp_path: Path) -> None:
    now = [NOW]
    monitor = monitor_of(tmp_path, now)
    look(monitor, now)
    assert not monitor.runs()
    write_log(tmp_path, losses(1, 60))
    look(monitor, now, 60.0)
    look(monitor, now, 2.0)
    verdict = monitor.verdict(monitor.runs()[0].key)
    assert verdict is not None
    assert "loss-nonfinite" in verdict.judged
    assert monitor.verdict("elsewhere") is None


def test_the_newest_step_is_judged_once_nothing_more_comes_for_it(tmp_path: Path) -> None:
    now = [NOW]
    write_log(tmp_path, losses(1, 40))
    monitor = monitor_of(tmp_path, now)
    look(monitor, now)
    write_log(tmp_path, losses(40, 41, bad_from=40))
    look(monitor, now, 5.0)
    assert not alerts_of(monitor), "a record of the same step may still come"
    look(monitor, now, 1.5)
    (alert,) = alerts_of(monitor)
    assert alert.incident.head.symptom is Symptom.LOSS_NAN
    assert alert.incident.head.detected_step == 40


def test_a_file_that_is_written_anew_is_judged_by_what_it_holds_now(tmp_path: Path) -> None:
    now = [NOW]
    path = write_log(tmp_path, losses(1, 40, bad_from=30))
    monitor = monitor_of(tmp_path, now)
    look(monitor, now)
    look(monitor, now, 2.0)
    assert alerts_of(monitor)
    with path.open("r+") as stream:
        stream.truncate(0)
        look(monitor, now, 30.0)
        stream.writelines(losses(1, 30))
    for _ in range(3):
        look(monitor, now, 30.0)
    assert not [alert for alert in alerts_of(monitor) if alert.incident.state is IncidentState.OPEN]


def test_attempts_before_a_restart_are_judged_as_if_somebody_had_watched(tmp_path: Path) -> None:
    now = [NOW]
    monitor = monitor_of(tmp_path / "run", now)
    for begin, end, bad in ((1, 40, 30), (20, 50, 45), (30, 90, None)):
        write_log(tmp_path / "run", losses(begin, end, bad_from=bad))
        look(monitor, now, 30.0)
        look(monitor, now, 2.0)
    (alert,) = alerts_of(monitor)
    assert alert.incident.state is IncidentState.CLEARED
    monitor.look_once(now[0])
    assert told(monitor) == told(judged(tmp_path / "run", process=Process()))


def test_a_crash_is_found_by_the_exit_code_alone(tmp_path: Path) -> None:
    write_log(tmp_path, losses(1, 40))
    (alert,) = alerts_of(judged(tmp_path, process=Process(running=False, exit_code=137)))
    assert alert.incident.head.symptom is Symptom.CRASH
    assert not alerts_of(judged(tmp_path, process=FINISHED))


def test_a_stall_is_found_where_the_process_is_known_to_run() -> None:
    hang = Path(asset_dir(SAMPLE_RUNS)) / "hang"
    at = max(path.stat().st_mtime for path in hang.rglob("*")) + 10 * 86_400
    running = judged(hang, process=Process(running=True), now=at)
    assert Symptom.STALL in [alert.incident.head.symptom for alert in alerts_of(running)]
    unknown = judged(hang, process=Process(), now=at)
    assert Symptom.STALL not in [alert.incident.head.symptom for alert in alerts_of(unknown)]


def test_what_is_forgotten_is_judged_anew_when_it_is_loaded_again(tmp_path: Path) -> None:
    now = [NOW]
    for name in ("one", "two"):
        write_log(tmp_path / name, losses(1, 40, bad_from=30))
    monitor = monitor_of(tmp_path, now, process=FINISHED, first_run="one")
    monitor.look_once(NOW)
    (before,) = monitor.alerts("one")
    monitor.load("two")
    monitor.unload("one")
    look(monitor, now, 1.0)
    assert not monitor.alerts("one")
    assert monitor.verdict("one") is None
    assert monitor.alerts("two")[0].id != before.id
    monitor.load("one")
    monitor.look_once(NOW + 10)
    assert monitor.alerts("one") == (before,)


def test_a_fact_that_becomes_known_late_counts_for_what_was_judged_before(tmp_path: Path) -> None:
    source, target = Path(asset_dir(SAMPLE_RUNS)) / "dead_relu", tmp_path / "run"
    target.mkdir()
    (lineage,) = source.glob("*lineage")
    (values,) = source.glob("*_MS")
    now = [NOW]
    monitor = monitor_of(target, now, process=Process())
    found = []
    for path in (values, lineage):
        (target / path.name).write_bytes(path.read_bytes())
        for _ in range(3):
            look(monitor, now, 30.0)
        found.append(told(monitor))
    assert found[0] != found[1], "what is declared there makes a difference"
    assert found[1] == told(judged(target, process=Process(), now=now[0]))


class Broken(Detector):
    """A rule with a bug."""

    def points(self, chunk: Chunk) -> None:
        raise IndexError(f"{len(chunk)} is one too many")


def test_a_rule_that_fails_ends_the_judging_and_nothing_else(tmp_path: Path) -> None:
    rule = replace(load_rules()[0], name="broken", make=Broken, watches=lambda _subject, _tag: True)
    now = [NOW]
    write_log(tmp_path, losses(1, 40))
    monitor = monitor_of(tmp_path, now, rulebook=replace(all_rules(), rules=(rule,)))
    look(monitor, now)
    look(monitor, now, 2.0)
    key = monitor.runs()[0].key
    verdict = monitor.verdict(key)
    assert verdict is not None
    assert not verdict.judged
    assert "one too many at test_judge.py" in verdict.not_judged[0].because.say()
    write_log(tmp_path, losses(40, 60))
    look(monitor, now, 30.0)
    assert monitor.runs()[0].last_step == 59, "it is still read"
    monitor.look_once(now[0])


def test_of_many_ranks_the_one_that_breaks_is_found_at_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OTHERS_S", "NEW_OTHERS_S"):
        monkeypatch.setattr(judge, name, 0.0)
    monkeypatch.setattr(supply, "RANKS_IN_FULL", 1)
    monkeypatch.setattr(supply, "OTHERS_AT_ONCE", 1)
    now = [NOW]
    monitor = monitor_of(tmp_path, now)
    for rank in range(12):
        write_log(tmp_path, losses(1, 40), f"worker_{rank}.log")
    look(monitor, now)
    look(monitor, now, 2.0)
    key = monitor.runs()[0].key

    def waits() -> bool:
        verdict = monitor.verdict(key)
        assert verdict is not None
        return judge.NOT_ALL_RANKS in verdict.not_judged

    assert waits(), "a look is over long before all of them have had their turn"
    for rank in range(12):
        write_log(tmp_path, losses(40, 44, bad_from=42 if rank == 11 else None), f"worker_{rank}.log")
    look(monitor, now, 2.0)
    (alert,) = alerts_of(monitor)
    assert alert.incident.head.symptom is Symptom.LOSS_NAN
    assert (alert.incident.head.scope.rank_id, alert.incident.head.step) == (11, 42)
    for _ in range(12):
        look(monitor, now, 2.0)
    assert not waits()
    assert told(monitor) == told(judged(tmp_path, process=Process(), now=now[0]))


def test_where_a_look_takes_long_the_next_one_comes_later_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "SHARE_OF_TIME", 1e-9)
    now = [NOW]
    monitor = monitor_of(tmp_path, now)
    write_log(tmp_path, losses(1, 40))
    look(monitor, now)
    look(monitor, now, 2.0)
    write_log(tmp_path, losses(40, 42))
    look(monitor, now, 2.0)
    write_log(tmp_path, losses(42, 50, bad_from=42))
    look(monitor, now, judge.LATEST_LOOK_S - 1.0)
    assert not alerts_of(monitor)
    look(monitor, now, 1.5)
    (alert,) = alerts_of(monitor)
    assert alert.incident.head.symptom is Symptom.LOSS_NAN


def test_judging_may_rest_anywhere_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for rank in range(12):
        write_log(tmp_path, losses(1, 60, bad_from=50 if rank == 3 else None), f"worker_{rank}.log")
    whole = judged(tmp_path)
    monkeypatch.setattr(judge, "SERIES_AT_ONCE", 1)
    monkeypatch.setattr(engine, "SERIES_AT_ONCE", 1)
    monkeypatch.setattr("mstui.monitor.monitor.JUDGE_BUDGET_S", 0.0)
    rests = 0
    resting = judge.Judge.judge

    def noted(of: judge.Judge, moment: judge.Moment, over: Callable[[], bool]) -> bool:
        nonlocal rests
        changed = resting(of, moment, over)
        rests += of.working
        return changed

    monkeypatch.setattr(judge.Judge, "judge", noted)
    assert told(judged(tmp_path)) == told(whole)
    assert rests > 24, "handing over and the last word, rank by rank"


def test_a_judge_that_nobody_needs_any_more_is_gone_at_once(tmp_path: Path) -> None:
    write_log(tmp_path, losses(1, 40))
    seen: List[weakref.ref[judge.Judge]] = []
    making = judge.Judge.__init__

    def noted(of: judge.Judge, *arguments: object) -> None:
        seen.append(weakref.ref(of))
        making(of, *arguments)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge.Judge, "__init__", noted)
        now = [NOW]
        monitor = monitor_of(tmp_path, now)
        look(monitor, now)
        look(monitor, now, 2.0)
    gc.disable()
    try:
        assert [each() is None for each in seen] == [False]
        monitor.unload(".")
        look(monitor, now)
        assert [each() for each in seen] == [None], "the collector leaves out what it once found alive"
    finally:
        gc.enable()
