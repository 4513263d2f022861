r"""The filter grammar for tags and runs: text in, a question about one name at a time out.

    loss acc           both words, anywhere in the name, in either case
    loss | acc         either side; binds looser than the blank. loss|acc without blanks binds tighter
    !val               not
    "grad norm"        a word with blanks, or one that looks like something else
    /^loss(\.|$)/      a pattern (see mstui.model.patterns: it cannot hang)
    last.loss<2        a comparison of a field: < <= > >= = != with a number or a word

What a field is called and where its value comes from is the caller's business. It is made for text that is being typed:
what cannot be understood yet is named in `problem` and left out, and the rest filters.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Callable, List, Optional, Tuple, Union

from mstui.errors import FilterError
from mstui.i18n import _
from mstui.model.patterns import Pattern, PatternError

LONGEST_FILTER = 1000
"""Characters of a filter that are looked at."""
LONGEST_NAME = 1000
"""Characters of a name that are looked at."""

Value = Union[float, str, None]
Lookup = Callable[[str], Value]
"""a field's value for what is being asked about; None when it has none"""

_COMPARISON = re.compile(r"(?P<field>[^\s|!<>=\"/][^\s|!<>=\"]*)\s*(?P<sign><=|>=|!=|==|=|<|>)\s*")
_WORD_END = re.compile(r"[\s|]")


@dataclass(frozen=True)
class _Word:
    text: str

    def matches(self, name: str, lookup: Lookup) -> bool:  # noqa: ARG002
        return self.text in name


@dataclass(frozen=True)
class _Match:
    pattern: Pattern

    def matches(self, name: str, lookup: Lookup) -> bool:  # noqa: ARG002
        return self.pattern.search(name)


@dataclass(frozen=True)
class _Compare:
    """A field without a value answers no, whatever is asked, `!=` included: nothing is known of it."""

    field: str
    sign: str
    text: str
    number: Optional[float]

    def matches(self, name: str, lookup: Lookup) -> bool:  # noqa: ARG002
        value = lookup(self.field)
        if value is None:
            return False
        if isinstance(value, str):
            known = _number(value)
            if known is None or self.number is None:
                same = value.lower() == self.text
                return same if self.sign == "=" else self.sign == "!=" and not same
            value = known
        return self.number is not None and _holds(float(value), self.sign, self.number)


@dataclass(frozen=True)
class _Not:
    part: _Node

    def matches(self, name: str, lookup: Lookup) -> bool:
        return not self.part.matches(name, lookup)


@dataclass(frozen=True)
class _All:
    parts: Tuple[_Node, ...]

    def matches(self, name: str, lookup: Lookup) -> bool:
        return all(part.matches(name, lookup) for part in self.parts)


@dataclass(frozen=True)
class _Any:
    parts: Tuple[_Node, ...]

    def matches(self, name: str, lookup: Lookup) -> bool:
        return any(part.matches(name, lookup) for part in self.parts)


_Node = Union[_Word, _Match, _Compare, _Not, _All, _Any]


def _number(text: str) -> Optional[float]:
    """The number that a text is; also nan and inf, which are what one looks for. No digit grouping."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _holds(value: float, sign: str, number: float) -> bool:
    if sign in ("=", "!="):
        same = value == number or (math.isnan(value) and math.isnan(number))
        return same == (sign == "=")
    if sign == "<":
        return value < number
    if sign == "<=":
        return value <= number
    return value > number if sign == ">" else value >= number


@dataclass(frozen=True)
class Filter:
    """A filter as far as it was understood. An empty one matches everything."""

    text: str
    problem: str = ""
    """what could not be understood, for the person who types; empty when all was"""
    position: int = 0
    """character of the text at which the problem lies"""
    root: Optional[_Node] = None

    @property
    def empty(self) -> bool:
        """Does it let everything through."""
        return self.root is None

    def matches(self, name: str, lookup: Lookup) -> bool:
        """Ask it about one name; `lookup` is called for the fields that comparisons name."""
        return self.root is None or self.root.matches(name[:LONGEST_NAME].lower(), lookup)


class _Reader:
    """Reads a filter from left to right and keeps the first problem."""

    def __init__(self, text: str) -> None:
        self.text = text[:LONGEST_FILTER]
        self.at = 0
        self.problem = ""
        self.position = 0
        if len(text) > LONGEST_FILTER:
            self.complain(_("longer than {n} characters").format(n=LONGEST_FILTER), LONGEST_FILTER)

    def complain(self, what: str, position: int) -> None:
        if not self.problem:
            self.problem, self.position = what, position

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def whole(self) -> Optional[_Node]:
        """Groups of terms with a free-standing | between them."""
        sides: List[_Node] = []
        while True:
            terms: List[_Node] = []
            self.skip()
            begin = self.at
            while self.at < len(self.text) and self.text[self.at] != "|":
                term = self.term()
                if term is not None:
                    terms.append(term)
                self.skip()
            if terms:
                sides.append(terms[0] if len(terms) == 1 else _All(tuple(terms)))
            elif self.at < len(self.text) or sides:
                self.complain(_("nothing on one side of |"), begin)
            if self.at >= len(self.text):
                break
            self.at += 1
        if not sides:
            return None
        return sides[0] if len(sides) == 1 else _Any(tuple(sides))

    def term(self) -> Optional[_Node]:
        """Atoms with | between them and no blanks around it."""
        choices: List[_Node] = []
        while True:
            atom = self.atom()
            if atom is not None:
                choices.append(atom)
            tight = self.text[self.at : self.at + 1] == "|"
            if not tight or not self.text[self.at + 1 : self.at + 2].strip():
                break
            self.at += 1
        if not choices:
            return None
        return choices[0] if len(choices) == 1 else _Any(tuple(choices))

    def atom(self) -> Optional[_Node]:
        begin = self.at
        if self.text[begin : begin + 1] == "!":
            self.at += 1
            part = self.atom() if self.text[self.at : self.at + 1].strip(" |") else None
            if part is None:
                self.complain(_("nothing behind !"), begin)
                return None
            return _Not(part)
        char = self.text[begin : begin + 1]
        if char == '"':
            word = self.quoted('"', _("the closing quote is missing"))
            return _Word(word.lower()) if word else None
        if char == "/":
            return self.pattern()
        compared = _COMPARISON.match(self.text, begin)
        if compared is not None:
            self.at = compared.end()
            return self.comparison(compared["field"], compared["sign"].replace("==", "="))
        word = self.word()
        if word[:1] in ("<", ">", "="):
            self.complain(_("no field in front of {sign}").format(sign=word[:1]), begin)
            return None
        return _Word(word.lower()) if word else None

    def word(self) -> str:
        end = _WORD_END.search(self.text, self.at)
        begin, self.at = self.at, len(self.text) if end is None else end.start()
        return self.text[begin : self.at]

    def quoted(self, mark: str, missing: str) -> str:
        """What stands between two marks; up to the end, with a complaint, when there is no second one."""
        begin = self.at + 1
        end = begin
        while end < len(self.text) and self.text[end] != mark:
            end += 2 if self.text[end] == "\\" and mark == "/" else 1
        if end >= len(self.text):
            self.complain(missing, begin - 1)
            self.at = len(self.text)
        else:
            self.at = end + 1
        return self.text[begin:end]

    def pattern(self) -> Optional[_Node]:
        begin = self.at + 1
        text = self.quoted("/", _("the closing / is missing"))
        try:
            return _Match(Pattern(text)) if text else None
        except PatternError as error:
            self.complain(_("not a pattern: {reason}").format(reason=error.reason), begin + error.position)
            return None

    def comparison(self, field: str, sign: str) -> Optional[_Node]:
        begin = self.at
        quoted = self.text[begin : begin + 1] == '"'
        text = self.quoted('"', _("the closing quote is missing")) if quoted else self.word()
        if not text:
            self.complain(_("nothing to compare {field} with").format(field=field), begin)
            return None
        number = None if quoted else _number(text)
        if number is None and sign in ("<", "<=", ">", ">="):
            self.complain(_("{text} is not a number").format(text=text), begin)
            return None
        return _Compare(field, sign, text.lower(), number)


def parse(text: str) -> Filter:
    """Understand as much of a filter as there is. Never raises: see `Filter.problem`."""
    reader = _Reader(text)
    root = reader.whole()
    return Filter(text, reader.problem, reader.position, root)


def parse_strict(text: str) -> Filter:
    """For a filter that is not being typed (an option, a configuration file): a problem is a FilterError."""
    found = parse(text)
    if found.problem:
        raise FilterError(found.problem, _("filter, character {n}").format(n=found.position + 1))
    return found
