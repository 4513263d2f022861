"""What a TensorBoard Value that carries a TensorProto means: a scalar, a histogram, a text, or something only counted.

The plugin name decides. Writers may give it once per tag only, so it is remembered; without any, the tensor's own type
and shape decide.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

import numpy as np

from mstui.formats.wire import BYTES, FIXED32, FIXED64, VARINT, Event, Resolver, fields, read_varint, signed
from mstui.model.records import BlobKind

_REMEMBERED_PLUGINS = 65536
_MAX_DIMS = 16

DT_FLOAT, DT_DOUBLE, DT_STRING, DT_BFLOAT16, DT_HALF = 1, 2, 7, 14, 19
_CONTENT_FORMATS = {
    DT_FLOAT: "<f",
    DT_DOUBLE: "<d",
    3: "<i",
    4: "<B",
    5: "<h",
    6: "<b",
    9: "<q",
    10: "<?",
    17: "<H",
    DT_HALF: "<e",
    22: "<I",
    23: "<Q",
}
"""tensor_content of one element, by TensorFlow's DataType"""
_NUMBER_FIELDS = {7: True, 10: True, 11: False, 13: False, 16: False, 17: False}
"""varint fields of TensorProto (int, int64, bool, half, uint32, uint64) and whether they are signed"""


@dataclass(frozen=True)
class Element:
    """A tensor's only number."""

    value: float
    place: int
    """offset of its float32 or float64; -1 when it is stored as something else"""
    is_float32: bool


@dataclass(frozen=True)
class TensorShape:
    """The head of a TensorProto."""

    dtype: int
    dims: Tuple[int, ...]


def element_layout(dtype: int) -> str:
    """numpy's name for the elements of tensor_content; empty for types that are not plain numbers."""
    layout = _CONTENT_FORMATS.get(dtype, "")
    return f"<{np.dtype(layout).str[1:]}" if layout else ""


def tensor_head(data: bytes, position: int, length: int) -> TensorShape:
    """dtype and dims. Raises Malformed."""
    dtype = 0
    dims: List[int] = []
    for number, wire, at, size in fields(data, position, position + length):
        if number == 1 and wire == VARINT:
            dtype = read_varint(data, at)[0]
        elif number == 2 and wire == BYTES:
            for inner, inner_wire, inner_at, inner_size in fields(data, at, at + size):
                if inner == 2 and inner_wire == BYTES and len(dims) < _MAX_DIMS:
                    extent = 0
                    for dim, dim_wire, dim_at, _ in fields(data, inner_at, inner_at + inner_size):
                        if dim == 1 and dim_wire == VARINT:
                            extent = signed(read_varint(data, dim_at)[0])
                    dims.append(extent)
    return TensorShape(dtype, tuple(dims))


def single_element(data: bytes, position: int, length: int) -> Optional[Element]:
    """The number of a tensor that holds exactly one; None for any other tensor. Raises Malformed."""
    dtype = 0
    found: List[Tuple[int, int, int]] = []  # field, offset, bytes
    for number, wire, at, size in fields(data, position, position + length):
        if number == 1 and wire == VARINT:
            dtype = read_varint(data, at)[0]
        elif (number == 4 and wire == BYTES and size) or (
            number in (5, 6) and wire in (BYTES, FIXED32, FIXED64) and size
        ):
            found.append((number, at, size))
        elif number in _NUMBER_FIELDS and wire in (VARINT, BYTES) and size:
            if read_varint(data, at)[1] != at + size:
                return None
            found.append((number, at, size))
    if len(found) != 1:
        return None
    number, at, size = found[0]
    if number in _NUMBER_FIELDS:
        bits = read_varint(data, at)[0]
        if number == 13:
            return _half(dtype, struct.pack("<H", bits & 0xFFFF))
        return Element(float(signed(bits) if _NUMBER_FIELDS[number] else bits), -1, is_float32=False)
    if number == 5:
        dtype = DT_FLOAT
    elif number == 6:
        dtype = DT_DOUBLE
    elif dtype == DT_BFLOAT16:
        return _half(dtype, data[at : at + size])
    layout = _CONTENT_FORMATS.get(dtype)
    if layout is None or struct.calcsize(layout) != size:
        return None
    value = float(struct.unpack_from(layout, data, at)[0])
    return Element(value, at if dtype in (DT_FLOAT, DT_DOUBLE) else -1, dtype == DT_FLOAT)


def _half(dtype: int, content: bytes) -> Optional[Element]:
    if len(content) != 2:
        return None
    if dtype == DT_BFLOAT16:
        return Element(float(struct.unpack("<f", b"\0\0" + content)[0]), -1, is_float32=False)
    return Element(float(struct.unpack("<e", content)[0]), -1, is_float32=False)


def plugin_name(data: bytes, position: int, length: int) -> str:
    """Plugin of a SummaryMetadata; empty when it names none. Raises Malformed."""
    name = ""
    for number, wire, at, size in fields(data, position, position + length):
        if number == 1 and wire == BYTES:
            for inner, inner_wire, inner_at, inner_size in fields(data, at, at + size):
                if inner == 1 and inner_wire == BYTES:
                    name = data[inner_at : inner_at + inner_size].decode("utf-8", "backslashreplace")
    return name


class TensorResolver(Resolver):
    """Resolves tensors of one file, remembering the plugin that a tag's first event named."""

    def __init__(self) -> None:
        self._plugins: Dict[str, str] = {}

    def learn(self, data: bytes, tag: str, metadata: Tuple[int, int]) -> None:
        """Remember the plugin that the metadata names."""
        name = plugin_name(data, *metadata)
        if name and (tag in self._plugins or len(self._plugins) < _REMEMBERED_PLUGINS):
            self._plugins[tag] = name

    def resolve(
        self, data: bytes, event: Event, tag: str, tensor: Tuple[int, int], metadata: Optional[Tuple[int, int]]
    ) -> None:
        """Add the tensor to the event as what its plugin says it is."""
        if metadata is not None:
            self.learn(data, tag, metadata)
        else:
            event.plain = False
        plugin = self._plugins.get(tag, "")
        if plugin == "scalars" or not plugin:
            element = single_element(data, *tensor)
            if element is not None:
                if element.is_float32:
                    event.tags.append(tag)
                    event.places.append(element.place)
                else:
                    event.wide.append((tag, element.value, element.place))
                    event.plain = event.plain and element.place >= 0
                return
        event.plain = False
        if plugin in ("images", "audio"):
            event.skipped.append("image" if plugin == "images" else plugin)
            return
        kind = _kind_of(plugin, tensor_head(data, *tensor))
        if kind is BlobKind.OTHER:
            event.skipped.append("other")
        else:
            event.blobs.append((kind, tag, *tensor))


def _kind_of(plugin: str, shape: TensorShape) -> BlobKind:
    if plugin == "histograms":
        return BlobKind.HISTOGRAM
    if plugin == "text":
        return BlobKind.TEXT
    if plugin in ("scalars", ""):
        if shape.dtype == DT_STRING:
            return BlobKind.TEXT
        if not plugin and shape.dtype == DT_DOUBLE and len(shape.dims) == 2 and shape.dims[1] == 3:
            return BlobKind.HISTOGRAM
        return BlobKind.TENSOR
    return BlobKind.OTHER
