"""Collecting garbage waits for the end of the start."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import gc
usual = gc.get_threshold()
from mstui.cli import garbage
garbage.hold()
assert gc.get_threshold()[0] == garbage.MOST_OBJECTS
garbage.release()
assert gc.get_threshold() == usual
assert gc.get_freeze_count() > 1000
"""


def test_passes_wait_during_the_start_and_leave_out_what_it_made() -> None:
    subprocess.run([sys.executable, "-c", CODE], check=True)  # in a process of its own: freezing cannot be undone
