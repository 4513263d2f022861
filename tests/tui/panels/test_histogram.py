"""The histogram panel on a screen: over steps and in detail, at three sizes, whatever the file says."""

from __future__ import annotations

import math
import threading
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np
import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from mstui import safe_text
from mstui.model.histogram import Histogram, HistogramStats
from mstui.model.series import SeriesKey
from mstui.tui.panels.histogram import PANEL, HistogramPanel
from mstui.tui.state import ViewState
from tests.tui.fakes import FakeHost, FakeMonitor

NAN = float("nan")
RUN = "resnet50/run3"
SIZES = [(80, 24), (120, 40), (200, 60), (56, 10), (40, 8), (23, 4), (12, 3)]


def normal(step: int, spread: float = 0.1, nan: int = 0, pos: int = 0, neg: int = 0) -> Histogram:
    values = np.random.default_rng(step).normal(0, spread, 4096 - nan - pos - neg)
    counts, cuts = np.histogram(values, bins=90)
    stats = HistogramStats(
        step, 1e9 + step, float(values.min()), float(values.max()), float(values.mean()), 4096, nan, pos, neg
    )
    return Histogram(stats, cuts[:-1], np.diff(cuts), counts.astype(np.int64))


def made(lefts: Sequence[float], widths: Sequence[float], counts: Sequence[int], **figures: Any) -> Histogram:
    known = {
        "step": 10,
        "wall_time": 0.0,
        "minimum": min(lefts, default=NAN),
        "maximum": max(lefts, default=NAN),
        "mean": NAN,
        "count": sum(counts),
        "nan_count": 0,
        "pos_inf_count": 0,
        "neg_inf_count": 0,
        **figures,
    }
    return Histogram(
        HistogramStats(**known),
        np.array(lefts, np.float64),
        np.array(widths, np.float64),
        np.array(counts, np.int64),
    )


class ReadingMonitor(FakeMonitor):
    """Notes what was read, and where."""

    def __init__(self) -> None:
        super().__init__()
        self.add_run(RUN)
        self.read: List[Tuple[str, Tuple[int, ...]]] = []
        self.threads: List[int] = []
        self.lost: Tuple[int, ...] = ()

    def fetch_histograms(self, key: SeriesKey, indices: Sequence[int]) -> Sequence[Optional[Histogram]]:
        self.read.append((key.tag, tuple(indices)))
        self.threads.append(threading.get_ident())
        found = super().fetch_histograms(key, indices)
        return [None if index in self.lost else one for index, one in zip(indices, found)]


def monitor_with(histograms: Sequence[Histogram], tag: str = "fc1.weight/weight") -> ReadingMonitor:
    monitor = ReadingMonitor()
    monitor.add_histograms(RUN, tag, histograms)
    return monitor


class PanelApp(App[None]):
    def __init__(self, monitor: FakeMonitor, *, ascii_only: bool = True, view: Optional[ViewState] = None) -> None:
        super().__init__()
        self.host = FakeHost(monitor, view or ViewState(run_key=RUN), ascii_only=ascii_only)

    def compose(self) -> ComposeResult:
        panel = PANEL.build(self.host)
        self.host.panels.append(panel)
        yield panel

    @property
    def panel(self) -> HistogramPanel:
        return self.query_one(HistogramPanel)


async def settle(pilot: Pilot[Any]) -> None:
    """Until nothing is fetched any more."""
    for _ in range(3):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def text(panel: HistogramPanel) -> List[str]:
    return ["".join(part for part, _ in row).rstrip() for row in panel.rows]


STRANGE = {
    "all NaN": made([], [], [], count=4096, nan_count=4096),
    "empty": made([], [], []),
    "count 0 with buckets": made([0.0, 1.0], [1.0, 1.0], [0, 0]),
    "constant": made([1.5, 2.0, 2.5], [0.5, 0.5, 0.5], [0, 9, 0], minimum=2.0, maximum=2.0),
    "integers without width": made([0.0, 1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0], [4, 0, 3, 9]),
    "negative widths": made([2.0, 1.0], [-1.0, -1.0], [4, 6]),
    "huge counts": made([0.0, 1.0], [1.0, 1.0], [2**62, 2**61]),
    "the ends of the floats": made([-1.7e308, 1.7e308], [1e300, 1e300], [1, 1]),
    "subnormal": made([5e-324], [5e-324], [3]),
    "broken buckets": made([NAN, 0.0], [1.0, math.inf], [3, 4]),
    "only infinities": made([], [], [], count=5, pos_inf_count=2, neg_inf_count=3),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ascii_only", [False, True])
async def test_rows_fit_at_every_size(size: Tuple[int, int], ascii_only: bool) -> None:
    app = PanelApp(monitor_with([normal(step, nan=step // 400) for step in range(0, 900, 10)]), ascii_only=ascii_only)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        for _ in range(2):
            lines = text(app.panel)
            assert len(lines) == size[1]
            assert all(safe_text.width(line) <= size[0] for line in lines[1:])
            assert all(line.isascii() for line in lines) or not ascii_only
            app.panel.action_histogram_mode()
            await settle(pilot)


@pytest.mark.parametrize("one", STRANGE.values(), ids=STRANGE.keys())
@pytest.mark.parametrize("company", [False, True])
async def test_strange_histograms_are_drawn_alone_and_in_company(one: Histogram, company: bool) -> None:
    app = PanelApp(monitor_with([normal(0), one, normal(20)] if company else [one]))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        assert "Reading" not in "\n".join(text(app.panel))
        assert "10" in text(app.panel)[-1] or company
        app.host.change_view(histogram_index=1 if company else 0)
        app.panel.action_histogram_mode()
        await settle(pilot)
        assert text(app.panel)[1].startswith(" min ")
        drawn = one.counts[np.isfinite(one.lefts) & np.isfinite(one.widths)].sum() > 0
        assert ("There is no finite value at this step." in "\n".join(text(app.panel))) is not bool(drawn)


async def test_over_steps_has_value_rows_a_nan_row_and_the_steps() -> None:
    app = PanelApp(monitor_with([normal(0), normal(10), normal(20, nan=3)]))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        title, *body = text(app.panel)
        assert title.startswith("- histogram fc1.weight 3 NaN of 4096 weight step 20 3/3 ---")
        assert [float(line[:8]) for line in body[:-2]] == sorted((float(line[:8]) for line in body[:-2]), reverse=True)
        assert body[-2].split() == ["NaN/Inf", "x" * 21]
        assert body[-1].split() == ["0", "^", "20"]
        assert "critical" in [look for part, look in app.panel.rows[0] if "NaN" in part]


@pytest.mark.parametrize(
    ("columns", "kept"),
    [
        (120, "3 NaN of 4096 weight 1/2 step 20 3/3"),
        (79, "3 NaN of 4096 weight 1/2 step 20 3/3"),
        (58, "3 NaN of 4096 weight step 20 3/3"),
        (54, "3 NaN of 4096 weight step 20"),
        (46, "3 NaN of 4096 step 20"),
        (34, "step 20"),
    ],
)
async def test_a_narrow_title_loses_the_name_then_the_counts_and_the_step_last(columns: int, kept: str) -> None:
    name = "backbone.layers.17.attention.qkv_projection.weight"
    monitor = monitor_with([normal(0), normal(10), normal(20, nan=3)], f"{name}/weight")
    monitor.add_histograms(RUN, f"{name}/gradient", [normal(0)])
    app = PanelApp(monitor, ascii_only=False, view=ViewState(run_key=RUN, parameter=name))
    async with app.run_test(size=(columns, 12)) as pilot:
        await settle(pilot)
        title = text(app.panel)[0].strip("─ ")
        shown, _gap, rest = title.removeprefix("histogram ").partition(" ")
        assert rest == kept
        assert (shown == name) is (columns == 120)
        assert len(title) <= columns - len("─  ")


async def test_a_healthy_histogram_says_that_it_has_no_nan() -> None:
    app = PanelApp(monitor_with([normal(0)]))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        assert "no NaN in 4096" in text(app.panel)[0]
        assert not any(line.startswith(" NaN/Inf") for line in text(app.panel))


async def test_all_kinds_of_non_finite_values_are_counted() -> None:
    app = PanelApp(monitor_with([normal(0, nan=3, pos=2, neg=1)]))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        assert "3 NaN, 2 +Inf, 1 -Inf of 4096" in text(app.panel)[0]


async def test_an_exploding_step_is_clipped_and_counted_at_the_edge() -> None:
    app = PanelApp(monitor_with([*(normal(10 * step) for step in range(15)), normal(150, spread=1e5)]))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        body = text(app.panel)[1:]
        assert float(body[0][:8]) < 1
        assert "^" in body[0]
        assert "v" in body[-2]


async def test_detail_shows_bars_shares_and_the_figures() -> None:
    app = PanelApp(
        monitor_with([made([0.0, 1.0, 2.0], [1.0, 1.0, 1.0], [1, 2, 1], mean=1.5, maximum=3.0, nan_count=4)])
    )
    async with app.run_test(size=(60, 8)) as pilot:
        await settle(pilot)
        app.panel.focus()
        await pilot.press("d")
        await settle(pilot)
        head, *bars = [line for line in text(app.panel)[1:] if line]
        assert head == " min 0 max 3 mean 1.5 count 4 NaN 4 +Inf 0 -Inf 0"
        assert [bar.split()[0] for bar in bars] == ["0", "1", "2"]
        assert [bar.split()[-1] for bar in bars] == ["25.0%", "50.0%", "25.0%"]
        assert bars[1].count("#") == 2 * bars[0].count("#") == 44


async def test_bars_too_short_to_see_leave_a_dot() -> None:
    app = PanelApp(monitor_with([made([0.0, 1.0, 2.0], [1.0, 1.0, 1.0], [1, 100_000, 0])]))
    async with app.run_test(size=(60, 8)) as pilot:
        await settle(pilot)
        app.panel.action_histogram_mode()
        await settle(pilot)
        bars = [line for line in text(app.panel)[1:] if "%" in line]
        assert bars[0].split()[1] == "."
        assert len(bars[2].split()) == 2


async def test_keys_move_over_the_recorded_steps_and_the_newest_is_followed() -> None:
    monitor = monitor_with([normal(10 * step) for step in range(5)])
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        app.panel.focus()
        await pilot.press("h", "h")
        assert "step 20 3/5" in text(app.panel)[0]
        monitor.histograms[SeriesKey(RUN, 0, "fc1.weight/weight")].append(normal(50))
        monitor.bump()
        app.panel.data_changed()
        await settle(pilot)
        assert "step 20 3/6" in text(app.panel)[0]
        await pilot.press("l", "l", "l", "l", "l")
        assert "step 50 6/6" in text(app.panel)[0]
        assert app.host.view.histogram_index == -1
        await pilot.press(*"hhhhhhhhh")
        assert "step 0 1/6" in text(app.panel)[0]


async def test_no_more_histograms_are_read_than_fit_and_each_only_once() -> None:
    monitor = monitor_with([normal(step) for step in range(1000)])
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        read = [index for _, indices in monitor.read for index in indices]
        assert 30 <= len(read) <= 80
        assert len(set(read)) == len(read)
        assert {0, 999} <= set(read)
        monitor.histograms[SeriesKey(RUN, 0, "fc1.weight/weight")].append(normal(1000))
        monitor.read.clear()
        monitor.bump()
        app.panel.data_changed()
        await settle(pilot)
        assert monitor.read == [("fc1.weight/weight", (1000,))]
        assert threading.get_ident() not in monitor.threads


async def test_a_restart_that_records_steps_again_is_read_again() -> None:
    monitor = monitor_with([normal(10 * step) for step in range(5)])
    app = PanelApp(monitor)
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        held = monitor.histograms[SeriesKey(RUN, 0, "fc1.weight/weight")]
        del held[3:]
        monitor.bump()
        app.panel.data_changed()
        await settle(pilot)
        held.append(normal(30, nan=7))
        monitor.bump()
        app.panel.data_changed()
        await settle(pilot)
        assert "7 NaN of 4096 weight step 30 4/4" in text(app.panel)[0]


async def test_what_can_no_longer_be_read_is_marked() -> None:
    monitor = monitor_with([normal(10 * step) for step in range(3)])
    monitor.lost = (1,)
    app = PanelApp(monitor, view=ViewState(run_key=RUN, histogram_index=1))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        assert text(app.panel)[-2].split() == ["NaN/Inf", "?" * 21]
        app.panel.action_histogram_mode()
        await settle(pilot)
        assert text(app.panel)[1] == " This histogram can no longer be read."


async def test_weights_and_gradients_of_a_parameter_are_both_offered() -> None:
    monitor = monitor_with([normal(0)], "fc1.weight/gradient")
    monitor.add_histograms(RUN, "fc1.weight/weight", [normal(0)])
    monitor.add_histograms(RUN, "fc2.weight/weight", [normal(0)])
    app = PanelApp(monitor, view=ViewState(run_key=RUN, parameter="fc1.weight"))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        assert "weight 1/2" in text(app.panel)[0]
        app.panel.action_histogram_kind()
        await settle(pilot)
        assert "gradient 2/2" in text(app.panel)[0]
        assert monitor.read[-1][0] == "fc1.weight/gradient"
        app.host.change_view(parameter="fc2.weight")
        await settle(pilot)
        assert "fc2.weight" in text(app.panel)[0]
        app.panel.action_histogram_kind()
        assert app.host.said == ["This parameter has no other histogram."]


async def test_a_parameter_without_a_histogram_shows_no_other_one() -> None:
    app = PanelApp(monitor_with([normal(0)]), view=ViewState(run_key=RUN, parameter="\x1b[2Jfc9.weight"))
    async with app.run_test(size=(80, 12)) as pilot:
        await settle(pilot)
        assert text(app.panel)[1] == " No histogram of <1b>[2Jfc9.weight so far."


async def test_a_run_without_histograms_says_how_to_get_them() -> None:
    monitor = ReadingMonitor()
    app = PanelApp(monitor)
    async with app.run_test(size=(120, 12)) as pilot:
        await settle(pilot)
        app.panel.focus()
        await pilot.press("h", "l", "d")
        lines = [line for line in text(app.panel)[1:] if line]
        assert len(lines) == 2
        assert "SummaryCollector(collect_specified_data={'histogram_regular': '.*'}, ...)" in lines[1]
        assert monitor.read == []


async def test_drawing_the_same_again_repaints_nothing() -> None:
    app = PanelApp(monitor_with([normal(step) for step in range(30)]))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        assert app.panel.redraw() is False
