"""Builds event bytes by hand, so that the decoders are tested against something that is not themselves."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Sequence, Tuple

import pytest

from mstui.formats.crc import masked_crc


class Wire:
    """Protobuf and TFRecord bytes."""

    @staticmethod
    def varint(value: int) -> bytes:
        value &= (1 << 64) - 1
        out = bytearray()
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)
        return bytes(out)

    def field(self, number: int, content: bytes) -> bytes:
        return self.varint(number << 3 | 2) + self.varint(len(content)) + content

    def scalar(self, tag: str, value: float, key: int = 0x1D) -> bytes:
        return self.field(1, tag.encode()) + bytes([key]) + struct.pack("<f", value)

    def event(self, step: int, wall: float, values: Sequence[bytes], extra: bytes = b"") -> bytes:
        summary = b"".join(self.field(1, value) for value in values)
        return b"\x09" + struct.pack("<d", wall) + b"\x10" + self.varint(step) + self.field(5, summary) + extra

    def version(self, text: str) -> bytes:
        return self.record(b"\x09" + struct.pack("<d", 1.0) + self.field(3, text.encode()))

    @staticmethod
    def record(payload: bytes) -> bytes:
        head = struct.pack("<Q", len(payload))
        return head + struct.pack("<I", masked_crc(head)) + payload + struct.pack("<I", masked_crc(payload))

    def scalars(self, step: int, *pairs: Tuple[str, float]) -> bytes:
        return self.record(self.event(step, 100.0 + step, [self.scalar(tag, value) for tag, value in pairs]))


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def samples() -> Path:
    return Path(__file__).parents[2] / "data" / "summary"
