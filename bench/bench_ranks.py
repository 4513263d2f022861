"""What many ranks cost: open, memory and CPU; CPU a second while every rank gets a record a second; redraws.

    python bench/bench_ranks.py [--ranks 128 256 512 1024] [--tags 200] [--steps 50] [--scratch DIR] [--app] [--logs]

Each number of ranks is measured in a process of its own. `open` reads everything that is there, without a screen.
`live` appends a record to every file and measures what a second costs: reading, then what a redraw asks for (runs,
tags, six curves with their bands, the table of ranks), then two drawings of the ranks panel. `restarted` is one redraw
after every rank has begun again from an older step. With --app the application runs in a pseudo-terminal while a writer
appends once a second: CPU by thread, redraws, and the longest time between two. `alone` is what reading and storing
cost of it, without rules, lists and facts. Each second of the live part is a second to the monitor, so that the rules
look once in each; `every rank judged` is what it takes, after opening, until each rank has had its turn before them.
With --logs every rank has a `worker_N.log` instead, and the floor is reading those by lines. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Dict, List, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.gen_ranks import append_log, path_of, record, tag_names, write, write_logs  # noqa: E402  # the checkout is not installed

SECONDS = 4
"""seconds of the live part, the first of which is not counted: it makes room in every array"""
CHARTS = ("loss", "grad_norm", "learning_rate", "step_time", "grad_norm/layer1.weight_0", "grad_norm/layer1.weight_1")
COLUMNS = 160
MOST_TURNS = 600
"""seconds after which nobody waits for a verdict on all ranks any more"""
LOG_TAGS = 8
"""values of a MindFormers record that become points"""
APP_S = 15.0
SIZE = (120, 40)


def timed(work: Callable[[], object]) -> float:
    """CPU milliseconds of the calling process."""
    before = time.process_time()
    work()
    return 1000 * (time.process_time() - before)


def read_alone(folder: Path) -> float:
    """CPU milliseconds of reading and storing everything, with no monitor around it."""
    from bench.reading import decoders, read_whole

    formats = decoders()
    return timed(lambda: read_whole(folder, formats))


def read_lines(folder: Path) -> None:
    """What reading by lines costs, for logs."""
    for path in folder.iterdir():
        with path.open("rb") as stream:
            for _line in stream:
                pass


def measure(folder: Path, ranks: int, tags: int, steps: int, *, logs: bool) -> None:
    """One number of ranks, in this process."""
    from mstui.ingest.watch import WatchMode
    from mstui.model.series import SeriesKey
    from mstui.monitor import Monitor
    from mstui.monitor.judge import OTHER_RANKS
    from mstui.monitor_api import CurveQuery
    from mstui.tui.panels.ranks import PANEL
    from mstui.tui.state import ViewState
    from tests.tui.fakes import FakeHost, FakeMonitor

    opens = 0

    def audit(event: str, arguments: Tuple[object, ...]) -> None:
        nonlocal opens
        opens += event == "open" and str(arguments[0]).startswith(str(folder))

    sys.addaudithook(audit)
    monitor = Monitor(str(folder), watch=WatchMode.POLL)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.monotonic()

    def read_all() -> None:
        while True:
            tick = monitor.run_once(time.time())
            if not tick.more and not tick.changed:
                return

    cpu = timed(read_all)
    used = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    points = ranks * steps * (LOG_TAGS if logs else tags)
    what = f"worker_N.log x {steps} steps" if logs else f"ranks x {tags} tags x {steps} steps"
    print(
        f"{ranks:5d} {what}: opened in {cpu / 1000:.2f} CPU s"
        f" ({time.monotonic() - begun:.2f} s), {cpu / ranks:.2f} ms a rank; {opens} opens; {used:.0f} MiB"
        f" ({used * 2**20 / points:.1f} bytes a point)",
        flush=True,
    )

    host = FakeHost(FakeMonitor(), ViewState(run_key="."))
    host.fake = monitor  # type: ignore[assignment]
    host.clock = time.time()
    panel = PANEL.build(host)
    queries = [
        CurveQuery(SeriesKey(".", 0, tag), COLUMNS, smoothing=0.6, band=True, x_range=(0, 100)) for tag in CHARTS
    ]

    def ask() -> None:
        monitor.runs()
        monitor.tags(".")
        for query in queries:
            monitor.curve(query)
        monitor.rank_table(".")

    def draw() -> None:
        panel.title(78)
        panel.body(78, 37)

    ahead = 0.0
    """seconds by which the monitor's clock is ahead, because a second of the live part takes less than one"""

    def read_turn() -> None:
        everything = True
        while monitor.run_once(time.time() + ahead, frozenset(), everything).more:
            everything = False

    def waits() -> bool:
        verdict = monitor.verdict(".")
        return verdict is None or any(each.rule == OTHER_RANKS for each in verdict.not_judged)

    turns, spent_on_turns = 0, 0.0
    while waits() and turns < MOST_TURNS:
        ahead += 1.0
        turns += 1
        spent_on_turns += timed(read_turn)
    print(f"      every rank judged after {turns} s more, in {spent_on_turns / 1000:.2f} CPU s", flush=True)

    def append(step: int) -> None:
        if logs:
            for rank in range(ranks):
                append_log(folder, rank, step)
            return
        names = tag_names(tags)
        variants = [record(step, time.time(), names, variant) for variant in range(16)]
        for rank in range(ranks):
            handle = os.open(path_of(folder, rank), os.O_WRONLY | os.O_APPEND)
            os.write(handle, variants[rank % 16])
            os.close(handle)

    first = timed(ask)
    costs: Dict[str, List[float]] = {"reading": [], "asking": [], "drawing": []}
    for second in range(SECONDS):
        append(steps + 1 + second)
        opens = 0
        ahead += 1.0
        spent = {"reading": timed(read_turn), "asking": timed(ask), "drawing": timed(draw)}
        spent["drawing"] += timed(draw)
        if second:
            for name, value in spent.items():
                costs[name].append(value)
    middle = {name: statistics.median(values) for name, values in costs.items()}
    total = sum(middle.values())
    print(
        f"      live: {total:.0f} CPU ms a second, {1000 * total / ranks:.0f} us a rank ("
        + ", ".join(f"{name} {value:.0f}" for name, value in middle.items())
        + f"); {opens} opens a second; first redraw asks {first:.0f} ms, one with nothing new {timed(ask):.1f} ms",
        flush=True,
    )
    floor = f"; reading by lines {timed(lambda: read_lines(folder)):.0f}" if logs else ""
    print(f"      alone: {read_alone(folder):.0f} CPU ms{floor}", flush=True)
    append(steps // 2)
    ahead += 1.0
    read_turn()
    print(f"      restarted: the first redraw asks {timed(ask):.0f} ms, the next {timed(ask):.0f} ms", flush=True)


def watch(folder: Path, ranks: int, tags: int, steps: int, scratch: Path) -> None:
    """The application in a terminal while every rank gets a record a second."""
    from bench.bench_app import FRAME_BEGINS, environment, watch_command
    from bench.terminal import Terminal, memory_mib, thread_seconds

    env = environment(scratch)
    command = [sys.executable, str(ROOT / "bench" / "gen_ranks.py"), str(folder), "--grow"]
    command += ["--ranks", str(ranks), "--tags", str(tags), "--steps", str(steps), "--seconds", "600"]
    for key, name in (("7", "ranks"), ("1", "curves")):
        with Terminal(watch_command(folder, scratch / f"state-{ranks}-{name}"), *SIZE, env) as terminal:
            terminal.wait_for("loss", 30)
            first = terminal.now()
            terminal.pump(30.0, quiet=2.0)
            terminal.send(key)
            writer = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
            try:
                terminal.pump(4.0)
                begun, before = terminal.now(), thread_seconds(terminal.pid)
                terminal.pump(APP_S)
                seconds, after = terminal.now() - begun, thread_seconds(terminal.pid)
            finally:
                writer.kill()
                writer.wait()
            frames = [chunk.at for chunk in terminal.chunks if chunk.at >= begun and FRAME_BEGINS in chunk.data]
            pauses = [b - a for a, b in zip(frames, frames[1:])]
            spent = {thread: used - before.get(thread, 0.0) for thread, used in after.items()}
            main = spent[terminal.pid]
            print(
                f"      app, {name} at {SIZE[0]}x{SIZE[1]}: loss on the screen after {first:.1f} s;"
                f" {len(frames) / seconds:.1f} redraws/s, longest pause {max(pauses, default=0.0):.2f} s;"
                f" CPU {100 * sum(spent.values()) / seconds:.0f} % (screen {100 * main / seconds:.0f} %);"
                f" {memory_mib(terminal.pid):.0f} MiB",
                flush=True,
            )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[128, 256, 512, 1024])
    parser.add_argument("--tags", type=int, default=200)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--scratch", help="make the files here")
    parser.add_argument("--logs", action="store_true", help="a text log a rank")
    parser.add_argument("--app", action="store_true", help="also the application in a terminal")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.one is not None:
        measure(args.one, args.ranks[0], args.tags, args.steps, logs=args.logs)
        return
    shape = ["--tags", str(args.tags), "--steps", str(args.steps), *(["--logs"] if args.logs else [])]
    for ranks in args.ranks:
        with tempfile.TemporaryDirectory(dir=args.scratch) as temporary:
            folder = Path(temporary) / "run"
            if args.logs:
                write_logs(folder, ranks, args.steps)
            else:
                write(folder, ranks, args.tags, args.steps)
            subprocess.run(
                [sys.executable, __file__, "--one", str(folder), "--ranks", str(ranks), *shape],
                check=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            if args.app and not args.logs:
                watched = Path(temporary) / "watched"
                write(watched, ranks, args.tags, args.steps)
                watch(watched, ranks, args.tags, args.steps, Path(temporary))


if __name__ == "__main__":
    main(sys.argv[1:])
