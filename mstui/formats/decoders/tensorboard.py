"""TensorBoard's event files (`*tfevents*`), as MindFormers and msprobe write them.

Takes every event stream whose records show themselves to be TensorBoard's, whatever its name promises. A file that is
too short to show anything is MindSpore's until it does: the decoder follows the first record's version either way.
"""

from __future__ import annotations

from mstui.formats.base import Format
from mstui.formats.dialects import TENSORBOARD, dialect_of_head, is_event_head, is_event_name
from mstui.formats.framing import find_boundary
from mstui.formats.stream import EventStreamDecoder


def _claims_head(head: bytes) -> bool:
    return is_event_head(head) and dialect_of_head(head) is TENSORBOARD


FORMAT = Format(
    name=TENSORBOARD.name,
    claims_name=is_event_name,
    claims_head=_claims_head,
    make_decoder=lambda path: EventStreamDecoder(path, TENSORBOARD),
    find_boundary=find_boundary,
)
