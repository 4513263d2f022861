from __future__ import annotations

import struct
from typing import List, Tuple

from mstui.formats.crc import length_crc
from mstui.formats.framing import MAX_RECORD_BYTES, Frames, Stop, Walker, find_boundary


def record(payload: bytes) -> bytes:
    from mstui.formats.crc import masked_crc

    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", masked_crc(head)) + payload + struct.pack("<I", masked_crc(payload))


def header(length: int) -> bytes:
    return struct.pack("<QI", length, length_crc(length))


def flat(frames: Frames) -> List[Tuple[int, int, int]]:
    found = list(zip(frames.indices, frames.offsets, frames.lengths))
    for run in frames.runs:
        found += [(run.index + k * run.every, run.offset + k * run.stride, run.length) for k in range(run.count)]
    return sorted(found)


def sequential(data: bytes) -> List[Tuple[int, int, int]]:
    found: List[Tuple[int, int, int]] = []
    at = 0
    while at + 16 <= len(data):
        length = struct.unpack_from("<Q", data, at)[0]
        if at + 16 + length > len(data):
            break
        found.append((len(found), at + 12, length))
        at += 16 + length
    return found


def test_a_cycle_of_lengths_is_walked_like_any_other_sequence() -> None:
    cycle = [30, 41, 30, 55, 7]
    data = b"".join(record(b"x" * length) for length in cycle * 400)
    frames = Walker().walk(data, 0)
    assert frames.runs, "the cycle was not found"
    assert flat(frames) == sequential(data)
    assert (frames.position, frames.stop, frames.count) == (len(data), Stop.END, 2000)


def test_a_cycle_that_breaks_and_comes_back() -> None:
    same = record(b"y" * 50)
    data = same * 1000 + record(b"odd") + same * 999 + record(b"") + same * 100
    assert flat(Walker().walk(data, 0)) == sequential(data)


def test_lengths_without_a_cycle() -> None:
    data = b"".join(record(b"z" * (k * k % 97)) for k in range(700))
    assert flat(Walker().walk(data, 0)) == sequential(data)


def test_a_wrong_length_checksum_inside_a_run_stops_the_walk_there() -> None:
    one = record(b"y" * 50)
    data = bytearray(one * 1000)
    data[len(one) * 700 + 9] ^= 1
    frames = Walker().walk(bytes(data), 0)
    assert (frames.stop, frames.position, frames.count) == (Stop.BAD_LENGTH, len(one) * 700, 700)


def test_why_a_walk_ends() -> None:
    one = record(b"y" * 50)
    assert Walker().walk(one, 0).stop is Stop.END
    assert Walker().walk(one + one[:11], 0).stop is Stop.SHORT_HEADER
    torn = Walker().walk(one + one[:40], 0)
    assert (torn.stop, torn.need, torn.position) == (Stop.TORN, len(one), len(one))
    assert Walker().walk(one + header(MAX_RECORD_BYTES + 1), 0).stop is Stop.OVERSIZED
    assert Walker().walk(one + bytes(12), 0).stop is Stop.BAD_LENGTH


def test_the_boundary_is_the_first_record_that_proves_itself() -> None:
    one = record(b"y" * 50)
    assert find_boundary(one) == 0
    for lost in (1, 11, 12, 40, len(one) - 1):
        assert find_boundary((one + one)[lost:]) == len(one) - lost


def test_a_record_whose_payload_is_not_all_there_is_a_boundary_by_its_header() -> None:
    assert find_boundary(b"#" * 9 + header(1000) + b"abc") == 9


def test_a_record_with_a_wrong_payload_checksum_is_no_boundary() -> None:
    one = record(b"y" * 50)
    bad = bytearray(one)
    bad[30] ^= 1
    assert find_boundary(bytes(bad) + one) == len(one)


def test_no_boundary_in_zeros_noise_or_nothing() -> None:
    assert find_boundary(b"") is None
    assert find_boundary(bytes(100_000)) is None
    assert find_boundary(bytes(range(256)) * 300) is None


def test_a_boundary_far_behind_damage_is_found() -> None:
    one = record(b"y" * 50)
    assert find_boundary(bytes(3_000_000) + one) == 3_000_000


def test_forged_headers_do_not_make_the_search_endless() -> None:
    forged = header(200_000) * 60_000
    assert find_boundary(forged[:400_000] + bytes(400_000)) is None
