"""What a text log holds besides metrics: where its records lie, and the events that a person must know of.

Texts are the file's own: not safe to show as they are. A record may span several lines, and one line may hold several
records (formats_logs, section 0).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any, Mapping, Optional

import numpy as np
import numpy.typing as npt

from mstui.model.records import IntArray

LevelArray = npt.NDArray[np.unsignedinteger[Any]]


class LogLevel(IntEnum):
    """Levels of MindSpore, CANN and Python loggers on one scale."""

    UNKNOWN = 0
    """a print, or a line without a header that continues no record"""
    DEBUG = 1
    INFO = 2
    WARNING = 3
    ERROR = 4
    CRITICAL = 5


@dataclass(frozen=True)
class LogRecords:
    """Where records begin in the file, in file order; a record ends where the next one begins."""

    offsets: IntArray
    """[n] byte offset of the first byte"""
    levels: LevelArray
    """[n] uint8, LogLevel"""


@dataclass(frozen=True)
class LogSteps:
    """Records that tell of a step of the training, in file order: from a point of a curve to its line and back."""

    steps: IntArray
    """[n] global step"""
    offsets: IntArray
    """[n] byte offset of the record"""


class EventKind(Enum):
    """Facts read from logs. What they mean for the training is judged elsewhere."""

    NAN_STOP = "nan-stop"
    OVERFLOW = "overflow"
    SCALE_ABORT = "scale-abort"
    NORM_STREAK = "norm-streak"
    SKIPPED_DATA = "skipped-data"
    NAN_WEIGHTS = "nan-weights"
    PROBE_ALERT = "probe-alert"
    SILENT_CORRUPTION = "silent-corruption"
    OUT_OF_MEMORY = "out-of-memory"
    HCCL_TIMEOUT = "hccl-timeout"
    DEVICE_LINK = "device-link"
    TASK_FAILED = "task-failed"
    ASCEND_CODE = "ascend-code"
    WORKER_EXIT = "worker-exit"
    PEER_CLOSED = "peer-closed"
    NODE_TIMEOUT = "node-timeout"
    JOB_FAILED = "job-failed"
    FAULT_TOLERANCE = "fault-tolerance"
    DATA_PIPELINE = "data-pipeline"
    LOG_LOST = "log-lost"
    TRACEBACK = "traceback"
    EXCEPTION = "exception"
    CHECKPOINT = "checkpoint"
    GRAPH_COMPILATION = "graph-compilation"
    RANK_MAP = "rank-map"
    STARTUP = "startup"


@dataclass(frozen=True)
class LogEvent:
    """One fact, said by one record."""

    kind: EventKind
    offset: int
    """byte offset of the record that says it"""
    length: int
    """bytes of the record, a whole traceback included"""
    text: str
    """the record's message without its header, cut to a bounded length"""
    wall_time: Optional[float]
    """from the record's own time stamp taken as local time; None when it has none"""
    step: Optional[int] = None
    """global step, where the record or the metrics before it tell"""
    rank_id: Optional[int] = None
    """where the record itself names a rank; the file's own rank otherwise applies"""
    code: str = ""
    """CANN error code, exit code or signal: what the event is keyed by"""
    fields: Mapping[str, str] = field(default_factory=dict)
    """named parts of the pattern that matched (pid, peer, file, ...)"""
