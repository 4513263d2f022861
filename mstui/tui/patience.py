"""Which of the page's charts are shown as they are now, and which keep their last picture until the link has room.

It knows pictures as rows of text and the budget in bytes. What a chart means is not its business.
"""

from __future__ import annotations

from typing import Dict, List, Sequence, Tuple

from mstui.tui.budget import LEAST_WHOLE, PATIENCE_S, LinkBudget
from mstui.tui.lines import Row, changed_spans

Picture = Tuple[Row, ...]

CELL_BYTES, SPAN_BYTES, LOOK_BYTES = 2, 14, 9
"""What a changed cell costs on average (Braille three, a blank one), a span for its move, and a change of look."""


class Patience:
    """Entered (`with`) while a redraw is for new data only; outside of it every picture is shown at once."""

    def __init__(self, budget: LinkBudget, patience_s: float = PATIENCE_S) -> None:
        """`patience_s`: seconds after which a picture is shown whatever the rest costs."""
        self._budget = budget
        self._patience_s = patience_s
        self._active = False
        self._shown: Dict[str, Picture] = {}
        self._waiting: Dict[str, float] = {}
        """since when a chart has waited"""
        self._forced_at = float("-inf")

    def __enter__(self) -> None:
        self._active = True

    def __exit__(self, *_: object) -> None:
        self._active = False

    @property
    def holding(self) -> bool:
        """Some chart shows an older picture than there is."""
        return bool(self._waiting)

    def choose(self, drawn: Sequence[Tuple[str, Picture]], width: int, now: float) -> List[Picture]:
        """The pictures to show, in the order given; `width` is a picture's cells."""
        if not self._active:
            self._shown, self._waiting = dict(drawn), {}
            return [picture for _, picture in drawn]
        spent = 0.0
        here = dict(drawn)
        shown = {name: picture for name, picture in self._shown.items() if name in here}
        for name, picture in sorted(drawn, key=lambda each: self._waiting.get(each[0], now)):
            since, old = self._waiting.get(name, now), shown.get(name)
            cost = _cost(old, picture, width) if old is not None and len(old) == len(picture) else 0.0
            if cost >= LEAST_WHOLE and not self._budget.allows(cost, spent):
                if now - max(since, self._forced_at) < self._patience_s:
                    self._waiting[name] = since
                    continue
                self._forced_at = now
            spent += cost
            shown[name] = picture
            self._waiting.pop(name, None)
        self._shown = shown
        self._waiting = {name: since for name, since in self._waiting.items() if name in shown}
        return [shown[name] for name, _ in drawn]


def _cost(old: Picture, new: Picture, width: int) -> float:
    """Bytes of the change, about."""
    cost = 0.0
    for before, after in zip(old, new):
        if before != after:
            looks = LOOK_BYTES * len(after) / width
            cost += sum(SPAN_BYTES + (CELL_BYTES + looks) * length for _, length in changed_spans(before, after, width))
    return cost
