"""Whatever is written is read back, wherever the bytes are cut, and damage costs only the record it hits."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Tuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.formats.base import Decoder
from mstui.formats.crc import masked_crc
from mstui.formats.decoders import mindspore_lineage, mindspore_summary, tensorboard
from mstui.model.faults import FaultKind, ReadFault

SAMPLES = Path(__file__).parents[1] / "data" / "summary"

Rows = Dict[str, List[Tuple[int, float, bytes]]]
Places = Dict[Tuple[str, str], List[Tuple[int, float, int, int]]]


class Everything(NamedTuple):
    """All that a file gave, in an order-keeping form that does not depend on how it was cut."""

    rows: Rows
    places: Places
    faults: List[ReadFault]
    records: int
    skipped: Dict[str, int]
    consumed: int


def read(decoder: Decoder, data: bytes, sizes: Optional[List[int]] = None, *, condemn: bool = True) -> Everything:
    """Feed the data in pieces, passing what was not consumed again, as a tailing reader does."""
    got = Everything({}, {}, [], 0, {}, 0)
    at, end, records, turn = 0, 0, 0, 0
    while True:
        size = sizes[turn % len(sizes)] if sizes else len(data)
        turn += 1
        end = min(len(data), end + size)
        last = end == len(data)
        part = decoder.decode(data[at:end], at, at_end=last, condemn=condemn and last)
        for column in part.columns:
            for line, tag in enumerate(column.tags):
                row = got.rows.setdefault(tag, [])
                row.extend(
                    zip(column.steps.tolist(), column.wall_times.tolist(), [v.tobytes() for v in column.values[line]])
                )
        for refs in part.blobs:
            place = got.places.setdefault((refs.kind.value, refs.tag), [])
            place.extend(
                zip(refs.steps.tolist(), refs.wall_times.tolist(), refs.offsets.tolist(), refs.lengths.tolist())
            )
        got.faults.extend(part.faults)
        for word, number in part.skipped_values.items():
            got.skipped[word] = got.skipped.get(word, 0) + number
        records += part.records
        at += part.consumed
        if last:
            return got._replace(records=records, consumed=at)


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def record(payload: bytes) -> bytes:
    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", masked_crc(head)) + payload + struct.pack("<I", masked_crc(payload))


class Shape(NamedTuple):
    """Records that are written again and again."""

    tags: Tuple[bytes, ...]
    payload: Optional[int]
    """bytes of a histogram that follows, or none"""


tags = st.one_of(st.sampled_from([b"a", b"b", b"loss", b"lr/x"]), st.binary(max_size=12))
shapes = st.builds(Shape, st.lists(tags, max_size=4).map(tuple), st.one_of(st.none(), st.integers(0, 300)))
steps = st.one_of(st.integers(0, 400), st.integers(-(2**63), 2**63 - 1))
pieces = st.lists(st.tuples(shapes, steps, st.integers(1, 90)), min_size=1, max_size=6)
floats = st.integers(0, 2**32 - 1)


def write(plan: List[Tuple[Shape, int, int]], seed: int) -> Tuple[bytes, Everything]:
    """The bytes, and what they must give."""
    data, want, records = b"", Everything({}, {}, [], 0, {}, 0), 0
    for shape, first, repeat in plan:
        for turn in range(repeat):
            step = (first + turn + 2**63) % 2**64 - 2**63
            wall = 1.7e9 + turn / 8
            summary = b""
            for k, tag in enumerate(shape.tags):
                seed = (seed * 1103515245 + 12345 + k) % 2**32
                bits = struct.pack("<I", seed)
                summary += field(1, field(1, tag) + b"\x1d" + bits)
                text = tag.decode("utf-8", "backslashreplace")
                want.rows.setdefault(text, []).append((step, wall, bits))
            at = -1
            if shape.payload is not None:
                summary += field(1, field(1, b"w") + field(9, b"\x40\x01" * shape.payload))
                at = len(summary) - 2 * shape.payload
            head = b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step)
            payload = head + field(5, summary)
            if shape.payload is not None:
                place = len(data) + 12 + len(payload) - len(summary) + at
                want.places.setdefault(("histogram", "w"), []).append((step, wall, place, 2 * shape.payload))
            data += record(payload)
            records += 1
    return data, want._replace(records=records, consumed=len(data))


@given(pieces, floats)
@settings(max_examples=150, deadline=None)
def test_what_is_written_is_read_back(plan: List[Tuple[Shape, int, int]], seed: int) -> None:
    data, want = write(plan, seed)
    assert read(mindspore_summary.FORMAT.make_decoder("f"), data) == want


@given(pieces, floats, st.lists(st.one_of(st.integers(1, 40), st.integers(1, 5000)), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_any_split_of_the_bytes_gives_the_same(plan: List[Tuple[Shape, int, int]], seed: int, sizes: List[int]) -> None:
    data, want = write(plan, seed)
    assert read(mindspore_summary.FORMAT.make_decoder("f"), data, sizes) == want


SMALL = [path for path in sorted(SAMPLES.rglob("*")) if path.is_file() and 0 < path.stat().st_size < 13_000]
EVENTS = [path for path in SMALL if ".summary." in path.name]


@given(st.sampled_from(EVENTS), st.lists(st.integers(1, 3000), min_size=1, max_size=8))
@settings(max_examples=80, deadline=None)
def test_any_split_of_a_real_file_gives_the_same(path: Path, sizes: List[int]) -> None:
    known = mindspore_lineage.FORMAT if path.name.endswith("_lineage") else mindspore_summary.FORMAT
    data = path.read_bytes()
    assert read(known.make_decoder("f"), data, sizes) == read(known.make_decoder("f"), data)


def boundaries(data: bytes) -> List[int]:
    found = [0]
    while found[-1] < len(data):
        found.append(found[-1] + 16 + struct.unpack_from("<Q", data, found[-1])[0])
    return found


@pytest.mark.parametrize("mode", ["flip", "zero", "ones"])
def test_damage_at_every_byte_costs_only_the_record_it_hits(mode: str) -> None:
    path = next(path for path in EVENTS if "loss_scale" in str(path))
    data = path.read_bytes()
    edges = boundaries(data)
    for at in range(len(data)):
        new = {"flip": data[at] ^ 0x55, "zero": 0, "ones": 0xFF}[mode]
        if new == data[at]:
            continue
        broken = data[:at] + bytes([new]) + data[at + 1 :]
        number = max(k for k, edge in enumerate(edges) if edge <= at)
        start, end = edges[number], edges[number + 1]
        want = read(mindspore_summary.FORMAT.make_decoder("f"), data[:start] + data[end:])
        got = read(mindspore_summary.FORMAT.make_decoder("f"), broken)
        assert got.rows == want.rows, at
        assert got.records == len(edges) - 2
        assert [(f.kind, f.offset, f.length) for f in got.faults] == [(FaultKind.DAMAGED, start, end - start)], at


@given(st.sampled_from(EVENTS), st.integers(0, 12_000), st.binary(min_size=1, max_size=200), st.booleans())
@settings(max_examples=150, deadline=None)
def test_bytes_put_in_anywhere_are_said_and_skipped(path: Path, at: int, noise: bytes, replace: bool) -> None:
    known = mindspore_lineage.FORMAT if path.name.endswith("_lineage") else mindspore_summary.FORMAT
    data = path.read_bytes()
    at = at % len(data)
    broken = data[:at] + noise + data[at + len(noise) if replace else at :]
    got = read(known.make_decoder("f"), broken)
    whole = read(known.make_decoder("f"), data)
    assert got.records <= whole.records
    lost = sum(fault.length for fault in got.faults)
    assert lost + (len(broken) - got.consumed) <= len(broken)
    if broken != data:
        assert got.faults or got.consumed < len(broken) or got.records < whole.records or at in boundaries(data)


@given(st.binary(max_size=3000), st.booleans(), st.booleans(), st.sampled_from([0, 7]))
@settings(max_examples=200, deadline=None)
def test_no_bytes_at_all_raise(noise: bytes, at_end: bool, condemn: bool, base: int) -> None:
    for known in (mindspore_lineage, mindspore_summary, tensorboard):
        for data in (noise, record(noise), record(noise) * 40, record(field(5, field(1, noise))) * 40):
            known.FORMAT.claims_head(data or b"x")
            got = known.FORMAT.make_decoder("f").decode(data, base, at_end=at_end, condemn=condemn)
            assert 0 <= got.consumed <= len(data)
            assert got.suspect is None or (at_end and not condemn)


RUN, _ = write([(Shape((b"loss", b"lr"), None), 100, 150), (Shape((b"loss", b"lr"), 90), 250, 60)], 7)


@given(st.integers(0, len(RUN) - 1), st.integers(1, 255))
@settings(max_examples=300, deadline=None)
def test_damage_inside_a_run_of_equal_records_costs_only_the_record_it_hits(at: int, change: int) -> None:
    edges = boundaries(RUN)
    number = max(k for k, edge in enumerate(edges) if edge <= at)
    start, end = edges[number], edges[number + 1]
    broken = RUN[:at] + bytes([RUN[at] ^ change]) + RUN[at + 1 :]
    got = read(mindspore_summary.FORMAT.make_decoder("f"), broken)
    want = read(mindspore_summary.FORMAT.make_decoder("f"), RUN[:start] + RUN[end:])
    assert got.rows == want.rows
    assert [(f.kind, f.offset, f.length) for f in got.faults] == [(FaultKind.DAMAGED, start, end - start)]
