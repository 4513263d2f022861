"""Writes long text logs without any training: what LossMonitor or MindFormers prints, epoch after epoch.

    python bench/gen_logs.py FILE lossmonitor|mindformers [--mb 1000]

To be quick, the lines of an epoch are made once; in each epoch its number and the hour stand in their places.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Callable, Dict, NamedTuple

STEPS = 1000
"""an epoch"""
SECONDS_AN_EPOCH = 3600
EPOCH, HOUR = b"@EPOCH@", b"@HOUR@"
PLANNED = 99999


class Written(NamedTuple):
    """What stands in the last line."""

    step: int
    """global"""
    loss: str
    lines: int


def lossmonitor() -> bytes:
    """An epoch as MindSpore's LossMonitor and TimeMonitor print it."""
    rng = random.Random(1)
    losses = [f"{rng.uniform(0.1, 9.0):.8f}" for _ in range(STEPS)]
    ends = b"Train epoch time: 95000.123 ms, per step time: 95.000 ms\n"
    return (
        b"".join(b"epoch: %b step: %d, loss is %b\n" % (EPOCH, k + 1, losses[k].encode()) for k in range(STEPS)) + ends
    )


def mindformers() -> bytes:
    """An epoch as MindFormers prints it: a record and a bar each step."""
    rng = random.Random(1)
    out = []
    for k in range(STEPS):
        second = 3 * k
        head = b"%b:%02d:%02d,123 - mindformers./output/log[mindformers/core/callback/callback.py:529] - INFO - " % (
            HOUR,
            second // 60,
            second % 60,
        )
        done = (k + 1) * 50 // STEPS
        record = (
            f", step:[{k + 1:5d}/{STEPS:5d}], loss: {rng.uniform(1, 9):5.6f}, per_step_time: 3000ms, lr: 1.25e-06, "
            f"overflow cond: False, loss_scale: 1.0, global_norm: [{rng.uniform(0.5, 2):.6f}], "
            "train_throughput_per_npu: 55.123T\n"
        )
        bar = f"  {(k + 1) * 100 / STEPS:4.1f}% |{'█' * done}{' ' * (50 - done)}| 4.51234 samples/s/p  6:13:02 }}\n"
        out += [head, b"{ Epoch:[%b/%d]" % (EPOCH, PLANNED), record.encode(), head, bar.encode()]
    return b"".join(out)


KINDS: Dict[str, Callable[[], bytes]] = {"lossmonitor": lossmonitor, "mindformers": mindformers}


def write(path: Path, kind: str, size: int) -> Written:
    """A log of about so many bytes that ends in the middle of an epoch."""
    template = KINDS[kind]()
    begun = time.time() - size / len(template) * SECONDS_AN_EPOCH

    def epoch(number: int) -> bytes:
        hour = time.strftime("%Y-%m-%d %H", time.localtime(begun + number * SECONDS_AN_EPOCH)).encode()
        return template.replace(EPOCH, b"%5d" % number if kind == "mindformers" else b"%d" % number).replace(HOUR, hour)

    number = 1
    with path.open("wb") as out:
        while out.tell() < size:
            out.write(epoch(number))
            number += 1
        lines = epoch(number).splitlines(keepends=True)
        each = (len(lines) - len(lines) % STEPS) // STEPS
        last = lines[: each * STEPS // 2]
        out.writelines(last)
    record = last[-each].decode()
    loss = record.partition("loss: ")[2].partition(",")[0] or record.rpartition(" ")[2].strip()
    return Written((number - 1) * STEPS + STEPS // 2, loss, (number - 1) * len(lines) + len(last))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--mb", type=int, default=1000)
    args = parser.parse_args()
    print(write(args.file, args.kind, args.mb * 1_000_000))


if __name__ == "__main__":
    main()
