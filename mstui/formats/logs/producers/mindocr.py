"""MindOCR: training lines with one or several learning rates, epoch means, `Performance: {...}`."""

from __future__ import annotations

import re
from typing import Dict, Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.values import EPOCH, NUM, STEP, pairs

_TRAIN = (
    rf"epoch: {EPOCH} step: {STEP}, loss: (?P<loss>{NUM})(?P<rates>(?:, lr(?:_\d{{1,3}})?: {NUM}){{0,20}})"
    rf", per step time: (?P<ms>{NUM}) ms, fps per card: (?P<fps>{NUM})"
)
_RATE = re.compile(rf", lr(?:_(\d{{1,3}}))?: ({NUM})")
_MEAN = (
    rf"epoch: {EPOCH}, loss: (?P<loss>{NUM}), epoch time: (?P<sec>{NUM}) s, per step time: {NUM} ms(?:"
    rf", fps per card: {NUM})?"
)
_EVAL = r"Performance: (?P<metrics>\{[^{}]{0,2000}\})"


def _train(found: re.Match[str], state: State) -> Reading:
    state.memory["per-step-time"] = 1.0
    place = state.steps.place(int(found["epoch"]), int(found["step"]), int(found["steps"]) if found["steps"] else None)
    state.plan(epochs=found["epochs"])
    values: Dict[str, Optional[float]] = {
        "loss": state.loss(float(found["loss"])),
        "step_time_ms": float(found["ms"]),
        "fps": float(found["fps"]),
        "epoch": float(found["epoch"]),
    }
    for group, value in _RATE.findall(found["rates"]):
        values[f"learning_rate/{group}" if group else "learning_rate"] = float(value)
    return Reading(place, values)


def _mean(found: re.Match[str], state: State) -> Reading:
    values = {"epoch_mean_loss": float(found["loss"]), "epoch_time_ms": float(found["sec"]) * 1000.0}
    return Reading(state.step_or(int(found["epoch"])), values, moves=False)


def _eval(found: re.Match[str], state: State) -> Reading:
    values = {f"eval/{name}": value for name, value in pairs(found["metrics"]).items()}
    return Reading(state.step_or(None), values, moves=False)


PRODUCER = Producer(
    "mindocr",
    (
        Shape((b"fps per card",), _TRAIN, _train),
        Shape((b", epoch time: ",), _MEAN, _mean),
        Shape((b"Performance: {",), _EVAL, _eval),
    ),
)
