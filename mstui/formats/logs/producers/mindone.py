"""MindOne: training lines with the global step, and the tab-separated `result.log`, where `NA` is no value.

The table says that its times are seconds; they are kept as they stand, as `train_time_s`.
"""

from __future__ import annotations

import re
from typing import Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.values import NUM, number

_TRAIN = (
    rf"epoch (?P<epoch>\d{{1,9}}), step \d{{1,15}}, (?:lr (?P<lr>{NUM}), )?loss (?P<loss>{NUM}), loss scale "
    rf"(?P<scale>{NUM})"
    rf", global_step (?P<step>\d{{1,15}}), step_time\(ms\) (?P<ms>{NUM})"
)
_HEAD = r"^step\t(?P<names>loss(?:\t[\w()]{1,40}){0,20})$"
_ROW = rf"^(?P<step>\d{{1,15}})\t(?P<cells>(?:{NUM}|NA)(?:\t(?:{NUM}|NA)){{0,20}})$"
_WORDS = "mindone.table"
_TAGS = {"lr": "learning_rate", "train_time(s)": "train_time_s"}


def _train(found: re.Match[str], state: State) -> Reading:
    values = {
        "loss": state.loss(float(found["loss"])),
        "learning_rate": number(found["lr"]),
        "loss_scale": state.scale(float(found["scale"])),
        "step_time_ms": float(found["ms"]),
        "epoch": float(found["epoch"]),
    }
    return Reading(int(found["step"]), values)


def _head(found: re.Match[str], state: State) -> Optional[Reading]:
    state.words[_WORDS] = [_TAGS.get(name, name) for name in found["names"].split("\t")]
    return None


def _row(found: re.Match[str], state: State) -> Optional[Reading]:
    names = state.words.get(_WORDS)
    cells = found["cells"].split("\t")
    if names is None or len(names) != len(cells):
        return None
    return Reading(int(found["step"]), {name: number(cell) for name, cell in zip(names, cells) if cell != "NA"})


PRODUCER = Producer(
    "mindone",
    (
        Shape((b"step_time(ms)",), _TRAIN, _train),
        Shape((b"step\tloss",), _HEAD, _head),
        Shape((b"\t",), _ROW, _row),
    ),
)
