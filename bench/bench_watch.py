"""How soon a write is read, what it costs to wait for one, and whether any is missed.

    python bench/bench_watch.py latency [--records 60] [--torn-ms 0]     write(2) to the batch, both ways to notice
    python bench/bench_watch.py idle [--files 1024] [--seconds 20]       CPU while nothing happens
    python bench/bench_watch.py cost [--ranks 64] [--seconds 20]         CPU while every rank writes once a second
    python bench/bench_watch.py races                                    new folders, rotations, same-size rewrites
    python bench/bench_watch.py all

Drives Watcher and Ingestor as the monitor does, without a store and a screen. The writer is another process (drip.py),
both read CLOCK_MONOTONIC. CPU is that of this process, all of its threads. Medians and 95th percentiles.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Dict, List, Tuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

from drip import scalars, version  # noqa: E402

from mstui.formats.base import Format  # noqa: E402
from mstui.ingest.ingestor import Ingestor  # noqa: E402
from mstui.ingest.watch import Watcher, WatchMode  # noqa: E402
from mstui.model.batch import Batch  # noqa: E402
from mstui.registry import collect  # noqa: E402

MODES = {"events": WatchMode.EVENTS, "poll": WatchMode.POLL}
TURN_S = 0.25
SCAN_S = 0.05
PATIENCE_S = 20.0


class Loop:
    """The monitor's loop."""

    def __init__(self, root: Path, mode: str) -> None:
        self.ingestor = Ingestor(str(root), collect("mstui.formats.decoders", "FORMAT", Format))
        self.watcher = Watcher(str(root), mode=MODES[mode])
        self.watcher.start()
        assert self.watcher.mode == mode, self.watcher.reason

    def turn(self, on_batch: Callable[[Batch], None], timeout: float = 5.0) -> None:
        """Wait once and read what there is."""
        ingestor, watcher = self.ingestor, self.watcher
        due = max(ingestor.next_due() - time.time(), 0.0)
        dirty = watcher.wait(min(timeout, due))
        ingestor.scan(time.time(), SCAN_S)
        everything, done = watcher.beat(), False
        while not done:
            for run in ingestor.runs():
                if not run.loaded:
                    ingestor.load(run.key)
            turn = ingestor.turn(time.time(), TURN_S, dirty, everything)
            dirty, everything = set(), False
            done = turn.done and all(run.loaded for run in ingestor.runs())
            for batch in turn.batches:
                on_batch(batch)
        watcher.follow(ingestor.folders(), whole_tree=ingestor.watchable)

    def settle(self, seconds: float) -> None:
        """Run for a while and forget what comes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.turn(lambda _: None, 0.2)

    def close(self) -> None:
        """Stop the threads."""
        self.watcher.stop()


def quantiles(values: List[float]) -> str:
    """Median and 95th percentile of seconds, in milliseconds."""
    ordered = sorted(values)
    high = ordered[min(math.ceil(0.95 * len(ordered)), len(ordered)) - 1]
    return f"median {1000 * statistics.median(ordered):7.1f} ms   p95 {1000 * high:7.1f} ms   n {len(ordered)}"


def drip(root: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start the writer."""
    return subprocess.Popen([sys.executable, str(HERE / "drip.py"), str(root), *options])


def latency(args: argparse.Namespace, mode: str, root: Path) -> str:
    """Time from the write of a record's last byte to the batch that holds it."""
    loop = Loop(root, mode)
    loop.settle(1.0)
    truth = root.with_suffix(".truth")
    # a rate that beats with no heartbeat, so that every phase is met
    writer = drip(
        root, "--rate", "3.7", "--count", str(args.records), "--torn-ms", str(args.torn_ms), "--truth", str(truth)
    )
    seen: Dict[int, float] = {}

    def on_batch(batch: Batch) -> None:
        now = time.monotonic()
        for columns in batch.columns:
            for step in columns.steps.tolist():
                seen.setdefault(step, now)

    give_up = time.monotonic() + args.records / 3.7 + PATIENCE_S
    while len(seen) < args.records and time.monotonic() < give_up:
        loop.turn(on_batch)
    writer.wait()
    loop.close()
    written = {line["step"]: line["at"] for line in map(json.loads, truth.read_text().splitlines())}
    truth.unlink()
    delays = [seen[step] - at for step, at in written.items() if step in seen]
    return f"{quantiles(delays)}   missed {len(written) - len(delays)}"


def burn(loop: Loop, seconds: float) -> str:
    """CPU percent over some seconds."""
    begun, cpu = time.monotonic(), time.process_time()
    while time.monotonic() < begun + seconds:
        loop.turn(lambda _: None, begun + seconds - time.monotonic())
    share = (time.process_time() - cpu) / (time.monotonic() - begun)
    return f"{100 * share:6.3f} % CPU"


def idle(args: argparse.Namespace, mode: str, root: Path) -> str:
    """Nothing is written to many files."""
    now = time.time()
    for number in range(args.files):
        folder = root / f"rank_{number % 8}"
        folder.mkdir(exist_ok=True)
        path = folder / f"events.out.events.summary.{1_700_000_000 + number}.0.idle_MS"
        path.write_bytes(version(now) + b"".join(scalars(step, now, ["loss"]) for step in range(1, 20)))
    loop = Loop(root, mode)
    loop.settle(6.0)
    result = burn(loop, args.seconds)
    loop.close()
    return result


def cost(args: argparse.Namespace, mode: str, root: Path) -> str:
    """Every rank writes once a second."""
    writer = drip(root, "--rate", "1", "--ranks", str(args.ranks))
    loop = Loop(root, mode)
    loop.settle(4.0)
    result = burn(loop, args.seconds)
    writer.kill()
    writer.wait()
    mode = loop.watcher.mode
    loop.close()
    return f"{result}   at the end by {mode}"


def races(_: argparse.Namespace, mode: str, root: Path) -> str:
    """What a watcher that trusts names, sizes or the order of events would miss."""
    loop = Loop(root, mode)
    loop.settle(1.0)
    kept: Dict[str, List[int]] = {}

    def on_batch(batch: Batch) -> None:
        steps = kept.setdefault(batch.file.path, [])
        if batch.reset:
            steps.clear()
        for columns in batch.columns:
            steps.extend(columns.steps.tolist())

    def content(first: int, last: int) -> bytes:
        now = time.time()
        return version(now) + b"".join(scalars(step, now, ["loss"]) for step in range(first, last + 1))

    def waited(told: Callable[[], bool]) -> bool:
        give_up = time.monotonic() + PATIENCE_S
        while not told() and time.monotonic() < give_up:
            loop.turn(on_batch, 1.0)
        return told()

    paths = [root / f"new_{n}" / "deep" / "events.out.events.summary.1700000000.0.race_MS" for n in range(100)]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_bytes(content(1, 2))
    waited(lambda: all(kept.get(str(path)) == [1, 2] for path in paths))
    new = sum(kept.get(str(path)) != [1, 2] for path in paths)
    for path in paths:
        with path.open("ab") as out:
            out.write(scalars(3, time.time(), ["loss"]))
    waited(lambda: all(kept.get(str(path)) == [1, 2, 3] for path in paths))
    later = sum(kept.get(str(path)) != [1, 2, 3] for path in paths)
    path, other = paths[0], root / "incoming"
    rotations = truncations = 0
    for turn in range(20):
        other.write_bytes(content(100 * turn + 1, 100 * turn + 5))
        other.replace(path)
        expected = list(range(100 * turn + 1, 100 * turn + 6))
        rotations += not waited(lambda expected=expected: kept.get(str(path)) == expected)  # type: ignore[misc]
    for turn in range(10):
        path.write_bytes(content(1000 + 10 * turn, 1005 + 10 * turn))
        expected = list(range(1000 + 10 * turn, 1006 + 10 * turn))
        truncations += not waited(lambda expected=expected: kept.get(str(path)) == expected)  # type: ignore[misc]
    loop.close()
    return (
        f"missed: new folder and file {new} of 100, later append {later} of 100, "
        f"rotation {rotations} of 20, same-size rewrite {truncations} of 10"
    )


BENCHES: Tuple[Callable[[argparse.Namespace, str, Path], str], ...] = (latency, idle, cost, races)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*(bench.__name__ for bench in BENCHES), "all"])
    parser.add_argument("--records", type=int, default=60)
    parser.add_argument("--torn-ms", type=float, default=0)
    parser.add_argument("--files", type=int, default=1024)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=20.0)
    args = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}")
    for bench in BENCHES:
        for mode in MODES:
            if args.what in (bench.__name__, "all"):
                root = Path(tempfile.mkdtemp(prefix="mstui_watch_"))
                try:
                    print(f"{bench.__name__:8} {mode:7} {bench(args, mode, root)}", flush=True)
                finally:
                    shutil.rmtree(root)


if __name__ == "__main__":
    main()
