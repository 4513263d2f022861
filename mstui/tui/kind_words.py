"""What values that are not scalars are called: their kind, and those that have no tag of their own."""

from __future__ import annotations

from typing import FrozenSet, Mapping

from mstui.i18n import _, mark
from mstui.model.records import BlobKind
from mstui.monitor_api import TagInfo

KIND_WORDS: Mapping[BlobKind, str] = {
    BlobKind.HISTOGRAM: mark("histogram"),
    BlobKind.TENSOR: mark("tensor"),
    BlobKind.IMAGE: mark("image"),
    BlobKind.TEXT: mark("text"),
    BlobKind.GRAPH: mark("graph"),
    BlobKind.LANDSCAPE: mark("landscape"),
    BlobKind.TRAIN_LINEAGE: mark("lineage"),
    BlobKind.EVALUATION_LINEAGE: mark("lineage"),
    BlobKind.DATASET_GRAPH: mark("graph"),
    BlobKind.CUSTOM_LINEAGE: mark("lineage"),
    BlobKind.OTHER: mark("other"),
}
"""short: a column of a list"""
NAMELESS_WORDS: Mapping[BlobKind, str] = {
    BlobKind.GRAPH: mark("network graph"),
    BlobKind.LANDSCAPE: mark("loss landscape"),
    BlobKind.TRAIN_LINEAGE: mark("training lineage"),
    BlobKind.EVALUATION_LINEAGE: mark("evaluation lineage"),
    BlobKind.DATASET_GRAPH: mark("data set graph"),
    BlobKind.CUSTOM_LINEAGE: mark("custom lineage"),
    BlobKind.OTHER: mark("other values"),
}
"""in a tag's place"""
READABLE: FrozenSet[BlobKind] = frozenset(
    [
        BlobKind.TEXT,
        BlobKind.TENSOR,
        BlobKind.GRAPH,
        BlobKind.DATASET_GRAPH,
        BlobKind.TRAIN_LINEAGE,
        BlobKind.EVALUATION_LINEAGE,
        BlobKind.CUSTOM_LINEAGE,
    ]
)
"""kinds whose payload can be read as text"""


def listed_name(tag: TagInfo) -> str:
    """The tag, or what it is where it has none. As it is in the file: not safe to show."""
    if tag.tag or tag.kind is None:
        return tag.tag
    return _(NAMELESS_WORDS.get(tag.kind, tag.kind.value))
