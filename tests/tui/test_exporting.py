from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import Any, List

import numpy as np
import pytest

from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.roles import Role
from mstui.tui.export_source import source_of
from mstui.tui.exporting import Export, NotExportableError, exported, paper_colours
from mstui.tui.palette import SERIES_LOOKS, TERMINAL_PALETTE
from tests.tui.alert_scene import alerts_scene
from tests.tui.fakes import FakeMonitor
from tests.tui.scene import RUN, make_app

OTHER = "other"


def two_runs() -> FakeMonitor:
    """The selected run has ranks 0 and 1, the one drawn with it only rank 4."""
    monitor = FakeMonitor()
    monitor.add_run(RUN, 2)
    monitor.put(RUN, "loss", [3.0, 2.0], role=Role.LOSS)
    monitor.put(RUN, "loss", [3.5, 2.5], role=Role.LOSS, rank_id=1)
    other = monitor.add_run(OTHER, 1)
    monitor.run_list[-1] = replace(other, ranks=(replace(other.ranks[0], rank_id=4),))
    monitor.put(OTHER, "loss", [9.0, 8.0], role=Role.LOSS, rank_id=4)
    return monitor


async def saved(monitor: FakeMonitor, panel: str, kind: str, **view: Any) -> Export:
    app = make_app(monitor)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        app.watch_screen.change_view(**{"run_key": RUN, "overlay": (OTHER,), "rank_id": 1, **view})
        await app.workers.wait_for_complete()
        await pilot.pause()
        screen = app.watch_screen
        return exported(screen, source_of(screen, screen.panels[panel]), kind, TERMINAL_PALETTE)


def table(export: Export) -> List[List[str]]:
    assert isinstance(export.content, str)
    return list(csv.reader(io.StringIO(export.content)))[1:]


@pytest.mark.parametrize("panel", ["curves", "tags"])
async def test_runs_drawn_together_are_saved_with_the_rank_that_is_drawn(panel: str) -> None:
    rows = table(await saved(two_runs(), panel, "csv"))
    assert {(run, rank) for run, rank, *_rest in rows} == {(RUN, "1"), (OTHER, "4")}
    assert {row[5] for row in rows} == {"3.5", "2.5", "9.0", "8.0"}


async def test_a_picture_has_the_colours_of_a_theme_for_paper_one_a_run() -> None:
    export = await saved(two_runs(), "curves", "svg")
    assert isinstance(export.content, str)
    used = set(re.findall(r"#[0-9a-f]{6}", export.content))
    assert set(paper_colours()[:2]) <= used


def test_every_series_look_has_a_colour_for_paper() -> None:
    colours = paper_colours()
    assert len(colours) == SERIES_LOOKS
    assert len(set(colours)) == SERIES_LOOKS
    assert all(re.fullmatch(r"#[0-9a-f]{6}", colour) for colour in colours)


async def test_a_histogram_is_saved_as_the_panel_shows_it() -> None:
    monitor = two_runs()
    one = np.array([0.0], dtype=np.float64)
    for offset, statistic in enumerate(("weight", "gradient")):
        histograms = [
            Histogram(
                HistogramStats(step, 0.0, 0.0, 1.0, 0.5, 7 + offset, 0, 0, 0), one, one + 1, np.array([7 + offset])
            )
            for step in (10, 20)
        ]
        monitor.add_histograms(RUN, f"fc.weight/{statistic}", histograms, rank_id=1)
    app = make_app(monitor)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        app.watch_screen.change_view(run_key=RUN, rank_id=1, view="layers", zoomed="histogram")
        await pilot.pause()
        screen = app.watch_screen
        panel = screen.panels["histogram"]
        screen.set_focus(panel)
        await pilot.press("k", "h")
        await app.workers.wait_for_complete()
        [row] = table(exported(screen, source_of(screen, panel), "csv", TERMINAL_PALETTE))
    assert row == ["fc.weight/gradient", "10", "0.0", "1.0", "8"]


async def test_alerts_are_saved_one_row_a_symptom() -> None:
    monitor = alerts_scene()
    monitor.add_run(OTHER, 1)
    content = (await saved(monitor, "alerts", "csv")).content
    assert isinstance(content, str)
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [row["symptom"] for row in rows[:3]] == ["overflow-streak", "scale-collapse", "loss-nan"]
    assert {row["id"] for row in rows[:3]} == {"00000001"}
    assert (rows[2]["severity"], rows[2]["step"], rows[2]["rank_id"], rows[2]["places"]) == (
        "critical",
        "700",
        "3",
        "3",
    )
    held = next(row for row in rows if row["state"] == "acknowledged")
    assert (held["who"], held["comment"]) == ("li@node7", "known bad shard")


async def test_nothing_to_save_is_said() -> None:
    monitor = FakeMonitor()
    monitor.add_run(RUN)
    with pytest.raises(NotExportableError):
        await saved(monitor, "curves", "csv", overlay=(), rank_id=0)
    with pytest.raises(NotExportableError):
        await saved(monitor, "histogram", "csv", overlay=(), rank_id=0)
