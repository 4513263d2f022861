"""What the recorder wrote, read back with mstui's own formats."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Dict, Mapping, Set

from mstui.formats import payloads
from mstui.formats.decoders import mindspore_lineage, mindspore_summary
from mstui.model.records import BlobKind
from mstui.model.runs import Fact

Recorded = Dict[int, Dict[str, float]]


def scalars(folder: Path) -> Recorded:
    """step -> tag -> value of every scalar in a folder, and no damage."""
    found: Recorded = {}
    for path in sorted(folder.glob("*_MS")):
        decoded = mindspore_summary.FORMAT.make_decoder(str(path)).decode(path.read_bytes(), 0, at_end=True)
        assert decoded.consumed == path.stat().st_size
        assert not decoded.faults
        for column in decoded.columns:
            for tag, row in zip(column.tags, column.values.tolist()):
                for step, value in zip(column.steps.tolist(), row):
                    found.setdefault(step, {})[tag] = value
    return found


def histograms(folder: Path) -> Dict[str, Set[int]]:
    """tag -> steps with a histogram that can be read."""
    found: Dict[str, Set[int]] = {}
    for path in sorted(folder.glob("*_MS")):
        content = path.read_bytes()
        for refs in mindspore_summary.FORMAT.make_decoder(str(path)).decode(content, 0, at_end=True).blobs:
            assert refs.kind is BlobKind.HISTOGRAM
            for step, offset, length in zip(refs.steps.tolist(), refs.offsets.tolist(), refs.lengths.tolist()):
                payloads.histogram(content[offset : offset + length], "mindspore", step, 0.0)  # raises when it cannot
                found.setdefault(refs.tag, set()).add(step)
    return found


def facts(folder: Path) -> Mapping[str, Fact]:
    """Lineage, merged."""
    found: Dict[str, Fact] = {}
    for path in sorted(folder.glob("*_lineage")):
        content = path.read_bytes()
        for refs in mindspore_lineage.FORMAT.make_decoder(str(path)).decode(content, 0, at_end=True).blobs:
            for offset, length in zip(refs.offsets.tolist(), refs.lengths.tolist()):
                found.update(payloads.lineage_facts(refs.kind, content[offset : offset + length]))
    return found


def close(found: float, wanted: float, size: float) -> bool:
    """Equal to what float32 sums can tell; size: the magnitude of what was summed."""
    if math.isnan(wanted):
        return math.isnan(found)
    return math.isclose(found, wanted, rel_tol=2e-4, abs_tol=1e-5 * max(size, 1e-4))
