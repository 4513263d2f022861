"""What the store costs: memory a point, an append, a curve, a cursor, a tag list, a filter.

    python bench/bench_store.py [--points 1000000] [--columns 240]

CPU microseconds, median of many repeats in one process; `x floor` is the ratio to the same minimum and maximum over the
same points by two bare `reduceat` calls, taken in the same run.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Callable

import numpy as np

from mstui.model.batch import Batch, FileKey, Part
from mstui.model.filters import parse
from mstui.model.logs import LogRecords, LogSteps
from mstui.model.records import BlobKind, BlobRefs, ScalarColumns
from mstui.model.series import SeriesKey, XAxis
from mstui.model.sources import Source, SourceKind
from mstui.monitor_api import CurveQuery
from mstui.store.cursor import next_non_finite, reading
from mstui.store.curve import curve
from mstui.store.log_index import LogIndex
from mstui.store.run_store import Store

TAGS = tuple(f"tag{i}" for i in range(10))
BLOCK = 20_000
"""Records a batch: what a reader's 4 MiB block gives."""


def cpu(call: Callable[[], object], budget: float = 0.5, most: int = 300) -> float:
    """Median CPU microseconds of a call."""
    call()
    taken: list[float] = []
    begun = time.perf_counter()
    while len(taken) < 7 or (time.perf_counter() - begun < budget and len(taken) < most):
        start = time.process_time_ns()
        call()
        taken.append((time.process_time_ns() - start) / 1000)
    return statistics.median(taken)


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def filled(records: int, tags: tuple[str, ...], *, run: str = "run", rank: int = 0, bad: str = "") -> Store:
    store = Store()
    add(store, records, tags, run=run, rank=rank, bad=bad)
    return store


def add(store: Store, records: int, tags: tuple[str, ...], *, run: str = "run", rank: int = 0, bad: str = "") -> None:
    rng = np.random.default_rng(7)
    for begin in range(0, records, BLOCK):
        steps = np.arange(begin, min(begin + BLOCK, records), dtype=np.int64)
        values = rng.standard_normal((len(tags), len(steps)), dtype=np.float32)
        if bad == "half" and begin * 2 >= records:
            values[:] = np.nan
        elif bad == "one" and begin == 0:
            values[0, len(steps) // 2] = np.inf
        elif bad == "everywhere":
            values[:, ::7] = np.inf
        columns = ScalarColumns(tags, steps, 1e9 + steps, values)
        store.apply(Batch(FileKey(run, rank, 1, "f"), Part.HISTORY, (columns,)))


def memory(points: int) -> None:
    before = resident()
    store = Store()
    for step in range(0, 900, 19):
        steps = np.arange(step, min(step + 19, 900), dtype=np.int64)
        refs = tuple(BlobRefs(BlobKind.HISTOGRAM, f"p{i}/auto", steps, 1e9 + steps, steps, steps) for i in range(100))
        store.apply(Batch(FileKey("run", 0, 1, "f"), Part.HISTORY, (), refs))
    print(f"memory, 90,000 histogram references: {(resident() - before) / 2**20:.1f} MiB resident")
    del store
    for name, tags in (("packed, 10 tags a record", TAGS), ("single", TAGS[:1])):
        before = resident()
        store = filled(points // len(tags), tags)
        figures = store.memory()
        held = figures["points"]
        print(
            f"memory, {name}: {figures['used'] / held:.2f} bytes a point used, "
            f"{figures['reserved'] / held:.2f} reserved, {(resident() - before) / held:.1f} resident"
        )
        del store


def appends() -> None:
    store = filled(100_000, TAGS)
    row = np.ones((len(TAGS), 1), dtype=np.float32)
    batches = iter(
        [
            Batch(FileKey("run", 0, 1, "f"), Part.HISTORY, (ScalarColumns(TAGS, steps, steps + 1e9, row),))
            for steps in np.arange(100_000, 110_000, dtype=np.int64)[:, None]
        ]
    )

    def one() -> None:
        store.apply(next(batches))

    print(f"append one record of 10 tags: {cpu(one, most=3000):.1f} us")
    keys = [SeriesKey("run", 0, tag) for tag in TAGS[:6]]

    def refresh() -> None:
        one()
        for key in keys:
            store.series(key)

    print(f"append and compose 6 series of 100,000 points: {cpu(refresh, most=3000):.1f} us")


def curves(points: int, columns: int) -> None:
    store = filled(points, ("loss",))
    key = SeriesKey("run", 0, "loss")
    series = store.series(key)
    assert series is not None
    values, steps = series.current[0].values, series.current[0].steps
    grid = np.linspace(0, points, columns, endpoint=False).astype(np.int64)

    def floor() -> None:
        begins = np.searchsorted(steps, grid)
        np.minimum.reduceat(values, begins)
        np.maximum.reduceat(values, begins)

    base = cpu(floor)
    print(f"floor, {points:,} points in {columns} columns: {base:.0f} us")
    for axis in XAxis:
        took = cpu(lambda axis=axis: curve(store, CurveQuery(key, columns, axis), 100.0))
        print(f"curve by {axis.value}: {took:.0f} us, {took / base:.2f} x floor")
    for smoothing in (0.6, 0.9, 0.99):
        took = cpu(lambda weight=smoothing: curve(store, CurveQuery(key, columns, smoothing=weight)))
        print(f"curve smoothed by {smoothing}: {took:.0f} us, {took / base:.2f} x floor")
    for bad in ("one", "half", "everywhere"):
        spoilt = filled(points, ("loss",), bad=bad)
        took = cpu(lambda spoilt=spoilt: curve(spoilt, CurveQuery(key, columns)))
        print(f"curve with non-finite points, {bad}: {took:.0f} us")
    print(f"cursor by step: {cpu(lambda: reading(store, key, XAxis.STEP, points / 3, 0.9)):.0f} us")
    print(f"next non-finite among none: {cpu(lambda: next_non_finite(store, key, 5)):.0f} us")
    small = filled(300, ("loss",))
    print(f"curve of 300 points: {cpu(lambda: curve(small, CurveQuery(key, columns))):.0f} us")
    ranks = Store()
    for rank in range(64):
        add(ranks, 10_000, ("loss",), rank=rank)
    kept = cpu(lambda: curve(ranks, CurveQuery(key, columns, band=True)))
    print(f"curve and band over 63 ranks, unchanged: {kept:.0f} us")
    zooms = iter(range(10**9))

    def zoomed() -> None:
        curve(ranks, CurveQuery(key, columns, x_range=(0.0, 9000.0 + next(zooms)), band=True))

    print(f"curve and band over 63 ranks of 10,000 points, nothing kept: {cpu(zoomed):.0f} us")


def live(points: int, columns: int) -> None:
    """A summary every tenth step and a log of every step: each turn a record comes, and its curve is drawn."""
    store, log = Store(), FileKey("run", 0, 1, "train.log", Source(SourceKind.LOG, "train.log"))
    every = np.arange(points, dtype=np.int64)
    losses = np.random.default_rng(7).random(points)

    def tell(begin: int, end: int) -> None:
        steps = every[begin:end]
        own = steps[steps % 10 == 0]
        printed = ScalarColumns(("loss",), steps, 1e9 + steps, np.round(losses[begin:end], 3)[None])
        store.apply(Batch(log, Part.HISTORY, (printed,)))
        if len(own):
            exact = ScalarColumns(("loss/auto",), own, 1e9 + own, losses[own].astype(np.float32)[None])
            store.apply(Batch(FileKey("run", 0, 1, "f"), Part.HISTORY, (exact,)))

    key, turns = SeriesKey("run", 0, "loss/auto"), 3_000
    tell(0, points - turns)
    begun = time.process_time_ns()
    store.series(key)
    print(
        f"two sources of {points:,} and {points // 10:,} points merged: {(time.process_time_ns() - begun) / 1e6:.0f} ms"
    )
    begins = iter(range(points - turns, points))

    def turn() -> None:
        begin = next(begins)
        tell(begin, begin + 1)
        store.series(key)

    print(f"append one record to them and merge again: {cpu(turn, most=1000):.0f} us")

    def drawn() -> None:
        turn()
        curve(store, CurveQuery(key, columns))

    print(f"the same, and its curve: {cpu(drawn, most=1000):.0f} us")
    print(f"its curve alone: {cpu(lambda: curve(store, CurveQuery(key, columns))):.0f} us")
    print(f"its curve by wall time alone: {cpu(lambda: curve(store, CurveQuery(key, columns, XAxis.WALL))):.0f} us")


def logs() -> None:
    """Records of a log of 80 bytes a record, a step told by every second one."""
    records = 1_000_000
    offsets = np.arange(records, dtype=np.int64) * 80
    levels = np.full(records, 2, dtype=np.uint8)
    levels[::1000] = 4
    key = FileKey("run", 0, 1, "train.log", Source(SourceKind.LOG, "train.log"))
    for name, every in (("", 0), (", a step told by every second one", 2)):
        index = LogIndex(key)
        begun = time.process_time_ns()
        for begin in range(0, records, BLOCK):
            part = slice(begin, begin + BLOCK)
            told = LogSteps(offsets[part][::every] // 80, offsets[part][::every]) if every else None
            index.add(Batch(key, Part.HISTORY, log_records=LogRecords(offsets[part], levels[part]), log_steps=told))
        took = (time.process_time_ns() - begun) / records
        print(
            f"log of {records:,} records{name}: {index.bytes_used / records:.2f} bytes a record, {took:.0f} ns to add"
        )
    one = Batch(key, Part.HISTORY, log_records=LogRecords(offsets[-1:], levels[-1:]))
    print(f"add one record: {cpu(lambda: index.add(one)):.1f} us")

    def page() -> None:
        view = index.view()
        errors = view.select(4)
        numbers = errors.numbers(len(errors) - 50, len(errors))
        for number in numbers.tolist():
            view.offsets(number, number + 1)

    print(f"a page of 50 errors: {cpu(page):.0f} us")
    print(f"from a step to its record: {cpu(lambda: index.view().place_of_step(records // 3)):.1f} us")


def lists() -> None:
    names = tuple(f"grad_norm/model.layers.{i // 10}.block{i % 10}.weight" for i in range(2000))
    store = filled(100, names)
    row = np.ones((len(names), 1), dtype=np.float32)
    steps = np.array([100])
    batch = Batch(FileKey("run", 0, 1, "f"), Part.HISTORY, (ScalarColumns(names, steps, steps + 1e9, row),))

    def live() -> None:
        store.apply(batch)
        store.tags("run")

    print(f"tags of a run of 2,000, unchanged: {cpu(lambda: store.tags('run')):.0f} us")
    print(f"append a record of 2,000 tags: {cpu(lambda: store.apply(batch)):.0f} us; and list them: {cpu(live):.0f} us")
    for text in ("layers.1 !block3", "/layers\\.[0-9]+\\.block(1|2)/", "/(.*a){10}x/"):

        def ask(text: str = text) -> int:
            found = parse(text)
            return sum(found.matches(name, lambda _field: None) for name in names)

        print(f"filter {text} over 2,000 tags: {cpu(ask):.0f} us, {ask()} kept")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--points", type=int, default=1_000_000)
    options.add_argument("--columns", type=int, default=240)
    chosen = options.parse_args()
    memory(chosen.points)
    appends()
    curves(chosen.points, chosen.columns)
    live(chosen.points, chosen.columns)
    logs()
    lists()


if __name__ == "__main__":
    main()
