"""Lines that differ in digits only are read alike: what was found in the first of them is found in the others.

Logs repeat themselves: two lines in a row seldom differ in more than their numbers. The patterns of this package look
at digits only as digits (`digit_blind`), so that the outline of a line - every digit a zero - settles which header it
has, which shapes match and where, and that it tells no event. A template keeps that; the numbers are read anew.
Whatever else decides (a rule that matched, a pattern with a digit in it) has no template.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Dict, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.formats.logs.codes import CODE
from mstui.formats.logs.headers import Places

Span = Tuple[int, int]

_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_TEXT_ZEROS = str.maketrans("123456789", "0" * 9)
LONGEST_LINE = 600
"""Bytes of a line that is remembered: the longest records of metrics have 500."""
MOST_KEPT = 4096
"""Templates of one half of the memory. A training prints tens of outlines, its state monitor one a parameter."""
_DIGIT_CLASS = re.compile(r"\{\d*,?\d*\}|\(\?P<\w+>")
"""What may hold a digit in a pattern that takes every digit alike: how often, and names."""
_MAYBE_CODE = re.compile(CODE.pattern.replace("1-9", "0-9"))


@lru_cache(maxsize=512)
def digit_blind(pattern: str) -> bool:
    """Does a pattern take every digit alike."""
    return not any(char.isdigit() for char in _DIGIT_CLASS.sub("", pattern))


def maybe_code(text: str) -> bool:
    """Could a text hold an error code, if its digits were others."""
    return _MAYBE_CODE.search(text.translate(_TEXT_ZEROS)) is not None


def maybe_there(word: str, text: str) -> bool:
    """Could a word stand in a text, if the digits of both were others."""
    return word.translate(_TEXT_ZEROS) in text.translate(_TEXT_ZEROS)


class SpanHit:
    """A match in a line that is like one in which it was searched for: reads like `re.Match`."""

    __slots__ = ("_spans", "_text", "_whole")

    def __init__(self, text: str, whole: Span, spans: Mapping[str, Optional[Span]]) -> None:
        self._text = text
        self._whole = whole
        self._spans = spans

    def __getitem__(self, name: str) -> Optional[str]:
        span = self._spans[name]
        return None if span is None else self._text[span[0] : span[1]]

    def group(self) -> str:
        """The whole match."""
        return self._text[self._whole[0] : self._whole[1]]

    def groupdict(self) -> Dict[str, Optional[str]]:
        """Every named group."""
        return {name: self[name] for name in self._spans}

    def start(self) -> int:
        """Where it begins."""
        return self._whole[0]

    def end(self) -> int:
        """Where it is over."""
        return self._whole[1]


class Measured(NamedTuple):
    """A shape that matches, and where."""

    shape: Any
    whole: Span
    spans: Mapping[str, Optional[Span]]


def measured(shape: Any, found: re.Match[str], shift: int) -> Measured:
    """What a match says of every line with the same outline; the text that it is in begins at `shift`."""
    spans: Dict[str, Optional[Span]] = {}
    for name in found.re.groupindex:
        begin, end = found.span(name)
        spans[name] = None if begin < 0 else (begin + shift, end + shift)
    return Measured(shape, (found.start() + shift, found.end() + shift), spans)


class Template(NamedTuple):
    """What is the same for every line with one outline. Spans are in the line as it stands, prefix included."""

    level: int
    header: Optional[Places]
    begins: int
    """where the text behind the launcher's prefix begins"""
    rank: Optional[Span]
    """the rank in that prefix"""
    hits: Tuple[Measured, ...]
    own_record: bool
    indented: bool


class Templates:
    """Templates by outline, of one set of shapes. Forgets those that were not needed lately."""

    def __init__(self) -> None:
        self._new: Dict[bytes, Template] = {}
        self._old: Dict[bytes, Template] = {}

    def get(self, raw: bytes) -> Optional[Template]:
        """The template of a line; None when there is none."""
        key = raw.translate(_ZEROS)
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self._keep(key, found)
        return found

    def learn(self, raw: bytes, template: Template) -> None:
        """Keep the template of this line."""
        self._keep(raw.translate(_ZEROS), template)

    def _keep(self, key: bytes, template: Template) -> None:
        if len(self._new) >= MOST_KEPT:
            self._old, self._new = self._new, {}
        self._new[key] = template


@lru_cache(maxsize=16)
def templates_of(own: Sequence[Any]) -> Templates:  # noqa: ARG001
    """One memory for all files that are read with the same patterns of a person's own (a tuple; mostly none)."""
    return Templates()
