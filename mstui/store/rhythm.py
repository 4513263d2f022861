"""How often a run records: facts for the header and for telling a stall from a slow run. Pure functions."""

from __future__ import annotations

from typing import Optional

import numpy as np

from mstui.model.records import FloatArray, IntArray

LATEST_TIME = 1e11
"""Unix seconds (the year 5138) from which on a wall time is no time. Neither is what is not above zero."""
CLOCK_SET_S = 86_400.0
"""Seconds between two records of one file from which on the clock was set: a machine without its own begins in 1970. As
a pause of this run it would keep a dead training LIVE for decades."""
RECENT = 512
"""Records looked at: a run whose rhythm changed is judged by what it does now."""


def step_gap(steps: IntArray) -> Optional[int]:
    """The most frequent rise between neighbouring records (the smaller one of equals); None when nothing rises."""
    rises = np.diff(steps[-RECENT:])
    rises = rises[rises > 0]
    if not len(rises):
        return None
    gaps, times = np.unique(rises, return_counts=True)
    return int(gaps[np.argmax(times)])


def record_interval(wall_times: FloatArray) -> Optional[float]:
    """Median seconds between neighbouring records, steps back of the clock left out; None when there is none."""
    recent = wall_times[-RECENT:]
    waits = np.diff(recent[(recent > 0.0) & (recent < LATEST_TIME)])
    waits = waits[waits >= 0.0]
    return float(np.median(waits)) if len(waits) else None
