"""Writes event files of a given size without any training: MindSpore's layout, and the same content as TensorBoard's.

    python bench/gen_summary.py DIR scalars [--steps 100000] [--tags 10] [--layout packed|single]
    python bench/gen_summary.py DIR histograms [--steps 900] [--tags 4] [--parameters 100] [--buckets 90]

"packed" is one record a step with every tag (what SummaryRecord.record writes), "single" one record a value (what
TensorBoard writers give). DIR/ms and DIR/tb each get one file. Values are seeded: the same arguments, the same bytes.
"""

from __future__ import annotations

import argparse
import struct
from pathlib import Path
from typing import BinaryIO, Iterator, List

import numpy as np

from mstui.formats.crc import masked_crc

SECOND = 1_760_000_000
"""Second in the files' names and first wall time."""
NAMES = ["loss", "learning_rate", "accuracy", "grad_norm", "loss_scale", "throughput", "step_time", "eval/loss"]
MS_SCALAR, TB_SCALAR = b"\x1d", b"\x15"
MS_HISTOGRAM, TB_HISTOGRAM = 9, 5
SAMPLE = 4_000_000
"""Elements a histogram claims to count."""


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def frame(payload: bytes) -> bytes:
    head = struct.pack("<Q", len(payload))
    return b"".join((head, struct.pack("<I", masked_crc(head)), payload, struct.pack("<I", masked_crc(payload))))


def event(wall: float, step: int, values: bytes) -> bytes:
    return frame(b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step) + field(5, values))


def open_files(folder: Path) -> List[BinaryIO]:
    """MindSpore's file and TensorBoard's, each with its version record."""
    names = [f"ms/events.out.events.summary.{SECOND}.0.bench_MS", f"tb/events.out.tfevents.{SECOND}.bench.0.0"]
    handles: List[BinaryIO] = []
    for name, version in zip(names, (b"MindSpore.Event:1", b"brain.Event:2")):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("wb")
        handle.write(frame(b"\x09" + struct.pack("<d", float(SECOND)) + field(3, version)))
        handles.append(handle)
    return handles


def tag(number: int) -> bytes:
    return (NAMES[number] if number < len(NAMES) else f"layer{number // 4}/metric_{number}").encode()


def series(steps: int, tags: int) -> np.ndarray:
    """[steps, tags] float32: noisy decays."""
    rng = np.random.default_rng(7)
    decay = np.exp(-5 * np.arange(steps) / max(steps, 1))[:, None]
    return (0.3 + 9 * decay + rng.normal(0, 0.1, (steps, tags))).astype("<f4")


def write_scalars(folder: Path, steps: int, tags: int, layout: str) -> None:
    table = series(steps, tags)
    names = [field(1, tag(k)) for k in range(tags)]
    walls = SECOND + np.cumsum(1 + 0.2 * np.random.default_rng(8).random(steps))
    for handle, key in zip(open_files(folder), (MS_SCALAR, TB_SCALAR)):
        with handle:
            for row in range(steps):
                wall = float(walls[row])
                values = [field(1, name + key + table[row, k].tobytes()) for k, name in enumerate(names)]
                records = [b"".join(values)] if layout == "packed" else values
                handle.writelines(event(wall, row + 1, value) for value in records)


def histograms(steps: int, parameters: int, buckets: int) -> Iterator[List[List[bytes]]]:
    """For each step, each parameter's histogram as MindSpore and as TensorBoard write it."""
    rng = np.random.default_rng(9)
    shape = np.exp(-0.5 * np.linspace(-4, 4, buckets) ** 2)
    shape *= SAMPLE / shape.sum()
    for step in range(steps):
        row = []
        for parameter in range(parameters):
            centre, sigma = 0.1 * parameter - step / steps, 0.5 + 1.5 * step / steps
            edges = np.linspace(centre - 4 * sigma, centre + 4 * sigma, buckets + 1)
            counts = rng.poisson(shape)
            total, number = float((edges[:-1] * counts).sum()), int(counts.sum())
            ms = bytearray()
            for left, width, count in zip(edges[:-1].tolist(), np.diff(edges).tolist(), counts.tolist()):
                ms += field(1, struct.pack("<BdBdB", 9, left, 17, width, 24) + varint(count))
            ms += b"\x10\0\x18\0\x20\0" + struct.pack("<BdBdBd", 0x29, edges[-1], 0x31, edges[0], 0x39, total)
            ms += b"\x40" + varint(number)
            tb = struct.pack("<BdBdBdBdBd", 9, edges[0], 17, edges[-1], 25, number, 33, total, 41, total * total)
            tb += field(6, edges[1:].tobytes()) + field(7, counts.astype("<f8").tobytes())
            row.append([bytes(ms), tb])
        yield row


def write_histograms(folder: Path, steps: int, tags: int, parameters: int, buckets: int) -> None:
    table = series(steps, tags)
    ms_file, tb_file = open_files(folder)
    with ms_file, tb_file:
        for row, found in enumerate(histograms(steps, parameters, buckets)):
            ms_values = []
            for k in range(tags):
                ms_values.append(field(1, field(1, tag(k)) + MS_SCALAR + table[row, k].tobytes()))
                tb_file.write(
                    event(SECOND + row, row + 1, field(1, field(1, tag(k)) + TB_SCALAR + table[row, k].tobytes()))
                )
            for parameter, (ms, tb) in enumerate(found):
                name = field(1, f"layers.{parameter}.attention.wq.weight/auto".encode())
                ms_values.append(field(1, name + field(MS_HISTOGRAM, ms)))
                tb_file.write(event(SECOND + row, row + 1, field(1, name + field(TB_HISTOGRAM, tb))))
            ms_file.write(event(SECOND + row, row + 1, b"".join(ms_values)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("content", choices=["scalars", "histograms"])
    parser.add_argument("--steps", type=int)
    parser.add_argument("--tags", type=int)
    parser.add_argument("--layout", choices=["packed", "single"], default="packed")
    parser.add_argument("--parameters", type=int, default=100)
    parser.add_argument("--buckets", type=int, default=90)
    args = parser.parse_args()
    if args.content == "scalars":
        write_scalars(args.folder, args.steps or 100_000, args.tags or 10, args.layout)
    else:
        write_histograms(args.folder, args.steps or 900, args.tags or 4, args.parameters, args.buckets)


if __name__ == "__main__":
    main()
