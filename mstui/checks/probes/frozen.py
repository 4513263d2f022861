"""frozen: is what stands still frozen on purpose, or forgotten?"""

from __future__ import annotations

from mstui.checks.evidence.declared import untrained
from mstui.checks.evidence.weight import STATISTICS
from mstui.checks.measures import movement
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

TRAINED = "trained"
"""State of a parameter that the optimizer was given and that requires a gradient"""


def look(view: View) -> ProbeResult:
    """What a recorder found frozen or left out, and still weights, against what was declared."""
    declared = view.declared
    forgotten = untrained(view)
    if forgotten:
        if forgotten[0] in declared.left_out:
            sentence = mark("{layer} is not in the optimizer and was not declared as frozen; {n} such")
        else:
            sentence = mark("{layer} has requires_grad=False and was not declared as frozen; {n} such")
        return bad(sentence, layer=forgotten[0], n=len(forgotten))
    moved = {name: moves for name, moves in movement(view).items() if not STATISTICS.search(name)}
    still = [name for name, moves in moved.items() if not moves]
    still += [name for name in (*declared.not_trained, *declared.left_out) if name not in still]
    if not still:
        if moved:
            return ok(mark("all {total} recorded weights move"), total=len(moved))
        return unknown(mark("no weight has three records, and no list of parameters is recorded"))
    held = [name for name in still if not declared.is_frozen(name)]
    if not held:
        sentence = mark("{n} weights stand still, all of them declared as frozen")
        if len(still) == 1:
            sentence = mark("one weight stands still, declared as frozen")
        return ok(sentence, n=len(still))
    held.sort(key=lambda name: name not in view.layers)  # what the alert names goes first
    trained = {each.name for each in declared.parameters if each.state == TRAINED}
    if trained.issuperset(held):
        # Not frozen by requires_grad; a gradient may still be cut off in front of them, which no list shows.
        sentence = mark(
            "{layer} stands still, but the optimizer has it with requires_grad=True: look for stop_gradient"
        )
        return unknown(sentence, layer=held[0])
    if declared.frozen:
        return bad(mark("{layer} stands still and was not declared as frozen"), layer=held[0], n=len(held))
    if len(held) == len(moved):
        return bad(mark("all {total} recorded weights stand still"), total=len(moved))
    return bad(mark("{layer} stands still, and nothing is declared as frozen"), layer=held[0], n=len(held))


PROBE = Probe("frozen", look)
