"""What a decoder takes out of bytes: columns of scalars, and references to payloads that stay in the file.

A step is the training's own counter (int64), a wall_time is Unix seconds (float64), a tag is the name the training
gave. Values keep the width the writer used: float32 for MindSpore's scalars, float64 where a source has more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Tuple

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
ValueArray = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class ScalarColumns:
    """Scalars that were written together: n records, each holding one value of every tag.

    Rows are in file order. NaN and infinities are ordinary values here.
    """

    tags: Tuple[str, ...]
    steps: IntArray
    """[n]"""
    wall_times: FloatArray
    """[n], Unix seconds; not always rising (see formats_summary)"""
    values: ValueArray
    """[len(tags), n], float32 or float64"""

    @property
    def points(self) -> int:
        """Number of scalars held."""
        return int(self.values.size)


class BlobKind(Enum):
    """Payloads that are indexed when a file is read and decoded only when somebody looks."""

    HISTOGRAM = "histogram"
    TENSOR = "tensor"
    IMAGE = "image"
    TEXT = "text"
    GRAPH = "graph"
    LANDSCAPE = "landscape"
    TRAIN_LINEAGE = "train-lineage"
    EVALUATION_LINEAGE = "evaluation-lineage"
    DATASET_GRAPH = "dataset-graph"
    CUSTOM_LINEAGE = "custom-lineage"
    OTHER = "other"
    """A value kind that mstui knows of but has no use for (audio, session log, explain): counted, never decoded."""


@dataclass(frozen=True)
class BlobRefs:
    """Where the payloads of one tag lie in one file, in file order. Offsets are those of the protobuf submessage."""

    kind: BlobKind
    tag: str
    """empty for kinds that have no tag (graph, lineage)"""
    steps: IntArray
    wall_times: FloatArray
    offsets: IntArray
    """byte offset in the file of the payload's first byte"""
    lengths: IntArray
    """bytes"""
