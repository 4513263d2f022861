"""CPU of the curves: one chart, and six charts that each get one new point, beside plotext's way.

    PYTHONPATH=. python bench/bench_canvas.py [--points 10000] [--seconds 2]

Views are reduced outside of the timing, as the store does it (bench_store.py has its share). `canvas` is the Braille
alone, `chart` a whole chart with axes and title, `redraw` the panel with the comparison of rows, `bytes` what
Textual's compositor then makes of it, with the size of its output. `plotext` builds the same picture from the same
reduced columns (two points each), which is the fastest way to use it. Medians; ratios within one alternating run.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from typing import Callable, Dict, List, Optional, Tuple

import numpy as np
from textual.app import App, ComposeResult
from textual.screen import Screen

from mstui.model.roles import Role
from mstui.model.series import CurveView, SeriesKey
from mstui.monitor_api import CurveQuery
from mstui.tui.canvas import DOTS_Y, Layer, cell_codes, line_mask, stack
from mstui.tui.chart import ChartFrame, Curve, draw_chart
from mstui.tui.compositor import use_spans
from mstui.tui.panels.curves import PANEL
from mstui.tui.state import ViewState
from tests.tui.fakes import FakeHost, FakeMonitor

RUN = "run"
CHARTS = 6
SMOOTHING = 0.6
SIZES = {"120x40": (120, 37), "200x60": (200, 57)}
"""terminal, and the cells it leaves for charts"""


def cpu_ms(calls: Dict[str, Callable[[], object]], seconds: float) -> Dict[str, float]:
    """Median CPU milliseconds of each call, alternating."""
    taken: Dict[str, List[float]] = {name: [] for name in calls}
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds or min(map(len, taken.values())) < 5:
        for name, call in calls.items():
            at = time.process_time_ns()
            call()
            taken[name].append((time.process_time_ns() - at) / 1e6)
    return {name: statistics.median(values) for name, values in taken.items()}


class PreparedMonitor(FakeMonitor):
    """Answers from views that were reduced before."""

    def __init__(self) -> None:
        super().__init__()
        self.views: Dict[CurveQuery, Optional[CurveView]] = {}

    def prepare(self) -> None:
        """Reduce what has been asked for again, and raise the revision."""
        self.views = {query: super(PreparedMonitor, self).curve(query) for query in self.views}
        self.bump()

    def curve(self, query: CurveQuery) -> Optional[CurveView]:
        if query not in self.views:
            self.views[query] = super().curve(query)
        return self.views[query]


def make_monitor(points: int) -> PreparedMonitor:
    """Six noisy, falling series."""
    monitor = PreparedMonitor()
    rng = np.random.default_rng(1)
    t = np.arange(points) / points
    for i in range(CHARTS):
        noise = rng.normal(0, 0.1, points)
        role = Role.LOSS if i == 0 else Role.OTHER
        monitor.put(RUN, f"tag{i}", 0.3 + (9 - i) * np.exp(-3 * t) + noise * (1 + np.exp(-2 * t)), role=role)
    return monitor


def bare_canvas(view: CurveView, height: int) -> object:
    """Dots and text of the raw curve, nothing around it."""
    dots = height * DOTS_Y
    low, high = np.nanmin(view.lo), np.nanmax(view.hi)
    first, last, hi, lo = ((high - v) / (high - low) * (dots - 1) for v in (view.first, view.last, view.hi, view.lo))
    codes = cell_codes(line_mask(first, last, hi, lo, view.nan, dots))
    return stack([Layer(codes, "smooth")], codes.shape[1], height, "smooth", ascii_only=False)


def plotext_text(view: CurveView, width: int, height: int) -> str:
    """The same columns through plotext."""
    import plotext as plt

    full = np.isfinite(view.lo)
    x = np.repeat(np.flatnonzero(full), 2)
    y = np.column_stack((view.lo, view.hi))[full].ravel()
    plt.clear_figure()
    plt.plotsize(width, height)
    plt.theme("clear")
    plt.plot(x.tolist(), y.tolist(), marker="braille")
    return str(plt.build())


def bench_chart(points: int, seconds: float) -> None:
    """One chart of each size."""
    print(f"one chart of {points} points, CPU ms")
    for width, height in ((38, 16), (64, 27)):
        monitor = make_monitor(points)
        frame = ChartFrame("tag0", width + 8, height + 2, smoothing=SMOOTHING)
        view = monitor.curve(CurveQuery(SeriesKey(RUN, 0, "tag0"), frame.columns, smoothing=SMOOTHING))
        assert view is not None
        curves = [Curve(view, "smooth", "raw")]

        def whole(curves: List[Curve] = curves, frame: ChartFrame = frame) -> object:
            return draw_chart(curves, frame)

        def bare(view: CurveView = view, height: int = height) -> object:
            return bare_canvas(view, height)

        def other(view: CurveView = view, width: int = width, height: int = height) -> object:
            return plotext_text(view, width + 8, height + 2)

        ms = cpu_ms({"canvas": bare, "chart": whole, "plotext": other}, seconds)
        ratio = ms["plotext"] / ms["chart"]
        print(
            f"  {width}x{height}: canvas {ms['canvas']:.3f}  chart {ms['chart']:.3f}  plotext {ms['plotext']:.2f}"
            f"  plotext / chart {ratio:.1f}"
        )


class OnePanel(App[None]):
    """The curves panel and nothing else."""

    def __init__(self, host: FakeHost) -> None:
        super().__init__(ansi_color=True)
        self.panel = PANEL.build(host)

    def get_default_screen(self) -> Screen[object]:
        screen: Screen[object] = Screen(id="_default")
        use_spans(screen)
        return screen

    def compose(self) -> ComposeResult:
        yield self.panel


async def bench_panel(points: int, frames: int) -> None:
    """Six charts, one new point each."""
    print(f"six charts of {points} points, one new point each, CPU ms a redraw and bytes")
    for name, (width, height) in SIZES.items():
        monitor = make_monitor(points)
        app = OnePanel(FakeHost(monitor, ViewState(run_key=RUN, smoothing=SMOOTHING)))
        rng = np.random.default_rng(2)
        redraw: List[float] = []
        to_bytes: List[float] = []
        sizes: List[int] = []
        other: List[float] = []
        async with app.run_test(size=(width, height)) as pilot:
            await pilot.pause()
            screen = app.screen
            for _ in range(frames):
                for i in range(CHARTS):
                    monitor.append(RUN, f"tag{i}", 0.8 + float(rng.normal(0, 0.1)))
                monitor.prepare()
                at = time.process_time_ns()
                app.panel.data_changed()
                redraw.append((time.process_time_ns() - at) / 1e6)
                at = time.process_time_ns()
                written = _bytes(screen)
                to_bytes.append((time.process_time_ns() - at) / 1e6)
                sizes.append(written)
                views = [view for view in monitor.views.values() if view is not None]
                at = time.process_time_ns()
                for view in views[:CHARTS]:
                    plotext_text(view, 60, 12)
                other.append((time.process_time_ns() - at) / 1e6)
        ours = statistics.median(redraw) + statistics.median(to_bytes)
        theirs = statistics.median(other)
        print(
            f"  {name}: redraw {statistics.median(redraw):.2f}  bytes {statistics.median(to_bytes):.2f}"
            f"  sent {statistics.median(sizes):.0f} (mean {statistics.mean(sizes):.0f}, most {max(sizes)})"
            f"  plotext {theirs:.1f}  plotext / ours {theirs / ours:.1f}"
        )


def _bytes(screen: Screen[object]) -> int:
    """What the compositor would write now."""
    compositor = screen._compositor  # noqa: SLF001  # there is no public way to the partial update
    compositor.update_widgets({screen.query_one("#curves")})
    update = compositor.render_partial_update()
    return 0 if update is None else len(update.render_segments(screen.app.console).encode())


def main() -> Tuple[int, int]:
    """Run both benches."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--frames", type=int, default=100)
    args = parser.parse_args()
    bench_chart(args.points, args.seconds)
    asyncio.run(bench_panel(args.points, args.frames))
    return (args.points, args.frames)


if __name__ == "__main__":
    main()
