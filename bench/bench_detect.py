"""What all rules cost: CPU seconds for a million points, held against loading as many: decoding and storing.

    python bench/bench_detect.py [--points 1000000] [--profile LAYOUT] [--chunks N]

Layouts: "six" (the vital signs of one run), "ten" (the tags of gen_summary.py, with an evaluation at every step among
them), "layers" (vital signs and 49 parameters with four figures each). The points come in so many pieces as a file of
them is read in, unless told otherwise, and for "live" in pieces of one record.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, List, Tuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mstui.detect.base import Subject
from mstui.detect.engine import Engine, load_rules
from mstui.formats.decoders.mindspore_summary import FORMAT
from mstui.model.batch import Batch, FileKey, Part
from mstui.model.records import FloatArray
from mstui.model.roles import Role
from mstui.store.roles import classify
from mstui.store.run_store import Store

HERE = Path(__file__).parent
BLOCK = 4 << 20
"""Bytes read at once, as the reader does it."""
PROFILED = 8
"""Pieces in which the points come while they are profiled."""
RUNS = 3
"""The least of so many runs counts."""
NAMES = ("loss", "learning_rate", "accuracy", "grad_norm", "loss_scale", "throughput", "step_time", "eval/loss")
"""as gen_summary.py has them"""


def vital_signs(n: int, rng: np.random.Generator) -> Dict[Tuple[str, Subject], FloatArray]:
    t = np.arange(n)
    decay = np.exp(-5 * t / n)
    return {
        ("loss", Subject(Role.LOSS)): (0.3 + 2.0 * decay) * np.exp(rng.normal(0, 0.08, n)),
        ("learning_rate", Subject(Role.LEARNING_RATE)): 1e-3 * 0.5 * (1 + np.cos(np.pi * t / n)),
        ("grad_norm/global", Subject(Role.GRAD_NORM)): np.exp(rng.normal(0, 0.4, n)),
        ("loss_scale", Subject(Role.LOSS_SCALE)): 2.0 ** (12 + (t // 2000) % 4),
        ("overflow", Subject(Role.OVERFLOW)): (t % 2000 == 1999).astype(float),
        ("step_time_ms", Subject(Role.STEP_TIME)): 50 + rng.normal(0, 2, n),
    }


def layout(name: str, points: int) -> Dict[Tuple[str, Subject], FloatArray]:
    rng = np.random.default_rng(5)
    if name == "six":
        return vital_signs(points // 6, rng)
    if name == "ten":
        n = points // 10
        curve = 0.3 + 9 * np.exp(-5 * np.arange(n) / n)
        tags = (*NAMES, "layer2/metric_8", "layer2/metric_9")
        return {(tag, Subject(*classify(tag))): curve + rng.normal(0, 0.1, n) for tag in tags}
    n = points // 202
    found = vital_signs(n, rng)
    for k in range(49):
        parameter = f"layer{k}.weight"
        for statistic, values in (
            ("grad_norm", np.exp(rng.normal(-2, 0.4, n))),
            ("weight_norm", 4 + np.cumsum(np.abs(rng.normal(0, 1e-3, n)))),
            ("update_ratio", 5e-3 * np.exp(rng.normal(0, 0.3, n))),
            ("act_zero_frac", 0.5 + rng.normal(0, 0.02, n)),
        ):
            found[f"{statistic}/{parameter}", Subject(Role.PARAMETER, parameter, statistic)] = values
    return found


def run(series: Dict[Tuple[str, Subject], FloatArray], chunks: int) -> Tuple[float, int, int]:
    """CPU seconds, points, detections."""
    n = len(next(iter(series.values())))
    steps = np.arange(1, n + 1)
    walls = 1.7e9 + 0.05 * steps
    engine = Engine(load_rules())
    edges = np.linspace(0, n, chunks + 1).astype(int)
    found = 0
    begun = time.process_time()
    for begin, end in zip(edges[:-1], edges[1:]):
        for (tag, subject), values in series.items():
            engine.feed(0, tag, subject, steps[begin:end], walls[begin:end], values[begin:end])
        found += len(engine.advance())
    found += len(engine.end())
    return time.process_time() - begun, n * len(series), found


def load_seconds(steps: int, tags: int) -> Tuple[float, float, int]:
    """CPU seconds of decoding a file of so many values, of taking its columns into the store, and its blocks."""
    from bench_load import load_ours

    with tempfile.TemporaryDirectory() as folder:
        size = ["--steps", str(steps), "--tags", str(tags)]
        subprocess.run(
            [sys.executable, str(HERE / "gen_summary.py"), folder, "scalars", *size],
            env={**os.environ, "PYTHONPATH": str(HERE.parent)},
            check=True,
        )
        path = max(Path(folder).rglob("*_MS"), key=lambda each: each.stat().st_size)
        decoding = min(float(load_ours(path)["cpu"]) for _ in range(RUNS))
        return decoding, min(store_seconds(path) for _ in range(RUNS)), -(-path.stat().st_size // BLOCK)


def store_seconds(path: Path) -> float:
    """CPU seconds of `Store.apply` for what a file holds, read in blocks as the reader does it."""
    decoder = FORMAT.make_decoder(str(path))
    store, spent, base, rest = Store(), 0.0, 0, b""
    with path.open("rb", buffering=0) as handle:
        while True:
            block = handle.read(BLOCK)
            data = rest + block
            got = decoder.decode(data, base, at_end=not block)
            base += got.consumed
            rest = data[got.consumed :]
            begun = time.process_time()
            store.apply(Batch(FileKey("run", 0, 1, path.name), Part.HISTORY, tuple(got.columns)))
            spent += time.process_time() - begun
            if not block:
                return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--chunks", type=int, default=0)
    parser.add_argument("--profile", choices=["six", "ten", "layers"])
    arguments = parser.parse_args()
    sys.path.insert(0, str(HERE))
    load_rules()
    if arguments.profile:
        series = layout(arguments.profile, arguments.points)
        with cProfile.Profile() as profile:
            run(series, arguments.chunks or PROFILED)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        return
    rows: List[str] = []
    for name, tags in (("six", 6), ("ten", 10), ("layers", 202)):
        series = layout(name, arguments.points)
        points = sum(len(values) for values in series.values())
        decoding, storing, blocks = load_seconds(points // tags, tags)
        chunks = arguments.chunks or blocks
        seconds = min(run(series, chunks)[0] for _ in range(RUNS))
        _cpu, _points, found = run(series, chunks)
        load = decoding + storing
        rows.append(
            f"{name:8s} {points:9d} points in {chunks} pieces {seconds:6.3f} s "
            f"({points / seconds / 1e6:5.2f} M points/s), "
            f"decoding {decoding:6.3f} s + storing {storing:6.3f} s, ratio {seconds / load:4.2f}; {found} detections"
        )
    print("\n".join(rows))
    live = layout("layers", 202 * 300)
    cpu, points, _found = run(live, 300)
    each = 1e3 * cpu / 300
    print(f"live, a record at a time: {each:.2f} ms a record of {len(live)} values ({points / cpu:,.0f} points/s)")


if __name__ == "__main__":
    main()
