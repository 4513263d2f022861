"""What of a network is recorded: which parameters, which activations, and how small tensors are reduced together.

Pure: it sees names, shapes and classes' names, never a tensor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple, Union

Patterns = Union[None, bool, str, Sequence[str]]
"""None or True: all; False: none; a regular expression, or several of which one must be found in the name"""

MOST_PARAMETERS = 128
"""Parameters with statistics of their own, unless a person names more. 128 make about 60 KB a recorded step."""
MOST_ACTIVATIONS = 32
MOST_HISTOGRAMS = 8
SMALL = 1 << 16
"""Elements up to which tensors of one size are stacked and reduced together: below it a kernel's start costs more than
the copy."""
MOST_STACKED = 1 << 20
"""Elements of one stack: what a recorded step may need in memory for it, 4 MB."""
MOST_COPIED = 1 << 18
"""Elements of a weight that its change in a step is measured on; of a larger one every n-th."""

SATURATING: Dict[str, Tuple[float, float]] = {
    "Tanh": (-0.99, 0.99),
    "Sigmoid": (0.01, 0.99),
    "HSigmoid": (0.0, 1.0),
    "Hardsigmoid": (0.0, 1.0),
    "ReLU6": (-1.0, 6.0),
    "Hardtanh": (-1.0, 1.0),
    "Softsign": (-0.99, 0.99),
}
"""Activation class -> outputs at or beyond which its derivative is (nearly) zero"""
ACTIVATIONS = frozenset(
    (
        *SATURATING,
        *("ReLU", "LeakyReLU", "PReLU", "RReLU", "ELU", "CELU", "SeLU", "GELU", "FastGelu", "SiLU", "HSwish", "Mish"),
        *("Hardswish", "Softplus", "LogSigmoid", "HShrink", "SoftShrink"),
    )
)
"""Classes of mindspore.nn and mindspore.mint.nn that are recorded when nobody says which"""


def selected(names: Sequence[str], patterns: Patterns, most: int) -> Tuple[int, ...]:
    """Positions of the names that are recorded, in their order. Named ones have no limit, all of them have."""
    if patterns is False:
        return ()
    if patterns is None or patterns is True:
        return tuple(range(min(len(names), most)))
    wanted = [re.compile(text) for text in ([patterns] if isinstance(patterns, str) else patterns)]
    return tuple(index for index, name in enumerate(names) if any(pattern.search(name) for pattern in wanted))


@dataclass(frozen=True)
class Group:
    """Tensors that are reduced in one go."""

    members: Tuple[int, ...]
    size: int
    """elements of each"""
    rows: int = 0
    """rows of an embedding table, of which only the touched ones count; 0 for others"""


def grouped(shapes: Sequence[Tuple[int, ...]], tables: Sequence[bool] = ()) -> Tuple[Group, ...]:
    """Put small tensors of equal size together; large ones and embedding tables stay alone.

    tables[i]: is tensor i an embedding table. Empty tensors are in no group.
    """
    sizes = [_product(shape) for shape in shapes]
    groups: List[Group] = []
    open_groups: Dict[int, List[int]] = {}
    for index, size in enumerate(sizes):
        if not size:
            continue
        if tables and tables[index]:
            groups.append(Group((index,), size, shapes[index][0]))
        elif size > SMALL:
            groups.append(Group((index,), size))
        else:
            open_groups.setdefault(size, []).append(index)
    for size, members in open_groups.items():
        most = max(1, MOST_STACKED // size)
        groups.extend(Group(tuple(members[at : at + most]), size) for at in range(0, len(members), most))
    return tuple(sorted(groups, key=lambda group: group.members))


def order_of(groups: Sequence[Group]) -> Tuple[int, ...]:
    """Which tensor each column of the reduction belongs to."""
    return tuple(member for group in groups for member in group.members)


def stride_of(size: int) -> int:
    """Which elements of a weight of this size its change is measured on: every one, or every n-th."""
    return max(1, -(-size // MOST_COPIED))


def saturation(class_name: str) -> Optional[Tuple[float, float]]:
    """Outputs at or beyond which this activation hardly has a derivative; None when it does not saturate."""
    return SATURATING.get(class_name)


def _product(shape: Tuple[int, ...]) -> int:
    size = 1
    for length in shape:
        size *= length
    return size
