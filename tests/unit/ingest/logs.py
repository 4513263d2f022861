"""Keeps what an ingestor gives of text logs, by content, as a store would."""

from __future__ import annotations

import time
from typing import Any, Dict, List, Tuple

from mstui.formats.base import Format
from mstui.ingest.ingestor import Ingestor
from mstui.model.batch import Batch, FileKey, Part
from mstui.model.runs import FileStatus
from mstui.registry import collect

FORMATS = collect("mstui.formats.decoders", "FORMAT", Format)


def line(step: int) -> bytes:
    """What LossMonitor prints: no time stamp, so only the values tell lines apart."""
    return f"epoch: 1 step: {step}, loss is {step / 7:.6f}\n".encode()


def lines(first: int, last: int) -> bytes:
    """One line a step, last included."""
    return b"".join(line(step) for step in range(first, last + 1))


class LogFollower:
    """An ingestor with a clock that the test moves, and what it gave."""

    def __init__(self, root: object, **options: Any) -> None:
        self.now = time.time()
        self.ingestor = Ingestor(str(root), FORMATS, **options)
        self.batches: List[Batch] = []
        self.steps_of: Dict[FileKey, Dict[Part, List[int]]] = {}
        self.walls_of: Dict[FileKey, Dict[Part, List[float]]] = {}
        self.places_of: Dict[FileKey, Dict[Part, List[int]]] = {}

    def look(self, after_s: float = 5.0) -> LogFollower:
        """Let time pass, scan, and look at everything until nothing is left to do."""
        self.now += after_s
        while not self.ingestor.scan(self.now, 60.0).complete:
            pass
        for run in self.ingestor.runs():
            self.ingestor.load(run.key)
        everything = True
        while not self.turn(60.0, everything=everything):
            everything = False
        return self

    def turn(self, budget_s: float, **options: Any) -> bool:
        """One turn of reading. True when nothing is left to do."""
        turn = self.ingestor.turn(self.now, budget_s, **options)
        for batch in turn.batches:
            self._add(batch)
        return turn.done

    def _add(self, batch: Batch) -> None:
        assert not batch.reset
        self.batches.append(batch)
        loss = [columns for columns in batch.columns if "loss" in columns.tags]
        news: Tuple[Tuple[Any, List[Any]], ...] = (
            (self.steps_of, [int(step) for columns in loss for step in columns.steps]),
            (self.walls_of, [float(wall) for columns in loss for wall in columns.wall_times]),
            (self.places_of, batch.log_records.offsets.tolist() if batch.log_records is not None else []),
        )
        for kept, values in news:
            parts = kept.setdefault(batch.file, {Part.HISTORY: [], Part.TAIL: []})
            if batch.drop_tail:
                parts[Part.TAIL] = []
            parts[batch.part] += values
            if batch.joined:
                parts[Part.HISTORY], parts[Part.TAIL] = parts[Part.HISTORY] + parts[Part.TAIL], []

    def steps(self) -> List[int]:
        """Of all contents, in the order of their keys."""
        return [step for key in sorted(self.steps_of) for part in Part for step in self.steps_of[key][part]]

    def contents(self) -> List[List[int]]:
        """Steps by content, in the order of their keys; contents without any are left out."""
        found = [[step for part in Part for step in self.steps_of[key][part]] for key in sorted(self.steps_of)]
        return [steps for steps in found if steps]

    def text(self, key: FileKey) -> bytes:
        """The bytes between the first record of a content and its end, by the places that were told."""
        offsets = [place for part in Part for place in self.places_of[key][part]]
        status = self.status(self.ingestor.log_path(key))
        return self.ingestor.read_log(key, offsets[0], status.consumed - offsets[0]) or b""

    def status(self, path: object) -> FileStatus:
        return next(status for status in self.ingestor.files() if status.path == str(path))

    def faults(self) -> List[str]:
        return [fault.kind.value for status in self.ingestor.files() for fault in status.faults]
