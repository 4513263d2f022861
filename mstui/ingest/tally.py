"""Counts what was read from one file and keeps its faults, newest last, so that nothing is dropped silently."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from typing import Counter as CounterType
from typing import Deque, Iterable

from mstui.formats.base import Decoded
from mstui.model.faults import FaultKind, ReadFault

FAULTS_KEPT = 50
"""faults shown a file; all are counted"""


class FaultLog:
    """Faults in the order they were met. Adjoining stretches of damage are one fault."""

    def __init__(self) -> None:
        self.kept: Deque[ReadFault] = deque(maxlen=FAULTS_KEPT)
        self.count = 0

    def add(self, fault: ReadFault) -> None:
        """Add one, or lengthen the last one."""
        last = self.kept[-1] if self.kept else None
        if (
            last is not None
            and last.kind is fault.kind is FaultKind.DAMAGED
            and last.length
            and last.offset + last.length == fault.offset
        ):
            self.kept[-1] = replace(last, length=last.length + fault.length)
            return
        self.kept.append(fault)
        self.count += 1

    def extend(self, other: FaultLog) -> None:
        """Take over what another log holds."""
        for fault in other.kept:
            self.kept.append(fault)
        self.count += other.count


class Tally:
    """Figures of one part of a file."""

    def __init__(self) -> None:
        self.records = 0
        self.skipped_bytes = 0
        self.skipped_values: CounterType[str] = Counter()
        self.lines = 0
        """of a text log"""
        self.understood = 0
        """records of a text log that meant something"""
        self.measured = 0
        """values of metrics that a text log gave"""
        self.faults = FaultLog()

    def add(self, decoded: Decoded, lines: int, now: float) -> None:
        """Count what a decoder gave."""
        self.records += decoded.records
        if decoded.log_records is not None:
            self.lines += lines
            self.understood += decoded.log_understood
            self.measured += sum(columns.values.size for columns in decoded.columns)
            for of_rank in decoded.rank_columns.values():
                self.measured += sum(columns.values.size for columns in of_rank)
        self.skipped_values.update(decoded.skipped_values)
        self.add_faults(decoded.faults, now)

    def add_faults(self, faults: Iterable[ReadFault], now: float) -> None:
        """Count bytes that were lost; a decoder has no clock, so the time is put in here."""
        for fault in faults:
            self.skipped_bytes += fault.length
            self.faults.add(replace(fault, wall_time=now))

    def join(self, later: Tally) -> None:
        """Add the figures of the part that follows this one."""
        self.records += later.records
        self.lines += later.lines
        self.understood += later.understood
        self.measured += later.measured
        self.skipped_bytes += later.skipped_bytes
        self.skipped_values.update(later.skipped_values)
        self.faults.extend(later.faults)
