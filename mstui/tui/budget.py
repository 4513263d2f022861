"""How many bytes a second the charts may cost while data come in. A token bucket; it sends and draws nothing.

A chart whose axis end moves is drawn anew as a whole. In a run's first minute, and with a thousand records a second,
that happens to all charts every few seconds: more than a slow link should carry. The bucket lets such pictures through
one after the other, the longest waiting first; what a person asked for is never held back.
"""

from __future__ import annotations

from typing import Callable

RATE = 1_250.0
"""Bytes a second in the long run, of everything that is sent: with BURST it stays below 1,500 over ten seconds."""
BURST = 2_200.0
"""Bytes that may be sent at once after a quiet time: two or three charts."""
PATIENCE_S = 4.0
"""Every so many seconds the longest waiting chart is drawn whatever the rest costs: pictures get old, never dead."""
LEAST_WHOLE = 150
"""Bytes from which a change of one chart is worth holding back; the newest point costs less."""


DEBT = 2_200.0
"""Bytes of debt at most: a key that repaints much must not stop whole charts for more than a few seconds."""


class LinkBudget:
    """Bytes to spend. What is sent is told to it, also what it was not asked for."""

    def __init__(self, monotonic: Callable[[], float], rate: float = RATE, burst: float = BURST) -> None:
        self._monotonic = monotonic
        self._rate, self._burst = rate, burst
        self._left = burst
        self._at = monotonic()

    def now(self) -> float:
        """Seconds on the clock that the budget is filled by."""
        return self._monotonic()

    def spend(self, number: int) -> None:
        """So many bytes were sent. The debt is bounded: a whole repaint must not stop the charts for minutes."""
        self._left = max(self.left - number, -DEBT)

    def allows(self, number: float, spent: float = 0.0) -> bool:
        """Is there room for so many bytes, after `spent` more? What is larger than the bucket needs a full one."""
        return self.left - spent >= min(number, self._burst)

    @property
    def left(self) -> float:
        """Bytes that may be sent now; negative while a debt is worked off."""
        now = self._monotonic()
        self._left = min(self._left + (now - self._at) * self._rate, self._burst)
        self._at = now
        return self._left
