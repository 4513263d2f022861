"""MindCV: training and validation lines of every release, and the table of `result.log`.

`time` is printed without saying of how many steps: it is kept as `log_time_s`, no step time is made of it. The table is
by epoch while every other line is by step: its tags end in `by_epoch` and their steps are epochs.
"""

from __future__ import annotations

import re
from typing import Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.values import EPOCH, NUM, counter

_TRAIN = (
    rf"Epoch: {EPOCH}, batch: ?{counter('step')}, loss: ?(?P<loss>{NUM}), lr: (?P<lr>{NUM}), {{1,8}}time: ?"
    rf"(?P<sec>{NUM})s"
)
_EVAL = rf"Validation (?P<metrics>(?:[\w.]{{1,60}}: {NUM}%?, ){{1,20}})time: ?{NUM}s"
_METRIC = re.compile(rf"([\w.]{{1,60}}): ({NUM})%?, ")
_SINCE = rf"Total time since last epoch: (?P<sec>{NUM})"
_HEAD = r"^Epoch {2,40}(?P<names>TrainLoss {1,40}[\w .]{1,400})$"
_ROW = rf"^(?P<epoch>\d{{1,9}}) {{2,40}}(?P<cells>(?:{NUM}%? {{1,40}}){{2,20}})$"
_WORDS = "mindcv.table"


def _train(found: re.Match[str], state: State) -> Reading:
    steps = int(found["steps"]) if found["steps"] else None
    place = state.steps.place(int(found["epoch"]), int(found["step"]), steps)
    state.plan(epochs=found["epochs"])
    values = {
        "loss": state.loss(float(found["loss"])),
        "learning_rate": float(found["lr"]),
        "log_time_s": float(found["sec"]),
        "epoch": float(found["epoch"]),
    }
    return Reading(place, values)


def _eval(found: re.Match[str], state: State) -> Reading:
    values = {f"eval/{name}": float(value) for name, value in _METRIC.findall(found["metrics"])}
    return Reading(state.step_or(None), values, moves=False)


def _since(found: re.Match[str], state: State) -> Reading:
    return Reading(state.step_or(None), {"epoch_time_ms": float(found["sec"]) * 1000.0}, moves=False)


def _head(found: re.Match[str], state: State) -> Optional[Reading]:
    state.words[_WORDS] = found["names"].split()
    return None


def _row(found: re.Match[str], state: State) -> Optional[Reading]:
    names = state.words.get(_WORDS)
    cells = found["cells"].split()
    if names is None or len(names) != len(cells):
        return None
    values = {f"{name}/by_epoch": float(cell.rstrip("%")) for name, cell in zip(names, cells)}
    return Reading(int(found["epoch"]), values)


PRODUCER = Producer(
    "mindcv",
    (
        Shape((b"batch:",), _TRAIN, _train),
        Shape((b"Validation ",), _EVAL, _eval),
        Shape((b"Total time since",), _SINCE, _since),
        Shape((b"TrainLoss",), _HEAD, _head),
        Shape((b"   ",), _ROW, _row),
    ),
)
