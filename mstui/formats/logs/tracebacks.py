"""Python's tracebacks in a log: from "Traceback (most recent call last):" to the line that names the exception.

Other processes may write between the lines: what has a header or metrics of its own does not end a traceback.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Optional

from mstui.formats.logs.rules import EXCEPTION

MARK = "Traceback (most recent call last):"
CHAIN = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
MOST_LINES = 1000
"""Of one traceback; Python's recursion limit makes the longest honest ones."""

_ANY_NAME = re.compile(r"(?P<type>(?:\w{1,80}\.){1,10}\w{1,80}|[A-Z]\w{0,80})(?:: |:?\s{0,8}$)")


class Open(NamedTuple):
    """A traceback whose exception has not been read yet."""

    offset: int
    wall_time: Optional[float]
    rank: Optional[int]
    lines: int
    lost_log: bool
    """it is about a log line that could not be written, not about the training"""
    chained: bool
    """another exception came before"""


def begins(message: str) -> bool:
    """Does a traceback begin with this message (or behind a word or two, as MindFormers writes it)."""
    return message.rstrip().endswith(MARK) and not message.startswith((" ", "\t"))


def exception_of(text: str, *, metrics: bool) -> Optional[str]:
    """The type of the exception that a line inside a traceback names; None for the other lines."""
    found = EXCEPTION.match(text) or (None if metrics else _ANY_NAME.match(text))
    return found["type"] if found is not None else None
