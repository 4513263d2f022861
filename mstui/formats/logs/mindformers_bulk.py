"""MindFormers' loss records with their bars, whole runs of them at once: what `producers.mindformers` reads one by one.

Only the shapes that are printed by the million: no extra losses, no missing learning rate. Anything else in the text
makes the pattern fail, and the line is read the slow way.
"""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from mstui.formats.logs.headers import Stamps
from mstui.formats.logs.producer import Bulk, BulkRows
from mstui.formats.logs.state import NEAR_ZERO, UNIT_SCALE, Fact, State
from mstui.formats.logs.steps import STEP_LIMIT
from mstui.model.logs import EventKind, LogLevel
from mstui.model.records import FloatArray, IntArray

_NAME = rb"(?:- mindformers[\w./-]{0,300}\[[\w./:-]{1,200}\] - INFO - |\[[\w./:-]{1,200}\] \w{1,80}: )"
_HEAD = rb"(?:\[INFO\] )?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) " + _NAME
_HEAD_AGAIN = rb"(?:\[INFO\] )?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} " + _NAME
_FLOAT = rb"-?\d{1,12}\.\d{1,20}|nan|-?inf"
_SMALL = rb"\d{1,12}(?:\.\d{0,20})?(?:e[-+]?\d{1,3})?"
_RECORD = (
    rb"\{ Epoch:\[ {0,8}(\d{1,9})/ {0,8}\d{1,9}\], step:\[ {0,8}(\d{1,15})/ {0,8}([1-9]\d{0,14})\], loss: {1,8}("
    + _FLOAT
    + rb"), per_step_time: (\d{1,12})ms, lr: \[?("
    + _SMALL
    + rb")\]?, overflow cond: (\[ True\]|\[?True\]?|\[?False\]?), loss_scale: \[?("
    + _SMALL
    + rb")\]?(?:, global_norm: \[?("
    + _FLOAT
    + rb")\]?)?(?:, train_throughput_per_npu: ("
    + _FLOAT
    + rb")T)?\r?\n"
)
_BAR = (
    rb" {1,8}\d{1,3}\.\d% {0,8}\|[^|\n\r\x00\x1b]{0,160}\| (\d{1,12}\.\d{1,8}) samples/s/p {1,8}[\w ,:-]{1,40} \}\r?\n"
)
_PATTERN = _HEAD + _RECORD + rb"(?:" + _HEAD_AGAIN + _BAR + rb")?"
_STAMP, _MILLI, _EPOCH, _STEP, _STEPS, _LOSS, _TIME, _RATE, _OVERFLOW, _SCALE, _NORM, _TFLOPS, _SPEED = range(13)
_MINUTE, _STAMP_SIZE = 16, 19
_ZERO = ord("0")


def _floats(column: Sequence[bytes]) -> FloatArray:
    return np.fromiter(map(float, column), np.float64, len(column))


def _ints(column: Sequence[bytes]) -> IntArray:
    return np.fromiter(map(int, column), np.int64, len(column))


def _walls(stamps: Sequence[bytes], millis: Sequence[bytes], known: Stamps) -> Optional[FloatArray]:
    """Unix seconds; None when one of the stamps names no time."""
    signs: npt.NDArray[Any] = np.frombuffer(b"".join(stamps), np.uint8).reshape(len(stamps), _STAMP_SIZE)
    minutes = signs[:, :_MINUTE]
    begins = [0, *(np.flatnonzero((minutes[1:] != minutes[:-1]).any(axis=1)) + 1).tolist(), len(stamps)]
    seconds = (signs[:, 17].astype(np.int64) - _ZERO) * 10 + signs[:, 18] - _ZERO
    if int(seconds.max()) > 60:
        return None
    out = np.empty(len(stamps), np.float64)
    for begin, end in zip(begins, begins[1:]):
        minute = known.minute(stamps[begin][:_MINUTE].decode("ascii"))
        if minute is None:
            return None
        out[begin:end] = minute
    walls: FloatArray = out + seconds + _floats(millis) / 1e3
    return walls


def _optional(column: Sequence[Optional[bytes]]) -> Tuple[FloatArray, Optional[IntArray]]:
    """Values and their rows, where a field may be missing."""
    if None not in column:
        return _floats(column), None  # type: ignore[arg-type]
    rows = [row for row, each in enumerate(column) if each is not None]
    return _floats([each for each in column if each is not None]), np.array(rows, np.int64)


def _known_losses(losses: FloatArray, state: State) -> Optional[IntArray]:
    """Rows with a loss, by the rule of `State.loss`; None where only line by line tells."""
    real = losses != 0.0
    if not state.loss_elsewhere:
        low = np.abs(losses[real]) < NEAR_ZERO
        if state.last_loss < NEAR_ZERO or low.any():
            return None
    state.skip("loss-zero", int(len(losses) - real.sum()))
    return np.flatnonzero(real)


def _read(groups: Sequence[Tuple[bytes, ...]], state: State, stamps: Stamps, _arrival: float) -> Optional[BulkRows]:
    column = list(zip(*groups))
    walls = _walls(column[_STAMP], column[_MILLI], stamps)
    epochs, steps, per_epoch = _ints(column[_EPOCH]), _ints(column[_STEP]), _ints(column[_STEPS])
    losses = _floats(column[_LOSS])
    if walls is None or not epochs.all() or float(epochs.max()) * float(per_epoch.max()) >= STEP_LIMIT:
        return None
    rows: Optional[IntArray] = None
    if not losses.all():
        rows = _known_losses(losses, state)
        if rows is None:
            return None
        losses = losses[rows]
    if len(losses):
        state.last_loss = abs(float(losses[-1]))
    last = int(epochs[-1]), int(steps[-1]), int(per_epoch[-1])
    first = state.steps.place(*last) - (last[0] * last[2] + last[1])
    places = (epochs + (0 if first == 0 else -1)) * per_epoch + steps
    state.memory["per-step-time"] = 1.0
    columns: List[Tuple[str, FloatArray, Optional[IntArray]]] = [
        ("loss", losses, rows),
        ("step_time_ms", _floats(column[_TIME]), None),
        ("learning_rate", _floats(column[_RATE]), None),
    ]
    overflows = np.fromiter((b"T" in each for each in column[_OVERFLOW]), np.bool_, len(groups))
    columns.append(("overflow", overflows.astype(np.float64), None))
    columns.append(_scale(_floats(column[_SCALE]), state))
    for tag, number in (("grad_norm/global", _NORM), ("tflops", _TFLOPS)):
        columns.append((tag, *_optional(column[number])))
    columns.append(("epoch", epochs.astype(np.float64), None))
    columns.append(("samples_per_second", *_optional(column[_SPEED])))
    events = _streaks(overflows, groups, places, state)
    return BulkRows(places, walls, [each for each in columns if len(each[1])], events)


def _scale(scales: FloatArray, state: State) -> Tuple[str, FloatArray, Optional[IntArray]]:
    """Loss scales from the first one that is not 1 on."""
    if state.scale_varied:
        return "loss_scale", scales, None
    varied = np.flatnonzero(scales != UNIT_SCALE)
    if not len(varied):
        return "loss_scale", scales[:0], None
    state.scale_varied = True
    rows = np.arange(varied[0], len(scales), dtype=np.int64)
    return "loss_scale", scales[rows], rows


def _streaks(
    overflows: npt.NDArray[np.bool_], groups: Sequence[Tuple[bytes, ...]], steps: IntArray, state: State
) -> List[Tuple[int, Fact]]:
    """An event for the first overflow of each streak."""
    before = np.concatenate(([state.overflowing], overflows[:-1]))
    out = []
    for row in np.flatnonzero(overflows & ~before).tolist():
        norm = groups[row][_NORM] or b""
        fields = {"loss_scale": groups[row][_SCALE].decode("ascii"), "grad_norm": norm.decode("ascii")}
        out.append((row, Fact(EventKind.OVERFLOW, "", fields, int(steps[row]))))
    state.overflowing = bool(overflows[-1])
    return out


BULK = Bulk(
    guards=(b"overflow cond:", b"per_step_time"),
    pattern=_PATTERN,
    read=_read,
    levels=(int(LogLevel.INFO), int(LogLevel.INFO)),
    joins=True,
)
