"""The contract between files and formats: bytes in, records out. A format opens nothing and has no clock.

A format is one file in mstui/formats/decoders that declares FORMAT.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Callable, Mapping, Optional, Protocol, Tuple, runtime_checkable

from mstui.model.faults import ReadFault
from mstui.model.records import BlobRefs, ScalarColumns
from mstui.model.sources import SourceKind

if TYPE_CHECKING:
    from mstui.model.logs import LogEvent, LogRecords, LogSteps
    from mstui.model.runs import Fact


@dataclass(frozen=True)
class Decoded:
    """What one call of `Decoder.decode` made of its bytes.

    `consumed` bytes are finished; the caller passes the rest again, with more behind it, next time.
    """

    consumed: int
    records: int
    columns: Tuple[ScalarColumns, ...] = ()
    """each tag at most once, rows in file order"""
    blobs: Tuple[BlobRefs, ...] = ()
    """each (kind, tag) at most once, rows in file order"""
    faults: Tuple[ReadFault, ...] = ()
    skipped_values: Mapping[str, int] = field(default_factory=dict)
    """values counted but not kept, by kind"""
    need: int = 0
    """bytes that the record at `consumed` needs in all to be whole; 0 when nothing is pending or it is not known"""
    suspect: Optional[ReadFault] = None
    """the last record is whole by its length but its checksum is wrong, or its length is: "not yet" or damage.
    Decoding stopped before it. The caller decides, and calls again with `condemn=True` once it stays wrong."""
    log_records: Optional[LogRecords] = None
    """text logs: where the records among these bytes begin"""
    log_events: Tuple[LogEvent, ...] = ()
    """text logs: facts, in file order"""
    log_understood: int = 0
    """text logs: records that gave a metric or an event or had a known header"""
    log_steps: Optional[LogSteps] = None
    """text logs: the records that tell of a step of the training"""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    """text logs: what these bytes declare of the training (`planned_steps`, `epoch`, `device_num`, ...)"""
    rank_columns: Mapping[int, Tuple[ScalarColumns, ...]] = field(default_factory=dict)
    """text logs: values of lines in which a launcher's prefix names a rank, by that rank; steps are counted for each.
    `columns` are those of the other lines"""
    version: str = ""
    """the version string of the first record, when it was among these bytes"""


class Decoder(Protocol):
    """Decodes one file. Keeps no bytes between calls; may keep caches (tags, templates)."""

    def decode(self, data: bytes, base: int, *, at_end: bool, condemn: bool = False) -> Decoded:
        """Decode the records in `data`, which begins at a record boundary, file offset `base`.

        at_end: nothing follows `data` in the file as far as the caller knows. With more behind it, a bad record is
        damage at once; at the end it is only suspect.
        condemn: what is suspect is damage now: skip to the next good record, or to the end of `data`.
        """
        ...


@runtime_checkable
class Foreseeing(Protocol):
    """A decoder of a format whose end can mostly be read before its history, though it depends on that."""

    def foresee(self, head: bytes, data: bytes, base: int) -> Optional[int]:
        """Prepare to decode from somewhere among `data`, bytes that lie at `base`: gives back the offset, or None.

        head: the beginning of the file. What is decoded from there on holds if `was_right` says so afterwards.
        """
        ...

    def was_right(self) -> bool:
        """Asked once, when everything in front of the offset has been decoded: does what was decoded behind it hold."""
        ...


@dataclass(frozen=True)
class Format:
    """One kind of file."""

    name: str
    claims_name: Callable[[str], bool]
    """is this a file name of the format (no directory part)"""
    claims_head: Callable[[bytes], bool]
    """do the first bytes (up to 4096, not empty) look like the format; a short head that may become one is claimed"""
    make_decoder: Callable[[str], Decoder]
    """called with the path, which only goes into faults"""
    kind: SourceKind = SourceKind.SUMMARY
    """what its files are to a run"""
    find_boundary: Optional[Callable[[bytes], Optional[int]]] = None
    """offset in these bytes of the first record that begins there, checksum proven; None when there is none.
    Formats that have it can be read from the tail first."""
