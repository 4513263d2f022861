from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from mstui.formats import crc

CHECK = 0xE3069283
"""The published check value of CRC-32C for "123456789"."""


def test_the_published_check_value() -> None:
    assert crc.crc32c(b"123456789") == CHECK
    assert crc.crc32c_portable(b"123456789") == CHECK


@pytest.mark.parametrize("size", [0, 1, 255, 2047, 2048, 2049, 5000, 70001])
def test_without_the_compiled_wheel_the_checksum_is_the_same(size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8).tobytes()
    assert crc.crc32c_portable(data) == crc.crc32c(data)


def test_masks_agree() -> None:
    values = [0, 1, 0xFFFFFFFF, 0x12345678]
    assert crc.mask_array(np.array(values, dtype=np.uint32)).tolist() == [crc.mask(value) for value in values]
    assert crc.masked_crc(b"abc") == crc.mask(crc.crc32c(b"abc"))


def test_a_changed_byte_changes_the_checksum_by_its_position_table() -> None:
    data = bytes(range(100))
    for at in (0, 50, 99):
        changed = bytearray(data)
        changed[at] ^= 0x5A
        assert crc.crc32c(bytes(changed)) == crc.crc32c(data) ^ int(crc.position_table(99 - at)[0x5A])


def test_length_checksums_in_bulk() -> None:
    lengths = [0, 1, 28, 255, 256, 65537, 0x7FFFFFFF]
    found = crc.length_crcs(np.array(lengths, dtype=np.uint32))
    assert found.tolist() == [crc.length_crc(length) for length in lengths]


def test_a_missing_or_slow_wheel_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google_crc32c", None)
    assert crc._compiled() is crc.crc32c_portable
    slow = types.SimpleNamespace(implementation="python", value=len)
    monkeypatch.setitem(sys.modules, "google_crc32c", slow)
    assert crc._compiled() is crc.crc32c_portable
