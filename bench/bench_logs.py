"""How fast text logs are read, for each producer, and against reading the file by lines in Python without parsing.

    python bench/bench_logs.py [--lines 200000] [--runs 5] [--only NAME] [--profile]

Logs are generated in memory and written to a temporary directory; each is read in blocks of 4 MiB, as the application
does. CPU seconds, medians of runs that alternate with reading by lines: "x reading" is the ratio of the two. "points"
shows that the values were really taken.
"""

from __future__ import annotations

import argparse
import cProfile
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, Dict, Iterator, List, Tuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from mstui.formats.logs.decoder import TextLogDecoder  # noqa: E402
from mstui.formats.tables.csv_decoder import TableDecoder  # noqa: E402
from mstui.formats.tables.msprobe import V1  # noqa: E402

BLOCK = 4 * 1024 * 1024
STEPS = 1000
"""an epoch"""


def _stamp(k: int) -> str:
    return f"2026-05-{1 + k // 86400 % 28:02d} {k // 3600 % 24:02d}:{k // 60 % 60:02d}:{k % 60:02d}"


def lossmonitor(rng: random.Random) -> Iterator[str]:
    k = 0
    while True:
        for step in range(1, STEPS + 1):
            yield f"epoch: {k + 1} step: {step}, loss is {rng.uniform(0.1, 9.0)!r}"
        yield f"Train epoch time: {rng.uniform(9e4, 1e5):.3f} ms, per step time: {rng.uniform(90, 100):.3f} ms"
        k += 1


def mindformers(rng: random.Random, *, scale: float = 1.0, head: str = "stdout") -> Iterator[str]:
    k = 0
    while True:
        k += 1
        stamp = f"{_stamp(2 * k)},{rng.randrange(1000):03d}"
        src = "mindformers/core/callback/callback.py"
        if head == "stdout":
            begin = f"{stamp} - mindformers./output/log[{src}:529] - INFO - "
        else:
            begin = f"[INFO] {stamp} [{src}:529] print_output_info: "
        epoch, step = (k - 1) // STEPS + 1, (k - 1) % STEPS + 1
        yield (
            f"{begin}{{ Epoch:[{epoch:3d}/{99:3d}], step:[{step:5d}/{STEPS:5d}], loss: {rng.uniform(1, 9):5.6f}, "
            f"per_step_time: {rng.randrange(1700, 1800)}ms, lr: {rng.uniform(1e-6, 1e-5):.6g}, overflow cond: False, "
            f"loss_scale: {scale}, global_norm: [{rng.uniform(0.5, 2):.6f}], "
            f"train_throughput_per_npu: {rng.uniform(50, 60):.3f}T"
        )
        done = step * 50 // STEPS
        bar = "█" * done + " " * (50 - done)
        yield f"{begin}  {step * 100 / STEPS:4.1f}% |{bar}| {rng.uniform(4, 5):.5f} samples/s/p  6:13:02 }}"


def mindformers_moe(rng: random.Random) -> Iterator[str]:
    for line in mindformers(rng):
        yield line.replace(", per_step_time", ", lm_loss: 9.840450, load_balancing_loss: 0.010100, per_step_time")


def megatron(rng: random.Random) -> Iterator[str]:
    k = 0
    while True:
        k += 1
        yield (
            f" [{_stamp(3 * k)}] iteration {k:8d}/ 2000000 | consumed samples: {64 * k:12d} | elapsed time "
            f"per iteration (ms): {rng.uniform(3000, 3100):.1f} | learning rate: 1.250000E-06 | "
            "global batch size:    64 | lm loss: "
            f"{rng.uniform(1, 9):.6E} | loss scale: 65536.0 | grad norm: {rng.uniform(1, 2):.3f} | "
            "number of skipped iterations:   0 | number of nan iterations:   0 |"
        )


def mindcv(rng: random.Random) -> Iterator[str]:
    k = 0
    while True:
        k += 1
        yield (
            f"[{_stamp(k)}] mindcv.utils.callbacks INFO - Epoch: [{k // STEPS + 1}/200], "
            f"batch: [{k % STEPS + 1}/{STEPS}], "
            f"loss: {rng.uniform(1, 9):.6f}, lr: 0.100000, time: 97.860354s"
        )


def mindyolo(rng: random.Random) -> Iterator[str]:
    k = 0
    while True:
        k += 1
        head = f"{_stamp(k)},123 [INFO] Epoch {k // STEPS + 1}/300, Step {k % STEPS + 1}/{STEPS}, "
        yield f"{head}imgsize (640, 640), loss: {rng.uniform(1, 9):.4f}, lbox: 0.1003, lobj: 5.37, cur_lr: 0.095137"
        yield f"{head}step time: 654.40 ms"


def tqdm(rng: random.Random) -> Iterator[str]:
    while True:
        frames = "\r".join(f" {n}%|{'█' * (n // 10):10s}| {n}/100 [00:00<00:01, 22.84it/s]" for n in range(100))
        yield f"\r{frames}\r{' ' * 60}\r{{'loss': {rng.uniform(1, 9):.4f}, 'learning_rate': 4.5e-06, 'epoch': 0.66}}"


def glog(rng: random.Random) -> Iterator[str]:
    k = 0
    while True:
        k += 1
        yield (
            f"[WARNING] DISTRIBUTED(22194,7f228ffd4b80,python):2026-05-06-10:"
            f"{k // 60 % 60:02d}:{k % 60:02d}.820.{k % 1000:03d} "
            "[mindspore/ccsrc/cluster/topology/meta_server_node.cc:91] Finalize] Cluster has "
            f"{rng.randrange(99)} nodes and a message that no rule knows."
        )


def dumps(rng: random.Random) -> Iterator[str]:
    """GLOG_v=1: hardly two lines alike."""
    k = 0
    while True:
        k += 1
        name = "".join(rng.choices("abcdefghijklmnop", k=8))
        yield (
            f"[INFO] OPTIMIZER(22194,7f228ffd4b80,python):2026-05-06-10:{k // 60 % 60:02d}:{k % 60:02d}.820.000 "
            f"[mindspore/ccsrc/frontend/optimizer/{name}.cc:91] {name}] Node {name}-op{rng.randrange(999)} is replaced."
        )


def console(rng: random.Random) -> Iterator[str]:
    """mpirun --tag-output, eight ranks in turn."""
    for line in lossmonitor(rng):
        for rank in range(8):
            yield f"[1,{rank}]<stdout>:{line}"


def table(rng: random.Random) -> Iterator[str]:
    """msprobe's monitor."""
    yield "vpp_stage,name,step,min,max,norm,mean,nans"
    k = 0
    while True:
        k += 1
        for layer in range(200):
            norm = rng.uniform(0.1, 9.0)
            yield f"0,layers.{layer}.mlp.linear_fc1.weight,{k},{-norm:.6f},{norm:.6f},{2 * norm:.6f},0.000001,0"


def prints(rng: random.Random) -> Iterator[str]:
    while True:
        yield f"batch {rng.randrange(10**6)} something that nobody knows {rng.random()}"


LOGS: Dict[str, Callable[[random.Random], Iterator[str]]] = {
    "lossmonitor": lossmonitor,
    "mindformers": mindformers,
    "mindformers fp16": lambda rng: mindformers(rng, scale=65536.0),
    "mindformers info.log": lambda rng: mindformers(rng, head="file"),
    "mindformers moe": mindformers_moe,
    "megatron": megatron,
    "mindcv": mindcv,
    "mindyolo": mindyolo,
    "tqdm + dict": tqdm,
    "glog warnings": glog,
    "glog dumps": dumps,
    "mpirun console": console,
    "msprobe csv": table,
    "unknown prints": prints,
}


def read_lines(path: Path) -> int:
    count = 0
    with path.open("rb") as stream:
        for _line in stream:
            count += 1
    return count


FRAMES: Dict[str, int] = {"tqdm + dict": 103}
"""a line of bars is that many frames, and they are what is counted"""


def read_log(path: Path, name: str) -> Tuple[int, int]:
    decoder = TableDecoder("grad_reduced_0-9.csv", V1) if name == "msprobe csv" else TextLogDecoder(str(path))
    at, records, points = 0, 0, 0
    with path.open("rb") as stream:
        while True:
            stream.seek(at)
            data = stream.read(BLOCK)
            if not data:
                break
            got = decoder.decode(data, at, at_end=len(data) < BLOCK)
            records += got.records
            points += sum(column.points for column in got.columns)
            points += sum(column.points for columns in got.rank_columns.values() for column in columns)
            at += got.consumed
            if not got.consumed:
                break
    return records, points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    print(f"{'log':22s} {'MB':>6s} {'lines/s':>10s} {'us/line':>8s} {'x reading':>10s} {'points':>9s}")
    with tempfile.TemporaryDirectory() as folder:
        for name, make in LOGS.items():
            if args.only and args.only not in name:
                continue
            frames = FRAMES.get(name, 1)
            lines = args.lines // frames
            count = lines * frames
            path = Path(folder) / "log"
            source = make(random.Random(1))
            path.write_text("".join(next(source) + "\n" for _ in range(lines)), "utf-8")
            if args.profile:
                cProfile.runctx("read_log(path, name)", globals(), {"path": path, "name": name}, sort="tottime")
                continue
            parsed: List[float] = []
            plain: List[float] = []
            points = 0
            for _ in range(args.runs):
                begin = time.process_time()
                _records, points = read_log(path, name)
                middle = time.process_time()
                read_lines(path)
                plain.append(time.process_time() - middle)
                parsed.append(middle - begin)
            cpu = statistics.median(parsed)
            ratio = cpu / statistics.median(plain)
            size = path.stat().st_size / 1e6
            print(f"{name:22s} {size:6.1f} {count / cpu:10,.0f} {cpu / count * 1e6:8.2f} {ratio:10.1f} {points:9,d}")


if __name__ == "__main__":
    main()
