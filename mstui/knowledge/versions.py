"""Which MindSpore versions a text is for: conditions such as ">=2.0" or ">=2.0,<2.4". It knows no version by name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Optional, Tuple

Numbers = Tuple[int, ...]

_CLAUSE = re.compile(r"(>=|<=|>|<|==)\s*(\d+(?:\.\d+)*)\Z")
_LEADING = re.compile(r"\s*v?(\d+(?:\.\d+)*)")
_PARTS = 4
"""Version numbers are compared to this many parts, so that 2 and 2.0.0 are the same"""


def numbers(version: str) -> Optional[Numbers]:
    """The leading numbers of a version ("2.3.0rc1" gives 2.3.0), None where it does not begin with one."""
    found = _LEADING.match(version)
    if found is None:
        return None
    parts = tuple(int(part) for part in found.group(1).split("."))[:_PARTS]
    return parts + (0,) * (_PARTS - len(parts))


@dataclass(frozen=True)
class Condition:
    """All clauses must hold."""

    text: str
    """as written: ">=2.0,<2.4" """
    clauses: Tuple[Tuple[str, Numbers], ...]

    def holds(self, version: str) -> bool:
        """Whether the version is meant; False where the version cannot be read."""
        known = numbers(version)
        return known is not None and all(_holds(known, sign, bound) for sign, bound in self.clauses)


def condition(text: str) -> Condition:
    """A condition from its text. Raises ValueError saying what was expected."""
    clauses = []
    for part in text.split(","):
        found = _CLAUSE.match(part.strip())
        if found is None:
            message = 'a version condition such as ">=2.0" or ">=2.0,<2.4"'
            raise ValueError(message)
        bound = numbers(found.group(2))
        assert bound is not None
        clauses.append((found.group(1), bound))
    return Condition(text, tuple(clauses))


def _holds(known: Numbers, sign: str, bound: Numbers) -> bool:
    if sign == ">=":
        return known >= bound
    if sign == "<=":
        return known <= bound
    if sign == ">":
        return known > bound
    if sign == "<":
        return known < bound
    return known == bound
