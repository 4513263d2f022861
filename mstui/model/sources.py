"""What a record of a training is, and which of several holds where they tell of the same step."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class SourceKind(IntEnum):
    """Where values come from, the most exact first: a summary holds float32, a log what somebody chose to print."""

    SUMMARY = 0
    TABLE = 1
    LOG = 2


class Source(NamedTuple):
    """One record of a training. Files of one source follow each other, and a step that falls is a restart.

    Several sources of one rank tell of the same steps and are merged by step: at a step that two of them have, the one
    that sorts first holds.
    """

    kind: SourceKind = SourceKind.SUMMARY
    name: str = ""
    """tells sources of one kind apart: what the path holds besides run and rank"""
    shared: bool = False
    """what a terminal shows: several processes may print there, and nothing tells whose a value is. It counts only
    where its rank has no log of its own with the tag and, beside a summary, where there is one rank only."""


SUMMARY = Source()
