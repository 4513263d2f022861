"""MindSpore's own callbacks, every version; tutorials and scripts that print in their words.

LossMonitor, TimeMonitor, evaluation results, learning rates. Times are milliseconds unless an `s` follows.
LossMonitor's steps begin anew with every epoch (see `steps`); the lines of BERT and GPT print global ones.
"""

from __future__ import annotations

import math
import re
from typing import Dict, Optional, Sequence, Tuple

import numpy as np

from mstui.formats.logs.headers import Stamps
from mstui.formats.logs.producer import Bulk, BulkRows, Producer, Shape
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.values import BOOL, EPOCH, LOSS, NUM, STEP, named, number, pairs, truth
from mstui.model.logs import LogLevel

_LOSS = (
    rf"(?P<global>local_rank: \d{{1,9}}"
    rf", )?[eE]poch:?\s{{0,8}}{EPOCH},?\s{{1,8}}step:?\s{{0,8}}{STEP}\s{{0,8}},?\s{{0,8}}"
    rf"(?:time: {NUM}, )?loss is:?\s{{1,8}}(?P<loss>{LOSS})"
    rf"(?:, (?:lr|learning_rate)(?: is|:|=) ?(?P<lr>{NUM}))?(?:, overflow(?: is|:|=) ?(?P<ovf>{BOOL}))?"
    rf"(?:, loss[_ ]scale(?: is|:|=) ?(?P<scale>{NUM}))?(?:, average time per step is (?P<ms>{NUM}))?"
)
_LOSS_BY_STEP = rf"(?<![\w:\]] )step: (?P<step>\d{{1,15}}), loss is (?P<loss>{LOSS})(?:, fps is (?P<fps>{NUM}))?"
_BERT = (
    rf"epoch: \d{{1,9}}(?:, current epoch percent: {NUM})?, step: (?P<step>\d{{1,15}}), outputs are "
    rf"(?P<loss>{LOSS})(?:, Tensor\([^)]{{0,80}}?value=\s{{0,8}}(?P<ovf>True|False)\))?"
    rf"(?:, (?P<scale>Tensor\([^)]{{0,80}}?value=\s{{0,8}}\[?\s{{0,8}}{NUM}\s{{0,8}}\]?\)))?"
)
_TIME = (
    rf"(?:(?P<mode>Train|Eval) )?(?:[Ee]poch(?P<colon>:)? ?time:?|Per sink_size step time:)\s{{0,8}}"
    rf"(?P<epoch>{NUM})(?: (?P<unit>ms|s))?"
    rf", per step time:?\s{{0,8}}(?P<step>{NUM})(?: (?P<unit2>ms|s))?(?: \(data time: (?P<data>{NUM}) ms\))?"
    rf"(?:, avg loss:?\s{{0,8}}(?P<avg>{NUM}))?"
)
_EVAL = (
    r"(?:Eval result:? epoch (?P<epoch>\d{1,9})(?:, metrics)?:|Eval result:|Evaluate Score:|[Mm]etrics?:|result:) ?"
    r"(?P<metrics>\{[^{}]{0,2000}\})"
)
_BARE_EVAL = (
    r"^\s{0,8}(?P<metrics>\{'(?!loss'|eval_|train_|grad_norm|learning_rate|errCode)\w{1,60}': [^{}]{0,2000}\})\s{0,8}$"
)
_REDUCE = rf"Epoch (?P<epoch>\d{{1,9}}): ReduceLROnPlateau reducing learning rate to (?P<lr>{NUM})"
_CHANGE = rf"At step (?P<step>\d{{1,15}}), learning_rate change to (?P<lr>{NUM})"
_NAN = (
    r"[Ii]n epoch: (?P<epoch>\d{1,9}) step: (?P<step>\d{1,15}), loss is NAN or INF|epoch: "
    r"(?P<epoch2>\d{1,9}) step: (?P<step2>\d{1,15})\. Invalid loss"
)


def _loss(found: re.Match[str], state: State) -> Reading:
    epoch, step = int(found["epoch"]), int(found["step"])
    per_epoch = int(found["steps"]) if found["steps"] else None
    place = step if found["global"] else state.steps.place(epoch, step, per_epoch)
    state.plan(epochs=found["epochs"])
    values: Dict[str, Optional[float]] = {"loss": state.loss(number(found["loss"])), "epoch": float(epoch)}
    if found["ovf"]:
        values["overflow"] = state.overflow(overflowed=truth(found["ovf"]) > 0.0, fields={}, step=place)
    values["learning_rate"] = number(found["lr"])
    values["loss_scale"] = state.scale(number(found["scale"]))
    values["step_time_ms"] = number(found["ms"])
    return Reading(place, values)


def _loss_by_step(found: re.Match[str], state: State) -> Reading:
    return Reading(int(found["step"]), {"loss": state.loss(number(found["loss"])), "fps": number(found["fps"])})


def _bert(found: re.Match[str], state: State) -> Reading:
    step = int(found["step"])
    values: Dict[str, Optional[float]] = {"loss": state.loss(number(found["loss"]))}
    if found["ovf"]:
        values["overflow"] = state.overflow(overflowed=truth(found["ovf"]) > 0.0, fields={}, step=step)
    values["loss_scale"] = state.scale(number(found["scale"]))
    return Reading(step, values)


def _time(found: re.Match[str], state: State) -> Reading:
    def milliseconds(value: str, unit: Optional[str]) -> float:
        return float(value) * (1000.0 if unit == "s" else 1.0)

    epoch, step = milliseconds(found["epoch"], found["unit"]), milliseconds(found["step"], found["unit2"])
    head = "eval/" if found["mode"] == "Eval" else ""
    values: Dict[str, Optional[float]] = {f"{head}epoch_time_ms": epoch}
    if not head:
        state.steps.finished(epoch, step)
    if head or not state.memory.get("per-step-time"):
        values[f"{head}step_time_ms"] = step
    values[f"{head}data_time_ms"] = number(found["data"])
    values["epoch_mean_loss"] = number(found["avg"])
    return Reading(state.step_or(None), values, moves=False)


def _eval(found: re.Match[str], state: State) -> Reading:
    epoch = named(found).get("epoch")
    values = {f"eval/{name}": value for name, value in pairs(found["metrics"]).items()}
    return Reading(state.step_or(int(epoch) if epoch else None), values, moves=False)


def _reduce(found: re.Match[str], state: State) -> Reading:
    return Reading(state.step_or(int(found["epoch"])), {"learning_rate": float(found["lr"])}, moves=False)


def _change(found: re.Match[str], _state: State) -> Reading:
    return Reading(int(found["step"]), {"learning_rate": float(found["lr"])}, moves=False)


def _nan(found: re.Match[str], state: State) -> Reading:
    epoch, step = found["epoch"] or found["epoch2"], found["step"] or found["step2"]
    return Reading(state.steps.place(int(epoch), int(step)), {"loss": math.nan, "epoch": float(epoch)})


def _bulk(groups: Sequence[Tuple[bytes, ...]], state: State, _stamps: Stamps, arrival: float) -> Optional[BulkRows]:
    columns = tuple(zip(*groups))
    epochs = np.fromiter(map(int, columns[0]), np.int64, len(groups))
    losses = np.fromiter(map(float, columns[2]), np.float64, len(groups))
    if not losses.all():
        return None
    steps = state.steps.place_many(epochs, np.fromiter(map(int, columns[1]), np.int64, len(groups)))
    state.last_loss = abs(float(losses[-1]))
    return BulkRows(
        steps,
        np.full(len(groups), arrival),
        (("loss", losses, None), ("epoch", epochs.astype(np.float64), None)),
    )


PRODUCER = Producer(
    "mindspore",
    (
        Shape((b"loss is",), _LOSS, _loss),
        Shape((b"outputs are",), _BERT, _bert),
        Shape((b", loss is",), _LOSS_BY_STEP, _loss_by_step),
        Shape((b"per step time",), _TIME, _time),
        Shape((b"result", b"Score:", b"etric"), _EVAL, _eval),
        Shape((b"{'",), _BARE_EVAL, _eval),
        Shape((b"ReduceLROnPlateau",), _REDUCE, _reduce),
        Shape((b"learning_rate change to",), _CHANGE, _change),
        Shape((b"NAN or INF", b"Invalid loss"), _NAN, _nan),
    ),
    Bulk(
        guards=(b"loss is",),
        pattern=rb"epoch: (\d{1,9}) step: (\d{1,15}), loss is (-?\d{1,12}\.\d{1,20}(?:e[-+]?\d{1,3})?|nan|-?inf)\n",
        read=_bulk,
        lines=len,
        level=int(LogLevel.UNKNOWN),
        stamped=False,
        joins=False,
    ),
)
