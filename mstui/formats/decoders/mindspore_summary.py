"""MindSpore's summary files (`*_MS`, or any other suffix): scalars, histograms, tensors, images, the network's graph.

Takes every event stream that does not show itself to be TensorBoard's, whatever its name promises.
"""

from __future__ import annotations

from mstui.formats.base import Format
from mstui.formats.dialects import MINDSPORE, TENSORBOARD, dialect_of_head, is_event_head, is_event_name
from mstui.formats.framing import find_boundary
from mstui.formats.stream import EventStreamDecoder


def _claims_head(head: bytes) -> bool:
    return is_event_head(head) and dialect_of_head(head) is not TENSORBOARD


FORMAT = Format(
    name=MINDSPORE.name,
    claims_name=is_event_name,
    claims_head=_claims_head,
    make_decoder=lambda path: EventStreamDecoder(path, MINDSPORE),
    find_boundary=find_boundary,
)
