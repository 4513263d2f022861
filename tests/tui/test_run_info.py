from __future__ import annotations

from dataclasses import replace
from typing import Any, Mapping

import pytest
from rich.cells import cell_len

from mstui.model.faults import FaultKind, ReadFault
from mstui.model.roles import Role
from mstui.model.runs import Fact, FileState, FileStatus, RunStatus
from mstui.model.series import Disagreement, SeriesKey
from mstui.model.sources import SUMMARY, Source, SourceKind
from mstui.tui.run_info import missing, reason, run_info_rows
from tests.tui.fakes import START, FakeMonitor, make_run
from tests.tui.log_scene import logs_scene
from tests.tui.scene import NOW, RUN, make_app, scene, screen_text

LOG = Source(SourceKind.LOG, "worker")


def text_of(monitor: FakeMonitor, cells: int = 90) -> str:
    rows = run_info_rows(monitor, monitor.run_list[0], NOW, cells)
    return "\n".join("".join(text for text, _look in row) for row in rows)


def test_everything_known_is_there() -> None:
    text = text_of(scene())
    for part in (
        f"run             {RUN}",
        "/runs/resnet50/run3",
        "live: data came <5s ago",
        "1000 of 50000",
        "planned epochs  100",
        "a record every 10 steps",
        "seconds a step  2.0s",
        "first record    2023-11-1",
        "last record     2023-11-1",
        "8 files, 1000 B",
        "12 image counted, not kept",
        "2 faults",
        "rank 7  step 1000    <5s  * LIVE",
        "learning_rate  0.1",
    ):
        assert part in text, part


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"status": RunStatus.ENDED}, "ended: train_lineage was written"),
        ({"status": RunStatus.STOPPED}, "stopped: closed without train_lineage: aborted, or max_file_size reached"),
        (
            {"status": RunStatus.STALE, "last_data": NOW - 250, "stale_after_s": 60.0},
            "stale: nothing new for 4m; this run's own rhythm allows 1m",
        ),
        ({"status": RunStatus.STALE, "last_data": NOW - 250}, "stale: nothing new for 4m"),
        ({"status": RunStatus.FAILED}, "failed: a process ended with an error, as its log tells"),
        ({"status": RunStatus.PENDING}, "no data yet: its files are empty"),
        ({"status": RunStatus.UNREADABLE}, "unreadable: belongs to root"),
        ({"loaded": False, "status": RunStatus.STALE}, "not read: only its files are listed"),
    ],
)
def test_every_state_has_its_reason(changes: Any, words: str) -> None:
    files = [FileStatus("/runs/a/x", "a", 0, "", FileState.DENIED, 1, 0, 0, 0, detail="belongs to root")]
    assert reason(make_run("a", **changes), files, NOW).startswith(words)


def test_what_only_train_lineage_tells_is_said_to_be_missing() -> None:
    [one, two] = missing(make_run("a"))
    assert "optimizer, learning rate, planned steps" in one
    assert "train_lineage only, at a normal end" in one
    assert "--total-steps" in two
    [one] = missing(make_run("a", facts={"planned_steps": 10, "learning_rate": 0.1}))
    assert "optimizer." in one
    assert missing(make_run("a", status=RunStatus.ENDED, facts={"planned_steps": 10})) == []
    assert missing(make_run("a", loaded=False)) == []


@pytest.mark.parametrize("facts", [{"custom/lr": 0.005}, {"custom/train/learning_rate": 0.1}, {"custom/Base_LR": 1}])
def test_what_a_recorder_or_the_script_tells_is_not_missing(facts: Mapping[str, Fact]) -> None:
    [one] = missing(make_run("a", facts={"planned_steps": 10, **facts}))
    assert one.startswith("Not known: optimizer. ")
    assert missing(make_run("a", facts={"planned_steps": 10, "custom/optimizer": "adam", **facts})) == []


def test_a_learning_rate_that_is_a_curve_is_not_missing() -> None:
    monitor = FakeMonitor()
    monitor.put("a", "lr", [0.1], role=Role.LEARNING_RATE)
    run = make_run("a", facts={"planned_steps": 10, "custom/optimizer": "adam"})
    assert missing(run) != []
    assert missing(run, monitor.tags("a")) == []


def test_damage_is_told_in_bytes() -> None:
    monitor = scene()
    fault = ReadFault("/runs/x", FaultKind.DAMAGED, 0, 56, "checksum", START)
    file = replace(monitor.file_list[0], skipped_bytes=56, faults=(fault,))
    monitor.file_list[:] = [file]
    assert "2 faults, 56 B lost to damage" in text_of(monitor)


@pytest.mark.parametrize("cells", [45, 60, 96])
def test_hostile_facts_are_harmless_and_fit(cells: int) -> None:
    monitor = scene()
    facts = {"custom/\x1b[2J" * 9: "\u202e" * 90, "plain": "全" * 200}
    monitor.run_list[0] = replace(monitor.run_list[0], facts=facts, path="/r\x07uns/" + "x" * 300)
    text = text_of(monitor, cells)
    assert not {"\x1b", "\u202e", "\x07"} & set(text)
    assert all(cell_len(line) <= cells for line in text.split("\n"))


async def test_i_opens_it_for_the_run_under_the_selection_and_it_follows_the_data() -> None:
    monitor = scene()
    app = make_app(monitor)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("i")
        assert "1000 of 50000" in screen_text(app)
        monitor.run_list[0] = replace(monitor.run_list[0], last_step=1010)
        monitor.bump()
        app.watch_screen._flush()
        await pilot.pause()
        assert "1010 of 50000" in screen_text(app)
        await pilot.press("escape", "5", "down", "i")
        assert "not read: only its files are listed" in screen_text(app)


async def test_without_a_run_it_says_so() -> None:
    app = make_app(FakeMonitor())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("i")
        assert app.watch_screen.overlay is None
        assert "no run yet" in screen_text(app)


def test_what_processes_told_comes_before_the_ranks_with_its_meaning() -> None:
    text = text_of(logs_scene())
    assert "state           failed: rank 1 crashed: ValueError: bad shard 7" in text
    told = text[text.index("what processes have told") : text.index("\nranks")]
    assert told.index("rank 1 crashed") < told.index("rank 0 lost a peer")
    assert "The training script raised an exception." in told
    assert "follows from another" in told


def test_sources_that_disagree_are_told_in_full() -> None:
    monitor = scene()
    key = SeriesKey(RUN, 0, "loss")
    monitor.disagreements[key] = Disagreement(400, 12, 300, 2.5, 2.25, SUMMARY, LOG)
    monitor.tag_lists[RUN] = [replace(tag, sources=(SUMMARY, LOG)) for tag in monitor.tag_lists[RUN]]
    assert "loss (rank 0): at 12 of 400 steps the sources differ, first at step 300: summary 2.5" in text_of(monitor)


def test_points_without_a_clock_have_no_first_moment() -> None:
    monitor = scene()
    for key, series in monitor.data.items():
        monitor.data[key] = replace(series, wall_times=series.wall_times * 0)
    assert "1970" not in text_of(monitor)
