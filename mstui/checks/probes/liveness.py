"""liveness: is every rank still writing?"""

from __future__ import annotations

from typing import Dict

import numpy as np

from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.detect.robust import median
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

GAPS = 3.0
"""Usual gaps that the ranks may lie apart."""
SILENT_GAPS, SILENT_S = 30.0, 60.0
"""Usual gaps, and seconds, after which a training that should run is silent."""
LEAST = 3


def look(view: View) -> ProbeResult:
    """The newest record of each rank against the others' and against now."""
    ends: Dict[int, float] = {}
    usual: Dict[int, float] = {}
    for rank in view.ranks:
        own = [each for each in view.curves if each.rank_id == rank and len(each) >= LEAST]
        if own:
            busiest = max(own, key=len)
            apart = np.diff(busiest.walls)
            ends[rank] = max(float(each.walls[-1]) for each in own)
            usual[rank] = median(apart[apart > 0.0]) if bool((apart > 0.0).any()) else 0.0
    if not ends:
        return unknown(mark("no rank has {least} records"), least=LEAST)
    gap = median(np.array(list(usual.values())))
    newest = max(ends.values())
    late = [rank for rank, end in ends.items() if newest - end > GAPS * max(gap, 1.0)]
    if view.process.running is False:
        return bad(mark("the process is gone"))
    if late:
        return bad(
            mark("rank {rank} is {seconds:.0f} s behind the others"), rank=late[0], seconds=newest - ends[late[0]]
        )
    silent = view.now - newest if view.now > 0.0 else 0.0
    if view.process.running and len(ends) == 1 and silent > max(SILENT_GAPS * gap, SILENT_S):
        return unknown(mark("nothing was written for {seconds:.0f} s, and one rank alone is recorded"), seconds=silent)
    if view.process.running and silent > max(SILENT_GAPS * gap, SILENT_S):
        return bad(mark("the process runs, and nothing was written for {seconds:.0f} s"), seconds=silent)
    if view.process.running is None and silent > max(SILENT_GAPS * gap, SILENT_S):
        return unknown(
            mark("nothing was written for {seconds:.0f} s; the process cannot be seen from here"), seconds=silent
        )
    sentence = mark("{n} ranks write, the last record is {seconds:.0f} s old")
    if len(ends) == 1:
        sentence = mark("one rank writes, the last record is {seconds:.0f} s old")
    return ok(sentence, n=len(ends), seconds=max(silent, 0.0))


PROBE = Probe("liveness", look)
