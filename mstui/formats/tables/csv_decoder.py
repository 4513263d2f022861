"""Rows of a CSV become values by step. Which columns mean what is said by a dialect; this knows none.

Columns are found by name, in any order. The last line waits for its end; a header that is repeated, as after a restart,
holds from there on. A row that does not fit is left out, counted, and said with its offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, FrozenSet, List, Mapping, NamedTuple, Optional, Sequence

from mstui.formats.base import Decoded, Format
from mstui.formats.logs.lines import decode
from mstui.formats.logs.points import Points
from mstui.i18n import _
from mstui.model.faults import FaultKind, ReadFault
from mstui.model.sources import SourceKind

LONGEST_LINE = 64 * 1024
"""Bytes. A row holds a name, a shape and a dozen numbers."""
LONGEST_NAME = 400
"""Characters of a parameter's or operator's name that are kept."""
NO_VALUE = "no-value"
"""Cells that stand for nothing: empty, `N/A`, and `nan` where the row itself counts no NaN."""
_MARK = b"\xef\xbb\xbf"
"""UTF-8's byte order mark"""


class Row(NamedTuple):
    """One row, read."""

    step: int
    wall_time: Optional[float]
    """Unix seconds, where the row says it"""
    values: Mapping[str, Optional[float]]
    """by tag; None is no value"""


ReadRow = Callable[[Sequence[str]], Row]
"""Raises ValueError or IndexError for cells that are no row."""


@dataclass(frozen=True)
class Dialect:
    """What the columns of one kind of table mean."""

    name: str
    claims_name: Callable[[str], bool]
    bind: Callable[[Sequence[str], str], Optional[ReadRow]]
    """names of the columns and the file's path: how to read its rows; None when it is no header of this kind"""
    known: FrozenSet[str]
    """names that columns may have: a header that is not whole yet is claimed when it consists of them"""


def figure(cell: str) -> Optional[float]:
    """The number in a cell; None where there is none."""
    try:
        return float(cell)
    except ValueError:
        return None


def whole(cell: str) -> int:
    """The whole number in a cell, however it is written (`3`, `3.0`). Raises ValueError."""
    return int(cell) if cell.isdecimal() and len(cell) < 16 else _whole(float(cell))


def _whole(value: float) -> int:
    if not (0.0 <= value < 2.0**53) or value != int(value):
        raise ValueError(value)
    return int(value)


def cells_of(line: str) -> List[str]:
    """The cells of a line, quotes taken off. Raises ValueError for a line that cannot be split."""
    if '"' not in line:
        return line.split(",")
    import csv  # few rows have quotes

    try:
        return next(csv.reader([line]), [])
    except csv.Error as error:
        raise ValueError(str(error)) from None


class TableDecoder:
    """Decodes one table."""

    def __init__(self, path: str, dialect: Dialect) -> None:
        """`path` goes into faults, and to the dialect, which may read a step or a kind of figure from it."""
        self.arrival = 0.0
        """Unix seconds given to values whose row has no time"""
        self._path = path
        self._dialect = dialect
        self._read: Optional[ReadRow] = None
        self._header = ""
        self._long_from: Optional[int] = None
        """where a line began that is too long and not over"""

    def decode(self, data: bytes, base: int, *, at_end: bool, condemn: bool = False) -> Decoded:  # noqa: ARG002
        """Decode the rows in `data`; see `Decoder`. A table has no checksums: nothing in it is suspect."""
        if base == 0:
            self._read, self._header, self._long_from = None, "", None
        points = Points()
        faults: List[ReadFault] = []
        skipped: Dict[str, int] = {}
        records = at = 0
        while True:
            feed = data.find(b"\n", at)
            if feed < 0:
                break
            begin = base + at if self._long_from is None else self._long_from
            if base + feed - begin > LONGEST_LINE:
                self._fault(faults, FaultKind.OVERSIZED, begin, base + feed + 1 - begin, _("a line that is no row"))
            elif self._row(data[at:feed], begin, points, skipped):
                records += 1
            elif data[at:feed].strip() and not self._is_header(data[at:feed]):
                skipped["row"] = skipped.get("row", 0) + 1
                self._fault(faults, FaultKind.MALFORMED, begin, feed + 1 - at, _("a row that does not fit its table"))
            self._long_from = None
            at = feed + 1
        if len(data) - at > LONGEST_LINE:
            self._long_from = base + at if self._long_from is None else self._long_from
        if self._long_from is not None:
            at = len(data)
        return Decoded(at, records, points.columns(), faults=tuple(faults), skipped_values=skipped)

    def _fault(self, faults: List[ReadFault], kind: FaultKind, offset: int, length: int, detail: str) -> None:
        faults.append(ReadFault(self._path, kind, offset, length, detail, 0.0))

    def _row(self, raw: bytes, begin: int, points: Points, skipped: Dict[str, int]) -> bool:
        """Take a row; False when it is none. The first line of a file is its header."""
        if self._read is None or begin == 0:
            return False
        try:
            row = self._read(cells_of(decode(raw).rstrip("\r")))
        except (ValueError, IndexError):
            return False
        missing = sum(value is None for value in row.values.values())
        if missing:
            skipped[NO_VALUE] = skipped.get(NO_VALUE, 0) + missing
        points.add(row.step, row.wall_time if row.wall_time is not None else self.arrival, row.values)
        return True

    def _is_header(self, raw: bytes) -> bool:
        """Is it a header; its columns hold from now on."""
        text = _header_text(raw)
        if text == self._header:
            return True
        read = _bind(self._dialect, text, self._path)
        if read is None:
            return False
        self._read, self._header = read, text
        return True


def _header_text(raw: bytes) -> str:
    return decode(raw.removeprefix(_MARK)).rstrip("\r")


def _names(text: str) -> List[str]:
    return [cell.strip().lower() for cell in cells_of(text)]


def _bind(dialect: Dialect, text: str, path: str) -> Optional[ReadRow]:
    try:
        names = _names(text)
    except ValueError:
        return None
    if len(set(names)) < len(names) or any(figure(name) is not None for name in names):
        return None  # half a row with a header behind it is none
    return dialect.bind(names, path)


def claims_head(dialect: Dialect, head: bytes) -> bool:
    """Do the first bytes begin with a header of this kind, or with the beginning of one."""
    line, feed, _rest = head.partition(b"\n")
    text = _header_text(line)
    if feed:
        return _bind(dialect, text, "") is not None
    *complete, last = text.partition('"')[0].split(",")  # a name in quotes is not one that tells kinds apart
    known = [name.strip().lower() in dialect.known for name in complete]
    return all(known) and any(name.startswith(last.strip().lower()) for name in dialect.known)


def table_format(dialect: Dialect) -> Format:
    """The format of a dialect."""
    return Format(
        name=dialect.name,
        claims_name=dialect.claims_name,
        claims_head=lambda head: claims_head(dialect, head),
        make_decoder=lambda path: TableDecoder(path, dialect),
        kind=SourceKind.TABLE,
    )
