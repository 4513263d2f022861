"""Megatron, MindSpeed (LLM, FSDP2, Core-MS): `iteration ... | key: value | ...`, on the last rank only.

Losses are printed only when they are above zero and the step was not skipped. A record without any gives NaN points of
those that were there before: not a number, or skipped. Values are means over the log interval, times milliseconds. A
skipped iteration is an overflow.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Dict, Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.templates import Pairs
from mstui.formats.logs.values import NUM

_LINE = r"iteration:?\s{1,12}(?P<step>\d{1,15})(?:/\s{0,12}(?P<steps>\d{1,15}))? \|(?P<cells>[^\n]{1,4000})"
_CELL = Pairs(rf"\s{{0,8}}([^:|]{{1,80}}):\s{{0,20}}({NUM})\s{{0,8}}(?:\||$)")
_EVAL = r"validation loss at iteration (?P<step>\d{1,15}) \|(?P<cells>[^\n]{1,2000})"
_TAGS = {
    "elapsed time per iteration (ms)": "step_time_ms",
    "throughput per GPU (TFLOP/s/GPU)": "tflops",
    "throughput(samples/s)": "samples_per_second",
    "tokens/s": "tokens_per_second",
    "learning rate": "learning_rate",
    "loss scale": "loss_scale",
    "grad norm": "grad_norm/global",
    "number of skipped iterations": "skipped_iterations",
    "number of nan iterations": "nan_iterations",
}
_COUNTERS = frozenset(("consumed samples", "consumed tokens", "global batch size"))
_UNIT = re.compile(r"\W+")
_HAD = "megatron.had "


@lru_cache(maxsize=256)
def _name(key: str) -> str:
    """The tag of a cell; empty for one that only counts."""
    key = key.strip()
    if key in _COUNTERS:
        return ""
    return _TAGS.get(key) or _UNIT.sub("_", key).strip("_")


def _train(found: re.Match[str], state: State) -> Reading:
    step = int(found["step"])
    state.plan(steps=found["steps"])
    values: Dict[str, Optional[float]] = {}
    for key, text in _CELL.find(found["cells"]):
        name = _name(key)
        if name:
            values[name] = float(text)
        else:
            state.skip("counter")
    if "loss_scale" in values:
        values["loss_scale"] = state.scale(values["loss_scale"])
    losses = [tag for tag in values if tag.endswith("loss")]
    for tag in losses:
        if values[tag]:
            state.memory[_HAD + tag] = 1.0
    if not losses:
        values.update({known[len(_HAD) :]: math.nan for known in state.memory if known.startswith(_HAD)})
    skipped = values.get("skipped_iterations")
    if skipped is not None:
        fields = {"skipped_iterations": str(int(skipped))}
        state.overflow(overflowed=skipped > 0.0, fields=fields, step=step)
    return Reading(step, values)


def _eval(found: re.Match[str], _state: State) -> Reading:
    values = {}
    for key, text in _CELL.find(found["cells"]):
        name = _name(key.strip().replace(" value", ""))
        values[f"eval/{name}"] = float(text)
    return Reading(int(found["step"]), values, moves=False)


PRODUCER = Producer(
    "megatron",
    (
        Shape((b"validation loss at iteration",), _EVAL, _eval),
        Shape((b"iteration",), _LINE, _train),
    ),
)
