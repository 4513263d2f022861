"""The three families of event streams, and how a record's own words tell which one it belongs to."""

from __future__ import annotations

import re
from typing import Optional

from mstui.formats.crc import masked_crc
from mstui.formats.framing import FOOTER_BYTES, HEADER_BYTES, Stop, Walker, next_boundary
from mstui.formats.wire import BYTES, Dialect, Malformed, read_varint, skip
from mstui.model.records import BlobKind

MINDSPORE = Dialect(
    name="mindspore",
    scalar_key=0x1D,
    value_fields={4: "image", 8: BlobKind.TENSOR, 9: BlobKind.HISTOGRAM, 10: BlobKind.LANDSCAPE},
    event_fields={
        4: BlobKind.GRAPH,
        6: "explain",
        7: BlobKind.EVALUATION_LINEAGE,
        9: BlobKind.DATASET_GRAPH,
        10: BlobKind.CUSTOM_LINEAGE,
    },
)
LINEAGE = Dialect(
    name="mindspore-lineage",
    scalar_key=0x1D,
    value_fields=MINDSPORE.value_fields,
    event_fields={**MINDSPORE.event_fields, 6: BlobKind.TRAIN_LINEAGE},
)
TENSORBOARD = Dialect(
    name="tensorboard",
    scalar_key=0x15,
    value_fields={
        3: "old-histogram",
        4: "image",
        5: BlobKind.HISTOGRAM,
        6: "audio",
        8: BlobKind.TENSOR,
    },
    event_fields={
        4: "graph",
        6: "log-message",
        7: "session-log",
        8: "run-metadata",
        9: "meta-graph",
    },
    tensor_field=8,
    metadata_field=9,
)

_EVENT_NAME = re.compile(r"\.summary\.\d+|tfevents")
_LINEAGE_NAME = re.compile(r"\.summary\.\d+.*_lineage$", re.DOTALL)
_ZEROS = re.compile(rb"\0*\Z")
_LINEAGE_FIELDS = (6, 7, 9, 10)


def is_lineage_name(name: str) -> bool:
    """Does the file name promise a lineage stream?"""
    return _LINEAGE_NAME.search(name) is not None


def is_event_name(name: str) -> bool:
    """Does the file name promise an event stream, MindSpore's or TensorBoard's? Which of them, the content says."""
    return _EVENT_NAME.search(name) is not None and not is_lineage_name(name)


def is_event_head(head: bytes) -> bool:
    """Do the first bytes of a file look like an event stream, damage and unwritten (zero) blocks included?"""
    if len(head) < HEADER_BYTES:
        # the length's upper half: no writer makes records of 4 GiB
        return not any(head[4:8])
    return Walker().walk(head, 0).position > 0 or next_boundary(head, 0) is not None or bool(_ZEROS.match(head))


def dialect_of_head(head: bytes) -> Optional[Dialect]:
    """The dialect that the records in the first bytes of a file show; None while they show none."""
    walker = Walker()
    position: Optional[int] = 0
    while position is not None:
        frames = walker.walk(head, position)
        # what the walk found in runs repeats what it found before them
        for start, length in zip(frames.offsets, frames.lengths):
            payload = head[start : start + length]
            if masked_crc(payload) == int.from_bytes(head[start + length : start + length + FOOTER_BYTES], "little"):
                found = dialect_of_record(payload)
                if found is not None:
                    return found
        if frames.stop is Stop.TORN:
            return dialect_of_record(head[frames.position + HEADER_BYTES :])
        position = next_boundary(head, frames.position + 1)
    return None


def dialect_of_record(payload: bytes) -> Optional[Dialect]:
    """The dialect that one record (or its beginning) shows by its version, its kind of lineage or its scalars."""
    position = 0
    try:
        while position < len(payload):
            key, position = read_varint(payload, position)
            if key & 7 != BYTES:
                position = skip(payload, position, key)
                continue
            length, position = read_varint(payload, position)
            content = payload[position : position + length]
            number = key >> 3
            if number == 3:
                if content.lower().startswith(b"mindspore"):
                    return MINDSPORE
                return TENSORBOARD if content.startswith(b"brain.Event") else None
            if number == 5:
                return _dialect_of_summary(content)
            if number in _LINEAGE_FIELDS:
                return LINEAGE
            position += length
    except (IndexError, Malformed):
        pass
    return None


def _dialect_of_summary(summary: bytes) -> Optional[Dialect]:
    """By the field that carries the first value: the two families share no number for scalars and histograms."""
    key, position = read_varint(summary, 0)
    if key != 0x0A:
        return None
    length, position = read_varint(summary, position)
    end = min(position + length, len(summary))
    histogram_or_metadata = False
    while position < end:
        key, position = read_varint(summary, position)
        if key in (TENSORBOARD.scalar_key, 0x2A):
            return TENSORBOARD
        if key in (MINDSPORE.scalar_key, 0x52):
            return MINDSPORE
        if key == 0x42:
            return None
        histogram_or_metadata = histogram_or_metadata or key == 0x4A
        position = skip(summary, position, key)
    return MINDSPORE if histogram_or_metadata else None
