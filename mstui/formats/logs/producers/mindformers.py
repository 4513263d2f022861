"""MindFormers 0.3 to 2.1: loss record and bar, the training-state monitor, expert load, learning rates of groups.

The progress bar is a record of its own and belongs to the loss record before it. `loss: 0.000` of a pipeline stage
without loss, or of a skipped batch, is no value (see `State.loss`); neither are `N/A`, `None`, `unavailable`, and the
capital `NaN` of 2.x. Times are milliseconds, throughput TFLOPS a device. The running mean beside a loss is left out.
"""

from __future__ import annotations

import re
import statistics
from typing import Dict, List, Optional

from mstui.formats.logs.mindformers_bulk import BULK
from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Fact, Reading, State
from mstui.formats.logs.steps import STEP_LIMIT
from mstui.formats.logs.values import ARRAY, BOOL, NUM, elements, number, pairs, real, truth
from mstui.model.logs import EventKind

_PLACE = (
    r"Epoch:\[\s{0,8}(?P<epoch>\d{1,9})/\s{0,8}(?P<epochs>\d{1,9})\], step:\[\s{0,8}(?P<step>\d{1,15})(?:/| )\s{0,8}"
    r"(?P<steps>\d{1,15})\]"
)
_PARTS = rf"(?P<parts>(?:, \w{{0,60}}loss:\s{{0,12}}{NUM}){{0,20}})"
_LOSS = (
    rf"{_PLACE}, loss:\s{{0,8}}\[?\s{{0,8}}(?P<loss>{NUM})(?P<mean>/\s{{0,8}}{NUM}\s{{0,8}}\])?{_PARTS}"
    rf", (?:per_step_)?time:\s{{0,8}}(?P<ms>{NUM})\s?ms(?:, lr:\s{{0,8}}(?P<lr>{ARRAY}|None))?"
    rf", overflow cond:\s{{0,8}}(?P<ovf>{BOOL}), loss_scale:\s{{0,8}}(?P<scale>{ARRAY}|unavailable|None)"
    rf"(?:, global_norm:?\s{{0,8}}(?P<gnorm>{ARRAY}|None))?(?:, train_throughput_per_npu: (?P<tflops>{NUM})T)?"
)
_BAR = rf"\d{{1,3}}\.\d% {{0,8}}\|[^|]{{0,400}}\| (?P<sps>{NUM}) samples/s/p(?: {{1,8}}[\w ,:-]{{1,40}})?"
_PYNATIVE = (
    r"\{ step:\[\s{0,8}(?P<step>\d{1,15})/\s{0,8}(?P<steps>\d{1,15})\], consumed_samples: \w{1,20}"
    r", global_batch_size: \w{1,20}"
    rf", loss:\s{{0,12}}(?P<loss>{NUM}|N/A)(?: \([^)]{{0,200}}\))?, per_step_time:\s{{0,12}}(?P<ms>{NUM})ms{_PARTS}"
    rf"(?:, lr:\s{{0,12}}(?P<lr>{NUM}))?(?:, grad_norm:\s{{0,12}}(?P<gnorm>{NUM}))?(?:, throughput:\s{{0,12}}"
    rf"(?P<tflops>{NUM})T)?"
)
_PART = re.compile(rf", (\w{{1,64}}):\s{{0,12}}({NUM})")
_MONITOR = rf"{_PLACE} (?P<tag>[A-Za-z][\w./-]{{0,300}}): (?P<value>{NUM}|\[[^\]\n]{{1,4000}}\])"
_GROUP_RATE = rf"(?P<group>group_\d{{1,6}})_lr: (?P<lr>{ARRAY})"
_EXPERTS = (
    r"\[expert load (?P<when>before|after)[^\]]{0,20}\] iter (?P<step>\d{1,15}): rank_\d{1,9}, layer "
    r"(?P<layer>\d{1,9}), load: "
    rf"min (?P<min>{NUM}),? max (?P<max>{NUM}),? std (?P<std>{NUM})"
)
_DROP = rf"layer: (?P<layer>\d{{1,9}}), drop_rate: (?P<rate>{NUM})"
_EMBEDDING = rf"embedding_local_norm: (?P<value>{ARRAY})"
_SKIP = (
    rf"opt_global_step: (?P<at>\d{{1,15}}), skip_data_grad_norm_threshold: (?P<threshold>{NUM}), is_skip: "
    rf"(?P<skip>{BOOL})"
)
_HINT = r"the loss on the last card is valid|loss is valid only on rank 0"
_SIZE = r"norm_size: \d{1,9}\s{0,8}$"
_ARRAY_LINE = r"^\[(?P<values>[^\[\]]{1,4000})\]\s{0,8}$"
_JSON = r"^\s{0,8}(?P<json>\{ ?\"(?:step|local_norm|[a-z_]{1,60}(?:norm|loss|logit))\": [^{}\[\]]{1,400}\})"
_TOKENS = (
    r"\"step\": (?P<step>\d{1,15}),[^{}\[\]]{0,200}\"layer\": (?P<layer>\d{1,9})"
    r", \"tpe\": \[\[(?P<values>[^\[\]]{1,4000})\]\]"
)
_NORMS, _STEP = "mindformers.norms", "mindformers.step"


def _place(found: re.Match[str], state: State) -> int:
    return state.steps.place(int(found["epoch"]), int(found["step"]), int(found["steps"]))


def _parts(text: str) -> Dict[str, float]:
    return {name: float(value) for name, value in _PART.findall(text)}


def _loss(found: re.Match[str], state: State) -> Reading:
    step = _place(found, state)
    state.plan(epochs=found["epochs"])
    state.memory["per-step-time"] = 1.0
    if found["mean"]:
        state.skip("running-mean")
    scale = number(found["scale"])
    fields = {"loss_scale": found["scale"].strip("[ ]"), "grad_norm": (found["gnorm"] or "").strip("[ ]")}
    values: Dict[str, Optional[float]] = {
        "loss": state.loss(float(found["loss"])),
        **_parts(found["parts"]),
        "step_time_ms": float(found["ms"]),
        "learning_rate": number(found["lr"]),
        "overflow": state.overflow(overflowed=truth(found["ovf"]) > 0.0, fields=fields, step=step),
        "loss_scale": state.scale(scale),
        "grad_norm/global": number(found["gnorm"]),
        "tflops": number(found["tflops"]),
        "epoch": float(found["epoch"]),
    }
    return Reading(step, values)


def _bar(found: re.Match[str], state: State) -> Optional[Reading]:
    if state.last_step is None:
        return None
    return Reading(state.last_step, {"samples_per_second": float(found["sps"])}, moves=False, wall_time=state.last_wall)


def _pynative(found: re.Match[str], state: State) -> Reading:
    state.plan(steps=found["steps"])
    state.memory["per-step-time"] = 1.0
    values: Dict[str, Optional[float]] = {
        "loss": None if found["loss"] == "N/A" else state.loss(float(found["loss"])),
        **_parts(found["parts"]),
        "step_time_ms": float(found["ms"]),
        "learning_rate": number(found["lr"]),
        "grad_norm/global": real(found["gnorm"]),
        "tflops": number(found["tflops"]),
    }
    return Reading(int(found["step"]), values)


def _monitor(found: re.Match[str], state: State) -> Optional[Reading]:
    tag, values = found["tag"], elements(found["value"])
    if not values:
        return None
    value = max(values) if tag.startswith("max_") else statistics.fmean(values)
    return Reading(_place(found, state), {tag: value}, moves=False)


def _group_rate(found: re.Match[str], state: State) -> Reading:
    return Reading(state.step_or(None), {f"learning_rate/{found['group']}": number(found["lr"])}, moves=False)


def _load(head: str, layer: str, least: float, most: float, spread: float) -> Dict[str, float]:
    return {f"{head}/layer_{layer}/{name}": value for name, value in (("min", least), ("max", most), ("std", spread))}


def _experts(found: re.Match[str], _state: State) -> Reading:
    head = "expert_load" if found["when"] == "before" else "expert_load_after"
    values = _load(head, found["layer"], float(found["min"]), float(found["max"]), float(found["std"]))
    return Reading(int(found["step"]), values, moves=False)


def _tokens(found: re.Match[str], _state: State) -> Optional[Reading]:
    counts = elements(found["values"])
    if not counts:
        return None
    values = _load("expert_load", found["layer"], min(counts), max(counts), statistics.pstdev(counts))
    return Reading(int(found["step"]), values, moves=False)


def _drop(found: re.Match[str], state: State) -> Reading:
    return Reading(state.step_or(None), {f"drop_rate/layer_{found['layer']}": float(found["rate"])}, moves=False)


def _embedding(found: re.Match[str], state: State) -> Reading:
    return Reading(state.step_or(None), {"embedding_local_norm": number(found["value"])}, moves=False)


def _skip(found: re.Match[str], state: State) -> Optional[Reading]:
    if truth(found["skip"]):
        fields = {"opt_global_step": found["at"], "threshold": found["threshold"]}
        state.facts.append(Fact(EventKind.SKIPPED_DATA, "", fields, state.last_step))
    return None


def _hint(_found: re.Match[str], state: State) -> Optional[Reading]:
    state.loss_elsewhere = True
    return None


def _size(_found: re.Match[str], state: State) -> Optional[Reading]:
    state.memory[_NORMS] = 1.0
    return None


def _norms(found: re.Match[str], state: State) -> Optional[Reading]:
    """The norms of all parameters, printed before the loss record of their step."""
    if not state.memory.pop(_NORMS, 0.0):
        return None
    values: List[float] = elements(found["values"])
    return Reading(state.step_or(0) + 1, {f"local_norm/{n}": value for n, value in enumerate(values)}, moves=False)


def _json(found: re.Match[str], state: State) -> Optional[Reading]:
    values = pairs(found["json"])
    step = values.pop("step", None)
    values.pop("micro_step", None)
    if step is not None and 0.0 <= step < STEP_LIMIT:
        state.memory[_STEP] = step
    at = int(state.memory.get(_STEP, state.step_or(None)))
    return Reading(at, values, moves=False) if values else None


PRODUCER = Producer(
    "mindformers",
    (
        Shape((b"overflow cond:",), _LOSS, _loss),
        Shape((b"samples/s/p",), _BAR, _bar),
        Shape((b"consumed_samples:",), _PYNATIVE, _pynative),
        Shape((b"Epoch:[",), _MONITOR, _monitor),
        Shape((b"_lr: ",), _GROUP_RATE, _group_rate),
        Shape((b"[expert load",), _EXPERTS, _experts),
        Shape((b'"tpe"',), _TOKENS, _tokens),
        Shape((b"drop_rate:",), _DROP, _drop),
        Shape((b"embedding_local_norm",), _EMBEDDING, _embedding),
        Shape((b"is_skip:",), _SKIP, _skip),
        Shape((b"is valid",), _HINT, _hint),
        Shape((b"norm_size:",), _SIZE, _size),
        Shape((b"[",), _ARRAY_LINE, _norms),
        Shape((b'{ "', b'{"'), _JSON, _json),
    ),
    BULK,
)
