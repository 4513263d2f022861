"""Regular expressions that cannot hang: searched in time proportional to the text, whatever the pattern.

Python's own engine backtracks and takes hours for `(a+)+$` on forty characters, in the thread that draws. The
subset here has no back references and no look-around and is run as a set of states (Thompson), each seen set of states
remembered. Letters match in either case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, FrozenSet, List, NamedTuple, Optional, Set, Tuple, Union

from mstui.i18n import _

LONGEST_PATTERN = 200
"""Characters; a person types no longer one."""
MOST_REPEATS = 100
"""Largest number in {m,n}."""
MOST_STATES = 4000
"""States that a pattern may unfold to: nested {m,n} multiply."""
MOST_REMEMBERED = 2000
"""Sets of states kept; the memory is emptied when it is full."""

_CHAR, _SPLIT, _BEGIN, _END, _ACCEPT = range(5)
_ACCEPTED = -1
"""Stands in a set of states for "a match was found". """
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r"}


class PatternError(ValueError):
    """Not a pattern that can be searched for; says why, at which character."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


class _Chars(NamedTuple):
    """A set of characters."""

    ranges: Tuple[Tuple[str, str], ...]
    classes: str = ""
    negated: bool = False

    def has(self, char: str) -> bool:
        """Is a character among them, in either case."""
        found = any(
            any(low <= each <= high for low, high in self.ranges) or any(_in_class(each, name) for name in self.classes)
            for each in (char, char.upper())
        )
        return found != self.negated


def _in_class(char: str, name: str) -> bool:
    kind = name.lower()
    inside = char.isdigit() if kind == "d" else char.isspace() if kind == "s" else char.isalnum() or char == "_"
    return inside != name.isupper()


_ANY = _Chars((), negated=True)


def _exactly(char: str) -> _Chars:
    return _Chars(((char, char),))


@dataclass
class _State:
    """One state of the automaton. CHAR consumes and goes to `out`; SPLIT goes to both without consuming."""

    kind: int
    chars: Optional[_Chars] = None
    out: int = -1
    other: int = -1


class _Begin(NamedTuple):
    """The beginning of the text."""


class _End(NamedTuple):
    """The end of the text."""


class _Sequence(NamedTuple):
    """One part behind the other."""

    parts: List[_Node]


class _Alternatives(NamedTuple):
    """One of the parts."""

    parts: List[_Node]


class _Repeat(NamedTuple):
    """The part again and again; no upper bound when high is None."""

    part: _Node
    low: int
    high: Optional[int]


_Node = Union[_Chars, _Begin, _End, _Sequence, _Alternatives, _Repeat]


class _Parser:
    """Recursive descent over the pattern."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def parse(self) -> _Node:
        whole = self._alternatives()
        if self.at < len(self.pattern):
            raise PatternError(_("unbalanced )"), self.at)
        return whole

    def _peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def _alternatives(self) -> _Node:
        parts = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else _Alternatives(parts)

    def _sequence(self) -> _Node:
        parts: List[_Node] = []
        while self._peek() not in ("", "|", ")"):
            part = self._atom()
            bounds = self._quantifier()
            while bounds is not None:
                part = _Repeat(part, *bounds)
                bounds = self._quantifier()
            parts.append(part)
        return _Sequence(parts)

    def _quantifier(self) -> Optional[Tuple[int, Optional[int]]]:
        char = self._peek()
        bounds: Tuple[int, Optional[int]]
        if char == "*":
            bounds = (0, None)
        elif char == "+":
            bounds = (1, None)
        elif char == "?":
            bounds = (0, 1)
        elif char == "{":
            return self._braces()
        else:
            return None
        self.at += 1
        self._lazy()
        return bounds

    def _lazy(self) -> None:
        """A `?` behind a quantifier changes which match is found, not whether there is one."""
        if self._peek() == "?":
            self.at += 1

    def _braces(self) -> Tuple[int, Optional[int]]:
        end = self.pattern.find("}", self.at)
        inside = self.pattern[self.at + 1 : end] if end > 0 else ""
        low, comma, high = inside.partition(",")
        if not low.isascii() or not low.isdigit() or (high and not (high.isascii() and high.isdigit())):
            raise PatternError(_("expected {m}, {m,} or {m,n}"), self.at)
        least = int(low)
        most = int(high) if high else None if comma else least
        if max(least, most or 0) > MOST_REPEATS or (most is not None and most < least):
            raise PatternError(_("repeats go from 0 to {n}").format(n=MOST_REPEATS), self.at)
        self.at = end + 1
        self._lazy()
        return least, most

    def _atom(self) -> _Node:
        char = self._peek()
        if char == "(":
            return self._group()
        if char == "[":
            return self._set()
        if char in "*+?{":
            raise PatternError(_("nothing to repeat"), self.at)
        self.at += 1
        if char == ".":
            return _ANY
        if char == "^":
            return _Begin()
        if char == "$":
            return _End()
        return self._escape() if char == "\\" else _exactly(char)

    def _group(self) -> _Node:
        opened = self.at
        self.at += 1
        if self._peek() == "?":
            if self.pattern[self.at : self.at + 2] != "?:":
                raise PatternError(_("only (?: ) groups are known"), self.at)
            self.at += 2
        found = self._alternatives()
        if self._peek() != ")":
            raise PatternError(_("missing )"), opened)
        self.at += 1
        return found

    def _escape(self) -> _Chars:
        char = self._peek()
        if not char:
            raise PatternError(_("nothing behind \\"), self.at - 1)
        self.at += 1
        if char in "dDwWsS":
            return _Chars((), char)
        if char in _CONTROLS:
            return _exactly(_CONTROLS[char])
        if char.isalnum():
            raise PatternError(_("\\{char} is not known").format(char=char), self.at - 2)
        return _exactly(char)

    def _set(self) -> _Chars:
        opened = self.at
        self.at += 1
        negated = self._peek() == "^"
        self.at += negated
        ranges: List[Tuple[str, str]] = []
        classes = ""
        first = True
        while first or self._peek() != "]":
            first = False
            low = self._set_char(opened)
            classes += low.classes
            if low.classes or self._peek() != "-" or self.pattern[self.at + 1 : self.at + 2] in ("]", ""):
                ranges += low.ranges
                continue
            self.at += 1
            high = self._set_char(opened)
            if high.classes or high.ranges[0][0] < low.ranges[0][0]:
                raise PatternError(_("a range that ends before it begins"), self.at)
            ranges.append((low.ranges[0][0], high.ranges[0][0]))
        self.at += 1
        return _Chars(tuple(ranges), classes, negated)

    def _set_char(self, opened: int) -> _Chars:
        char = self._peek()
        if not char:
            raise PatternError(_("missing ]"), opened)
        self.at += 1
        return self._escape() if char == "\\" else _exactly(char)


class _Seen:
    """A set of states that a search has been in, and where each character led from it."""

    __slots__ = ("accepts", "moves", "states")

    def __init__(self, states: FrozenSet[int]) -> None:
        self.states = states
        self.accepts = _ACCEPTED in states
        self.moves: Dict[str, _Seen] = {}


class Pattern:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        """Raise PatternError for what is too long, not well formed or not in the subset."""
        if len(pattern) > LONGEST_PATTERN:
            raise PatternError(_("longer than {n} characters").format(n=LONGEST_PATTERN), LONGEST_PATTERN)
        self._states: List[_State] = []
        self._start = self._emit(_Parser(pattern).parse(), self._state(_State(_ACCEPT)))
        self._seen: Dict[FrozenSet[int], _Seen] = {}
        self._first = _Seen(self._closure({self._start}, at_begin=True, at_end=False))

    def _state(self, state: _State) -> int:
        if len(self._states) >= MOST_STATES:
            raise PatternError(_("too many repeats"), 0)
        self._states.append(state)
        return len(self._states) - 1

    def _emit(self, node: _Node, out: int) -> int:
        """Add the states of a part that goes on to `out`; gives back where it begins."""
        if isinstance(node, _Chars):
            return self._state(_State(_CHAR, node, out))
        if isinstance(node, _Begin):
            return self._state(_State(_BEGIN, None, out))
        if isinstance(node, _End):
            return self._state(_State(_END, None, out))
        if isinstance(node, _Sequence):
            for part in reversed(node.parts):
                out = self._emit(part, out)
            return out
        if isinstance(node, _Alternatives):
            start = self._emit(node.parts[-1], out)
            for part in reversed(node.parts[:-1]):
                start = self._state(_State(_SPLIT, None, self._emit(part, out), start))
            return start
        return self._emit_repeat(node, out)

    def _emit_repeat(self, node: _Repeat, out: int) -> int:
        start = out
        if node.high is None:
            start = self._state(_State(_SPLIT, None, -1, out))
            self._states[start].out = self._emit(node.part, start)
        for _copy in range((node.high or 0) - node.low):
            start = self._state(_State(_SPLIT, None, self._emit(node.part, start), out))
        for _copy in range(node.low):
            start = self._emit(node.part, start)
        return start

    def search(self, text: str) -> bool:
        """Is there a match anywhere in the text."""
        now = self._first
        if now.accepts:
            return True
        for char in text.lower():
            after = now.moves.get(char)
            if after is None:
                after = now.moves[char] = self._after(now.states, char)
            now = after
            if now.accepts:
                return True
            if not now.states:
                return False
        return _ACCEPTED in self._closure(set(now.states), at_begin=not text, at_end=True)

    def _after(self, states: FrozenSet[int], char: str) -> _Seen:
        reached = {self._start}
        for index in states:
            state = self._states[index]
            if state.kind == _CHAR and state.chars is not None and state.chars.has(char):
                reached.add(state.out)
        key = self._closure(reached, at_begin=False, at_end=False)
        found = self._seen.get(key)
        if found is None:
            if len(self._seen) >= MOST_REMEMBERED:
                self._seen = {}
                self._first.moves = {}
            found = self._seen[key] = _Seen(key)
        return found

    def _closure(self, begin: Set[int], *, at_begin: bool, at_end: bool) -> FrozenSet[int]:
        """What is reached without consuming: states that wait for a character or the end, and acceptance."""
        out: Set[int] = set()
        seen: Set[int] = set()
        stack = list(begin)
        while stack:
            index = stack.pop()
            if index in seen:
                continue
            seen.add(index)
            state = self._states[index]
            if state.kind == _ACCEPT:
                out.add(_ACCEPTED)
            elif state.kind == _CHAR:
                out.add(index)
            elif state.kind == _END:
                out.add(index)
                if at_end:
                    stack.append(state.out)
            elif state.kind == _BEGIN:
                if at_begin:
                    stack.append(state.out)
            else:
                stack += [each for each in (state.out, state.other) if each >= 0]
        return frozenset(out)
