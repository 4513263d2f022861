"""MindFormers' loss records with their bars, whole runs of them at once: what `producers.mindformers` reads one by one.

Only the shapes that are printed by the million: no extra losses, no missing learning rate. Anything else in the text
makes the pattern fail, and the line is read the slow way.
"""

from __future__ import annotations

import re
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from mstui.formats.logs.headers import Stamps
from mstui.formats.logs.producer import Bulk, BulkRows
from mstui.formats.logs.state import NEAR_ZERO, UNIT_SCALE, Fact, State
from mstui.formats.logs.steps import STEP_LIMIT
from mstui.model.logs import EventKind, LogLevel
from mstui.model.records import FloatArray, IntArray

# `(?:x|)` where `(?:x)?` would do: Python's engine sets up a loop for the second.
_HEAD = (
    rb"(?:\[INFO\] |)([\d: -]{19}),(\d{3}) "
    rb"(- mindformers[\w./-]{0,300}\[[\w./-]{1,200}|\[[\w./-]{1,200}):\d{1,7}\] (- INFO - |\w{1,80}: )"
)
_HEAD_AGAIN = rb"(?:\[INFO\] |)\1,\d{3} \3:\d{1,7}\] \4"
_FLOAT = rb"[-\dainf.]{1,30}"
_SMALL = rb"[\d.e-]{1,30}"
"""Wider than a number: what is none fails to convert, and the run is read the slow way."""
_RECORD = (
    rb"\{ Epoch:\[ {0,8}(\d{1,9})/ {0,8}(\d{1,9})\], step:\[ {0,8}(\d{1,15})/ {0,8}([1-9]\d{0,14})\], loss: {1,8}("
    + _FLOAT
    + rb")((?:, \w{1,60}loss: {1,12}"
    + _FLOAT
    + rb"){0,8}), per_step_time: (\d{1,12})ms, lr: \[?("
    + _SMALL
    + rb")\]?, overflow cond: (False|True|\[ ?True\]|\[False\]), loss_scale: \[?("
    + _SMALL
    + rb")\]?(?:, global_norm: \[?("
    + _FLOAT
    + rb")\]?|)(?:, train_throughput_per_npu: ("
    + _FLOAT
    + rb")T|)\n"
)
_BAR = rb" {1,8}\d{1,3}\.\d% {0,8}\|[^|]{0,160}\| (\d{1,12}\.\d{1,8}) samples/s/p {1,8}[\w ,:-]{1,40} \}\n"
_PATTERN = _HEAD + _RECORD + rb"(?:" + _HEAD_AGAIN + _BAR + rb"|)"
_PART = re.compile(rb", (\w+): +([^,]+)")
_STAMP, _MILLI = 0, 1
_EPOCH, _EPOCHS, _STEP, _STEPS, _LOSS, _PARTS, _TIME, _RATE, _OVERFLOW, _SCALE, _NORM, _TFLOPS, _SPEED = range(4, 17)
_MINUTE, _STAMP_SIZE = 16, 19
_ZERO, _NINE = ord("0"), ord("9")
_SHAPE = np.frombuffer(b"dddd-dd-dd dd:dd:dd", np.uint8)
_DIGITS = np.flatnonzero(ord("d") == _SHAPE)
_MARKS = np.flatnonzero(ord("d") != _SHAPE)


def _floats(column: Sequence[bytes]) -> FloatArray:
    if column[0] == column[-1] and column.count(column[0]) == len(column):
        return np.full(len(column), float(column[0]))
    return np.fromiter(map(float, column), np.float64, len(column))


def _ints(column: Sequence[bytes]) -> IntArray:
    if column[0] == column[-1] and column.count(column[0]) == len(column):
        return np.full(len(column), int(column[0]), np.int64)
    return np.fromiter(map(int, column), np.int64, len(column))


def _walls(stamps: Sequence[bytes], millis: Sequence[bytes], known: Stamps) -> Optional[FloatArray]:
    """Unix seconds; None when one of the stamps names no time."""
    signs: npt.NDArray[Any] = np.frombuffer(b"".join(stamps), np.uint8).reshape(len(stamps), _STAMP_SIZE)
    if (signs[:, _MARKS] != _SHAPE[_MARKS]).any() or (signs[:, _DIGITS] - _ZERO > _NINE - _ZERO).any():
        return None
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
    known = [each for each in column if each is not None]
    return (_floats(known) if known else np.empty(0)), np.array(rows, np.int64)


def _parts(column: Sequence[bytes]) -> List[Tuple[str, FloatArray, Optional[IntArray]]]:
    """The parts of the loss; ValueError where the rows do not name the same ones."""
    if not any(column):
        return []
    rows = [_PART.findall(each) for each in column]
    names = [name for name, _value in rows[0]]
    if len(set(names)) < len(names) or any([name for name, _value in row] != names for row in rows):
        raise ValueError(column[0])
    return [(name.decode("ascii"), _floats([row[at][1] for row in rows]), None) for at, name in enumerate(names)]


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
    if walls is None or not epochs.all() or float(epochs.max()) * float(per_epoch.max()) >= STEP_LIMIT:
        return None
    try:
        losses, times, rates = _floats(column[_LOSS]), _floats(column[_TIME]), _floats(column[_RATE])
        scales = _floats(column[_SCALE])
        others = [
            (tag, *_optional(column[number]))
            for tag, number in (("grad_norm/global", _NORM), ("tflops", _TFLOPS), ("samples_per_second", _SPEED))
        ]
        parts = _parts(column[_PARTS])
    except ValueError:
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
    shift = state.steps.place(*last) - (last[0] * last[2] + last[1])
    places = (epochs + (-1 if shift else 0)) * per_epoch + steps
    state.plan(epochs=column[_EPOCHS][-1].decode("ascii"))
    state.memory["per-step-time"] = 1.0
    flags = column[_OVERFLOW]
    if flags.count(b"False") == len(flags):
        overflows = np.zeros(len(flags), np.bool_)
    else:
        overflows = np.fromiter((b"T" in each for each in flags), np.bool_, len(flags))
    columns: List[Tuple[str, FloatArray, Optional[IntArray]]] = [
        ("loss", losses, rows),
        *parts,
        ("step_time_ms", times, None),
        ("learning_rate", rates, None),
        ("overflow", overflows.astype(np.float64), None),
        _scale(scales, state),
        *others,
        ("epoch", epochs.astype(np.float64), None),
    ]
    events = _streaks(overflows, groups, places, state)
    return BulkRows(places, walls, [each for each in columns if len(each[1])], events)


def _lines(groups: Sequence[Tuple[bytes, ...]]) -> int:
    return 2 * len(groups) - sum(each[_SPEED] is None for each in groups)


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
    lines=_lines,
    level=int(LogLevel.INFO),
    stamped=True,
    joins=True,
)
