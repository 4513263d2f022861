"""Hand-written loops in the manner of the quick-start tutorials: `loss: 2.302806  [  0/938]`, epochs as headings."""

from __future__ import annotations

import re
from typing import Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.values import NUM

_LOSS = rf"\bloss: {{1,8}}(?P<loss>{NUM}) {{1,8}}\[ {{0,8}}(?P<step>\d{{1,15}})/ {{0,8}}(?P<steps>\d{{1,15}})\]"
_EPOCH = r"^Epoch (?P<epoch>\d{1,9})\s{0,8}$"
_EVAL = rf"Accuracy: {{1,8}}(?P<acc>{NUM})%, Avg loss: {{1,8}}(?P<loss>{NUM})"
_KEY = "loops.epoch"


def _loss(found: re.Match[str], state: State) -> Reading:
    epoch = int(state.memory.get(_KEY, 1))
    place = state.steps.place(epoch, int(found["step"]), int(found["steps"]))
    return Reading(place, {"loss": state.loss(float(found["loss"])), "epoch": float(epoch)})


def _epoch(found: re.Match[str], state: State) -> Optional[Reading]:
    state.memory[_KEY] = float(found["epoch"])
    return None


def _eval(found: re.Match[str], state: State) -> Reading:
    values = {"eval/accuracy": float(found["acc"]), "eval/loss": float(found["loss"])}
    return Reading(state.step_or(int(state.memory.get(_KEY, 0))), values, moves=False)


PRODUCER = Producer(
    "loops",
    (
        Shape((b"Avg loss:",), _EVAL, _eval),
        Shape((b"loss: ",), _LOSS, _loss),
        Shape((b"Epoch ",), _EPOCH, _epoch),
    ),
)
