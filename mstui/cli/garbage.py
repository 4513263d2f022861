"""The cycle collector waits while the program starts, and afterwards looks at each object about once.

Of the hundred thousand objects that imports and the first picture make, one in seventy is garbage, but each pass looks
at all of them: a seventh of the time to the first picture. Afterwards they are left out of every pass, and so is
whatever a whole pass has found alive: while a run of a thousand ranks is read and judged, half a million objects are
made that stay, and passes over all of them would hold up every thread, the one that answers keys too, for up to 85 ms
at a time. Seldom one pass does look at everything, for what has become garbage since it was left out.

It frees nothing itself, and whoever forgets to release loses speed, not memory.
"""

from __future__ import annotations

import gc
from typing import Dict

MOST_OBJECTS = 1_000_000
"""new objects after which a pass is due even during the start: about 100 MiB"""
WHOLE_EVERY = 256
"""Whole passes of which one looks at what was left out, too: with a thousand ranks that record every second ten minutes
or more. What ends in between frees itself, but for the few objects that refer to each other."""

_USUAL = gc.get_threshold()
_OLDEST = 2
"""the generation of a whole pass"""


class _LeaveOut:
    """Called at both ends of every pass."""

    def __init__(self) -> None:
        self._passes = 0

    def __call__(self, phase: str, info: Dict[str, int]) -> None:
        if info["generation"] != _OLDEST:
            return
        if phase == "stop":
            gc.freeze()
            return
        self._passes += 1
        if self._passes % WHOLE_EVERY == 0:
            gc.unfreeze()


def hold() -> None:
    """No pass as long as the start is an ordinary one."""
    gc.set_threshold(MOST_OBJECTS, *_USUAL[1:])


def release() -> None:
    """Passes as always from now on, over what is made from now on."""
    gc.freeze()
    gc.callbacks.append(_LeaveOut())
    gc.set_threshold(*_USUAL)
