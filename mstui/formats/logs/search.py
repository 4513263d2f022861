"""Which shapes match where in a message, each stretch of text claimed once. It takes no values and keeps no state."""

from __future__ import annotations

from typing import Any, Callable, List, Optional, Sequence, Tuple

from mstui.formats.logs.guards import Guards
from mstui.formats.logs.producer import AnyShape, Hit
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.templates import digit_blind, maybe_there

_AROUND = " \t{}|"
"""What may stand around metrics that make up a whole message."""


def _whole(message: str, hit: Hit) -> bool:
    """Does a match make up a message."""
    start, end = hit.start(), hit.end()
    return not ((start and message[:start].strip(_AROUND)) or (end < len(message) and message[end:].strip(_AROUND)))


Take = Callable[[Any, State], Optional[Reading]]
"""Reads a match."""


def takes(hits: Sequence[Tuple[AnyShape, Hit]]) -> List[Tuple[Take, Hit]]:
    """How each match is read."""
    return [(shape.take, hit) for shape, hit in hits]


class Search:
    """The shapes of all producers, and of a person's own."""

    def __init__(self, shapes: Sequence[AnyShape]) -> None:
        self.shapes = tuple(shapes)
        self._guards = Guards([((number, shape), shape.words) for number, shape in enumerate(shapes)])
        self._with_digits = [word for word in self._guards.words if not digit_blind(word)]
        self._whole_lines = any(shape.whole_line for shape in shapes)

    def may_differ(self, text: str) -> bool:
        """Could a line with other digits hold a guard that this one does not."""
        return any(maybe_there(word, text) for word in self._with_digits)

    def find(self, message: str, text: str) -> Tuple[List[Tuple[AnyShape, Hit]], bool, bool]:
        """Matches that claim no text twice, leftmost and longest first.

        Do they make up the whole message; would the same ones be found with other digits.
        """
        blind = True
        found: List[Tuple[int, int, int, AnyShape, Hit]] = []
        for number, shape in self._guards.present(text if self._whole_lines else message):
            blind = blind and shape.blind
            hits_here = shape.find(text if shape.whole_line else message)
            found += [(hit.start(), -hit.end(), number, shape, hit) for hit in hits_here]
        if not found:
            return [], False, blind
        found.sort(key=lambda each: each[:3])
        hits: List[Tuple[AnyShape, Hit]] = []
        until = 0
        for start, end, _number, shape, hit in found:
            if start >= until:
                until = -end
                hits.append((shape, hit))
        if len(hits) == 1 and not hits[0][0].whole_line:
            return hits, _whole(message, hits[0][1]), blind
        return hits, False, blind
