"""A person's own regular expression, matched with groups in time that is bounded whatever it says.

Python's engine may take hours for one line. Here every pair of a state and a place in the text is tried at most once,
which finds what Python's `re` would find, and each line has a budget on top. The subset: no back references, no
look-around, no flags.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Set, Tuple

from mstui.i18n import _

LONGEST_PATTERN = 500
"""Characters."""
MOST_STATES = 4000
"""States that a pattern may unfold to: {m,n} repeats them."""
BUDGET = 40_000
"""Steps for one line, some 20 ms. An honest pattern needs ten for each character."""
MOST_HITS = 32
"""Matches of one line."""

_CHAR, _SPLIT, _SAVE, _AT, _MATCH = range(5)
Test = Callable[[str], bool]


class PatternError(ValueError):
    """Not a pattern of the subset; says why."""


class Hit(NamedTuple):
    """A match: its span and the texts of its named groups that took part."""

    span: Tuple[int, int]
    groups: Dict[str, str]

    def start(self) -> int:
        """Where it begins."""
        return self.span[0]

    def end(self) -> int:
        """Where it is over."""
        return self.span[1]


class _Step(NamedTuple):
    """One instruction: CHAR tests and goes on; SPLIT tries `other` only after what follows; SAVE and AT use `value`."""

    kind: int
    test: Optional[Test] = None
    next: int = 0
    other: int = 0
    value: Any = None


class Matcher:
    """A compiled pattern."""

    def __init__(self, pattern: str) -> None:
        """Raise PatternError for what is too long, not well formed or not in the subset."""
        if len(pattern) > LONGEST_PATTERN:
            raise PatternError(_("longer than {n} characters").format(n=LONGEST_PATTERN))
        parser = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what it would warn of is for whoever writes Python
                tree = parser.parse(pattern)
        except (ValueError, RecursionError, OverflowError, parser.error) as error:
            raise PatternError(str(error)) from None
        if tree.state.flags & ~parser.SRE_FLAG_UNICODE:
            raise PatternError(_("flags such as (?i) are not known"))
        self.names: Dict[str, int] = dict(tree.state.groupdict)
        self.given_up = 0
        """lines that were too costly"""
        self._program: List[_Step] = []
        try:
            self._start = self._emit_all(list(tree), self._add(_Step(_MATCH)))
        except RecursionError:
            raise PatternError(_("too deeply nested")) from None
        self.literal = _longest_literal(list(tree))
        """in every text that holds a match; may be empty"""
        self._slots = 2 * (tree.state.groups - 1)

    def _add(self, step: _Step) -> int:
        if len(self._program) >= MOST_STATES:
            raise PatternError(_("too many repeats"))
        self._program.append(step)
        return len(self._program) - 1

    def _emit_all(self, nodes: List[Any], after: int) -> int:
        for name, value in reversed(nodes):
            after = self._emit(str(name), value, after)
        return after

    def _emit(self, name: str, value: Any, after: int) -> int:
        """Add the steps of a node that goes on at `after`; gives back where it begins."""
        test = _test(name, value)
        if test is not None:
            return self._add(_Step(_CHAR, test, after))
        if name == "AT" and str(value) in _PLACES:
            return self._add(_Step(_AT, None, after, value=_PLACES[str(value)]))
        if name == "BRANCH":
            starts = [self._emit_all(list(each), after) for each in value[1]]
            begin = starts[-1]
            for start in reversed(starts[:-1]):
                begin = self._add(_Step(_SPLIT, None, start, begin))
            return begin
        if name == "SUBPATTERN" and not value[1] and not value[2]:
            group, nodes = value[0], list(value[3])
            if group is None:
                return self._emit_all(nodes, after)
            close = self._add(_Step(_SAVE, None, after, value=2 * group - 1))
            return self._add(_Step(_SAVE, None, self._emit_all(nodes, close), value=2 * group - 2))
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            return self._emit_repeat(int(value[0]), value[1], list(value[2]), after, greedy=name == "MAX_REPEAT")
        raise PatternError(_("{what} is not known in these patterns").format(what=name.lower()))

    def _emit_repeat(self, low: int, high: Any, nodes: List[Any], after: int, *, greedy: bool) -> int:
        begin = after
        if str(high) == "MAXREPEAT":
            begin = self._add(_Step(_SPLIT))
            body = self._emit_all(nodes, begin)
            self._program[begin] = _Step(_SPLIT, None, body if greedy else after, after if greedy else body)
        else:
            for _turn in range(min(int(high) - low, MOST_STATES)):
                body = self._emit_all(nodes, begin)
                begin = self._add(_Step(_SPLIT, None, body if greedy else after, after if greedy else body))
        for _turn in range(min(low, MOST_STATES)):
            begin = self._emit_all(nodes, begin)
        return begin

    def find(self, text: str) -> List[Hit]:
        """Every match that is not empty, from left to right; what the budget allows."""
        out: List[Hit] = []
        at = 0
        budget = BUDGET
        while at <= len(text) and len(out) < MOST_HITS:
            dead: Set[Tuple[int, int]] = set()
            hit = None
            while at <= len(text) and hit is None:
                hit, budget = self._match(text, at, dead, budget)
                if budget <= 0:
                    self.given_up += 1
                    return out
                at += 1
            if hit is None:
                break
            if hit.end() > hit.start():
                out.append(hit)
            at = max(hit.end(), at)
        return out

    def _match(self, text: str, at: int, dead: Set[Tuple[int, int]], budget: int) -> Tuple[Optional[Hit], int]:
        """The match that begins at `at`."""
        slots: List[Optional[int]] = [None] * self._slots
        stack: List[Tuple[int, int, Optional[Tuple[int, Optional[int]]]]] = [(self._start, at, None)]
        while stack:
            where, place, restore = stack.pop()
            if restore is not None:
                slots[restore[0]] = restore[1]
                continue
            while True:
                budget -= 1
                if budget <= 0 or (where, place) in dead:
                    break
                dead.add((where, place))
                step = self._program[where]
                if step.kind == _CHAR:
                    if step.test is None or place >= len(text) or not step.test(text[place]):
                        break
                    place += 1
                elif step.kind == _SPLIT:
                    stack.append((step.other, place, None))
                elif step.kind == _SAVE:
                    stack.append((0, 0, (step.value, slots[step.value])))
                    slots[step.value] = place
                elif step.kind == _AT:
                    if not step.value(text, place):
                        break
                else:
                    return Hit((at, place), self._groups(text, slots)), budget
                where = step.next
            if budget <= 0:
                break
        return None, budget

    def _groups(self, text: str, slots: List[Optional[int]]) -> Dict[str, str]:
        out = {}
        for name, number in self.names.items():
            begin, end = slots[2 * number - 2], slots[2 * number - 1]
            if begin is not None and end is not None:
                out[name] = text[begin:end]
        return out


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _boundary(text: str, place: int) -> bool:
    before = place > 0 and _is_word(text[place - 1])
    return before != (place < len(text) and _is_word(text[place]))


_PLACES: Dict[str, Callable[[str, int], bool]] = {
    "AT_BEGINNING": lambda _text, place: place == 0,
    "AT_BEGINNING_STRING": lambda _text, place: place == 0,
    "AT_END": lambda text, place: place == len(text),
    "AT_END_STRING": lambda text, place: place == len(text),
    "AT_BOUNDARY": _boundary,
    "AT_NON_BOUNDARY": lambda text, place: not _boundary(text, place),
}
_CATEGORIES: Dict[str, Test] = {
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_NOT_DIGIT": lambda char: not char.isdecimal(),
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda char: not char.isspace(),
    "CATEGORY_WORD": _is_word,
    "CATEGORY_NOT_WORD": lambda char: not _is_word(char),
}


def _test(name: str, value: Any) -> Optional[Test]:
    """The test of a node that takes one character; None for the others."""
    if name == "LITERAL":
        return chr(value).__eq__
    if name == "NOT_LITERAL":
        return chr(value).__ne__
    if name == "ANY":
        return "\n".__ne__
    return _set(value) if name == "IN" else None


def _set(items: List[Any]) -> Test:
    known: Dict[str, bool] = {}

    def test(char: str) -> bool:
        found = known.get(char)
        if found is None:
            found = known[char] = _in_set(items, char)
        return found

    return test


def _in_set(items: List[Any], char: str) -> bool:
    wanted = True
    for name, value in ((str(item[0]), item[1]) for item in items):
        if name == "NEGATE":
            wanted = False
        elif (
            (name == "LITERAL" and ord(char) == value)
            or (name == "RANGE" and value[0] <= ord(char) <= value[1])
            or (name == "CATEGORY" and _CATEGORIES[str(value)](char))
        ):
            return wanted
    return not wanted


def _longest_literal(nodes: List[Any]) -> str:
    """The longest text that stands in the pattern as it is and must be there."""
    best, now = "", ""
    for name, value in ((str(node[0]), node[1]) for node in nodes):
        if name == "LITERAL":
            now += chr(value)
            continue
        best, now = max(best, now, key=len), ""
        if name == "SUBPATTERN":
            best = max(best, _longest_literal(list(value[3])), key=len)
    return max(best, now, key=len)
