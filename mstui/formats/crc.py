"""CRC-32C as event files store it, and its linearity, by which numpy verifies thousands of records at once.

Refuses to know what a record is: bytes in, checksums out.
"""

from __future__ import annotations

import struct
import warnings
from functools import lru_cache
from typing import Callable, List

import numpy as np
import numpy.typing as npt

CrcArray = npt.NDArray[np.uint32]

_POLYNOMIAL = 0x82F63B78
"""Castagnoli's polynomial, bits reversed."""
_MASK_DELTA = 0xA282EAD8
"""TFRecord adds it after rotating, so that a checksum of bytes that hold checksums stays useful."""
_ALL_ONES = 0xFFFFFFFF
_LANE_BYTES = 256
"""Without the compiled wheel, long data is cut into lanes of this many bytes that numpy walks side by side."""
_LANES_FROM = 8 * _LANE_BYTES
"""Below this, the plain loop is quicker than setting up lanes."""

_PACK_LENGTH = struct.Struct("<Q").pack


def _byte_table() -> CrcArray:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> np.uint32(1)) ^ np.uint32(_POLYNOMIAL), table >> np.uint32(1))
    return table.astype(np.uint32)


BYTE_TABLE = _byte_table()
_BYTE_LIST: List[int] = BYTE_TABLE.tolist()


@lru_cache(maxsize=1)
def _lane_shift() -> List[List[int]]:
    """What _LANE_BYTES zero bytes make of a register, as one table for each of its four bytes."""
    tables = []
    for byte in range(4):
        register = np.arange(256, dtype=np.uint32) << np.uint32(8 * byte)
        for _ in range(_LANE_BYTES):
            register = BYTE_TABLE[register & 0xFF] ^ (register >> np.uint32(8))
        tables.append(register.tolist())
    return tables


def crc32c_portable(data: bytes) -> int:
    """CRC-32C without a compiled library, for platforms that google-crc32c has no wheel for."""
    register = _ALL_ONES
    done = 0
    if len(data) >= _LANES_FROM:
        lanes = np.frombuffer(data, dtype=np.uint8, count=len(data) // _LANE_BYTES * _LANE_BYTES)
        columns = np.ascontiguousarray(lanes.reshape(-1, _LANE_BYTES).T)
        partial = np.zeros(columns.shape[1], dtype=np.uint32)
        for column in columns:
            partial = BYTE_TABLE[(partial ^ column) & 0xFF] ^ (partial >> np.uint32(8))
        first, second, third, fourth = _lane_shift()
        for lane in partial.tolist():
            register = (
                first[register & 0xFF]
                ^ second[register >> 8 & 0xFF]
                ^ third[register >> 16 & 0xFF]
                ^ fourth[register >> 24]
                ^ lane
            )
        done = len(lanes)
    table = _BYTE_LIST
    for byte in data[done:]:
        register = table[(register ^ byte) & 0xFF] ^ (register >> 8)
    return register ^ _ALL_ONES


def _compiled() -> Callable[[bytes], int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the pure-Python build of the package warns about itself at import
        try:
            import google_crc32c
        except ImportError:
            return crc32c_portable
    if google_crc32c.implementation != "c":
        return crc32c_portable
    value: Callable[[bytes], int] = google_crc32c.value
    return value


crc32c = _compiled()


def mask(crc: int) -> int:
    """The form in which a file stores a checksum."""
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ALL_ONES


def mask_array(crcs: CrcArray) -> CrcArray:
    """`mask` of many checksums."""
    return (crcs >> np.uint32(15) | crcs << np.uint32(17)) + np.uint32(_MASK_DELTA)


def masked_crc(data: bytes) -> int:
    """Stored form of the checksum of `data`."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ALL_ONES


def length_crc(length: int) -> int:
    """Stored form of the checksum of a record's eight length bytes."""
    return masked_crc(_PACK_LENGTH(length))


_positions: List[CrcArray] = [BYTE_TABLE]


def position_table(distance: int) -> CrcArray:
    """uint32[256]: by what a checksum changes when the byte `distance` places before the end changes by each xor.

    CRC-32C is affine: crc(a) ^ crc(b) for equal lengths is the xor of these over the bytes in which a and b differ.
    Tables up to the distance are kept for as long as the process lives, 1 KB each: the caller bounds the distance.
    """
    while len(_positions) <= distance:
        table = _positions[-1]
        _positions.append(BYTE_TABLE[table & 0xFF] ^ (table >> np.uint32(8)))
    return _positions[distance]


def length_crcs(low: CrcArray) -> CrcArray:
    """`length_crc` of many lengths below 2**32."""
    crcs = np.full(low.shape, crc32c(bytes(8)), dtype=np.uint32)
    for byte in range(4):
        crcs ^= position_table(7 - byte)[low >> np.uint32(8 * byte) & np.uint32(0xFF)]
    return mask_array(crcs)
