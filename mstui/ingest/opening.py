"""What to do with a file that is opened first: which format it has, and where near its end a record begins."""

from __future__ import annotations

from typing import Optional, Sequence

from mstui.formats.base import Format
from mstui.ingest.disk import OpenFile
from mstui.ingest.limits import ReadLimits

HEAD_BYTES = 4096
"""of a file's beginning are shown to the formats"""


def choose_format(formats: Sequence[Format], path: str, head: bytes) -> Optional[Format]:
    """The name proposes, the first bytes decide; None when they are nothing that can be read."""
    name = path.rsplit("/", 1)[-1]
    for named in (True, False):
        for form in formats:
            if form.claims_name(name) is named and form.claims_head(head):
                return form
    return None


def find_tail(opened: OpenFile, size: int, form: Format, limits: ReadLimits) -> int:
    """Where a record begins not far from the end; 0 when it is not found or not worth it."""
    length = limits.tail
    while form.find_boundary is not None and length < size and length <= limits.tail_most:
        found = form.find_boundary(opened.read_at(size - length, length))
        if found is not None:
            return size - length + found
        length *= 4
    return 0
