"""weights-move: do the trainable weights move, and by a sane amount?"""

from __future__ import annotations

import numpy as np

from mstui.checks.evidence.weight import STARTS_AT_ZERO, STATISTICS, update_large, update_small
from mstui.checks.measures import movement, still_lately, update_sizes
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.detect.robust import median
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """Weights that never move first, then the size of the steps."""
    trained = {
        name: moves
        for name, moves in movement(view).items()
        if not view.declared.is_frozen(name) and not STATISTICS.search(name)
    }
    if not trained:
        return unknown(mark("no weight has three records"))
    still = [name for name, moves in trained.items() if not moves]
    still = still or [name for name, rests in still_lately(view).items() if rests and name in trained]
    if still:
        sentence = mark("{layer} does not move; {n} of {total} such")
        return bad(sentence, layer=still[0], n=len(still), total=len(trained))
    sizes = {name: each for name, each in update_sizes(view).items() if not STARTS_AT_ZERO.search(name.lower())}
    if not sizes:
        return ok(mark("all {total} recorded weights move; how far is not recorded"), total=len(trained))
    usual = median(np.array([median(each) for each in sizes.values()]))
    sentence = mark("a step changes a weight by {size:.2g} of its size, the most by {most:.2g}")
    most = max(float(each.max()) for each in sizes.values())
    sane = not update_small(view).value and not update_large(view).value
    return (ok if sane else bad)(sentence, size=usual, most=most)


PROBE = Probe("weights-move", look)
