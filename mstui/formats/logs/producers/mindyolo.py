"""MindYOLO: loss lines with the parts of the loss, step times, scaler notices, accuracy.

Static scaling is its default: "still update" repeats with one scale. Only the notice that names a step gives a point.
"""

from __future__ import annotations

import re
from typing import Dict, Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Fact, Reading, State
from mstui.formats.logs.templates import Pairs
from mstui.formats.logs.values import NUM
from mstui.model.logs import EventKind

_PLACE = r"Epoch (?P<epoch>\d{1,9})/(?P<epochs>\d{1,9}), Step (?P<step>\d{1,15})/(?P<steps>\d{1,15}), "
_TRAIN = (
    rf"{_PLACE}(?:imgsize \(\d{{1,6}}, \d{{1,6}}\), )?loss: (?P<loss>{NUM})(?P<more>(?:, \w{{1,40}}: {NUM}){{0,20}})"
)
_MORE = Pairs(rf", (\w{{1,40}}): ({NUM})")
_TIME = rf"{_PLACE}step time: (?P<ms>{NUM}) ms"
_DROP = rf"{_PLACE}accumulate: \d{{1,9}}, this step grad overflow, drop\. Loss scale adjust to (?P<scale>{NUM})"
_EVAL = rf"eval accuracy: (?P<acc>{NUM}), run_eval time: {NUM}"
_EPOCH_TIME = rf"Epoch \d{{1,9}}/\d{{1,9}}, epoch time: (?P<min>{NUM}) min"
_LR = "cur_lr"


def _place(found: re.Match[str], state: State) -> int:
    state.plan(epochs=found["epochs"])
    return state.steps.place(int(found["epoch"]), int(found["step"]), int(found["steps"]))


def _train(found: re.Match[str], state: State) -> Reading:
    values: Dict[str, Optional[float]] = {"loss": state.loss(float(found["loss"])), "epoch": float(found["epoch"])}
    for name, value in _MORE.find(found["more"]):
        values["learning_rate" if name == _LR else name] = float(value)
    return Reading(_place(found, state), values)


def _time(found: re.Match[str], state: State) -> Reading:
    state.memory["per-step-time"] = 1.0
    return Reading(_place(found, state), {"step_time_ms": float(found["ms"])})


def _drop(found: re.Match[str], state: State) -> Reading:
    step = _place(found, state)
    state.facts.append(Fact(EventKind.OVERFLOW, "", {"loss_scale": found["scale"]}, step))
    return Reading(step, {"overflow": 1.0, "loss_scale": state.scale(float(found["scale"]))})


def _eval(found: re.Match[str], state: State) -> Reading:
    return Reading(state.step_or(None), {"eval/accuracy": float(found["acc"])}, moves=False)


def _epoch_time(found: re.Match[str], state: State) -> Reading:
    return Reading(state.step_or(None), {"epoch_time_ms": float(found["min"]) * 60_000.0}, moves=False)


PRODUCER = Producer(
    "mindyolo",
    (
        Shape((b"step time:",), _TIME, _time),
        Shape((b"grad overflow, drop",), _DROP, _drop),
        Shape((b", Step ",), _TRAIN, _train),
        Shape((b"run_eval time",), _EVAL, _eval),
        Shape((b"epoch time: ",), _EPOCH_TIME, _epoch_time),
    ),
)
