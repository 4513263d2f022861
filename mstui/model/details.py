"""What one payload holds, beyond histograms: taken out when a person opens its tag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Tuple

from mstui.model.histogram import HistogramStats
from mstui.model.records import BlobKind
from mstui.model.runs import Fact


@dataclass(frozen=True)
class PayloadDetails:
    """One payload, decoded as far as a person can read it. Texts are the file's own: not safe to show as they are."""

    kind: BlobKind
    tag: str
    step: int
    wall_time: float
    size: int
    """bytes in the file"""
    texts: Tuple[str, ...] = ()
    """TEXT: the strings. GRAPH: parameter names in network order. DATASET_GRAPH: operations, source last"""
    shape: Tuple[int, ...] = ()
    """TENSOR"""
    stats: Optional[HistogramStats] = None
    """TENSOR: its figures"""
    head: Tuple[float, ...] = ()
    """TENSOR: first elements"""
    facts: Optional[Mapping[str, Fact]] = None
    """lineage of every kind"""
    problem: str = ""
    """why nothing more can be told; empty when all is well"""
