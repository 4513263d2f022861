"""The cycle collector waits while the program starts.

Of the hundred thousand objects that imports and the first picture make, one in seventy is garbage, but each pass looks
at all of them: a seventh of the time to the first picture. Afterwards they are left out of every pass for good, so that
a pass never delays a key. It frees nothing itself, and whoever forgets to release loses speed, not memory.
"""

from __future__ import annotations

import gc

MOST_OBJECTS = 1_000_000
"""new objects after which a pass is due even during the start: about 100 MiB"""

_USUAL = gc.get_threshold()


def hold() -> None:
    """No pass as long as the start is an ordinary one."""
    gc.set_threshold(MOST_OBJECTS, *_USUAL[1:])


def release() -> None:
    """Passes as always from now on, over what is made from now on."""
    gc.freeze()
    gc.set_threshold(*_USUAL)
