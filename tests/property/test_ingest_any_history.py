"""Whatever a writer does between two looks, the same steps come out."""

from __future__ import annotations

import itertools
import os
import struct
import tempfile
import time
from typing import Dict, List, Tuple

import google_crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.formats.base import Format
from mstui.ingest.ingestor import Ingestor
from mstui.ingest.limits import ReadLimits
from mstui.model.batch import Part
from mstui.registry import collect

FORMATS = collect("mstui.formats.decoders", "FORMAT", Format)
NAME = "events.out.events.summary.1796033791.0.host_MS"
SMALL = ReadLimits(block=256, record=2048, tail_first_above=600, tail=128, tail_most=4096)


def frame(payload: bytes) -> bytes:
    def masked(data: bytes) -> bytes:
        crc = int(google_crc32c.value(data))
        return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)

    length = struct.pack("<Q", len(payload))
    return length + masked(length) + payload + masked(payload)


def record(step: int, width: int) -> bytes:
    """One scalar; steps below 128 take one byte."""
    tag = b"t" * width
    value = b"\x0a" + bytes([width]) + tag + b"\x1d" + struct.pack("<f", step / 3)
    summary = b"\x0a" + bytes([len(value)]) + value
    return frame(b"\x09" + struct.pack("<d", 1e9 + step) + b"\x10" + bytes([step, 0x2A, len(summary)]) + summary)


VERSION = frame(b"\x09" + struct.pack("<d", 1e9) + b"\x1a\x11MindSpore.Event:1")
WIDTHS = st.lists(st.integers(1, 60), min_size=1, max_size=40)


class Kept:
    """Steps of one file as a store would keep them."""

    def __init__(self, folder: str) -> None:
        self.now = time.time()
        self.ingestor = Ingestor(folder, FORMATS, limits=SMALL)
        self.parts: Dict[Part, List[int]] = {Part.HISTORY: [], Part.TAIL: []}

    def turn(self, budget_s: float) -> bool:
        self.now += 3.0
        self.ingestor.scan(self.now, 10.0)
        self.ingestor.load(".")
        turn = self.ingestor.turn(self.now, budget_s, everything=True)
        for batch in turn.batches:
            if batch.reset:
                self.parts = {Part.HISTORY: [], Part.TAIL: []}
            if batch.drop_tail:
                self.parts[Part.TAIL] = []
            for columns in batch.columns:
                # columns of several tags each keep file order; the step is the order here
                self.parts[batch.part].extend(int(step) for step in columns.steps)
            if batch.joined:
                self.parts = {Part.HISTORY: self.parts[Part.HISTORY] + self.parts[Part.TAIL], Part.TAIL: []}
        return turn.done

    def finish(self) -> Tuple[List[int], int]:
        for _ in range(6):
            while not self.turn(10.0):
                pass
        (status,) = self.ingestor.files()
        return sorted(self.parts[Part.HISTORY] + self.parts[Part.TAIL]), status.skipped_bytes


@settings(max_examples=60, deadline=None)
@given(widths=WIDTHS, data=st.data())
def test_any_split_of_the_writing_and_any_budget_give_every_step_once(widths: List[int], data: st.DataObject) -> None:
    content = VERSION + b"".join(record(step, width) for step, width in enumerate(widths, 1))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=6), label="cuts"))
    budgets = data.draw(st.lists(st.sampled_from([0.0, 10.0]), min_size=7, max_size=7), label="budgets")
    with tempfile.TemporaryDirectory() as folder:
        kept = Kept(folder)
        path = os.path.join(folder, NAME)
        for start, end, budget in zip([0, *cuts], [*cuts, len(content)], budgets):
            with open(path, "ab") as out:
                out.write(content[start:end])
            kept.turn(budget)
        assert kept.finish() == (list(range(1, len(widths) + 1)), 0)


@settings(max_examples=60, deadline=None)
@given(widths=WIDTHS, data=st.data())
def test_one_damaged_byte_costs_one_record_and_is_counted(widths: List[int], data: st.DataObject) -> None:
    pieces = [VERSION] + [record(step, width) for step, width in enumerate(widths, 1)]
    content = bytearray(b"".join(pieces))
    where = data.draw(st.integers(0, len(content) - 1), label="where")
    content[where] ^= data.draw(st.integers(1, 255), label="flip")
    ends = list(itertools.accumulate(len(piece) for piece in pieces))
    hit = next(index for index, end in enumerate(ends) if where < end)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, NAME), "wb") as out:
            out.write(content)
        assert Kept(folder).finish() == (
            [step for step in range(1, len(widths) + 1) if step != hit],
            len(pieces[hit]),
        )


@settings(max_examples=60, deadline=None)
@given(rewrites=st.lists(st.tuples(WIDTHS, st.booleans(), st.booleans()), min_size=1, max_size=5))
def test_after_any_row_of_rewrites_the_last_content_is_what_is_kept(
    rewrites: List[Tuple[List[int], bool, bool]],
) -> None:
    """In place or under a new inode, looked at in between or not."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Kept(folder)
        path = os.path.join(folder, NAME)
        first = 1
        for widths, in_place, looked in rewrites:
            first = 1 if first > 60 else first + 1
            content = VERSION + b"".join(record(first + i, width) for i, width in enumerate(widths))
            target = path if in_place else path + ".incoming"
            with open(target, "wb") as out:
                out.write(content)
            os.replace(target, path)
            if looked:
                kept.turn(0.0)
            expected = list(range(first, first + len(widths)))
        assert kept.finish() == (expected, 0)
