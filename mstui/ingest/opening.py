"""What to do with a file that is opened first: which format it has, and where near its end a record begins."""

from __future__ import annotations

from typing import Optional, Sequence

from mstui.formats.base import Foreseeing, Format
from mstui.ingest.disk import Disk, OpenFile
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


class Claims:
    """What files are to a run, before they are read."""

    def __init__(self, formats: Sequence[Format], disk: Disk) -> None:
        self._formats = formats
        self._disk = disk

    def kind_of(self, name: str) -> Optional[SourceKind]:
        """By the name; None when no format claims it."""
        return next((form.kind for form in self._formats if form.claims_name(name)), None)

    def peek(self, path: str) -> SourceKind:
        """Of a file that was given as PATH: by its first bytes before its name, and a log when nothing says more."""
        try:
            with self._disk.open(path) as opened:
                head = opened.read_at(0, HEAD_BYTES)
        except OSError:
            head = b""
        kinds = [form.kind for form in self._formats if len(head) >= LEAST_HEAD and form.claims_head(head)]
        named = self.kind_of(path.rsplit("/", 1)[-1])
        return min(kinds) if kinds else SourceKind.LOG if named is None else named


def find_tail(opened: OpenFile, size: int, form: Format, limits: ReadLimits) -> int:
    """Where a record begins not far from the end; 0 when it is not found or not worth it."""
    length = limits.tail
    while form.find_boundary is not None and length < size and length <= limits.tail_most:
        found = form.find_boundary(opened.read_at(size - length, length))
        if found is not None:
            return size - length + found
        length *= 4
    return 0


def foresee(opened: OpenFile, size: int, decoder: Foreseeing, limits: ReadLimits) -> int:
    """Where a decoder believes that it can begin not far from the end; 0 where it cannot."""
    head = opened.read_at(0, min(limits.prime, size))
    length = limits.tail
    while length < size and length <= limits.tail_most:
        found = decoder.foresee(head, opened.read_at(size - length, length), size - length)
        if found is not None:
            return found
        length *= 4
    return 0


def find_line(opened: OpenFile, size: int, limits: ReadLimits) -> int:
    """Where a line begins not far from the end; 0 when it is not found."""
    length = min(limits.tail, size)
    feed = opened.read_at(size - length, length).find(b"\n")
    return size - length + feed + 1 if 0 <= feed < length - 1 else 0
