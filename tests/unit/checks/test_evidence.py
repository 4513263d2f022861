"""Evidence: every declared fact is computed or named with a reason, and each formula on runs where it is known."""

from __future__ import annotations

import json
from typing import Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import pytest

from mstui.checks.causes import causes, symptoms_of
from mstui.checks.evidence_base import evaluators, observe
from mstui.checks.evidence_later import LATER
from mstui.checks.graph import Node, nodes
from mstui.checks.view import View
from mstui.formats.payloads import DatasetOperation
from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import Verdict
from mstui.model.alerts import Evidence, Happening, Incident, Scope, Severity, Symptom
from mstui.model.checks import CLASSES, TARGET
from mstui.model.logs import EventKind
from mstui.model.runs import Fact
from tests.unit.checks.runs import DATA, SAMPLE_RUNS, STARTED, event, incident, made, recorded, spread_histogram

NAN, INF = float("nan"), float("inf")
RANDOM = np.random.default_rng(5)
NOISE = list(RANDOM.normal(1.0, 0.05, 400))
FLAT = [2.3 * each for each in NOISE[:100]]
FALLING = [float(2.2 * np.exp(-at / 30.0) * NOISE[at] + 0.1) for at in range(100)]
SETTLED = [*FALLING, *[0.2 * each for each in NOISE[:100]]]
CALM = [0.5 * each for each in NOISE[:100]]
EPOCH: Dict[str, Fact] = {"custom/steps_per_epoch": 20}
CRASHED = [event(EventKind.TRACEBACK, "Traceback\nValueError: no")]


def at(step: int, symptom: Symptom = Symptom.LOSS_SPIKE, **scope: str) -> Incident:
    return incident(symptom, step, **scope)  # type: ignore[arg-type]


def still(layer: str) -> Incident:
    """An alert of a weight that does not move."""
    return at(10, Symptom.WEIGHT_STATIC, layer=layer)


def loss(values: Sequence[float], onset: Optional[int] = None, **more: object) -> View:
    return made({"loss": values}, about=None if onset is None else at(onset), **more)  # type: ignore[arg-type]


def rate(values: Sequence[float], onset: Optional[int] = None, plan: str = "", optimizer: str = "") -> View:
    named = {"custom/lr_schedule": plan, "optimizer": optimizer}
    facts: Dict[str, Fact] = {key: word for key, word in named.items() if word}
    return made({"learning_rate": values, "loss": FLAT}, facts=facts, about=None if onset is None else at(onset))


def leapt(before: float, now: float, step: int) -> Incident:
    """An alert of a learning rate, as its rule raises it."""
    said = Evidence("", {"before": before, "now": now, "step": step})
    return Incident(1, (Happening(Symptom.LR_ANOMALY, Severity.WATCH, Scope(0, "lr"), step, step, 0.0, (said,)),))


def layers(statistic: str, *values: Sequence[float]) -> Dict[str, Sequence[float]]:
    return {f"{statistic}/l{index}": each for index, each in enumerate(values)}


def moved(*ratios: Sequence[float]) -> Dict[str, Sequence[float]]:
    """Weights with these update ratios and norms to match."""
    found: Dict[str, Sequence[float]] = {}
    for index, ratio in enumerate(ratios):
        found[f"update_ratio/l{index}.weight"] = ratio
        found[f"weight_norm/l{index}.weight"] = list(np.cumprod(1.0 + np.asarray(ratio)))
    return found


def evaluated(
    own: Sequence[float], held: Sequence[float], losses: Sequence[float] = FALLING, held_loss: Sequence[float] = ()
) -> View:
    steps = [20 * (1 + index) for index in range(len(held))]
    sparse: Dict[str, Tuple[Sequence[int], Sequence[float]]] = {}
    if own:
        sparse["accuracy/train"] = (steps, own)
    if held:
        sparse["accuracy/val"] = (steps, held)
    if held_loss:
        sparse["loss/val"] = ([20 * (1 + index) for index in range(len(held_loss))], held_loss)
    return made({"loss": losses}, sparse=sparse)


def ranks(*others: Sequence[float], **more: object) -> View:
    own = {"weight_norm/w": [1.0, 1.1, 1.2, 1.3], "loss": FLAT[:4]}
    return made(own, ranks={1 + index: {"weight_norm/w": each} for index, each in enumerate(others)}, **more)  # type: ignore[arg-type]


def timed(seconds: Sequence[float], **more: object) -> View:
    return made({"loss": FLAT}, walls=list(STARTED + np.cumsum(np.asarray(seconds))), **more)  # type: ignore[arg-type]


def operations(*names: str, **parameters: Fact) -> View:
    view = made({"loss": FLAT})
    view.__dict__["pipeline"] = tuple(DatasetOperation(name, index, parameters) for index, name in enumerate(names))
    return view


def histogram_run(*several: Tuple[int, float, float], tag: str = "fc.weight/auto", **more: object) -> View:
    found = {tag: [spread_histogram(step, low, high) for step, low, high in several]}
    return made({"loss": FLAT}, histograms=found, **more)  # type: ignore[arg-type]


def states(**found: str) -> Dict[str, Fact]:
    """A recorder's list: parameter (two underscores for its dot) -> state."""
    return {"custom/parameters/1": json.dumps([[n.replace("__", "."), [4, 4], each] for n, each in found.items()])}


def listed(name: str, shape: Sequence[int], state: str = "trained") -> Dict[str, Fact]:
    return {"custom/parameters/1": json.dumps([[name, list(shape), state]])}


def graph(*operations: Node) -> View:
    """A run with this network graph and two parameters that are trained."""
    view = made({"loss": FLAT})
    view.__dict__["graph"] = operations
    view.__dict__["graph_parameters"] = ("a.weight", "b.weight", "moments.a.weight", "moments.b.weight")
    return view


def wave(length: int, period: int) -> List[float]:
    return [float(2.0 + np.sin(2 * np.pi * index / period)) for index in range(length)]


SPIKED = [*CALM[:40], 6.0, *CALM[:20]]
SORTED = [2.3, 2.0, 1.6, 1.2, 0.9, *(8 * [3.1, 2.6, 2.1, 1.7, 1.3])]
SPIKE_AND_BACK = [*FLAT[:40], 30.0, 9.0, *FLAT[40:90]]
SPIKE_AND_STAY = [*FLAT[:40], *[30.0 * each for each in NOISE[:50]]]
WARM = [*(0.01 * np.arange(1, 31)), *([0.3] * 70)]
STEEP_WARM = [*([0.01] * 30), 0.02, 0.03, 0.05, 0.08, *([0.08] * 66)]
LONG_STEPS = [5.0 if index % 10 == 9 else 1.0 for index in range(100)]
DEAD = layers("act_zero_frac", [0.5] * 10 + [1.0] * 20)
ALL_SLOW = [1.0] * 50 + [2.0] * 50

Case = Tuple[str, str, Optional[bool], Callable[[], View]]
CASES: Sequence[Case] = [
    # loss
    ("onset-from-start", "at the second record", True, lambda: loss(FLAT, 2)),
    ("onset-from-start", "at the fifth record of what shows it", False,
     lambda: made({"loss": FLAT}, about=at(40))),
    ("onset-from-start", "no incident", None, lambda: loss(FLAT)),
    ("onset-early", "at step 8", True, lambda: loss(FLAT, 8)),
    ("onset-early", "at step 50", False, lambda: loss(FLAT, 50)),
    ("onset-late", "after 150 records", True, lambda: loss(SETTLED, 150)),
    ("onset-late", "after an epoch", True, lambda: made({"loss": FLAT}, facts=EPOCH, about=at(30))),
    ("onset-late", "at step 30", False, lambda: loss(FLAT, 30)),
    ("onset-abrupt", "out of calm", True, lambda: loss(SPIKE_AND_STAY, 41)),
    ("onset-abrupt", "after a rise", False, lambda: loss(list(1.1 ** np.arange(60)), 50)),
    ("onset-abrupt", "too early to tell", None, lambda: loss(FLAT, 2)),
    ("onset-at-epoch-edge", "at the edge", True, lambda: made({"loss": FLAT}, facts=EPOCH, about=at(41))),
    ("onset-at-epoch-edge", "in the middle", False, lambda: made({"loss": FLAT}, facts=EPOCH, about=at(50))),
    ("onset-at-epoch-edge", "no epoch known", None, lambda: loss(FLAT, 40)),
    ("loss-rising-before", "rising", True, lambda: loss(list(1.1 ** np.arange(60)), 50)),
    ("loss-rising-before", "calm", False, lambda: loss(FLAT, 50)),
    ("loss-fell-before", "learnt", True, lambda: loss(FALLING, 80)),
    ("loss-fell-before", "not yet", False, lambda: loss(FLAT, 80)),
    ("loss-at-chance", "ln(10) for ten classes", True, lambda: loss([2.3026] * 40, said={CLASSES: 10.0})),
    ("loss-at-chance", "as it began", True, lambda: loss([2.3 + 0.01 * each for each in NOISE[:60]])),
    ("loss-at-chance", "learnt", False, lambda: loss(SETTLED, said={CLASSES: 10.0})),
    ("loss-at-chance", "nothing to hold it against", None, lambda: loss(list(RANDOM.normal(2.3, 0.7, 60)))),
    ("loss-below-chance", "a fifth below", True, lambda: loss([1.9] * 60, said={CLASSES: 10.0})),
    ("loss-below-chance", "far below", False, lambda: loss([0.3] * 60, said={CLASSES: 10.0})),
    ("first-loss-off", "twice ln(10)", True, lambda: loss([4.6, 2.3], said={CLASSES: 10.0})),
    ("first-loss-off", "ln(10)", False, lambda: loss([2.4, 2.3], said={CLASSES: 10.0})),
    ("first-loss-off", "classes are not known", None, lambda: loss([4.6, 2.3])),
    ("first-loss-huge", "a thousand", True, lambda: loss([1000.0, *FLAT])),
    ("first-loss-huge", "infinite", True, lambda: loss([INF, 2.0])),
    ("first-loss-huge", "2.3", False, lambda: loss(FLAT)),
    ("first-loss-huge", "NaN", None, lambda: loss([NAN, 2.0])),
    ("loss-negative", "a cross entropy below 0", True,
     lambda: loss([2.0, 1.0, -0.5], facts={"loss_function": "CrossEntropyLoss"})),
    ("loss-negative", "falling without a floor", True, lambda: loss(list(-(2.0 ** np.arange(1, 12))))),
    ("loss-negative", "a density that is below 0", None, lambda: loss([-2.0 - 0.1 * each for each in NOISE[:50]])),
    ("loss-negative", "above 0", False, lambda: loss(FLAT)),
    ("loss-noise-high", "a fifth of the level", True, lambda: loss(list(RANDOM.normal(2.0, 0.5, 100)))),
    ("loss-noise-high", "some percents", False, lambda: loss(FLAT)),
    ("loss-smooth", "a percent", True, lambda: loss([2.0 + 0.02 * each for each in NOISE[:100]])),
    ("loss-smooth", "some percents", False, lambda: loss(FLAT)),
    ("loss-smooth", "three points", None, lambda: loss([2.0, 2.1, 2.0])),
    ("loss-noise-independent", "noise on a fall", True,
     lambda: loss([3.0 - 0.005 * at_ + 0.15 * (NOISE[at_] - 1.0) / 0.05 for at_ in range(300)])),
    ("loss-noise-independent", "a slow wave", False, lambda: loss(wave(300, 60))),
    ("loss-zigzag", "up and down", True, lambda: loss([2.0, 3.0] * 60)),
    ("loss-zigzag", "noise", False, lambda: loss(list(RANDOM.normal(2.0, 0.1, 200)))),
    ("loss-period-epoch", "the same each epoch", True, lambda: loss([*NOISE[:20]] * 6, facts=EPOCH)),
    ("loss-period-epoch", "shuffled", False, lambda: loss(NOISE[:120], facts=EPOCH)),
    ("loss-period-epoch", "falling within each epoch", False,
     lambda: loss([2.0 - 0.01 * (index % 20) + 0.05 * NOISE[index] for index in range(120)], facts=EPOCH)),
    ("loss-period-epoch", "no epoch known", None, lambda: loss(NOISE[:120])),
    ("loss-sawtooth", "sorted classes", True, lambda: loss(SORTED)),
    ("loss-sawtooth", "noise", False, lambda: loss(FLAT)),
    ("loss-infinite", "Inf before NaN", True, lambda: loss([2.0, INF, NAN])),
    ("loss-infinite", "NaN only", False, lambda: loss([2.0, NAN, NAN])),
    ("loss-infinite", "finite", None, lambda: loss(FLAT)),
    ("loss-minus-inf", "-Inf", True, lambda: loss([2.0, -INF])),
    ("loss-minus-inf", "+Inf", False, lambda: loss([2.0, INF])),
    ("loss-clamped", "65504", True, lambda: loss([2.0, 65504.0])),
    ("loss-clamped", "65000", False, lambda: loss([2.0, 65000.0])),
    ("loss-jump-to-zero", "at once", True, lambda: loss([2.0, 2.1, 0.0, 0.0])),
    ("loss-jump-to-zero", "slowly", False, lambda: loss(list(2.0 * 0.5 ** np.arange(60)))),
    ("loss-decay-to-zero", "slowly", True, lambda: loss(list(2.0 * 0.5 ** np.arange(60)))),
    ("loss-decay-to-zero", "0 from the start", None, lambda: loss([0.0] * 20)),
    ("loss-decay-to-zero", "not at all", False, lambda: loss(FLAT)),
    ("loss-isolated", "back within two records", True, lambda: loss(SPIKE_AND_BACK, 41)),
    ("loss-isolated", "never back", False, lambda: loss(SPIKE_AND_STAY, 41)),
    ("loss-isolated", "no jump at all", None, lambda: loss(FLAT, 41)),
    ("loss-recurs-with-batch", "each epoch", True,
     lambda: loss([30.0 if index % 20 == 7 else 2.0 for index in range(60)], facts=EPOCH)),
    ("loss-recurs-with-batch", "swings all over", False,
     lambda: loss([30.0 if index % 7 == 3 else 2.0 for index in range(60)], facts=EPOCH)),
    ("loss-still-falling", "falling", True, lambda: loss(FALLING)),
    ("loss-still-falling", "settled", False, lambda: loss(SETTLED)),
    ("weak-progress", "by a tenth", True, lambda: loss(list(np.linspace(2.3, 2.0, 60)))),
    ("weak-progress", "by nine tenths", False, lambda: loss(SETTLED)),
    # gradients
    ("gradient-rising", "before the onset", True,
     lambda: made({"loss": FLAT, "grad_norm": list(1.1 ** np.arange(100))}, about=at(60))),
    ("gradient-rising", "calm before, then a jump", False, lambda: made({"grad_norm": SPIKED}, about=at(41))),
    ("gradient-spike", "in one step", True, lambda: made({"grad_norm": SPIKED}, about=at(41))),
    ("gradient-spike", "none", False, lambda: made({"grad_norm": CALM}, about=at(41))),
    ("gradient-spike", "of the norms of single layers", True,
     lambda: made({f"grad_norm/{name}": SPIKED for name in ("a", "b")}, about=at(41))),
    ("gradient-spike", "not recorded", None, lambda: loss(FLAT, 41)),
    ("gradient-high", "a thousand", True, lambda: made({"grad_norm": [1000.0] * 20})),
    ("gradient-high", "a half", False, lambda: made({"grad_norm": CALM})),
    ("gradient-nonfinite", "before the loss", True,
     lambda: made({"loss": [2.0, 2.0, NAN], "grad_norm": [1.0, INF, NAN]})),
    ("gradient-nonfinite", "with the loss", None,
     lambda: made({"loss": [2.0, 2.0, NAN], "grad_norm": [1.0, 1.0, NAN]})),
    ("gradient-nonfinite", "counted by a recorder", True,
     lambda: made({"loss": FLAT, "grad_nonfinite/w": [0.0, 3.0], "grad_norm/w": [1.0, 1.0]})),
    ("gradient-nonfinite", "never", False, lambda: made({"loss": FLAT, "grad_norm": CALM})),
    ("gradient-zeros", "in all layers", True, lambda: made(layers("grad_zero_frac", [1.0] * 5, [0.99] * 5))),
    ("gradient-zeros", "in none", False, lambda: made(layers("grad_zero_frac", [0.1] * 5, [0.2] * 5))),
    ("gradient-zero-block", "in one layer", True, lambda: made(layers("grad_zero_frac", [1.0] * 5, [0.2] * 5))),
    ("gradient-zero-block", "in none", False, lambda: made(layers("grad_zero_frac", [0.1] * 5, [0.2] * 5))),
    ("gradient-zero-block", "norms of exactly 0", True, lambda: made(layers("grad_norm", [0.0] * 5, [0.2] * 5))),
    ("gradient-fades", "a millionth in the first layer", True,
     lambda: made(layers("grad_norm", [1e-6] * 5, [1e-3] * 5, [1.0] * 5))),
    ("gradient-fades", "alike", False, lambda: made(layers("grad_norm", [0.5] * 5, [0.6] * 5, [1.0] * 5))),
    ("gradient-missing", "one weight without", True,
     lambda: made({"weight_norm/a": [1.0] * 3, "weight_norm/b": [1.0] * 3, "grad_norm/a": [1.0] * 3})),
    ("gradient-missing", "each has one", False, lambda: made({"weight_norm/a": [1.0] * 3, "grad_norm/a": [1.0] * 3})),
    ("gradient-missing", "gradients are not recorded", None, lambda: made({"weight_norm/a": [1.0] * 3})),
    ("gradient-missing", "a recorder's list", True,
     lambda: loss(FLAT, facts={"custom/params_left_out": "head.weight"})),
    ("gradient-healthy", "of usual size", True, lambda: made({"grad_norm": CALM, **moved([2e-3] * 100)})),
    ("gradient-healthy", "dead at the end", False, lambda: made({"grad_norm": [*CALM[:70], *[0.0] * 30]})),
    ("clip-known", "declared", True, lambda: loss(FLAT, facts={"custom/max_grad_norm": 1.0})),
    ("clip-known", "a jump that moved the weights", False,
     lambda: made({"grad_norm": SPIKED, **moved([1e-3] * 40 + [0.2] * 21)})),
    ("clip-every-step", "at a cap", True, lambda: made({"grad_norm": [0.7, *[1.0] * 40]})),
    ("clip-every-step", "now and then", False, lambda: made({"grad_norm": CALM})),
    # weights
    ("weights-static-all", "none moves", True, lambda: made(moved([0.0] * 5, [0.0] * 5))),
    ("weights-static-all", "one moves", False, lambda: made(moved([0.0] * 5, [1e-3] * 5))),
    ("weights-static-some", "one of two", True, lambda: made(moved([0.0] * 5, [1e-3] * 5))),
    ("weights-static-some", "both move", False, lambda: made(moved([1e-3] * 5, [1e-3] * 5))),
    ("weights-static-some", "none moves: another fact", None, lambda: made(moved([0.0] * 5, [0.0] * 5))),
    ("weights-static-all", "equal histograms", True, lambda: histogram_run((1, -1, 1), (10, -1, 1), (20, -1, 1))),
    ("update-large", "by their own size", True, lambda: made(moved([0.01, 1.0, 0.5, 0.2, 0.1, 0.1]))),
    ("update-large", "after the onset only", False,
     lambda: made({**moved([1e-3] * 20 + [1.0] * 20), "loss": FLAT}, about=at(18))),
    ("update-large", "histograms that explode", True, lambda: histogram_run((1, -1, 1), (10, -300, 300))),
    ("update-large", "of usual size", False, lambda: made(moved([2e-3] * 20))),
    ("update-large", "histograms alone, calm", None, lambda: histogram_run((1, -1, 1), (10, -1.1, 1.1))),
    ("update-small", "a millionth", True, lambda: made(moved([1e-6] * 20))),
    ("update-small", "a twentieth in a hundred steps", True, lambda: made({**moved([4e-4] * 100), "loss": FLAT})),
    ("update-small", "of usual size", False, lambda: made({**moved([3e-3] * 100), "loss": FLAT})),
    ("few-steps", "thirty, and over", True, lambda: made({**moved([2e-3] * 30), "loss": FLAT[:30]}, running=False)),
    ("few-steps", "a hundred", False, lambda: made({**moved([2e-3] * 100), "loss": FLAT}, running=False)),
    ("few-steps", "still running", None, lambda: made({**moved([2e-3] * 30), "loss": FLAT[:30]}, running=True)),
    ("weight-norm-grows", "tripled", True, lambda: made({"weight_norm/w": list(np.linspace(1.0, 3.0, 40))})),
    ("weight-norm-grows", "steady", False, lambda: made({"weight_norm/w": [1.0] * 40})),
    ("weight-norm-shrinks", "to a half", True, lambda: made({"weight_norm/w": list(np.linspace(1.0, 0.4, 40))})),
    ("weight-norm-shrinks", "steady", False, lambda: made({"weight_norm/w": [1.0] * 40})),
    ("weight-near-zero", "0 before", True,
     lambda: made({"weight_norm/w": [0.0, 0.5, 1.0], "loss": FLAT}, about=at(1, tag="weight_norm/w", layer="w"))),
    ("weight-near-zero", "1 before", False,
     lambda: made({"weight_norm/w": [1.0, 1.5, 2.0], "loss": FLAT}, about=at(2, tag="weight_norm/w", layer="w"))),
    ("initial-large", "ten times the rule", True,
     lambda: made({"weight_norm/w": [8 * 1.8, 15.0]}, facts=listed("w", [1, 64]))),
    ("initial-large", "signals that grow", True,
     lambda: made({**layers("act_std", [1.0] * 3, [9.0] * 3, [80.0] * 3, [700.0] * 3), "loss": FLAT})),
    ("initial-large", "by the rule", False, lambda: made({"weight_norm/w": [1.0, 1.0]}, facts=listed("w", [1, 64]))),
    ("initial-small", "a hundredth of the rule", True,
     lambda: made({"weight_norm/w": [0.01, 0.01]}, facts=listed("w", [1, 64]))),
    ("initial-small", "by the rule", False, lambda: made({"weight_norm/w": [1.0, 1.0]}, facts=listed("w", [1, 64]))),
    ("initial-small", "shapes are not known", None, lambda: made({"weight_norm/w": [1.0, 1.0]})),
    ("initial-zero", "a norm of 0", True, lambda: made({"weight_norm/w": [0.0, 0.1]})),
    ("initial-zero", "a histogram of 0", True, lambda: histogram_run((1, 0.0, 0.0))),
    ("initial-zero", "a bias of 0", None, lambda: made({"weight_norm/fc.bias": [0.0, 0.1]})),
    ("initial-zero", "a weight that is not", False, lambda: made({"weight_norm/w": [1.0, 1.1]})),
    ("zero-start-name", "a bias", True, lambda: made({"loss": FLAT}, about=at(5, layer="fc1.bias"))),
    ("zero-start-name", "a weight", False, lambda: made({"loss": FLAT}, about=at(5, layer="fc1.weight"))),
    ("embedding-name", "a table", True, lambda: made({"loss": FLAT}, about=at(5, layer="word_embeddings.weight"))),
    ("embedding-name", "a weight", False, lambda: made({"loss": FLAT}, about=at(5, layer="fc1.weight"))),
    ("embedding-name", "no layer named", None, lambda: loss(FLAT, 5)),
    ("bn-static", "still", True, lambda: histogram_run((1, 0, 0), (5, 0, 0), (9, 0, 0), tag="bn.moving_mean/auto")),
    ("bn-static", "moving", False, lambda: histogram_run((1, 0, 1), (5, 0, 2), (9, 0, 3), tag="bn.moving_mean/auto")),
    ("low-precision-weights", "FP16", True, lambda: loss(FLAT, facts={"custom/param_init_type": "float16"})),
    ("low-precision-weights", "FP32", False, lambda: loss(FLAT, facts={"custom/param_init_type": "float32"})),
    ("script-shared-cell", "six places, two matrices", True,
     lambda: made({**layers("act_std", *[[1.0] * 3] * 6), **moved([1e-3] * 3, [1e-3] * 3)})),
    ("script-shared-cell", "two places, two matrices", False,
     lambda: made({**layers("act_std", *[[1.0] * 3] * 2), **moved([1e-3] * 3, [1e-3] * 3)})),
    # activations
    ("zeros-high", "dead", True, lambda: made(DEAD)),
    ("zeros-high", "half", False, lambda: made(layers("act_zero_frac", [0.5] * 10))),
    ("zeros-from-start", "dead at once", True, lambda: made(layers("act_zero_frac", [1.0] * 10))),
    ("zeros-from-start", "dead later", False, lambda: made(DEAD)),
    ("zeros-from-start", "alive", None, lambda: made(layers("act_zero_frac", [0.5] * 10))),
    ("zeros-after-jump", "after a jump of the loss", True,
     lambda: made({**DEAD, "loss": [*FLAT[:8], 400.0, *FLAT[:21]]})),
    ("zeros-after-jump", "out of calm", False, lambda: made({**DEAD, "loss": FLAT[:30]})),
    ("saturated-high", "at the limits", True, lambda: made(layers("act_sat_frac", [0.8] * 10))),
    ("saturated-high", "nothing with limits", False, lambda: made(layers("act_std", [0.8] * 10))),
    ("saturating-in-depth", "two such layers", True, lambda: made(layers("act_sat_frac", [0.1] * 4, [0.1] * 4))),
    ("saturating-in-depth", "none", False, lambda: made(layers("act_std", [1.0] * 4, [1.0] * 4))),
    ("signal-large", "500 at once", True, lambda: made(layers("act_std", [500.0] * 4, [1.0] * 4))),
    ("signal-large", "1", False, lambda: made(layers("act_std", [1.0] * 4))),
    ("signal-large", "recorded from step 50 on", None,
     lambda: made({"loss": FLAT}, sparse={"act_std/a": ([50, 60], [500.0, 500.0])})),
    ("signal-fades", "to a hundredth", True, lambda: made(layers("act_std", [1.0] * 4, [0.1] * 4, [0.01] * 4))),
    ("signal-fades", "steady", False, lambda: made(layers("act_std", [1.0] * 4, [0.9] * 4))),
    ("input-small", "a hundredth", True, lambda: made({"input_std/x": [0.01] * 4})),
    ("input-small", "1", False, lambda: made({"input_std/x": [1.0] * 4})),
    # learning rate
    ("lr-zero", "from step 11 on", True, lambda: rate([0.1] * 10 + [0.0] * 10)),
    ("lr-zero", "at the first step of a warm-up", False, lambda: rate([0.0, *WARM])),
    ("lr-tiny", "1e-8", True, lambda: rate([1e-8] * 10)),
    ("lr-tiny", "1e-5 for an unknown optimizer", None, lambda: rate([1e-5] * 10)),
    ("lr-tiny", "1e-5 for SGD", True, lambda: rate([1e-5] * 10, optimizer="SGD")),
    ("lr-tiny", "1e-3", False, lambda: rate([1e-3] * 10)),
    ("lr-high", "3", True, lambda: rate([3.0] * 10)),
    ("lr-high", "0.05 for Adam", True, lambda: rate([0.05] * 10, optimizer="Adam")),
    ("lr-high", "0.05 for an unknown optimizer", None, lambda: rate([0.05] * 10)),
    ("lr-high", "1e-3", False, lambda: rate([1e-3] * 10)),
    ("lr-at-peak", "on the plateau", True, lambda: rate(WARM, 60)),
    ("lr-at-peak", "constant", False, lambda: rate([0.1] * 100, 60)),
    ("lr-at-peak", "jumped to", None, lambda: rate([0.01] * 40 + [1.0] * 60, 42)),
    ("lr-rose-before", "eightfold", True, lambda: rate(STEEP_WARM, 36)),
    ("lr-rose-before", "constant", False, lambda: rate([0.1] * 100, 36)),
    ("lr-decayed-early", "a tenth in", True, lambda: rate([0.1] * 10 + [1e-5] * 90)),
    ("lr-decayed-early", "a cycle", False, lambda: rate([0.1, 1e-5] * 50)),
    ("lr-decayed-early", "at the end", False, lambda: rate([0.1] * 90 + [1e-5] * 10)),
    ("lr-end-tiny", "a millionth", True, lambda: rate([0.1] * 90 + [1e-7] * 10)),
    ("lr-end-tiny", "as ever", False, lambda: rate([0.1] * 100)),
    ("lr-no-warmup", "falling from the first", True, lambda: rate(list(0.1 * 0.98 ** np.arange(100)))),
    ("lr-no-warmup", "warm-up", False, lambda: rate(WARM)),
    ("lr-in-phase", "loss and rate swing together", True,
     lambda: made({"loss": wave(200, 40), "learning_rate": wave(200, 40)})),
    ("lr-in-phase", "one cycle only", False, lambda: rate(WARM)),
    ("lr-as-planned", "constant as declared", True, lambda: rate([0.1] * 50, plan="constant")),
    ("lr-as-planned", "declared constant, and falls", False,
     lambda: rate(list(0.1 * 0.9 ** np.arange(50)), plan="constant")),
    ("lr-as-planned", "nothing declared", None, lambda: rate([0.1] * 50)),
    ("lr-jump", "fiftyfold", True, lambda: rate([0.01] * 40 + [0.5] * 60)),
    ("lr-jump", "ten thousandfold, long behind any warm-up", True, lambda: rate([0.005] * 40 + [50.0] * 60)),
    ("lr-jump", "a warm-up from next to nothing", False, lambda: rate([1e-7] * 6 + WARM)),
    ("lr-jump", "up again from next to nothing, to where it was", False,
     lambda: rate([*np.geomspace(0.1, 1e-6, 40), *np.geomspace(0.1, 1e-6, 40)])),
    ("lr-jump", "what the alert says, by a threshold of one's own", True,
     lambda: made({"learning_rate": [0.01] * 40 + [0.025] * 40}, about=leapt(0.01, 0.025, 41))),
    ("lr-no-warmup", "leapt to its peak", None, lambda: rate([0.005] * 40 + [50.0] * 60)),
    ("lr-jump", "steps down", False, lambda: rate([0.1] * 40 + [0.01] * 60)),
    ("lr-jump", "warm restarts", False, lambda: rate([0.1, 0.05, 0.01] * 20)),
    ("lr-step-here", "at the onset", True, lambda: rate([0.1] * 40 + [0.01] * 60, 41)),
    ("lr-step-here", "elsewhere", False, lambda: rate([0.1] * 40 + [0.01] * 60, 80)),
    # precision
    ("overflow-before", "just before", True,
     lambda: made({"loss": FLAT, "overflow": [0.0] * 35 + [1.0] + [0.0] * 64}, about=at(40))),
    ("overflow-before", "recorded and clean", False,
     lambda: made({"loss": FLAT, "overflow": [0.0] * 100}, about=at(40))),
    ("overflow-before", "not recorded", None, lambda: loss(FLAT, 40)),
    ("overflow-all", "each step", True, lambda: made({"overflow": [1.0] * 40})),
    ("overflow-all", "some", False, lambda: made({"overflow": [1.0, 0.0] * 20})),
    ("overflow-often", "a tenth", True, lambda: made({"overflow": [1.0, *[0.0] * 9] * 10})),
    ("overflow-often", "at the start only", False, lambda: made({"overflow": [1.0] * 10 + [0.0] * 90})),
    ("overflow-periodic", "each tenth", True, lambda: made({"overflow": [1.0, *[0.0] * 9] * 10})),
    ("overflow-periodic", "none", False, lambda: made({"overflow": [0.0] * 40})),
    ("overflow-ends", "once the scale fell", True,
     lambda: made({"overflow": [1.0] * 10 + [0.0] * 90, "loss_scale": [*range(20, 10, -1), *[10.0] * 90]})),
    ("overflow-ends", "never", False, lambda: made({"overflow": [1.0] * 100, "loss_scale": [1024.0] * 100})),
    ("scale-at-floor", "1", True, lambda: made({"loss_scale": [*(2.0 ** np.arange(9, -1, -1))]})),
    ("scale-at-floor", "1024", False, lambda: made({"loss_scale": [1024.0] * 9})),
    ("scale-constant", "over 60 records", True, lambda: made({"loss_scale": [1024.0] * 60})),
    ("scale-constant", "over 9 records", None, lambda: made({"loss_scale": [1024.0] * 9})),
    ("scale-constant", "changes", False, lambda: made({"loss_scale": [1024.0, 512.0]})),
    ("scale-one", "throughout", True, lambda: made({"loss_scale": [1.0] * 9})),
    ("scale-one", "1024", False, lambda: made({"loss_scale": [1024.0] * 9})),
    ("scale-one", "FP16 without a scale", True, lambda: loss(FLAT, facts={"custom/amp_level": "O3"})),
    ("scale-extreme", "2^30 at first", True, lambda: made({"loss_scale": [2.0**30, 2.0**29]})),
    ("scale-extreme", "2^16, dynamic", False, lambda: made({"loss_scale": [2.0**16, 2.0**15]})),
    ("scale-present", "recorded", True, lambda: made({"loss_scale": [1024.0]})),
    ("scale-present", "other figures only", False, lambda: made({"grad_norm": CALM})),
    ("scale-present", "losses alone", None, lambda: loss(FLAT)),
    ("half-precision", "O2", True, lambda: loss(FLAT, facts={"custom/amp_level": "O2"})),
    ("half-precision", "half of the cells, by a recorder", True,
     lambda: loss(FLAT, facts={"custom/mixed_precision": "float16 in 5 of 9 cells"})),
    ("half-precision", "BF16", False, lambda: loss(FLAT, facts={"custom/mixed_precision": "bfloat16 in 5 of 9 cells"})),
    ("half-precision", "nothing known", None, lambda: loss(FLAT)),
    ("all-half", "O3", True, lambda: loss(FLAT, facts={"custom/amp_level": "O3"})),
    ("all-half", "O2", False, lambda: loss(FLAT, facts={"custom/amp_level": "O2"})),
    ("saturation-hardware", "910A", True, lambda: loss(FLAT, facts={"custom/device_name": "Ascend910A"})),
    ("saturation-hardware", "910B", False, lambda: loss(FLAT, facts={"custom/device_name": "Ascend910B2"})),
    ("saturation-hardware", "a CPU", False, lambda: loss(FLAT, facts={"custom/device_target": "CPU"})),
    ("drop-update-off", "off", True, lambda: loss(FLAT, facts={"custom/drop_overflow_update": "False"})),
    ("drop-update-off", "on", False, lambda: loss(FLAT, facts={"custom/drop_overflow_update": True})),
    ("first-bad-is-op", "a division", True,
     lambda: loss(FLAT, events=[event(EventKind.PROBE_ALERT, "nan in RealDiv-op12")])),
    ("first-bad-is-op", "a product", False,
     lambda: loss(FLAT, events=[event(EventKind.PROBE_ALERT, "nan in MatMul-op3")])),
    # metrics
    ("validation-minimum-passed", "rising again", True, lambda: evaluated([], [], held_loss=[1.0, 0.6, 0.5, 0.6, 0.8])),
    ("validation-minimum-passed", "falling", False, lambda: evaluated([], [], held_loss=[1.0, 0.8, 0.6, 0.5, 0.45])),
    ("validation-minimum-passed", "two evaluations", None, lambda: evaluated([], [], held_loss=[1.0, 0.8])),
    ("gap-growing", "growing", True, lambda: evaluated([0.5, 0.7, 0.9, 0.99], [0.5, 0.6, 0.6, 0.6])),
    ("gap-growing", "steady", False, lambda: evaluated([0.5, 0.7, 0.9, 0.95], [0.5, 0.7, 0.88, 0.94])),
    ("gap-from-start", "from the start", True, lambda: evaluated([0.7, 0.8, 0.9], [0.4, 0.5, 0.6])),
    ("gap-from-start", "none", False, lambda: evaluated([0.5, 0.7, 0.9], [0.5, 0.7, 0.88])),
    ("train-metric-good", "0.95", True, lambda: evaluated([0.5, 0.9, 0.95], [0.5, 0.7, 0.7])),
    ("train-metric-good", "0.5", False, lambda: evaluated([0.3, 0.4, 0.5], [0.3, 0.4, 0.5])),
    ("train-perfect", "1", True, lambda: evaluated([0.5, 0.9, 1.0], [0.5, 0.7, 0.7])),
    ("train-perfect", "in percent", True, lambda: evaluated([50.0, 90.0, 99.5], [50.0, 70.0, 70.0])),
    ("train-perfect", "0.95", False, lambda: evaluated([0.5, 0.9, 0.95], [0.5, 0.7, 0.7])),
    ("train-at-chance", "a tenth", True, lambda: evaluated([0.1, 0.11, 0.1], [0.1] * 3, FLAT)),
    ("train-at-chance", "a half", False, lambda: evaluated([0.3, 0.4, 0.5], [0.3, 0.4, 0.5], FLAT)),
    ("evaluation-at-chance", "and training is good", True, lambda: evaluated([0.9, 0.99, 1.0], [0.1, 0.1, 0.1], FLAT)),
    ("evaluation-at-chance", "as training is", False, lambda: evaluated([0.1, 0.1, 0.1], [0.1, 0.1, 0.1], FLAT)),
    ("evaluation-jumpy", "falling back", True, lambda: evaluated([0.5, 0.7, 0.8, 0.9], [0.5, 0.7, 0.3, 0.8])),
    ("evaluation-jumpy", "smooth", False, lambda: evaluated([0.5, 0.7, 0.8, 0.9], [0.5, 0.65, 0.7, 0.75])),
    ("evaluation-below-training", "by 0.3", True, lambda: evaluated([0.7, 0.8, 0.9], [0.4, 0.5, 0.6])),
    ("evaluation-below-training", "not", False, lambda: evaluated([0.7, 0.8, 0.9], [0.7, 0.8, 0.88])),
    ("evaluation-above-training", "by 0.2", True, lambda: evaluated([0.4, 0.5, 0.6], [0.6, 0.7, 0.8])),
    ("evaluation-above-training", "by its loss", True, lambda: evaluated([], [], FLAT, held_loss=[1.5, 1.2, 1.0])),
    ("evaluation-above-training", "not", False, lambda: evaluated([0.7, 0.8, 0.9], [0.7, 0.8, 0.88])),
    ("target-met", "0.88 of 0.85", True,
     lambda: made({"loss": FLAT}, sparse={"accuracy/val": ([20, 40], [0.5, 0.88])}, said={TARGET: 0.85})),
    ("target-met", "declared with its name", False,
     lambda: made({}, sparse={"accuracy/val": ([2, 4], [0.5, 0.88])}, facts={"custom/target_metric": "accuracy>=0.9"})),
    ("target-met", "no target", None, lambda: evaluated([0.7, 0.8, 0.9], [0.7, 0.8, 0.88])),
    ("majority-share", "always the same answer", True, lambda: evaluated([], [0.4, 0.4, 0.4, 0.4], FLAT)),
    ("majority-share", "training good at once, evaluation at chance", True,
     lambda: evaluated([0.8, 0.9, 0.92], [0.1, 0.2, 0.35], FLAT)),
    ("majority-share", "learning", False, lambda: evaluated([0.2, 0.5, 0.7], [0.2, 0.5, 0.7], FLAT)),
    # graph
    ("graph-disconnected", "a recorded network", False, lambda: recorded(DATA / "record_network")),
    ("graph-disconnected", "a weight that only the optimizer reads", True,
     lambda: graph(Node("1", "MatMul", "Default/net/MatMul", ("x", "a.weight")),
                   Node("2", "ApplyMomentum", "Default/optimizer-Momentum/op", ("b.weight", "moments.b.weight")))),
    ("graph-disconnected", "no graph", None, lambda: loss(FLAT)),
    ("script-softmax", "a recorded network", False, lambda: recorded(DATA / "record_network")),
    ("script-softmax", "one behind the other", True,
     lambda: graph(Node("1", "Softmax", "Default/net/Softmax", ("x",)), Node("2", "Cast", "Default/net/Cast", ("1",)),
                   Node("3", "LogSoftmax", "Default/_loss_fn/LogSoftmax", ("2",)))),
    ("script-softmax", "no graph", None, lambda: loss(FLAT)),
    # data
    ("pipeline-no-shuffle", "none in the graph", True, lambda: operations("Batch", "MnistDataset")),
    ("pipeline-no-shuffle", "a Shuffle", False, lambda: operations("Batch", "Shuffle", "MnistDataset")),
    ("pipeline-no-shuffle", "a RandomSampler", False, lambda: operations("Batch", "RandomSampler", "MnistDataset")),
    ("pipeline-no-shuffle", "a generator, which may shuffle itself", None,
     lambda: operations("Batch", "GeneratorDataset")),
    ("pipeline-no-shuffle", "a generator told not to", True,
     lambda: operations("Batch", "GeneratorDataset", shuffle=False)),
    ("pipeline-no-normalise", "images as they are", True, lambda: operations("Batch", "Resize", "ImageFolderDataset")),
    ("pipeline-no-normalise", "rescaled", False, lambda: operations("Batch", "Rescale", "ImageFolderDataset")),
    ("pipeline-no-normalise", "no images", None, lambda: operations("Batch", "GeneratorDataset")),
    ("few-samples", "600", True, lambda: loss(FLAT, facts={"train_dataset_size": 600})),
    ("few-samples", "60000 for a million parameters", False,
     lambda: loss(FLAT, facts={"train_dataset_size": 60000, "custom/parameters_elements": 1_000_000})),
    ("few-samples", "60000 for ten million", True,
     lambda: loss(FLAT, facts={"train_dataset_size": 60000, "custom/parameters_elements": 10_000_000})),
    ("few-samples", "60000 for an unknown number", None, lambda: loss(FLAT, facts={"train_dataset_size": 60000})),
    ("sample-not-finite", "counted by a script", True, lambda: made({"input_nan/x": [0.0, 0.0, 3.0]})),
    ("sample-not-finite", "none", False, lambda: made({"input_nan/x": [0.0, 0.0, 0.0]})),
    ("sample-not-centred", "0 to 255", True, lambda: made({"input_mean/x": [120.0] * 3, "input_std/x": [60.0] * 3})),
    ("sample-not-centred", "centred", False, lambda: made({"input_mean/x": [0.01] * 3, "input_std/x": [1.0] * 3})),
    ("ids-or-norm-first", "a table of tokens", True,
     lambda: made({"weight_norm/embed.weight": [1.0], "weight_norm/fc.weight": [1.0]})),
    ("ids-or-norm-first", "a dense layer", False, lambda: made({"weight_norm/fc.weight": [1.0]})),
    ("mask-empty", "0 from the first record", True, lambda: loss([0.0] * 9)),
    ("mask-empty", "0 later", False, lambda: loss([1.0, 0.5, 0.0])),
    ("imbalance-handled", "weights in the loss", True, lambda: loss(FLAT, facts={"custom/class_weights": "0.1,0.9"})),
    ("imbalance-handled", "nothing said", None, lambda: loss(FLAT)),
    ("sample-imbalanced", "50 to 1", True, lambda: loss(FLAT, facts={"custom/imbalance_ratio": 50})),
    ("sample-imbalanced", "2 to 1", False, lambda: loss(FLAT, facts={"custom/imbalance_ratio": 2})),
    # declared
    ("declared-frozen", "on purpose", True,
     lambda: made(moved([0.0] * 5, [1e-3] * 5), facts={"custom/frozen_params": "l0"})),
    ("declared-frozen", "another one", False,
     lambda: made(moved([0.0] * 5, [1e-3] * 5), facts={"custom/frozen_params": "l1"})),
    ("declared-frozen", "nothing declared", None, lambda: made(moved([0.0] * 5, [1e-3] * 5))),
    ("declared-frozen-moves", "moves", True,
     lambda: made(moved([1e-3] * 5, [1e-3] * 5), facts={"custom/frozen_params": "l1"})),
    ("declared-frozen-moves", "stays", False,
     lambda: made(moved([0.0] * 5, [1e-3] * 5), facts={"custom/frozen_params": "l0"})),
    ("script-freeze", "the weight of the alert", True,
     lambda: made({}, facts=states(a__weight="frozen", b__weight="trained"), about=still("a.weight"))),
    ("script-freeze", "the weight of the alert, by its name alone", True,
     lambda: made({}, facts={"custom/params_frozen": "a.weight,a.bias"}, about=still("a.bias"))),
    ("script-freeze", "kept from the optimizer, which its missing gradient tells", None,
     lambda: made({}, facts={"custom/params_left_out": "a.weight"}, about=still("a.weight"))),
    ("script-freeze", "another weight than the alert's", None,
     lambda: made({}, facts=states(a__weight="frozen", b__weight="trained"), about=still("b.weight"))),
    ("script-freeze", "of a loss that stands still", True,
     lambda: loss(FLAT, 1, facts=states(a__weight="frozen", b__weight="trained"))),
    ("script-freeze", "on purpose", None,
     lambda: made({}, facts={**states(a__weight="frozen"), "custom/frozen_params": "a"}, about=still("a.weight"))),
    ("script-freeze", "running statistics alone", False,
     lambda: made({}, facts=states(a__weight="trained", bn__moving_mean="statistics"))),
    ("script-freeze", "no recorder looked", None, lambda: loss(FLAT)),
    ("objective-not-falling", "a reward", True, lambda: made({"loss": FLAT}, facts={"custom/objective": "reward"})),
    ("objective-not-falling", "descending", False,
     lambda: made({"loss": FLAT}, facts={"custom/objective": "descending"})),
    ("objective-not-falling", "not declared", None, lambda: loss(FLAT)),
    ("optimizer-custom", "unknown class", True, lambda: loss(FLAT, facts={"optimizer": "MyAdam2"})),
    ("optimizer-custom", "Momentum", False, lambda: loss(FLAT, facts={"optimizer": "Momentum"})),
    ("optimizer-plain-sgd", "SGD", True, lambda: loss(FLAT, facts={"optimizer": "SGD"})),
    ("optimizer-plain-sgd", "Adam", False, lambda: loss(FLAT, facts={"optimizer": "Adam"})),
    ("momentum-high", "0.99", True, lambda: loss(FLAT, facts={"custom/momentum": 0.99})),
    ("momentum-high", "0.9", False, lambda: loss(FLAT, facts={"custom/momentum": 0.9})),
    ("augmentation-stochastic", "declared", True, lambda: loss(FLAT, facts={"custom/augmentation": "randaugment"})),
    ("augmentation-stochastic", "in the graph", True,
     lambda: operations("Batch", "RandomHorizontalFlip", "ImageFolderDataset")),
    ("augmentation-stochastic", "nothing said", None, lambda: loss(FLAT)),
    ("parameter-count-off", "half of the plan", True,
     lambda: loss(FLAT, facts={"custom/num_parameters": 2_000_000, "custom/parameters_elements": 1_000_000})),
    ("parameter-count-off", "as planned", False,
     lambda: loss(FLAT, facts={"custom/num_parameters": 1_000_000, "custom/parameters_elements": 1_000_000})),
    # ranks
    ("ranks-differ-first", "at once", True, lambda: ranks([1.5, 1.6, 1.7, 1.8])),
    ("ranks-differ-first", "equal", False, lambda: ranks([1.0, 1.1, 1.2, 1.3])),
    ("ranks-differ-first", "one rank", None, lambda: loss(FLAT)),
    ("ranks-drift", "later", True, lambda: ranks([1.0, 1.15, 1.3, 1.5])),
    ("ranks-drift", "two recorded ranks", False, lambda: recorded(DATA / "two_ranks")),
    ("one-rank-departs", "the third", True, lambda: ranks([1.0, 1.1, 1.2, 1.3], [1.0, 1.1, 1.2, 1.9])),
    ("one-rank-departs", "none", False, lambda: ranks([1.0, 1.1, 1.2, 1.3], [1.0, 1.1, 1.2, 1.3])),
    ("one-rank-only", "on one of two", True, lambda: ranks([1.0, 1.1, 1.2, 1.3], about=at(2))),
    ("standalone", "two ranks that are alone", True, lambda: ranks([1.0, 1.1, 1.2, 1.3], facts={"device_num": 1})),
    ("standalone", "two of two", False, lambda: ranks([1.0, 1.1, 1.2, 1.3], facts={"device_num": 2})),
    ("global-batch-large", "4096", True, lambda: loss(FLAT, facts={"batch_size": 512, "device_num": 8})),
    ("global-batch-large", "64", False, lambda: loss(FLAT, facts={"batch_size": 64})),
    ("global-batch-large", "evaluated each second step", True,
     lambda: made({"loss": FLAT}, sparse={"accuracy/val": ([2, 4, 6, 8, 10], [0.1, 0.2, 0.3, 0.4, 0.5])})),
    # system
    ("restart-before", "just before", True,
     lambda: made({"loss": FLAT[:60]}, restart=(50, {"loss": FLAT[:40]}), about=at(60))),
    ("restart-before", "never", False, lambda: loss(FLAT, 60)),
    ("before-step-two", "one record", True, lambda: loss([2.3])),
    ("before-step-two", "a hundred", False, lambda: loss(FLAT)),
    ("checkpoint-growing", "the log's last word", True,
     lambda: loss(FLAT, events=[event(EventKind.CHECKPOINT, "saving")])),
    ("checkpoint-growing", "no log", None, lambda: loss(FLAT)),
    ("evaluating", "an epoch has just ended", True,
     lambda: made({"loss": FLAT[:60]}, sparse={"accuracy/val": ([20, 40], [0.1, 0.2])})),
    ("evaluating", "in the middle", False,
     lambda: made({"loss": FLAT[:50]}, sparse={"accuracy/val": ([20, 40], [0.1, 0.2])})),
    ("pause-long", "an hour", True, lambda: loss(FLAT, now=STARTED + 3700.0)),
    ("pause-long", "a minute", False, lambda: loss(FLAT, now=STARTED + 160.0)),
    ("data-wait-logged", "25 seconds", True,
     lambda: loss(FLAT, events=[event(EventKind.DATA_PIPELINE, "takes more than 25 seconds")])),
    ("data-wait-logged", "a clean log", False, lambda: loss(FLAT, events=[])),
    ("data-wait-logged", "no log", None, lambda: loss(FLAT)),
    ("step-time-jitter", "long steps", True, lambda: timed(LONG_STEPS)),
    ("step-time-jitter", "steady", False, lambda: timed([1.0] * 100)),
    ("step-time-level", "twice as slow", True, lambda: timed(ALL_SLOW)),
    ("step-time-level", "steady", False, lambda: timed([1.0] * 100)),
    ("step-time-periodic", "each tenth", True, lambda: timed(LONG_STEPS)),
    ("step-time-periodic", "steady", False, lambda: timed([1.0] * 100)),
    ("one-rank-silent", "the second", True,
     lambda: made({"loss": FLAT}, ranks={1: {"loss": FLAT[:40]}}, now=STARTED + 101.0)),
    ("one-rank-silent", "none", False, lambda: made({"loss": FLAT}, ranks={1: {"loss": FLAT}}, now=STARTED + 101.0)),
    ("one-rank-slow", "none", False, lambda: made({"loss": FLAT}, ranks={1: {"loss": FLAT}})),
    ("one-rank-slow", "the second",  True,
     lambda: made({"loss": FLAT, "step_time": [1.0] * 100}, ranks={1: {"loss": FLAT, "step_time": [1.5] * 100}})),
    ("all-ranks-slower", "twice as slow",  True,
     lambda: made({"step_time": ALL_SLOW}, ranks={1: {"step_time": ALL_SLOW}})),
    ("all-ranks-slower", "one of them", False,
     lambda: made({"step_time": ALL_SLOW}, ranks={1: {"step_time": [1.0] * 100}})),
    ("collective-code", "EI0002", True,
     lambda: loss(FLAT, events=[event(EventKind.HCCL_TIMEOUT, "timeout", code="EI0002")])),
    ("collective-code", "a clean log", False, lambda: loss(FLAT, events=[])),
    ("corruption-code", "a silent check", True,
     lambda: loss(FLAT, events=[event(EventKind.SILENT_CORRUPTION, "80818C00")])),
    ("corruption-code", "a clean log", None, lambda: loss(FLAT, events=[])),
    ("memory-code", "out of memory", True,
     lambda: loss(FLAT, events=[event(EventKind.OUT_OF_MEMORY, "Memory not enough")])),
    ("memory-code", "a clean log", None, lambda: loss(FLAT, events=[])),
    ("crash-logged", "a traceback", True, lambda: loss(FLAT, events=CRASHED)),
    ("crash-logged", "a clean log", False, lambda: loss(FLAT, events=[])),
    ("process-ended", "gone", True, lambda: loss(FLAT, running=False)),
    ("process-ended", "running", False, lambda: loss(FLAT, running=True)),
    ("process-ended", "nobody can tell", None, lambda: loss(FLAT)),
    ("skip-logged", "is_skip", True, lambda: loss(FLAT, events=[event(EventKind.SKIPPED_DATA, "is_skip: [True]")])),
    ("skip-logged", "a clean log", False, lambda: loss(FLAT, events=[])),
    ("recording-changed", "each step instead of each tenth", True,
     lambda: made({}, sparse={"loss": ([*range(10, 410, 10), *range(401, 441)], [2.0] * 80)})),
    ("recording-changed", "as ever", False, lambda: loss(FLAT)),
]  # fmt: skip


def test_every_fact_is_computed_or_named_with_a_reason() -> None:
    computed, later, declared = set(evaluators()), set(LATER), set(knowledge().evidence)
    assert computed | later == declared
    assert computed & later == set()
    assert all(LATER.values())


@pytest.mark.parametrize(("key", "name", "value", "view"), CASES, ids=[f"{c[0]}: {c[1]}" for c in CASES])
def test_a_fact_is(key: str, name: str, value: Optional[bool], view: Callable[[], View]) -> None:
    with np.errstate(all="ignore"):
        found = evaluators()[key](view())
    assert found.value is value, (found.sentence, dict(found.numbers))
    assert "{" not in found.sentence


def test_every_computed_fact_is_seen_true_and_but_for_some_false() -> None:
    seen: Dict[str, set[Optional[bool]]] = {key: set() for key in evaluators()}
    for key, _name, value, _view in CASES:
        seen[key].add(value)
    assert [key for key, values in seen.items() if True not in values] == []
    never_false = {
        *("checkpoint-growing", "imbalance-handled", "augmentation-stochastic", "corruption-code", "memory-code"),
        "one-rank-only",
    }
    assert {key for key, values in seen.items() if False not in values} == never_false


@pytest.mark.parametrize("data", [b"", b"\xff\xff", b"\x0a\x05abc", b"\x0a\x03\x0a\x09a"])
def test_bytes_that_are_no_graph_have_no_nodes(data: bytes) -> None:
    assert nodes(data) == ()


def test_nothing_is_known_of_a_run_without_records() -> None:
    assert observe(View("run")) == {}


@pytest.mark.parametrize(
    "curves",
    [{"loss": [NAN]}, {"loss": [INF, NAN, 1.0]}, {"loss": [0.0] * 60}, {"loss": [-1.0] * 60}, {"grad_norm": [0.0] * 60},
     {"learning_rate": [0.0] * 60}, {"act_std/a": [0.0] * 9, "weight_norm/a": [NAN] * 9, "update_ratio/a": [INF] * 9}],
)  # fmt: skip
def test_no_fact_stumbles_over_a_poor_run(curves: Mapping[str, Sequence[float]]) -> None:
    for about in (None, at(1), at(30)):
        for each in observe(made(curves, about=about)).values():
            assert each.value in (True, False)


def test_a_healthy_recorded_training_gives_no_alarming_facts() -> None:
    found = observe(recorded(SAMPLE_RUNS / "healthy"))
    alarming = {
        *("loss-negative", "loss-minus-inf", "gradient-nonfinite", "gradient-zero-block", "weights-static-all"),
        *("weights-static-some", "update-large", "update-small", "zeros-high", "signal-large", "initial-large"),
        *("lr-zero", "lr-jump", "gradient-missing", "loss-sawtooth", "restart-before"),
    }
    assert {key for key in alarming if key in found and found[key].value} == set()


def test_a_recorded_explosion_is_told_by_its_rising_gradients() -> None:
    found = observe(recorded(SAMPLE_RUNS / "loss_nan", about=at(345, Symptom.LOSS_NAN)))
    assert found["onset-late"].value is True
    assert found["loss-fell-before"].value is True


def test_texts_from_files_are_made_safe() -> None:
    view = made({"weight_norm/\x1b[31mw": [0.0, 1.0]})
    assert "\x1b" not in observe(view)["initial-zero"].sentence


def happening(symptom: Symptom, step: int, detected: int, severity: Severity = Severity.WARN) -> Happening:
    return Happening(symptom, severity, Scope(0, "loss"), step, detected, 0.0, ())


def test_a_frozen_weight_is_named_as_the_alert_names_it() -> None:
    facts = states(a__weight="frozen", b__weight="frozen", b__bias="left_out", c__weight="trained")
    curves = {f"weight_norm/{name}": [1.0] * 5 for name in ("a.weight", "b.weight", "b.bias")}
    seen = observe(
        made({**curves, "weight_norm/c.weight": [1.0, 1.1, 1.2, 1.3, 1.4]}, facts=facts, about=still("b.weight"))
    )
    assert seen["script-freeze"].sentence == "b.weight has requires_grad=False; 3 such"
    assert seen["weights-static-some"].sentence == "b.weight never moves; 3 of 4 such"
    left_out = observe(made({}, facts=facts, about=still("b.bias")))
    assert left_out["gradient-missing"].sentence == "b.bias is not in the optimizer"


def test_a_large_figure_is_short_and_a_median_says_that_it_is_one() -> None:
    spiked = made({"grad_norm": [1.0] * 40 + [6.8668196e19] + [1.0] * 10}, about=at(41, Symptom.GRAD_EXPLODE))
    assert observe(spiked)["gradient-spike"].sentence == "gradient norm 6.87e+19 times its median"
    grown = made({"weight_norm/a": [1.0] * 5 + [1e14] * 10})
    assert observe(grown)["weight-norm-grows"].sentence == "norm 1e+14 times the early one"
    ratios = [[0.01, 0.1 * each, *[0.02] * 10] for each in (3, 4, 5)]
    assert observe(made(moved(*ratios)))["update-large"].sentence == (
        "half of the weights changed by 0.4 of their size or more in an early step, usually by 0.02"
    )


def test_symptoms_come_in_the_order_in_which_they_began_and_trends_behind() -> None:
    several = Incident(
        1,
        (
            happening(Symptom.LOSS_FLAT, 1, 40),
            happening(Symptom.GRAD_EXPLODE, 48, 48),
            happening(Symptom.LOSS_NAN, 48, 49),
            happening(Symptom.CRASH, 50, 50),
        ),
    )
    assert symptoms_of(several) == ("loss-nan", "grad-explode", "loss-flat")
    assert made({"loss": FLAT}, about=several).onset == 48


def test_a_crash_alone_is_its_own_symptom_and_what_is_only_told_suspects_nobody() -> None:
    assert symptoms_of(Incident(1, (happening(Symptom.CRASH, 9, 9),))) == ("crash",)
    told = Incident(1, (happening(Symptom.LOSS_NAN, 9, 9), happening(Symptom.GRAD_ZERO, 20, 20, Severity.INFO)))
    assert symptoms_of(told) == ("loss-nan",)


def test_causes_follow_the_evidence_and_the_answers() -> None:
    jumped = made({"loss": SPIKE_AND_STAY, "learning_rate": [0.01] * 40 + [1.0] * 50}, about=at(41, Symptom.LOSS_SPIKE))
    assert causes(jumped)[0].cause == "lr-schedule-wrong"
    several = (happening(Symptom.GRAD_EXPLODE, 41, 41), happening(Symptom.LOSS_SPIKE, 41, 41))
    high = made(
        {"loss": SPIKE_AND_STAY, "grad_norm": [*CALM[:40], *[50.0] * 50], "learning_rate": [0.005] * 40 + [50.0] * 50},
        about=Incident(1, (*leapt(0.005, 50.0, 41).happenings, *several)),
    )
    order = [each.cause for each in causes(high)]
    assert order[0] == "lr-schedule-wrong"
    assert order.index("lr-too-large") < order.index("data-outlier")
    assert causes(jumped, {"st.resume": Verdict.OK})[-1].cause == "bad-resume"
    assert causes(made({"loss": FLAT})) == ()
