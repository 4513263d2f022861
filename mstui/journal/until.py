"""For how long an acknowledgement holds, as a person types it: `30m`, `step 500`, `restart`, `worse`, `ever`.

The words are the same on the screen and in the shell, whatever the language: they are what is typed, not what is read.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Optional, Tuple

from mstui.i18n import _
from mstui.model.journal import FOR_EVER, Until, UntilKind

WORD = "until"
"""stands before it where a comment may stand before that"""
EXAMPLES = ("30m", "step 500", "restart", "worse", "ever")
"""one of each that can be typed"""
FORMS = ", ".join(EXAMPLES)
"""examples of all there is, for messages"""
MORE = ", ..."
"""ends a list of examples that does not name all"""

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_THOUSANDS = {"": 1, "k": 1000, "m": 1_000_000}
_TIME = re.compile(r"(\d{1,6})\s*([smhd])")
_STEP = re.compile(r"step\s*(\d{1,15})([km]?)")
_KINDS = {"ever": FOR_EVER, "restart": Until(UntilKind.RESTART), "worse": Until(UntilKind.WORSE)}


class Said(NamedTuple):
    """A comment, and for how long; no Until where what follows the word `until` cannot be understood."""

    comment: str
    until: Optional[Until]


def forms_by_length() -> Tuple[str, ...]:
    """FORMS, then ever shorter lists of examples: for where there is little room."""
    return (FORMS, *(", ".join(EXAMPLES[:left]) + MORE for left in range(len(EXAMPLES) - 1, 0, -1)))


def parse_until(text: str, now: float) -> Optional[Until]:
    """`30m` counts from `now` (Unix seconds). None for what is none of FORMS."""
    text = " ".join(text.casefold().split())
    if text in _KINDS:
        return _KINDS[text]
    time = _TIME.fullmatch(text)
    if time is not None:
        return Until(UntilKind.TIME, now + int(time[1]) * _UNITS[time[2]])
    step = _STEP.fullmatch(text)
    if step is not None:
        return Until(UntilKind.STEP, float(int(step[1]) * _THOUSANDS[step[2]]))
    return None


def parse_said(text: str, now: float) -> Said:
    """`known bad shard until step 500`: the last `until` counts; without one it is for ever."""
    words = text.split()
    at = next((i for i in range(len(words) - 1, -1, -1) if words[i].casefold() == WORD), None)
    if at is None:
        return Said(" ".join(words), FOR_EVER)
    return Said(" ".join(words[:at]), parse_until(" ".join(words[at + 1 :]), now))


def until_text(until: Until, clock: str) -> str:
    """In words. `clock`: the value of a time, as it should be written."""
    if until.kind is UntilKind.TIME:
        return _("until {time}").format(time=clock)
    if until.kind is UntilKind.STEP:
        return _("until step {step}").format(step=int(until.value))
    if until.kind is UntilKind.RESTART:
        return _("until the training is restarted")
    if until.kind is UntilKind.WORSE:
        return _("until it is twice as bad")
    return _("for ever")


def parse_snooze(text: str, now: float) -> Said:
    """`30m waits for the new shard`: how long first, then a comment; no Until where it does not begin with one."""
    words = text.split()
    for end in range(min(len(words), 2), 0, -1):
        until = parse_until(" ".join(words[:end]), now)
        if until is not None:
            return Said(" ".join(words[end:]), until)
    return Said(" ".join(words), None)
