"""Where each panel stands, for a size and a view. Pure arithmetic: a table of slots, no widgets.

Slots for panels that are not installed are left out and their room goes to the others, so a panel that is added later
(checks) takes its place without a change here.
"""

from __future__ import annotations

from typing import AbstractSet, Collection, List, NamedTuple, Tuple

WIDE = 110
"""columns from which there are two columns of panels"""
VERY_WIDE = 180
"""columns from which there are three"""
SIDE_WIDTH = 42
"""columns of the right-hand column when there are two"""
TREE_WIDTH = 32
"""columns of the left-hand column when there are three"""
DIAGNOSIS_WIDTH = 56
"""columns of the right-hand column when there are three"""
VITALS_HEIGHT = 13
"""rows of the vitals table at most: its title and twelve figures"""
LEAST_VITALS = 5
"""rows that the vitals keep though they need fewer: what comes below does not jump when a figure appears"""
SMALL_HEIGHT = 12
"""rows below which the frame (title rules) is given up"""
LEAST_SHARE = 4
"""rows below which a panel under the vitals is not worth its title"""
TINY_WIDTH, TINY_HEIGHT = 40, 10
"""below this only the vitals remain"""

VIEWS: Tuple[str, ...] = ("curves", "layers", "alerts", "log", "runs", "files", "ranks", "hardware")
CHIPS_HEIGHT = 19
"""rows for sixteen chips, what an Ascend server has: title, names of the columns, and one of the selected chip"""


class Slot(NamedTuple):
    """One panel's place in cells."""

    panel: str
    x: int
    y: int
    width: int
    height: int
    left_rule: bool = False
    compact: bool = False


class _Box(NamedTuple):
    x: int
    y: int
    width: int
    height: int
    left_rule: bool = False


def arrange(
    width: int, height: int, view: str, zoomed: str, available: AbstractSet[str], vitals_rows: int = VITALS_HEIGHT
) -> List[Slot]:
    """Slots for header, body, strip and footer; nothing overlaps and every cell of the screen belongs to one slot.

    vitals_rows: rows that the table of vitals needs, its title included; what it does not need goes to the others.
    """
    vitals_rows = max(min(vitals_rows, VITALS_HEIGHT), LEAST_VITALS)
    if height <= 1:
        return [Slot("header", 0, 0, width, height, compact=True)]
    header = Slot("header", 0, 0, width, 1, compact=width < TINY_WIDTH)
    if height < TINY_HEIGHT or width < TINY_WIDTH:
        return [header, Slot("vitals", 0, 1, width, height - 1, compact=True)]
    footer = Slot("footer", 0, height - 1, width, 1)
    body = _Box(0, 1, width, height - 2)
    slots = _middle(body, view, zoomed, available, vitals_rows)
    if "alerts" in available and all(slot.panel != "alerts" for slot in slots):
        body = body._replace(height=body.height - 1)
        slots = _middle(body, view, zoomed, available - {"alerts"}, vitals_rows)
        slots.append(Slot("strip", 0, body.y + body.height, width, 1))
    return [header, *slots, footer]


def _middle(body: _Box, view: str, zoomed: str, available: AbstractSet[str], vitals_rows: int) -> List[Slot]:
    """Everything between header and footer."""
    if zoomed in available:
        return _stack(body, ((zoomed, 1, 3),), available)
    if body.width >= VERY_WIDE:
        return _three_columns(body, view, available, vitals_rows)
    if body.width >= WIDE:
        return _two_columns(body, view, available, vitals_rows)
    return _one_column(body, view, available)


def _main_stack(view: str, height: int) -> Tuple[Tuple[str, int, int], ...]:
    """(panel, weight, least rows) of the middle for a view."""
    if view == "layers":
        return (("layers", 3, 6), ("histogram", 2, 8))
    if view == "runs":
        return (("runs", 1, 5), ("tags", 1, 5))
    if view == "files":
        return (("files", 1, 3),)
    if view == "ranks":
        return (("ranks", 3, 6), ("curves", 2, 8)) if height >= 30 else (("ranks", 1, 3),)
    if view == "hardware":
        return (("hardware", 1, CHIPS_HEIGHT), ("curves", 1, 8))
    if view == "alerts":
        return (("alerts", 2, 6), ("curves", 1, 8))
    if view == "log":
        return (("log", 2, 4), ("curves", 1, 8))
    if height >= 30:
        return (("curves", 5, 8), ("alerts", 1, 4), ("log", 1, 3))
    return (("curves", 1, 8),)


def _one_column(body: _Box, view: str, available: Collection[str]) -> List[Slot]:
    slots: List[Slot] = []
    if body.height >= SMALL_HEIGHT:
        slots.append(Slot("vitals", body.x, body.y, body.width, 1, compact=True))
        body = _Box(body.x, body.y + 1, body.width, body.height - 1)
    return slots + _stack(body, _main_stack(view, body.height), available)


def _two_columns(body: _Box, view: str, available: Collection[str], vitals_rows: int) -> List[Slot]:
    side = _Box(body.width - SIDE_WIDTH, body.y, SIDE_WIDTH, body.height, left_rule=True)
    main = _Box(0, body.y, body.width - SIDE_WIDTH, body.height)
    middle = _stack(main, _main_stack(view, body.height), available)
    free = set(available) - {slot.panel for slot in middle}
    lower = (("layers", 2, 6), ("histogram", 2, 10), ("checks", 2, 6), ("tags", 1, 6))
    return [*middle, *_side(side, vitals_rows, lower, free)]


def _three_columns(body: _Box, view: str, available: Collection[str], vitals_rows: int) -> List[Slot]:
    tree = _Box(0, body.y, TREE_WIDTH, body.height)
    side = _Box(body.width - DIAGNOSIS_WIDTH, body.y, DIAGNOSIS_WIDTH, body.height, left_rule=True)
    main = _Box(TREE_WIDTH, body.y, body.width - TREE_WIDTH - DIAGNOSIS_WIDTH, body.height, left_rule=True)
    if view == "files":
        middle: Tuple[Tuple[str, int, int], ...] = (("files", 1, 6), ("curves", 1, 8))
    elif view == "hardware":
        middle = (("hardware", 1, CHIPS_HEIGHT), ("curves", 1, 8))
    elif view == "ranks":
        middle = (("ranks", 1, 8), ("curves", 1, 10))
    elif view == "layers":
        middle = (("layers", 1, 8), ("curves", 1, 10))
    elif view in ("alerts", "log"):
        middle = ((view, 3, 8), ("curves", 2, 10))
    else:
        middle = (("curves", 3, 10), ("layers", 1, 8), ("alerts", 1, 4), ("log", 1, 4))
    free = set(available) - {panel for panel, _weight, _least in middle}
    return [
        *_stack(tree, (("runs", 2, 6), ("ranks", 2, 8), ("tags", 3, 6)), free),
        *_stack(main, middle, available),
        *_side(side, vitals_rows, (("hardware", 1, 6), ("histogram", 1, 10), ("checks", 2, 10)), free),
    ]


def _side(
    box: _Box, vitals_rows: int, parts: Tuple[Tuple[str, int, int], ...], available: Collection[str]
) -> List[Slot]:
    """The vitals on top with the rows they need, the others share what is left; nothing fits: all of it is theirs."""
    rows = min(vitals_rows, box.height)
    below = _Box(box.x, box.y + rows, box.width, box.height - rows, left_rule=box.left_rule)
    stack = _stack(below, parts, available) if below.height >= LEAST_SHARE else []
    rows = rows if stack else box.height
    return [Slot("vitals", box.x, box.y, box.width, rows, left_rule=box.left_rule), *stack]


def _stack(box: _Box, parts: Tuple[Tuple[str, int, int], ...], available: Collection[str]) -> List[Slot]:
    """Share the box's rows by weight; from the bottom, leave out what would get less than it needs."""
    wanted = [part for part in parts if part[0] in available]
    while len(wanted) > 1 and sum(part[2] for part in wanted) > box.height:
        wanted.pop()
    slots: List[Slot] = []
    y, left = box.y, box.height
    weights = sum(part[1] for part in wanted)
    for i, (panel, weight, least) in enumerate(wanted):
        later = sum(part[2] for part in wanted[i + 1 :])
        rows = left if i == len(wanted) - 1 else max(least, min(left - later, left * weight // weights))
        slots.append(Slot(panel, box.x, y, box.width, rows, left_rule=box.left_rule))
        y, left, weights = y + rows, left - rows, weights - weight
    return slots
