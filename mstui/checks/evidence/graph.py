"""Evidence from the network graph: what feeds what."""

from __future__ import annotations

import re
from typing import Mapping, Optional, Tuple

from mstui.checks.evidence_base import UNKNOWN, Family, no, yes
from mstui.checks.graph import Node
from mstui.checks.view import View
from mstui.i18n import _
from mstui.knowledge.ranking import Observation

STATE = re.compile(r"^(?:moments?\d?|moment[12]|adam_[mv]|accum\d?|stat|exp_avg(?:_sq)?|vhat|velocity|state)\.")
"""Prefixes that MindSpore's optimizers give to what they keep for a parameter."""
SOFTMAX = ("Softmax", "LogSoftmax", "SoftmaxV2", "LogSoftmaxV2")
WITH_SOFTMAX = (*SOFTMAX, "SparseSoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits")
OWN_SOFTMAX = "CrossEntropy"
"""In the scope of a loss Cell that takes logits; in PyTorch's manner it is made of exponentials and sums."""
PASSING = ("Load", "Cast", "Reshape", "TensorMove", "Depend", "Squeeze", "ExpandDims")
"""Operations that hand values on as they are."""
DEEPEST = 8
"""Such operations followed in a row."""


def disconnected(view: View) -> Optional[Tuple[str, ...]]:
    """Trained parameters that no node of the forward pass reads; None without a graph that tells what is trained."""
    stateful = {STATE.sub("", name) for name in view.graph_parameters if STATE.search(name)}
    trained = [name for name in view.graph_parameters if name in stateful]
    if not trained or not view.graph:
        return None
    read = {name for node in view.graph if node.forward for name in node.inputs}
    return tuple(name for name in trained if name not in read)


def _disconnected(view: View) -> Observation:
    loose = disconnected(view)
    if loose is None:
        return UNKNOWN
    return yes(_("{layer} feeds nothing; {n} such"), {"layer": loose[0]}, n=len(loose)) if loose else no()


def _twice(view: View) -> Observation:
    """A softmax whose result goes into another one, or into a loss that makes its own."""
    forward = {node.name: node for node in view.graph if node.forward}
    outer = [node for node in forward.values() if node.operation in WITH_SOFTMAX or OWN_SOFTMAX in node.scope]
    if not outer:
        return UNKNOWN
    for node in outer:
        inner = _source(forward, node)
        if inner is not None and inner.operation in SOFTMAX and OWN_SOFTMAX not in inner.scope:
            return yes(_("{inner} before {outer}"), {"inner": inner.scope, "outer": node.scope})
    return no()


def _source(forward: Mapping[str, Node], node: Node) -> Optional[Node]:
    """What a node's first input comes from."""
    found = forward.get(node.inputs[0]) if node.inputs else None
    for _step in range(DEEPEST):
        if found is None or found.operation not in PASSING or not found.inputs:
            return found
        found = forward.get(found.inputs[0])
    return found


FAMILY = Family("graph", {"graph-disconnected": _disconnected, "script-softmax": _twice})
