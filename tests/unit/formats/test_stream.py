from __future__ import annotations

import struct
from typing import Any, Dict, List, Tuple

import numpy as np
import pytest

from mstui.formats.base import Decoded
from mstui.formats.crc import length_crc
from mstui.formats.dialects import MINDSPORE
from mstui.formats.framing import MAX_RECORD_BYTES
from mstui.formats.stream import EventStreamDecoder
from mstui.model.faults import FaultKind
from mstui.model.records import BlobKind

Points = Dict[str, List[Tuple[int, float]]]


def decode(data: bytes, base: int = 0, *, at_end: bool = True, condemn: bool = False) -> Decoded:
    return EventStreamDecoder("f", MINDSPORE).decode(data, base, at_end=at_end, condemn=condemn)


def points(got: Decoded) -> Points:
    found: Points = {}
    for column in got.columns:
        for line, tag in enumerate(column.tags):
            assert tag not in found
            found[tag] = list(zip(column.steps.tolist(), column.values[line].tolist()))
    return found


def run_of(wire: Any, steps: range) -> bytes:
    return b"".join(wire.scalars(step, ("loss", step / 4), ("lr", 0.5)) for step in steps)


def wanted(steps: range) -> Points:
    return {"loss": [(s, s / 4) for s in steps], "lr": [(s, 0.5) for s in steps]}


def test_many_records_of_a_few_shapes_come_out_in_file_order(wire: Any) -> None:
    steps = range(1, 20_000)
    got = decode(wire.version("MindSpore.Event:1") + run_of(wire, steps))
    assert points(got) == wanted(steps)
    assert len(got.columns) == 1, "tags written together share their steps"
    assert got.columns[0].values.shape == (2, len(steps))
    assert got.records == len(steps) + 1


def test_one_value_a_record_and_a_tag_that_comes_now_and_then(wire: Any) -> None:
    data, want = b"", {"a": [], "b": [], "now and then": []}  # type: Any, Points
    for step in range(3000):
        names = ["a", "b"] + (["now and then"] if step % 7 == 0 else [])
        for name in names:
            data += wire.scalars(step, (name, step / 8))
            want[name].append((step, step / 8))
    assert points(decode(data)) == want


def test_records_of_hundreds_of_tags_are_told_apart_by_every_fixed_byte(wire: Any) -> None:
    """So many tags are compared as whole rows: a record with one other letter, or a damaged one, is no such row."""
    steps, names = range(40), [f"layer{k:03}/norm" for k in range(200)]
    want: Points = {name: [] for name in names}
    records = []
    for step in steps:
        tags = ["layer000/Norm", *names[1:]] if step == 20 else names
        records.append(wire.scalars(step, *((tag, step + k) for k, tag in enumerate(tags))))
        for k, tag in enumerate(tags):
            if step != 30:
                want.setdefault(tag, []).append((step, float(step + k)))
    damaged = bytearray(records[30])
    damaged[-200] ^= 1
    got = decode(b"".join([*records[:30], bytes(damaged), *records[31:]]))
    assert points(got) == want
    assert [fault.kind for fault in got.faults] == [FaultKind.DAMAGED]


def test_records_of_many_tags_of_one_length_are_sorted_by_their_tags(wire: Any) -> None:
    sets = [[f"{kind}{k:02}" for k in range(40)] for kind in "abc"]
    data = b"".join(
        wire.scalars(step, *((tag, step) for tag in sets[step % 3 if step % 5 else 0])) for step in range(1500)
    )
    got = points(decode(data))
    for kind, tags in enumerate(sets):
        assert [step for step, _ in got[tags[7]]] == [
            step for step in range(1500) if (step % 3 if step % 5 else 0) == kind
        ]


def test_tags_of_one_length_are_not_mixed_up(wire: Any) -> None:
    names = ["aa", "bb", "cc", "dd"]
    order = np.random.default_rng(1).integers(0, 4, 2000).tolist()
    data = b"".join(wire.scalars(step, (names[k], float(k))) for step, k in enumerate(order))
    got = points(decode(data))
    for k, name in enumerate(names):
        assert got[name] == [(step, float(k)) for step, other in enumerate(order) if other == k]


def test_two_values_of_one_tag_in_one_event_stay_in_order(wire: Any) -> None:
    data = b"".join(wire.scalars(step, ("x", 1.0), ("y", 5.0), ("x", 2.0)) for step in range(100))
    got = points(decode(data))
    assert got["x"] == [(step, value) for step in range(100) for value in (1.0, 2.0)]
    assert got["y"] == [(step, 5.0) for step in range(100)]


def test_backward_and_negative_steps(wire: Any) -> None:
    steps = [5, 3, -1, -(2**63), 2**63 - 1] * 40
    data = b"".join(wire.scalars(step, ("x", 0.0)) for step in steps)
    assert [step for step, _ in points(decode(data))["x"]] == steps


def test_an_event_without_values_and_one_without_anything(wire: Any) -> None:
    got = decode(wire.record(wire.event(1, 2.0, [])) + wire.record(b""))
    assert (got.records, got.columns, got.faults) == (2, (), ())


def test_not_a_number_and_infinities_are_values(wire: Any) -> None:
    got = decode(wire.scalars(1, ("n", float("nan")), ("p", float("inf")), ("m", float("-inf"))))
    assert np.isnan(got.columns[0].values[0, 0])
    assert got.columns[0].values[1:, 0].tolist() == [float("inf"), float("-inf")]


@pytest.mark.parametrize("number", [1, 300])
def test_hostile_tags_are_kept_as_they_are(wire: Any, number: int) -> None:
    raw = [
        b"[red]x[/]",
        b"\x1b[2J",
        b"\xff\xfe broken",
        "\u202eevil".encode(),
        b"m" * 1_000_000 if number == 1 else b"m",
    ]
    value = [wire.field(1, tag) + b"\x1d" + struct.pack("<f", k) for k, tag in enumerate(raw)]
    got = decode(wire.record(wire.event(1, 2.0, value)) * number)
    assert [c.tags for c in got.columns] == [tuple(tag.decode("utf-8", "backslashreplace") for tag in raw)]
    assert got.columns[0].values.shape == (5, number)


def test_unknown_fields_are_skipped_by_their_wire_type(wire: Any) -> None:
    extra = wire.varint(99 << 3) + wire.varint(2**40) + wire.varint(98 << 3 | 1) + bytes(8)
    extra += wire.field(97, b"anything") + wire.varint(96 << 3 | 5) + bytes(4)
    value = wire.scalar("x", 1.5) + extra
    got = decode(wire.record(wire.event(7, 2.0, [value], extra)))
    assert points(got) == {"x": [(7, 1.5)]}


@pytest.mark.parametrize(
    "broken",
    [
        b"\x0b",  # a group
        b"\x09\x00",  # half a wall time
        b"\x10\xff\xff",  # half a step
        b"\x10" + b"\xff" * 11,  # a number of eleven bytes
        b"\x2a\x7f",  # a summary that claims more than there is
        b"\x2a\xff\xff\xff\xff\x7f",  # 32 GiB of it
        b"\x2a\x04\x0a\x7f\x0a\x00",  # the same of a value
        b"\x2a\x06\x0a\x04\x0a\x7fab",  # and of a tag
        b"\x2a\x05\x0a\x03\x1d\x00\x00",  # half a scalar
        b"\x00\x00",  # field number 0
    ],
)
def test_a_malformed_record_is_a_fault_and_costs_nothing_else(wire: Any, broken: bytes) -> None:
    good = run_of(wire, range(5))
    bad = wire.record(broken)
    for at_end in (True, False):
        got = decode(good + bad + good, 1000, at_end=at_end)
        assert [(f.kind, f.offset, f.length) for f in got.faults] == [(FaultKind.MALFORMED, 1000 + len(good), len(bad))]
        assert got.records == 10
        assert got.consumed == len(good + bad + good)


def test_a_half_written_record_is_not_yet(wire: Any) -> None:
    whole = run_of(wire, range(3))
    last = wire.scalars(9, ("loss", 1.0))
    for cut in range(1, len(last)):
        got = decode(whole + last[:cut])
        assert (got.consumed, got.faults, got.suspect) == (len(whole), (), None)
        assert got.need == (12 if cut < 12 else len(last))
    assert decode(whole).need == 0


def test_a_wrong_payload_with_good_records_behind_is_damage_at_once(wire: Any) -> None:
    parts = [wire.scalars(step, ("loss", float(step))) for step in range(100)]
    data = bytearray(b"".join(parts))
    at = sum(map(len, parts[:40]))
    data[at + len(parts[40]) - 8] ^= 0x10
    got = decode(bytes(data), 500)
    (fault,) = got.faults
    assert (fault.kind, fault.offset, fault.length, fault.path) == (FaultKind.DAMAGED, 500 + at, len(parts[40]), "f")
    assert points(got)["loss"] == [(s, float(s)) for s in range(100) if s != 40]
    assert got.suspect is None


def test_at_the_end_it_is_suspect_until_condemned(wire: Any) -> None:
    good, bad = run_of(wire, range(5)), bytearray(wire.scalars(9, ("loss", 1.0)))
    bad[-6] ^= 1
    data = good + bytes(bad)
    got = decode(data, 70)
    assert got.suspect is not None
    assert (got.consumed, got.faults, got.need) == (len(good), (), 0)
    assert (got.suspect.offset, got.suspect.length) == (70 + len(good), len(bad))
    got = decode(data, 70, condemn=True)
    assert (got.consumed, got.suspect) == (len(data), None)
    assert [(f.kind, f.offset) for f in got.faults] == [(FaultKind.DAMAGED, 70 + len(good))]
    got = decode(data, 70, at_end=False)
    assert (got.consumed, got.suspect, len(got.faults)) == (len(data), None, 1)


def test_a_wrong_length_at_the_end_is_suspect_and_condemned_to_the_end(wire: Any) -> None:
    good = run_of(wire, range(5))
    data = good + bytes(4096)
    got = decode(data)
    assert got.suspect is not None
    assert (got.consumed, got.suspect.offset, got.suspect.length, got.faults) == (len(good), len(good), 4096, ())
    got = decode(data, condemn=True)
    assert (got.consumed, got.suspect) == (len(data), None)
    assert [(f.kind, f.offset, f.length) for f in got.faults] == [(FaultKind.DAMAGED, len(good), 4096)]


def test_zeroed_blocks_in_the_middle_are_skipped_to_the_next_good_record(wire: Any) -> None:
    first, second = run_of(wire, range(50)), run_of(wire, range(50, 90))
    got = decode(first + bytes(10_000) + second)
    assert points(got) == wanted(range(90))
    assert [(f.kind, f.offset, f.length) for f in got.faults] == [(FaultKind.DAMAGED, len(first), 10_000)]


def test_damage_larger_than_a_block_is_skipped_block_by_block(wire: Any) -> None:
    data = run_of(wire, range(20)) + b"\xaa" * 50_000 + run_of(wire, range(20, 60))
    decoder = EventStreamDecoder("f", MINDSPORE)
    at, lost, found = 0, 0, []  # type: int, int, List[Tuple[int, float]]
    while at < len(data):
        block = data[at : at + 7000]
        got = decoder.decode(block, at, at_end=at + 7000 >= len(data))
        assert got.consumed or got.need > len(block)
        lost += sum(fault.length for fault in got.faults)
        found += points(got).get("loss", [])
        at += got.consumed
    assert lost == 50_000
    assert found == wanted(range(60))["loss"]


def test_a_length_that_lies_with_a_right_checksum_is_not_waited_for(wire: Any) -> None:
    lie = struct.pack("<QI", MAX_RECORD_BYTES + 1, length_crc(MAX_RECORD_BYTES + 1))
    good = run_of(wire, range(5))
    got = decode(good + lie + bytes(100) + good)
    assert [(f.kind, f.offset, f.length) for f in got.faults] == [(FaultKind.OVERSIZED, len(good), 112)]
    assert got.records == 10
    got = decode(good + lie + bytes(100))
    assert got.suspect is not None
    assert (got.suspect.kind, got.need, got.consumed) == (FaultKind.OVERSIZED, 0, len(good))


def test_payloads_are_located_in_the_file(wire: Any) -> None:
    histogram = b"\x40\x05"
    value = wire.field(1, b"w/auto") + wire.field(9, histogram)
    parts = [wire.scalars(0, ("loss", 1.0))] + [
        wire.record(wire.event(step, 2.0, [wire.scalar("loss", 3.0), value])) for step in range(1, 40)
    ]
    data = b"".join(parts)
    got = decode(data, 10_000)
    (refs,) = got.blobs
    assert (refs.kind, refs.tag, refs.steps.tolist()) == (BlobKind.HISTOGRAM, "w/auto", list(range(1, 40)))
    for offset, length in zip(refs.offsets.tolist(), refs.lengths.tolist()):
        assert data[offset - 10_000 : offset - 10_000 + length] == histogram
    assert points(got)["loss"] == [(0, 1.0)] + [(step, 3.0) for step in range(1, 40)]


def many(wire: Any, step: int, sizes: List[int], names: str = "w") -> bytes:
    values = [wire.scalar("loss", float(step))]
    values += [wire.field(1, f"{names}{k}".encode()) + wire.field(9, b"\x40" * size) for k, size in enumerate(sizes)]
    payload: bytes = wire.record(wire.event(step, 2.0, values))
    return payload


def test_records_of_many_payloads_by_the_plan_of_the_record_before(wire: Any) -> None:
    rng = np.random.default_rng(3)
    sizes = [rng.integers(1, 400, 9).tolist() for _ in range(60)]
    data = b"".join(many(wire, step, row, "v" if step in (20, 21) else "w") for step, row in enumerate(sizes))
    got = decode(data)
    assert (got.records, got.faults) == (60, ())
    lengths = {refs.tag: dict(zip(refs.steps.tolist(), refs.lengths.tolist())) for refs in got.blobs}
    for step, row in enumerate(sizes):
        for k, size in enumerate(row):
            assert lengths[f"{'v' if step in (20, 21) else 'w'}{k}"][step] == size
    assert [step for step, _ in points(got)["loss"]] == list(range(60))
    for refs in got.blobs:
        for offset, length in zip(refs.offsets.tolist(), refs.lengths.tolist()):
            assert data[offset : offset + length] == b"\x40" * length
            assert data[offset + length : offset + length + 1] != b"\x40"


def test_images_are_skipped_and_counted(wire: Any) -> None:
    value = wire.field(1, b"input") + wire.field(4, bytes(2000))
    got = decode(wire.record(wire.event(1, 2.0, [value, value])))
    assert (dict(got.skipped_values), got.blobs, got.columns) == ({"image": 2}, (), ())


def test_what_was_learnt_from_one_call_changes_nothing_in_the_next(wire: Any) -> None:
    decoder = EventStreamDecoder("f", MINDSPORE)
    data = run_of(wire, range(1, 600))
    first = decoder.decode(data, 0, at_end=True)
    again = decoder.decode(data, 0, at_end=True)
    assert points(first) == points(again) == wanted(range(1, 600))


def test_many_tags_whose_names_are_equally_long_in_any_order(wire: Any) -> None:
    rng = np.random.default_rng(5)
    order = rng.integers(0, 60, 6000).tolist()
    want: Points = {}
    parts = []
    for step, k in enumerate(order):
        # records of one length, but with two layouts: one tag, or two shorter ones
        pairs = [(f"layer.{k:02}.weight.norm", float(k))] if k < 50 else [(f"a{k}", 1.0), (f"b{k}.1234", float(k))]
        parts.append(wire.scalars(128 + step, *pairs))
        for tag, value in pairs:
            want.setdefault(tag, []).append((128 + step, value))
    assert len({len(part) for part in parts[:1000]}) == 1
    data = bytearray(b"".join(parts))
    got = decode(bytes(data))
    assert points(got) == want
    assert (got.records, got.faults) == (6000, ())
    at = sum(map(len, parts[:3000]))
    data[at + 30] ^= 4
    got = decode(bytes(data))
    assert [(f.kind, f.offset) for f in got.faults] == [(FaultKind.DAMAGED, at)]
    assert got.records == 5999


def test_a_nan_keeps_its_bits_however_it_is_decoded(wire: Any) -> None:
    signalling = wire.field(1, b"x") + b"\x1d\x09\x00\x80\x7f"
    for number in (1, 40):
        got = decode(wire.record(wire.event(1, 2.0, [signalling])) * number)
        assert got.columns[0].values.tobytes() == b"\x09\x00\x80\x7f" * number
