"""MindNLP and what prints like Hugging Face's trainer: dictionaries between tqdm's frames, and bars with a loss.

A dictionary names no step. The bar is drawn anew right behind it and shows the step it belongs to: its values wait for
that frame. Where another line comes first, the last frame's step is taken; where no bar is printed at all, the number
of the dictionary. Bars of older releases show the running mean of the loss: one point for each value that was shown.
"""

from __future__ import annotations

import re
from typing import Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Reading, State
from mstui.formats.logs.steps import STEP_LIMIT
from mstui.formats.logs.values import NUM, pairs, same

_DICT = r"(?P<pairs>\{'(?:loss|grad_norm|learning_rate|eval_\w{1,60}|train_\w{1,60})': [^{}]{1,2000}\})"
_BAR = (
    r"(?:Epoch:? (?P<epoch>\d{1,9}):? {1,8})?\d{1,3}%\|[^|]{0,400}\| (?P<n>\d{1,15})/(?P<total>\d{1,15}) "
    r"\[[\d:]{1,16}<[\d:?]{1,16}, {0,8}[^\],]{1,40}(?P<rest>(?:, [^\],]{1,80}){0,20})\]"
)
_POSTFIX = re.compile(rf"\bloss=({NUM})")
_N, _TOTAL, _COUNT = "mindnlp.n", "mindnlp.total", "mindnlp.count"
_VALUE, _EPOCH, _LAST = "mindnlp.loss", "mindnlp.epoch", "mindnlp.last"
_TAGS = {"grad_norm": "grad_norm/global"}
_EVAL, _TRAIN = "eval_", "train_"


def _flush(state: State, step: int) -> None:
    """Give the values that waited for their step."""
    if state.pending is not None:
        state.before.append(Reading(step, state.pending))
        state.pending = None


def _dict(found: re.Match[str], state: State) -> Optional[Reading]:
    values = pairs(found["pairs"])
    shown = state.memory.get(_N)
    _flush(state, int(shown) if shown is not None else state.step_or(0))
    last = state.before[-1].step if state.before else state.step_or(int(shown or 0))
    if any(name.startswith(_TRAIN) for name in values):
        state.skip("run-total", len(values))
        return None
    if any(name.startswith(_EVAL) for name in values):
        named = {f"eval/{name[len(_EVAL) :]}": value for name, value in values.items() if name.startswith(_EVAL)}
        return Reading(last, named, moves=False)
    step = values.pop("step", None)
    named = {_TAGS.get(name, name): value for name, value in values.items()}
    if step is not None and 0 <= step < STEP_LIMIT:
        return Reading(int(step), named)
    if shown is None:
        state.memory[_COUNT] = state.memory.get(_COUNT, 0.0) + 1.0
        return Reading(int(state.memory[_COUNT]), named)
    state.pending = named
    return None


def _bar(found: re.Match[str], state: State) -> Optional[Reading]:
    shown, total = int(found["n"]), int(found["total"])
    before = state.memory.get(_N)
    if state.memory.get(_TOTAL) == total:
        if state.pending is not None:
            state.plan(steps=found["total"])
        _flush(state, shown)
    elif before is not None:
        _flush(state, int(before))
    state.memory[_N], state.memory[_TOTAL] = float(shown), float(total)
    loss = _POSTFIX.search(found["rest"])
    if loss is None:
        return None
    value, epoch = float(loss.group(1)), int(found["epoch"] or 0)
    if state.memory.get(_EPOCH) != epoch or shown < state.memory.get(_LAST, 0.0) - 1:
        state.memory[_LAST] = 0.0
        state.memory.pop(_VALUE, None)
    last = state.memory[_LAST]
    if _VALUE in state.memory and same(state.memory[_VALUE], value) and shown <= last:
        return None
    step = max(shown, int(last) + 1)
    state.memory.update({_VALUE: value, _EPOCH: float(epoch), _LAST: float(step)})
    place = state.steps.place(epoch, step, total) if found["epoch"] else step
    return Reading(place, {"loss": value})


PRODUCER = Producer("mindnlp", (Shape((b"{'",), _DICT, _dict), Shape((b"%|",), _BAR, _bar)))
