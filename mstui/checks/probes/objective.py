"""objective: is this objective supposed to fall?"""

from __future__ import annotations

from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.detect.naming import Objective, objective_of
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

FALLING = ("descending", "signed")


def look(view: View) -> ProbeResult:
    """A declared class decides; else a name that says that it need not fall. A plain name says nothing."""
    said = view.declared.text("objective").strip().lower()
    if said:
        sentence = mark("declared as {objective}")
        return (ok if said in FALLING else bad)(sentence, objective=said)
    if view.loss is None:
        return unknown(mark("no loss is recorded"))
    if objective_of(view.loss.tag) in (Objective.DESCENDING, Objective.SIGNED):
        return unknown(mark("the name {tag} does not say, and nothing is declared"), tag=view.loss.tag)
    return bad(mark("by its name, {tag} need not fall"), tag=view.loss.tag)


PROBE = Probe("objective", look)
