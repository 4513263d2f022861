"""frozen: is what stands still frozen on purpose, or forgotten?"""

from __future__ import annotations

from mstui.checks.evidence.weight import STATISTICS
from mstui.checks.measures import movement
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """Still weights, against what was declared, and what a recorder found not to need a gradient."""
    moved = {name: moves for name, moves in movement(view).items() if not STATISTICS.search(name)}
    still = [name for name, moves in moved.items() if not moves]
    still += [name for name in view.declared.not_trained if name not in still]
    if not still:
        if moved:
            return ok(mark("all {total} recorded weights move"), total=len(moved))
        return unknown(mark("no weight has three records, and no list of parameters is recorded"))
    forgotten = [name for name in still if not view.declared.is_frozen(name)]
    if not forgotten:
        return ok(mark("{n} weights stand still, all of them declared as frozen"), n=len(still))
    if view.declared.frozen:
        return bad(mark("{layer} stands still and was not declared as frozen"), layer=forgotten[0], n=len(forgotten))
    if len(forgotten) == len(moved):
        return bad(mark("all {total} recorded weights stand still"), total=len(moved))
    return bad(mark("{layer} stands still, and nothing is declared as frozen"), layer=forgotten[0], n=len(forgotten))


PROBE = Probe("frozen", look)
