"""Finding the first wrong place in an ordered list by halving: it keeps both ends, names the next and takes the answer.

It supposes that what lies behind the first wrong place is wrong as well. It runs nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional, Tuple

from mstui.knowledge.schema import Assist, Passage
from mstui.safe_text import safe

PLACE = "{place}"
PLACE_LIMIT = 80
"""Characters of a place's name that go into a snippet; longer ones are cut"""


@dataclass(frozen=True)
class Bisection:
    """The search so far. `good` and `bad` are positions in `places`; -1 and len(places) lie outside."""

    places: Tuple[str, ...]
    """names of operators or blocks, in the order in which they are computed (backwards: seen from the loss)"""
    good: int = -1
    """the last place known to agree"""
    bad: Optional[int] = None
    """the first place known to differ; None: none yet"""

    @property
    def next_at(self) -> Optional[int]:
        """Position to look at next, None when the search is over."""
        end = len(self.places) if self.bad is None else self.bad
        if end - self.good <= 1:
            return None
        if self.bad is None and self.good < 0:
            return end - 1  # the last place first: if it agrees, all do
        return (self.good + end) // 2

    @property
    def next_place(self) -> str:
        """Name of the place to look at next; empty when the search is over."""
        at = self.next_at
        return "" if at is None else self.places[at]

    @property
    def over(self) -> bool:
        """Whether nothing is left to look at."""
        return self.next_at is None

    @property
    def found(self) -> str:
        """The first place that differs; empty while searching, and when all agree."""
        return self.places[self.bad] if self.over and self.bad is not None else ""

    @property
    def steps_left(self) -> int:
        """Looks that are needed at most."""
        last = len(self.places) - 1
        if self.bad is not None:
            return max(self.bad - self.good - 1, 0).bit_length()
        # the last place is looked at first: without a difference there, there is none to be found
        return 1 + max(last - self.good - 1, 0).bit_length() if self.good < last else 0

    def answer(self, *, agrees: bool) -> Bisection:
        """The search after a look at `next_place`. Raises ValueError when it is over."""
        at = self.next_at
        if at is None:
            message = "the search is over"
            raise ValueError(message)
        return replace(self, good=at) if agrees else replace(self, bad=at)


def snippet(passage: Passage, place: str, version: str = "") -> str:
    """The code of an assist's passage for one place and one MindSpore version."""
    named = safe(place, PLACE_LIMIT).replace("\\", "/").replace("'", "").replace('"', "")
    return passage.at(version).code.replace(PLACE, named)


def both_snippets(assist: Assist, place: str, version: str = "") -> Tuple[str, str]:
    """What to put into the script, and into the reference."""
    return snippet(assist.here, place, version), snippet(assist.reference, place)
