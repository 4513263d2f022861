"""Collecting garbage waits for the end of the start, and then looks at each object about once."""

from __future__ import annotations

import subprocess
import sys

BEGIN = """
import gc
usual = gc.get_threshold()
from mstui.cli import garbage
garbage.hold()
assert gc.get_threshold()[0] == garbage.MOST_OBJECTS
garbage.release()
"""

PASSES_WAIT = """
assert gc.get_threshold() == usual
assert gc.get_freeze_count() > 1000
"""

LEFT_OUT = """
kept = [[] for _ in range(5000)]
gc.collect()
assert gc.get_freeze_count() > 6000
assert len(gc.get_objects()) < 1000, len(gc.get_objects())
"""

FREED = """
import weakref
class Ring: pass
ring = Ring(); ring.ring = ring
seen = weakref.ref(ring)
gc.collect()
del ring
for number in range(2, garbage.WHOLE_EVERY):
    gc.collect()
assert seen() is not None
gc.collect()
assert seen() is None
assert gc.get_freeze_count() > 1000
"""


def run(code: str) -> None:
    subprocess.run([sys.executable, "-c", BEGIN + code], check=True)  # freezing belongs to a process of its own


def test_passes_wait_during_the_start_and_leave_out_what_it_made() -> None:
    run(PASSES_WAIT)


def test_what_a_whole_pass_found_alive_is_not_looked_at_again() -> None:
    run(LEFT_OUT)


def test_what_refers_to_itself_and_ends_after_it_was_left_out_is_found_by_a_later_pass() -> None:
    run(FREED)
