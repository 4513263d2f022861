"""What a producer declares: the shapes of its lines, what must stand in a text for them to be tried, how they are read.

A shape's pattern is searched for everywhere in a message (two records may stand on one line), earlier shapes first; a
later one may not claim text that an earlier one has. Patterns are compiled when a text holds their guard first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Callable, List, NamedTuple, Optional, Protocol, Sequence, Tuple

from mstui.formats.logs.headers import Stamps
from mstui.formats.logs.state import Fact, Reading, State
from mstui.formats.logs.templates import digit_blind
from mstui.model.records import FloatArray, IntArray

Read = Callable[["re.Match[str]", State], Optional[Reading]]
"""None: understood, but there is no value in it."""


LONGEST_RUN = 1024
"""Matches taken at once: their groups still fit into the processor's cache."""


class Hit(Protocol):
    """A match in a text."""

    def start(self) -> int:
        """Where it begins."""
        ...

    def end(self) -> int:
        """Where it is over."""
        ...


class AnyShape(Protocol):
    """A shape of Python's patterns, or one of a person's own."""

    @property
    def words(self) -> Tuple[str, ...]:
        """One of them is in every text that holds a match."""
        ...

    @property
    def whole_line(self) -> bool:
        """It is searched for in the line as it stands, header included."""
        ...

    @property
    def own_record(self) -> bool:
        """Its lines begin records even without a header."""
        ...

    @property
    def blind(self) -> bool:
        """It takes every digit alike, and its matches know their groups' places."""
        ...

    def find(self, text: str) -> Sequence[Hit]:
        """Every match, from left to right."""
        ...

    @property
    def take(self) -> Callable[[Any, State], Optional[Reading]]:
        """Read a match."""
        ...


@dataclass(frozen=True)
class Shape:
    """One kind of line."""

    guards: Tuple[bytes, ...]
    """one of them is in every text that the pattern matches"""
    pattern: str
    read: Read
    own_record: bool = True
    """its lines begin records even without a header"""
    whole_line = False

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, ready for use."""
        return re.compile(self.pattern)

    @cached_property
    def blind(self) -> bool:
        """It takes every digit alike."""
        return digit_blind(self.pattern)

    @cached_property
    def words(self) -> Tuple[str, ...]:
        """The guards as text."""
        return tuple(guard.decode("ascii") for guard in self.guards)

    def find(self, text: str) -> Sequence[Hit]:
        """Every match in a text."""
        return list(self.compiled.finditer(text))

    @property
    def take(self) -> Callable[[Any, State], Optional[Reading]]:
        """Read a match."""
        return self.read


class BulkRows(NamedTuple):
    """What a run of lines of the same shape gave: [n] steps and wall times, and columns with their valid rows."""

    steps: IntArray
    wall_times: FloatArray
    columns: Sequence[Tuple[str, FloatArray, Optional[IntArray]]]
    """tag, [k] values, the rows they belong to (None: all n)"""
    events: Sequence[Tuple[int, Fact]] = ()
    """row and Fact"""


@dataclass(frozen=True)
class Bulk:
    """A second way to read a producer's most frequent lines, many at a time; gives what the shapes would give."""

    guards: Tuple[bytes, ...]
    """all of them are in every block that is worth trying"""
    pattern: bytes
    """matches one or several whole lines, line feeds included; none with a carriage return, an escape or a NUL"""
    read: Callable[[Sequence[Tuple[bytes, ...]], State, Stamps, float], Optional[BulkRows]]
    """groups of each match, and the arrival time; None: not these, one by one please"""
    lines: Callable[[Sequence[Tuple[bytes, ...]]], int]
    """how many lines these groups make up"""
    level: int
    """LogLevel of every line"""
    stamped: bool
    """the lines have time stamps"""
    joins: bool
    """a following line without a header belongs to the last record"""

    @cached_property
    def compiled(self) -> re.Pattern[bytes]:
        """The pattern, ready for use."""
        return re.compile(self.pattern)

    def run(self, data: bytes, begin: int, end: int) -> List[re.Match[bytes]]:
        """Matches that follow each other without a gap from `begin` on, at most LONGEST_RUN."""
        # `scanner`, which `re.Scanner` is made of, goes on where it stopped: half the price of `match` with positions.
        scanner = self.compiled.scanner(data, begin, end)  # type: ignore[attr-defined]
        return list(islice(iter(scanner.match, None), LONGEST_RUN))


@dataclass(frozen=True)
class Producer:
    """A program that prints metrics."""

    name: str
    shapes: Tuple[Shape, ...]
    bulk: Optional[Bulk] = None
