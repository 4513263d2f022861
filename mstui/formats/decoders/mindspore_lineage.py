"""MindSpore's lineage streams (`*_lineage`): what was trained, on what, with which result.

They begin with no version.
"""

from __future__ import annotations

from mstui.formats.base import Format
from mstui.formats.dialects import LINEAGE, is_event_head, is_lineage_name
from mstui.formats.framing import find_boundary
from mstui.formats.stream import EventStreamDecoder

FORMAT = Format(
    name=LINEAGE.name,
    claims_name=is_lineage_name,
    claims_head=is_event_head,
    make_decoder=lambda path: EventStreamDecoder(path, LINEAGE),
    find_boundary=find_boundary,
)
