"""Reads the end of a log before its history, though its lines tell steps of their epoch only.

What a line gives depends on the lines before it only by the state they leave behind. So the end is read with the state
that the history will most likely leave: what the beginning of the file has told, and the steps that an epoch has as the
end itself tells, where one epoch follows another. When the history has been read its state is compared, behind the
first line of the end: if they are equal there, every later line gives the same. It refuses to begin where the steps of
an epoch are not known, and says no afterwards unless the states are equal.
"""

from __future__ import annotations

import copy
from typing import Any, Callable, Dict, NamedTuple, Optional

from mstui.formats.logs.reader import Reader
from mstui.formats.logs.state import State
from mstui.formats.logs.steps import StepCounter

LINES_TRIED = 200
"""lines at the beginning of the end among which there must be one with a step and a loss"""
_OF_NO_WEIGHT = frozenset(("skipped", "facts", "before", "epochs", "planned_steps", "declared"))
"""fields of a state that no later value depends on"""

Read = Callable[[Reader, bytes, int], None]
"""reads whole lines that lie at an offset"""


class Foresight(NamedTuple):
    """A beginning in the middle of a file."""

    offset: int
    """of the line that is read first"""
    line: bytes
    state: State
    """to begin with"""
    behind: Dict[str, Any]
    """what matters of it behind that line"""


def foresee(head: bytes, data: bytes, base: int, make: Callable[[], Reader], read: Read) -> Optional[Foresight]:
    """Where among `data`, bytes from `base` on, reading may begin, and with which state; None where it may not.

    head: the beginning of the file. make: a reader that has read nothing.
    """
    early = make()
    read(early, head[: head.rfind(b"\n") + 1], 0)
    if early.names_ranks or early.state.last_step is None:
        return None  # whether the first epoch is number 0 or 1, the beginning tells
    seed = _seed(early.state, early.state.steps)
    begin, end = data.find(b"\n") + 1, data.rfind(b"\n") + 1
    for _line in range(LINES_TRIED):
        stop = data.find(b"\n", begin) + 1
        if not 0 < begin < stop:
            return None
        line = data[begin:stop]
        first = _after(seed, line, base + begin, make, read)
        if first is None:
            return None
        if first.last_step is not None and first.last_loss != State().last_loss:
            break
        begin = stop
    else:
        return None
    whole = _after(seed, data[begin:end], base + begin, make, read)
    if whole is None or not (whole.steps.per_epoch or whole.steps.in_first_epoch):
        return None
    seed = _seed(early.state, whole.steps)
    first = _after(seed, line, base + begin, make, read)
    return None if first is None else Foresight(base + begin, line, seed, _weight(first))


def was_right(foresight: Foresight, history: Reader, make: Callable[[], Reader], read: Read) -> bool:
    """Would the first line be read the same behind the history; `history` has come to where it begins."""
    if history.names_ranks:
        return False
    after = _after(history.state, foresight.line, foresight.offset, make, read)
    return after is not None and _weight(after) == foresight.behind


def _seed(early: State, steps: StepCounter) -> State:
    """A state with what the beginning of the file has told, and the steps of an epoch as somebody has counted them."""
    fresh = State()
    seed = copy.deepcopy(early)
    seed.steps = steps.between_epochs()
    seed.last_step, seed.last_wall, seed.last_loss = fresh.last_step, fresh.last_wall, fresh.last_loss
    seed.skipped, seed.facts, seed.before, seed.pending = {}, [], [], None
    return seed


def _after(state: State, data: bytes, offset: int, make: Callable[[], Reader], read: Read) -> Optional[State]:
    """The state behind these lines; None where they name ranks."""
    reader = make()
    reader.state = copy.deepcopy(state)
    read(reader, data, offset)
    return None if reader.names_ranks else reader.state


def _weight(state: State) -> Dict[str, Any]:
    found = {name: value for name, value in vars(state).items() if name not in _OF_NO_WEIGHT}
    found["steps"] = dict(vars(state.steps))
    return copy.deepcopy(found)
