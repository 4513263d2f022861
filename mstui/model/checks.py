"""How a check that answers itself came out, and what a person can declare. Values only; nothing here looks at a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Mapping, Tuple

from mstui.i18n import mark
from mstui.model.alerts import Evidence, Number

CLASSES = "classes"
FIRST_LOSS = "first-loss"
TARGET = "target-metric"

FACTS: Mapping[str, str] = {
    CLASSES: mark("number of classes, or vocabulary size"),
    FIRST_LOSS: mark("first loss of the reference"),
    TARGET: mark("metric that should be reached"),
}
"""Figures that only a person knows: id to message id. Evidence and probes get them as a mapping from id to number."""


class ProbeState(Enum):
    """What a probe says of its check."""

    OK = "ok"
    """as expected"""
    BAD = "bad"
    """trouble found"""
    UNKNOWN = "unknown"
    """cannot be told from what was read; the sentence says what is missing"""


@dataclass(frozen=True)
class ProbeResult:
    """One probe's word. Its sentence is a message id with the numbers in its braces, so any language can say it."""

    state: ProbeState
    sentence: str
    numbers: Mapping[str, Number] = field(default_factory=dict)
    steps: Tuple[int, ...] = ()
    """steps of the training that it rests on, if it rests on few"""

    def say(self) -> str:
        """The sentence in the language spoken, safe to show."""
        return Evidence(self.sentence, self.numbers).say()
