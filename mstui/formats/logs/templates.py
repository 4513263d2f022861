"""Lines that differ in digits only are read alike: what was found in the first of them is found in the others.

Logs repeat themselves: two lines in a row seldom differ in more than their numbers. The patterns of this package look
at digits only as digits (`digit_blind`), so that the outline of a line - every digit a zero - settles which header it
has, which shapes match and where, and that it tells no event. A template keeps that; the numbers are read anew.
Whatever else decides (a rule that matched, a pattern with a digit in it) has no template.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from mstui.formats.logs.codes import CODE
from mstui.formats.logs.headers import Places

if TYPE_CHECKING:
    from mstui.formats.logs.state import Reading

_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_TEXT_ZEROS = str.maketrans("123456789", "0" * 9)
LONGEST_LINE = 600
"""Bytes of a line that is remembered: the longest records of metrics have 500."""
MOST_KEPT = 4096
"""Templates of one half of the memory. A training prints tens of outlines, its state monitor one a parameter."""
_HOW_OFTEN = re.compile(r"\{\d*,?\d*\}|\(\?P<\w+>")
"""What may hold a digit in a pattern that takes every digit alike: how often, and names."""
_MAYBE_CODE = re.compile(CODE.pattern.replace("1-9", "0-9"))


@lru_cache(maxsize=512)
def digit_blind(pattern: str) -> bool:
    """Does a pattern take every digit alike."""
    return not any(char.isdigit() for char in _HOW_OFTEN.sub("", pattern))


def maybe_code(text: str) -> bool:
    """Could a text hold an error code, if its digits were others."""
    return _MAYBE_CODE.search(text.translate(_TEXT_ZEROS)) is not None


def maybe_there(word: str, text: str) -> bool:
    """Could a word stand in a text, if the digits of both were others."""
    return word.translate(_TEXT_ZEROS) in text.translate(_TEXT_ZEROS)


class Measured(NamedTuple):
    """A shape that matches, and where."""

    take: Callable[[Any, Any], Optional[Reading]]
    """reads a match, given the state"""
    names: Tuple[str, ...]
    spans: Tuple[slice, ...]
    absent: Tuple[str, ...]
    """groups that took no part"""

    def groups(self, text: str) -> Dict[str, Optional[str]]:
        """The groups of the same match in a line with this text; `found["name"]` reads them like a match's."""
        found: Dict[str, Optional[str]] = dict(zip(self.names, map(text.__getitem__, self.spans)))
        if self.absent:
            found.update(dict.fromkeys(self.absent))
        return found


def measured(take: Callable[[Any, Any], Optional[Reading]], found: re.Match[str], shift: int) -> Measured:
    """What a match says of every line with the same outline; the text that it is in begins at `shift`."""
    spans = {name: slice(begin + shift, end + shift) for name, (begin, end) in _spans(found) if begin >= 0}
    absent = tuple(name for name, (begin, _end) in _spans(found) if begin < 0)
    return Measured(take, tuple(spans), tuple(spans.values()), absent)


def _spans(found: re.Match[str]) -> Iterator[Tuple[str, Tuple[int, int]]]:
    return ((name, found.span(name)) for name in found.re.groupindex)


class Pairs:
    """Finds names and values by a pattern with two groups that takes every digit alike; remembers where by outline."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._known: Dict[bytes, Tuple[Tuple[str, slice, slice], ...]] = {}

    def find(self, text: str) -> List[Tuple[str, str]]:
        """Names and values, from left to right."""
        key = text.encode("utf-8", "surrogatepass").translate(_ZEROS)
        places = self._known.get(key)
        if places is None:
            if len(self._known) >= MOST_KEPT:
                self._known.clear()
            places = self._known[key] = tuple(map(_place, re.finditer(self._pattern, text)))
        return [(name or text[at_name], text[at_value]) for name, at_name, at_value in places]


def _place(found: re.Match[str]) -> Tuple[str, slice, slice]:
    """A name, or where it stands when it holds a digit, and where its value stands."""
    name = found.group(1)
    known = "" if any(char.isdigit() for char in name) else name
    return known, slice(*found.span(1)), slice(*found.span(2))


class Template(NamedTuple):
    """What is the same for every line with one outline. Spans are in the line as it stands, prefix included."""

    level: int
    header: Optional[Places]
    begins: int
    """where the text behind the launcher's prefix begins"""
    rank: Optional[Tuple[int, int]]
    """the rank in that prefix"""
    hits: Tuple[Measured, ...]
    own_record: bool
    indented: bool


class Templates:
    """Templates by outline, of one set of shapes. Forgets those that were not needed lately."""

    def __init__(self) -> None:
        self._new: Dict[bytes, Template] = {}
        self._old: Dict[bytes, Template] = {}
        self._seen: Set[bytes] = set()
        """outlines that came once"""

    def get(self, raw: bytes) -> Optional[Template]:
        """The template of a line; None when there is none."""
        key = raw.translate(_ZEROS)
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self._keep(key, found)
        return found

    def asks_for(self, raw: bytes) -> bool:
        """Has a line like this one been seen before: most that never come again are not worth a template."""
        key = raw.translate(_ZEROS)
        if key in self._seen:
            return True
        if len(self._seen) >= MOST_KEPT:
            self._seen.clear()
        self._seen.add(key)
        return False

    def learn(self, raw: bytes, template: Template) -> None:
        """Keep the template of this line."""
        key = raw.translate(_ZEROS)
        self._seen.discard(key)
        self._keep(key, template)

    def _keep(self, key: bytes, template: Template) -> None:
        if len(self._new) >= MOST_KEPT:
            self._old, self._new = self._new, {}
        self._new[key] = template
