"""What to do with a file that is opened first: which format it has, and where near its end a record begins."""

from __future__ import annotations

from typing import Optional, Sequence

from mstui.formats.base import Format
from mstui.ingest.disk import OpenFile
from mstui.ingest.limits import ReadLimits
from mstui.model.sources import SourceKind

HEAD_BYTES = 4096
"""of a file's beginning are shown to the formats"""
LEAST_HEAD = 16
"""from fewer bytes nothing can be told: the header of an event file's first record has twelve"""


def choose_format(formats: Sequence[Format], path: str, head: bytes, kind: SourceKind) -> Optional[Format]:
    """The name proposes, the first bytes decide; None when they are nothing that can be read.

    A name that promises events is never read as text: a file of noise would pass for a log. What was given as PATH
    under a name that promises nothing may be anything.
    """
    name = path.rsplit("/", 1)[-1]
    for named in (True, False):
        for form in formats:
            fits = named or form.kind is kind or kind is SourceKind.LOG
            if fits and form.claims_name(name) is named and form.claims_head(head):
                return form
    return None


def kind_of_head(formats: Sequence[Format], head: bytes) -> SourceKind:
    """What a file is to a run by its first bytes alone: a log, unless they show themselves to be something else."""
    if len(head) < LEAST_HEAD:
        return SourceKind.LOG
    return next(
        (form.kind for form in formats if form.kind is not SourceKind.LOG and form.claims_head(head)), SourceKind.LOG
    )


def find_tail(opened: OpenFile, size: int, form: Format, limits: ReadLimits) -> int:
    """Where a record begins not far from the end; 0 when it is not found or not worth it."""
    length = limits.tail
    while form.find_boundary is not None and length < size and length <= limits.tail_most:
        found = form.find_boundary(opened.read_at(size - length, length))
        if found is not None:
            return size - length + found
        length *= 4
    return 0


def find_line(opened: OpenFile, size: int, limits: ReadLimits) -> int:
    """Where a line begins not far from the end; 0 when it is not found."""
    length = min(limits.tail, size)
    feed = opened.read_at(size - length, length).find(b"\n")
    return size - length + feed + 1 if 0 <= feed < length - 1 else 0
