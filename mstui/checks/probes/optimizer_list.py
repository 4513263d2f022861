"""optimizer-list: which parameters does the optimizer lack?"""

from __future__ import annotations

import re
from typing import Tuple

from mstui.checks.evidence.graph import STATE
from mstui.checks.evidence.weight import STATISTICS
from mstui.checks.measures import GRADIENT_NORMS, WEIGHT_NORMS
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

STATISTIC = "statistics"
"""State of a normalisation's running statistic, which no optimizer is given"""
NO_PARAMETER = re.compile(
    r"^(?:inputs?\d*|global_step|momentum|learning_rate|beta[12]_power|scale_sense|current_iterator_step"
    r"|last_overflow_iterator_step)$"
)


def look(view: View) -> ProbeResult:
    """A recorder's list, else the optimizer's state in the network graph, else weights without gradients."""
    declared = view.declared
    if declared.parameters:
        total = sum(each.state != STATISTIC for each in declared.parameters)
        frozen = tuple(name for name in declared.not_trained if not declared.is_frozen(name))
        if frozen and not declared.left_out:
            # Whether they were meant to be is another check's question; the optimizer does not update them.
            return unknown(mark("{layer} has requires_grad=False; {n} such"), layer=frozen[0], n=len(frozen))
        return _said(view, (*declared.left_out, *(n for n in declared.not_trained if n not in frozen)), total)
    names = view.graph_parameters
    held = {STATE.sub("", name) for name in names if STATE.search(name)}
    if held:
        own = [
            name
            for name in names
            if not STATE.search(name) and not NO_PARAMETER.search(name) and not STATISTICS.search(name)
        ]
        return _said(view, tuple(name for name in own if name not in held), len(own))
    weights = [each.parameter for each in view.of_statistic(*WEIGHT_NORMS)]
    gradients = {each.parameter for each in view.of_statistic(*GRADIENT_NORMS)}
    if weights and gradients:
        return _said(view, tuple(name for name in weights if name not in gradients), len(weights))
    return unknown(mark("neither a list of parameters nor gradients of single ones are recorded"))


def _said(view: View, lacking: Tuple[str, ...], total: int) -> ProbeResult:
    meant = [name for name in lacking if view.declared.is_frozen(name)]
    lacking = tuple(sorted((n for n in lacking if n not in meant), key=lambda name: name not in view.layers))
    if lacking:
        sentence = mark("{layer} is not in the optimizer; {n} of {total} such")
        return bad(sentence, layer=lacking[0], n=len(lacking), total=total)
    if not meant:
        return ok(mark("the optimizer has all {total} parameters"), total=total)
    return ok(
        mark("the optimizer has all {total} parameters but {n} that are frozen on purpose"), total=total, n=len(meant)
    )


PROBE = Probe("optimizer-list", look)
