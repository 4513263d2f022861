"""The nodes of MindSpore's network graph: what reads what. Parameters themselves are mstui.formats.payloads' part.

Reads the few fields that evidence asks for and holds no attribute or constant. A graph that is no graph is empty.
"""

from __future__ import annotations

from typing import List, NamedTuple, Tuple

from mstui.formats.wire import BYTES, Malformed, fields

MOST_NODES = 200_000
"""Nodes read of one graph; a network of a thousand layers has some ten thousand."""
LONGEST = 512
"""Bytes of a name that are kept."""
NODE, INPUT, NAME, OPERATION, SCOPED = 1, 1, 2, 3, 8
"""Field numbers of GraphProto's nodes, and of a node's inputs, name, operation and full name (anf_ir.proto)."""
BACKWARD, OPTIMIZER = "Gradients/", "/optimizer-"


class Node(NamedTuple):
    """One operation."""

    name: str
    operation: str
    """such as "MatMul" """
    scope: str
    """the full name, with the Cells that it belongs to"""
    inputs: Tuple[str, ...]
    """names of nodes, parameters and constants"""

    @property
    def forward(self) -> bool:
        """Does it belong to the forward pass: neither to the backward one nor to the optimizer?"""
        return not self.scope.startswith(BACKWARD) and OPTIMIZER not in self.scope


def nodes(data: bytes) -> Tuple[Node, ...]:
    """The nodes of a GRAPH payload in its order; empty when it is none."""
    found: List[Node] = []
    try:
        for number, wire, at, length in fields(data, 0, len(data)):
            if number == NODE and wire == BYTES and len(found) < MOST_NODES:
                found.append(_node(data, at, at + length))
    except (Malformed, IndexError):
        return ()
    return tuple(found)


def _node(data: bytes, begin: int, end: int) -> Node:
    texts = {NAME: "", OPERATION: "", SCOPED: ""}
    inputs: List[str] = []
    for number, wire, at, length in fields(data, begin, end):
        if wire != BYTES:
            continue
        if number == INPUT:
            inputs += [_text(data, to, size) for field, kind, to, size in fields(data, at, at + length)
                       if field == 1 and kind == BYTES]  # fmt: skip
        elif number in texts:
            texts[number] = _text(data, at, length)
    return Node(texts[NAME], texts[OPERATION], texts[SCOPED], tuple(inputs))


def _text(data: bytes, at: int, length: int) -> str:
    return data[at : at + min(length, LONGEST)].decode("utf-8", "backslashreplace")
