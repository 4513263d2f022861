"""Write a MindSpore run at a fixed rate, as a training would, and note when each record was on its way.

    python bench/drip.py RUN --rate 10 --count 600 --tags 6 --truth writes.jsonl
    python bench/drip.py RUN --rate 100 --ranks 8 --torn-ms 20 --rotate-every 500 --buffer 4096

Needs no MindSpore: the few fields of the format are put together here. With --torn-ms every record is written in two
halves so far apart; with --buffer the file grows in blocks of so many bytes, cut anywhere, as MindSpore's own buffer
does; with --rotate-every a new file is begun after so many records; with --history the first records come at
once, one second apart by their wall times. The truth file holds one JSON line a record,
written after its last byte: step, rank, and CLOCK_MONOTONIC just before that write.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import struct
import sys
import time
from typing import List, Optional, TextIO

import google_crc32c

MASK_DELTA = 0xA282EAD8


def frame(payload: bytes) -> bytes:
    """One TFRecord."""

    def masked(data: bytes) -> bytes:
        crc = google_crc32c.value(data)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + MASK_DELTA) & 0xFFFFFFFF)

    length = struct.pack("<Q", len(payload))
    return length + masked(length) + payload + masked(payload)


def varint(number: int) -> bytes:
    """Protobuf's variable-length integer."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def version(now: float) -> bytes:
    """The record that opens a file."""
    return frame(b"\x09" + struct.pack("<d", now) + field(3, b"MindSpore.Event:1"))


def noise(step: int, series: int) -> float:
    """-1 to 1, the same for the same step and series, without a pattern that an eye would see."""
    return 2 * ((step * 2654435761 + series * 40503) * 2246822519 >> 7) % 65536 / 32768 - 1


def scalars(step: int, now: float, tags: List[str], rough: float = 0.0) -> bytes:
    """One record with a value of every tag: a curve that falls to zero, or with `rough` to a noisy floor."""
    values = (
        math.exp(-step / 500) * (1 + 0.1 * math.sin(step * (i + 1) / 7)) + rough * (1 + noise(step, i))
        for i in range(len(tags))
    )
    summary = b"".join(
        field(1, field(1, tag.encode()) + b"\x1d" + struct.pack("<f", value)) for tag, value in zip(tags, values)
    )
    return frame(b"\x09" + struct.pack("<d", now) + b"\x10" + varint(step) + field(5, summary))


class Rank:
    """The growing file of one rank."""

    def __init__(self, args: argparse.Namespace, rank: int) -> None:
        self.args, self.rank = args, rank
        self.folder = os.path.join(args.directory, f"rank_{rank}") if args.ranks > 1 else args.directory
        os.makedirs(self.folder, exist_ok=True)
        self.second = int(time.time())
        self.descriptor: Optional[int] = None
        self.waiting = b""
        self.rotate()

    def close(self) -> None:
        """As MindSpore does it: the mode first, then the last bytes."""
        if self.descriptor is not None:
            os.fchmod(self.descriptor, 0o400)
            os.write(self.descriptor, self.waiting)
            os.close(self.descriptor)
            self.descriptor, self.waiting = None, b""

    def rotate(self) -> None:
        """Close the file and begin the next."""
        self.close()
        name = f"events.out.events.summary.{self.second}.{self.rank}.drip_MS"
        self.second += 1
        self.descriptor = os.open(os.path.join(self.folder, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.put(version(time.time()))

    def put(self, record: bytes) -> float:
        """Write, buffered or torn if asked for; the monotonic time just before the last write."""
        assert self.descriptor is not None
        if self.args.buffer:
            self.waiting += record
            full = len(self.waiting) // self.args.buffer * self.args.buffer
            now = time.monotonic()
            if full:
                os.write(self.descriptor, self.waiting[:full])
                self.waiting = self.waiting[full:]
            return now
        if self.args.torn_ms:
            half = len(record) // 2
            os.write(self.descriptor, record[:half])
            time.sleep(self.args.torn_ms / 1000)
            record = record[half:]
        now = time.monotonic()
        os.write(self.descriptor, record)
        return now


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--rate", type=float, default=1.0, help="records a second and rank")
    parser.add_argument("--count", type=int, default=0, help="records a rank; 0: until killed")
    parser.add_argument("--tags", type=int, default=6)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--torn-ms", type=float, default=0)
    parser.add_argument("--buffer", type=int, default=0, help="bytes; MindSpore's is 4096")
    parser.add_argument("--rotate-every", type=int, default=0)
    parser.add_argument(
        "--history", type=int, default=0, help="records a rank that are written at once before the pace"
    )
    parser.add_argument("--rough", type=float, default=0.0, help="half the height of the noise, and the curves' floor")
    parser.add_argument("--truth", help="file for JSON lines; - is stdout")
    args = parser.parse_args()
    tags = [f"metric_{i}/loss" if i else "loss/auto" for i in range(args.tags)]
    ranks = [Rank(args, rank) for rank in range(args.ranks)]
    truth: Optional[TextIO] = None
    if args.truth:
        truth = sys.stdout if args.truth == "-" else open(args.truth, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
    begun, step = time.monotonic(), 0
    while not args.count or step < args.count:
        time.sleep(max(begun + (step - args.history) / args.rate - time.monotonic(), 0.0))
        step += 1
        for rank in ranks:
            at = rank.put(scalars(step, time.time() - max(args.history - step, 0), tags, args.rough))
            if truth is not None:
                print(json.dumps({"step": step, "rank": rank.rank, "at": at}), file=truth, flush=True)
            if args.rotate_every and step % args.rotate_every == 0:
                rank.rotate()
    for rank in ranks:
        rank.close()


if __name__ == "__main__":
    main()
