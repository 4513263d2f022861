"""Numbers, arrays and dictionaries as trainings print them: fragments of patterns, and how to read what they match.

Every fragment is bounded, so that no line, however odd, costs more than a multiple of its length. Nothing is evaluated.
"""

from __future__ import annotations

import math
import re
from typing import Dict, List, Mapping, Optional

_POINT = r"(?:\d{1,40}(?:\.\d{0,60})?|\.\d{1,60})(?:[eE][-+]?\d{1,4})?"
NUM = rf"[-+]?(?:{_POINT}|[nN]a[nN]|[iI]nf(?:inity)?)"
"""A float as Python, numpy and printf write it. The `e` of a following "epoch" is not an exponent."""
ARRAY = rf"\[?\s{{0,8}}(?:{NUM})\s{{0,8}}\]?"
"""A number, or an array of one: `1e-05`, `[1.e-05]`, `[65536.]`."""
TENSOR = rf"Tensor\(shape=\[[\d, ]{{0,40}}\], dtype=\w{{1,20}}, value=\s{{0,8}}{ARRAY}\)"
"""The repr of a tensor of one element."""
LOSS = rf"(?:\(?{TENSOR}|{ARRAY})"
"""A loss: a number, an array or tensor of one, or the first tensor of a tuple."""
BOOL = r"\[?\s{0,8}(?:True|False)\s{0,8}\]?"
_NUMBER = re.compile(NUM)
_IN_TENSOR = re.compile(rf"value=\s{{0,8}}\[?\s{{0,8}}({NUM})")
_PAIR = re.compile(rf"['\"]([^'\"]{{1,80}})['\"]\s{{0,4}}:\s{{0,4}}['\"]?\s{{0,4}}(?:\w{{1,40}}\()?({NUM})")
MOST_ELEMENTS = 4096
"""Numbers read from one printed array."""


def counter(name: str) -> str:
    """A counter with its total where it is printed: `3`, `[3/ 10]`, `3/10`. Groups `name` and `name`s."""
    return rf"\[?\s{{0,8}}(?P<{name}>\d{{1,15}})(?:/\s{{0,8}}(?P<{name}s>\d{{1,15}}))?\s{{0,8}}\]?"


EPOCH = counter("epoch")
STEP = counter("step")


def named(found: re.Match[str]) -> Mapping[str, Optional[str]]:
    """Every named group of a match, or of what stands for one (see `templates`)."""
    return found if isinstance(found, dict) else found.groupdict()


def number(text: Optional[str]) -> Optional[float]:
    """The number in a text that NUM, ARRAY, TENSOR or LOSS matched; None for None and for words like `unavailable`."""
    if text is None:
        return None
    found = _IN_TENSOR.search(text) if "value=" in text else None
    if found is not None:
        return float(found.group(1))
    plain = _NUMBER.search(text)
    return float(plain.group()) if plain is not None else None


def real(text: Optional[str]) -> Optional[float]:
    """Like `number`, but the capital literal `NaN` means "no value on this rank" (MindFormers 2.x), not a NaN."""
    return None if text is not None and "NaN" in text else number(text)


def truth(text: str) -> float:
    """1.0 for a text that says True, 0.0 otherwise."""
    return 1.0 if "True" in text else 0.0


def pairs(text: str) -> Dict[str, float]:
    """The numbers of a printed dictionary by their names; values that are no numbers are left out."""
    return {name: float(value) for name, value in _PAIR.findall(text)}


def elements(text: str) -> List[float]:
    """The numbers of a printed array; an ellipsis is skipped."""
    return [float(each.group()) for each, _count in zip(_NUMBER.finditer(text), range(MOST_ELEMENTS))]


def same(one: float, other: float) -> bool:
    """Equal, or both NaN."""
    return one == other or (math.isnan(one) and math.isnan(other))
