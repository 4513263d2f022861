"""What is known of a run besides its curves: lineage, declared facts, the data set graph, the parameters' order.

Payloads come from files and are decoded when they arrive; one that cannot be decoded is counted, not raised.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Callable, Dict, Mapping, Optional

from mstui.model.batch import Batch
from mstui.model.records import BlobKind
from mstui.model.runs import Fact, positive

ReadRange = Callable[[str, int, int], Optional[bytes]]
"""(path, offset, length) -> bytes, or None when the file is no longer the one that was indexed"""

LINEAGE_KINDS = (
    BlobKind.DATASET_GRAPH,
    BlobKind.CUSTOM_LINEAGE,
    BlobKind.TRAIN_LINEAGE,
    BlobKind.EVALUATION_LINEAGE,
)
"""in the order in which a training writes them; later facts win"""

_WRITTEN_AT_THE_END = (BlobKind.TRAIN_LINEAGE, BlobKind.EVALUATION_LINEAGE)

CUSTOM = "custom/"
"""Prefix that formats.payloads gives to the keys of custom lineage."""
_PLANNED = ("planned_steps", "total_steps", "max_steps", "train_steps")
"""names under which people and recorders declare the length of a training in steps"""


@dataclass
class RunFacts:
    """Facts of one run. Written by the monitor thread only; `merged` is replaced, never changed."""

    merged: Mapping[str, Fact] = field(default_factory=dict)
    declared: Mapping[str, Fact] = field(default_factory=dict)
    """what text logs say; lineage wins"""
    lineage: Mapping[str, Fact] = field(default_factory=dict)
    while_running: Mapping[str, Fact] = field(default_factory=dict)
    """of `merged`, what can be known before the training ends: judged by it, a run gives the same whenever it is
    looked at"""
    ended_at: float = 0.0
    """wall_time of the newest train_lineage, which MindSpore writes at a normal end only"""
    undecodable: int = 0
    _early: Mapping[str, Fact] = field(default_factory=dict)

    def take(self, kind: BlobKind, payload: bytes, wall_time: float) -> None:
        """Decode one lineage payload and merge what it says."""
        from mstui.formats import payloads  # many runs have no lineage

        try:
            found = payloads.lineage_facts(kind, payload)
        except payloads.PayloadError:
            self.undecodable += 1
            return
        self.lineage = {**self.lineage, **found}
        if kind not in _WRITTEN_AT_THE_END:
            self._early = {**self._early, **found}
        if kind is BlobKind.TRAIN_LINEAGE:
            self.ended_at = max(self.ended_at, wall_time)
        self._merge()

    def declare(self, found: Mapping[str, Fact]) -> None:
        """Merge what the text of a log declares; a later word replaces an earlier one."""
        self.declared = {**self.declared, **found}
        self._merge()

    def _merge(self) -> None:
        self.merged = _with_plan({**self.declared, **self.lineage})
        self.while_running = _with_plan({**self.declared, **self._early})


def _with_plan(facts: Dict[str, Fact]) -> Mapping[str, Fact]:
    planned = planned_steps(facts)
    if planned is not None:
        facts["planned_steps"] = planned
    return facts


def take_lineage(facts: RunFacts, batch: Batch, read_range: ReadRange) -> None:
    """Take what the payloads of a batch say. They are small, and read once."""
    for refs in batch.blobs:
        if refs.kind not in LINEAGE_KINDS:
            continue
        for wall_time, offset, length in zip(refs.wall_times.tolist(), refs.offsets.tolist(), refs.lengths.tolist()):
            payload = read_range(batch.file.path, offset, length)
            if payload is None:
                facts.undecodable += 1
            else:
                facts.take(refs.kind, payload, wall_time)


def steps_per_epoch(facts: Mapping[str, Fact]) -> Optional[float]:
    """Steps of one epoch, where lineage or a declaration tells; None otherwise."""
    declared = _declared(facts, "steps_per_epoch")
    if declared is not None:
        return declared
    size, batch = positive(facts.get("train_dataset_size")), positive(facts.get("batch_size"))
    return size / batch if size is not None and batch is not None else None


def planned_steps(facts: Mapping[str, Fact]) -> Optional[int]:
    """Length of the whole training in steps, where it is declared or follows from lineage; None otherwise."""
    for name in _PLANNED:
        declared = _declared(facts, name)
        if declared is not None:
            return int(declared)
    epochs, per_epoch = positive(facts.get("epoch")), steps_per_epoch(facts)
    return int(epochs * per_epoch) if epochs is not None and per_epoch is not None else None


def _declared(facts: Mapping[str, Fact], name: str) -> Optional[float]:
    """What a person or a recorder has declared under this name, as custom lineage or by a setting."""
    found = positive(facts.get(f"{CUSTOM}{name}"))
    return found if found is not None else positive(facts.get(name))
