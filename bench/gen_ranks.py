"""Writes event files of many ranks without any training: rank_N folders with one file each, which may go on growing.

    python bench/gen_ranks.py DIR [--ranks 1024] [--tags 200] [--steps 50]
    python bench/gen_ranks.py DIR --ranks 1024 --grow [--rate 1] [--seconds 30]

One record a step and rank with every tag, as SummaryRecord.record writes it. Ranks differ from each other in their
values; to be quick they share VARIANTS sets of bytes a step. With --grow a record is appended to every file at the
given rate, after the last step that is there.
"""

from __future__ import annotations

import argparse
import math
import os
import struct
import time
from pathlib import Path
from typing import List

from bench.gen_summary import MS_SCALAR, event, field, frame

SECOND = 1_760_000_000
SECONDS_A_STEP = 2.0
VARIANTS = 16
"""different records of one step; rank r writes number r modulo this"""
NAMES = ["loss", "grad_norm", "learning_rate", "step_time"]


def tag_names(number: int) -> List[str]:
    """The named ones first, then statistics of layers."""
    return [NAMES[k] if k < len(NAMES) else f"grad_norm/layer{k // 4}.weight_{k % 4}" for k in range(number)]


def record(step: int, wall: float, tags: List[str], variant: int) -> bytes:
    """One step of one rank."""
    values = b"".join(
        field(
            1,
            field(1, tag.encode())
            + MS_SCALAR
            + struct.pack("<f", math.exp(-step / 300) * (1 + 0.01 * math.sin(variant + k))),
        )
        for k, tag in enumerate(tags)
    )
    return event(wall, step, values)


def path_of(folder: Path, rank: int) -> Path:
    """The event file of a rank."""
    return folder / f"rank_{rank}" / f"events.out.events.summary.{SECOND}.{rank}.bench_MS"


def write(folder: Path, ranks: int, tags: int, steps: int) -> None:
    """The whole layout, the last record stamped a moment ago."""
    names, begun = tag_names(tags), time.time() - steps * SECONDS_A_STEP
    head = frame(b"\x09" + struct.pack("<d", begun) + field(3, b"MindSpore.Event:1"))
    variants = [
        head + b"".join(record(step, begun + step * SECONDS_A_STEP, names, variant) for step in range(1, steps + 1))
        for variant in range(min(VARIANTS, ranks))
    ]
    for rank in range(ranks):
        path = path_of(folder, rank)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(variants[rank % VARIANTS])


def log_lines(step: int, rank: int) -> bytes:
    """What MindFormers prints at a step, in a worker's log."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime())
    head = f"{stamp},123 - mindformers./output/log[mindformers/core/callback/callback.py:529] - INFO - "
    loss = 9.0 * math.exp(-step / 300) * (1 + 0.01 * math.sin(rank))
    return (
        f"{head}{{ Epoch:[  1/  2], step:[{step:5d}/ 6500], loss: {loss:5.6f}, per_step_time: 1754ms, lr: 1e-06, "
        f"overflow cond: False, loss_scale: 1.0, global_norm: [1.203], train_throughput_per_npu: 55.123T\n"
        f"{head}   {step / 65:4.1f}% |{' ' * 50}| 4.51234 samples/s/p  6:13:02 }}\n"
    ).encode()


def log_of(folder: Path, rank: int) -> Path:
    """The log of a rank."""
    return folder / f"worker_{rank}.log"


def write_logs(folder: Path, ranks: int, steps: int) -> None:
    """The text logs of an msrun."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(ranks):
        log_of(folder, rank).write_bytes(b"".join(log_lines(step, rank) for step in range(1, steps + 1)))


def append_log(folder: Path, rank: int, step: int) -> None:
    """One more step in the log of a rank."""
    with log_of(folder, rank).open("ab") as out:
        out.write(log_lines(step, rank))


def grow(folder: Path, ranks: int, tags: int, first_step: int, rate: float, seconds: float) -> None:
    """One record a tick and rank."""
    names, begun = tag_names(tags), time.monotonic()
    handles = [os.open(path_of(folder, rank), os.O_WRONLY | os.O_APPEND) for rank in range(ranks)]
    for tick in range(int(rate * seconds)):
        variants = [record(first_step + tick, time.time(), names, variant) for variant in range(min(VARIANTS, ranks))]
        time.sleep(max(begun + tick / rate - time.monotonic(), 0.0))
        for rank, handle in enumerate(handles):
            os.write(handle, variants[rank % VARIANTS])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--tags", type=int, default=200)
    parser.add_argument("--steps", type=int, default=50, help="steps that are there; with --grow: already")
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=30.0)
    args = parser.parse_args()
    if args.grow:
        grow(args.folder, args.ranks, args.tags, args.steps + 1, args.rate, args.seconds)
    else:
        write(args.folder, args.ranks, args.tags, args.steps)


if __name__ == "__main__":
    main()
