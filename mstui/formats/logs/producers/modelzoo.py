"""Official scripts of the model zoo: YOLO, MobileNet, R-CNN, face recognition and their relatives.

Times are milliseconds unless an `s` follows. `iter` counts over all epochs. `total_loss` is the loss, its parts keep
their names. MobileNet's `time` is that of a step, or of an epoch with data sink: it is kept as `log_time_ms`.
"""

from __future__ import annotations

import re
from typing import Dict, Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.values import ARRAY, EPOCH, LOSS, NUM, STEP, named, number, truth

_ITER = (
    rf"(?:epoch|rank)\[\d{{1,9}}\], ?iter\[(?P<step>\d{{1,15}})\], ?loss[:\[] ?(?P<loss>{LOSS})\]?"
    rf"(?P<rest>[^\n]{{0,400}})"
)
_SCALER = rf"epoch: {EPOCH},? step: {STEP}, loss: (?P<loss>{NUM})(?P<rest>, overflow:[^\n]{{0,300}})"
_COST = rf"Epoch {EPOCH}, step:{STEP}, loss:(?P<loss>{NUM})(?P<rest>, overflow:[^\n]{{0,300}})"
_EPOCH_END = (
    rf"epoch: {EPOCH} loss: (?P<loss>{NUM}), epoch time: (?P<time>{NUM}) ?(?P<unit>ms|s)?, per step time: "
    rf"(?P<ms>{NUM}) ?(?:ms)?"
)
_MEANS = (
    rf"epoch: {EPOCH},? ?step: ?{STEP}, loss: ?\[ {{0,8}}"
    rf"(?P<loss>{NUM})/{NUM}\], time: ?\[(?P<ms>{NUM})\], lr: ?\[(?P<lr>{NUM})\]"
)
_EPOCH_MEANS = (
    rf"epoch: {EPOCH}, epoch time: (?P<time>{NUM}), steps: {{0,8}}(?P<of>\d{{1,15}}), per step time: (?P<ms>{NUM})"
    rf", avg loss: (?P<loss>{NUM})(?:, lr:\[(?P<lr>{NUM})\])?"
)
_PARTS = rf"epoch: {EPOCH},? step: {STEP}, ?(?P<parts>(?: ?\w{{1,60}}: {NUM},){{0,20}}) ?total_loss: (?P<loss>{NUM})"
_PART = re.compile(rf"(\w{{1,60}}): ({NUM})")
_TRAINER = (
    rf"\[train\] epoch (?P<epoch>\d{{1,9}}), step: (?P<step>\d{{1,15}}), time: (?P<ms>{NUM}) ms/step, loss: "
    rf"(?P<loss>{NUM})"
)
_REST = {
    "learning_rate": re.compile(rf"\blr: ?(?P<value>{ARRAY})"),
    "fps": re.compile(rf"(?:\bfps: ?(?P<value>{NUM})|(?P<rate>{NUM}) ?imgs/sec)"),
    "step_time_ms": re.compile(rf"(?:step time: ?|step cost: ?)(?P<value>{NUM}) ?ms"),
    "loss_scale": re.compile(rf"\b(?:loss_)?scale: ?(?P<value>{ARRAY})"),
}
_OVERFLOW = re.compile(r"\boverflow: ?(True|False)")


def _rest(text: str, state: State, step: int) -> Dict[str, Optional[float]]:
    """What stands behind the loss, by its words."""
    values: Dict[str, Optional[float]] = {}
    for tag, pattern in _REST.items():
        found = pattern.search(text)
        if found is not None:
            parts = found.groupdict()
            values[tag] = number(parts["value"] or parts.get("rate"))
    flag = _OVERFLOW.search(text)
    if flag is not None:
        values["overflow"] = state.overflow(overflowed=truth(flag.group()) > 0.0, fields={}, step=step)
    if "loss_scale" in values:
        values["loss_scale"] = state.scale(values["loss_scale"])
    if "step_time_ms" in values:
        state.memory["per-step-time"] = 1.0
    return values


def _place(found: re.Match[str], state: State) -> int:
    parts = named(found)
    state.plan(epochs=parts.get("epochs"))
    steps = parts.get("steps")
    return state.steps.place(int(found["epoch"]), int(found["step"]), int(steps) if steps else None)


def _iter(found: re.Match[str], state: State) -> Reading:
    step = int(found["step"])
    return Reading(step, {"loss": state.loss(number(found["loss"])), **_rest(found["rest"], state, step)})


def _scaler(found: re.Match[str], state: State) -> Reading:
    step = _place(found, state)
    values: Dict[str, Optional[float]] = {"loss": state.loss(float(found["loss"])), "epoch": float(found["epoch"])}
    return Reading(step, {**values, **_rest(found["rest"], state, step)})


def _epoch_end(found: re.Match[str], state: State) -> Reading:
    factor = 1000.0 if found["unit"] == "s" else 1.0
    values = {"epoch_mean_loss": float(found["loss"]), "epoch_time_ms": float(found["time"]) * factor}
    if not state.memory.get("per-step-time"):
        values["step_time_ms"] = float(found["ms"])
    return Reading(state.step_or(int(found["epoch"])), values, moves=False)


def _means(found: re.Match[str], state: State) -> Reading:
    state.skip("running-mean")
    values = {
        "loss": state.loss(float(found["loss"])),
        "log_time_ms": float(found["ms"]),
        "learning_rate": float(found["lr"]),
        "epoch": float(found["epoch"]),
    }
    return Reading(_place(found, state), values)


def _epoch_means(found: re.Match[str], state: State) -> Reading:
    values = {
        "epoch_mean_loss": float(found["loss"]),
        "epoch_time_ms": float(found["time"]),
        "step_time_ms": float(found["ms"]),
        "learning_rate": number(found["lr"]),
    }
    return Reading(state.steps.place(int(found["epoch"]), int(found["of"]), int(found["of"])), values)


def _parts(found: re.Match[str], state: State) -> Reading:
    values: Dict[str, Optional[float]] = {"loss": state.loss(float(found["loss"])), "epoch": float(found["epoch"])}
    values.update({name: float(value) for name, value in _PART.findall(found["parts"])})
    return Reading(_place(found, state), values)


def _trainer(found: re.Match[str], state: State) -> Reading:
    state.memory["per-step-time"] = 1.0
    values = {
        "loss": state.loss(float(found["loss"])),
        "step_time_ms": float(found["ms"]),
        "epoch": float(found["epoch"]),
    }
    return Reading(_place(found, state), values)


PRODUCER = Producer(
    "modelzoo",
    (
        Shape((b"iter[",), _ITER, _iter),
        Shape((b", overflow:",), _SCALER, _scaler),
        Shape((b"step:",), _COST, _scaler),
        Shape((b", epoch time: ",), _EPOCH_END, _epoch_end),
        Shape((b"time:[", b"time: ["), _MEANS, _means),
        Shape((b"steps:",), _EPOCH_MEANS, _epoch_means),
        Shape((b"total_loss:",), _PARTS, _parts),
        Shape((b"[train] epoch",), _TRAINER, _trainer),
    ),
)
