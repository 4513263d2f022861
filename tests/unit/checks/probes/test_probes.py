"""Each probe on a run where it is as expected, where it finds trouble, and where it cannot tell."""

from __future__ import annotations

import json
from typing import Callable, Dict, Mapping, Sequence, Tuple

import numpy as np
import pytest

from mstui.checks.probe_base import LATER, probe, probe_all, probes
from mstui.checks.view import View
from mstui.formats.payloads import DatasetOperation
from mstui.knowledge.coverage import rows, uncarried
from mstui.knowledge.loader import knowledge
from mstui.model.alerts import Symptom
from mstui.model.checks import CLASSES, FIRST_LOSS, ProbeState
from mstui.model.logs import EventKind
from mstui.model.runs import Fact
from tests.unit.checks.runs import DATA, SAMPLE_RUNS, STARTED, event, incident, made, recorded, spread_histogram

Operations = Sequence[Tuple[str, Mapping[str, Fact]]]
OK, BAD, UNKNOWN = ProbeState.OK, ProbeState.BAD, ProbeState.UNKNOWN
NAN, INF = float("nan"), float("inf")
RANDOM = np.random.default_rng(3)
NOISE = RANDOM.normal(1.0, 0.05, 200)
FALLING = list(2.3 * np.exp(-np.arange(100) / 30.0) * NOISE[:100] + 0.1)
FLAT = list(2.3 * NOISE[:100])
CALM = list(0.5 * NOISE[:100])


def with_pipeline(view: View, *operations: Tuple[str, Mapping[str, Fact]]) -> View:
    """The view with this data set graph, the network's end first."""
    view.__dict__["pipeline"] = tuple(
        DatasetOperation(name, depth, parameters) for depth, (name, parameters) in enumerate(operations)
    )
    return view


def with_graph(view: View, *names: str) -> View:
    view.__dict__["graph_parameters"] = names
    return view


def weights(norms: Sequence[float], ratios: Sequence[float], name: str = "fc.weight") -> Dict[str, Sequence[float]]:
    return {f"weight_norm/{name}": norms, f"update_ratio/{name}": ratios}


def listed(*entries: Tuple[str, Sequence[int], str]) -> Dict[str, Fact]:
    return {"custom/parameters/1": json.dumps([list(entry) for entry in entries])}


def rate(values: Sequence[float], **facts: Fact) -> View:
    return made({"learning_rate": values}, facts=facts)


def two_ranks(other: Sequence[float], **facts: Fact) -> View:
    return made({"weight_norm/w": [1.0, 1.1, 1.2]}, ranks={1: {"weight_norm/w": other}}, facts=facts)


def statistics(tag: str, highest: Sequence[float]) -> View:
    """Three records of a running statistic."""
    several = [spread_histogram(step, 0.5, high) for step, high in enumerate(highest, 1)]
    return made({"loss": FLAT}, histograms={tag: several})


def images(operations: str) -> Operations:
    return (("MapDataset", {"operations": operations}), ("ImageFolderDataset", {}))


def cut_off() -> View:
    """A recorded network whose forward pass reads another name instead of fc2.weight."""
    view = recorded(DATA / "record_network")
    view.__dict__["graph"] = tuple(
        node._replace(inputs=tuple("other" if node.forward and name == "fc2.weight" else name for name in node.inputs))
        for node in view.graph
    )
    return view


def evaluated(own: Sequence[float], held: Sequence[float]) -> View:
    at = [20 * (1 + index) for index in range(len(held))]
    return made({"loss": FALLING}, sparse={"accuracy/train": (at, own), "accuracy/val": (at, held)})


def sorted_classes() -> Sequence[float]:
    """One class after the other: learnt within some steps, and the next finds a net that knows only the last."""
    return [2.3, 2.0, 1.6, 1.2, 0.9] + 8 * [3.1, 2.6, 2.1, 1.7, 1.3]


def epochs_of(shape: Sequence[float], number: int) -> Sequence[float]:
    return [value for _ in range(number) for value in shape]


PATTERN = list(RANDOM.normal(2.0, 0.3, 12))
EPOCH_FACT: Dict[str, Fact] = {"custom/steps_per_epoch": 12}
SHUFFLED: Operations = (
    ("BatchDataset", {"batch_size": 32}),
    ("ShuffleDataset", {"buffer_size": 1000}),
    ("MnistDataset", {}),
)
UNSHUFFLED: Operations = (("BatchDataset", {"batch_size": 32}), ("MnistDataset", {"sampler": "SequentialSampler"}))
AT_20 = incident(Symptom.LOSS_SPIKE, 20)
SEEN_AT = incident(Symptom.GRAD_EXPLODE, 60)

CASES: Sequence[Tuple[str, str, ProbeState, Callable[[], View]]] = [
    ("objective", "declared to fall", OK, lambda: made({"loss": FLAT}, facts={"custom/objective": "descending"})),
    ("objective", "declared a reward", BAD, lambda: made({"loss": FLAT}, facts={"custom/objective": "reward"})),
    ("objective", "a player of a GAN by its name", BAD, lambda: made({"d_loss": FLAT})),
    ("objective", "a plain name", UNKNOWN, lambda: made({"loss": FLAT})),
    ("first-loss", "ln(10) for ten classes", OK, lambda: made({"loss": [2.33, 2.3]}, said={CLASSES: 10.0})),
    ("first-loss", "four times ln(10)", BAD, lambda: made({"loss": [9.2, 2.3]}, said={CLASSES: 10.0})),
    ("first-loss", "the reference's", OK, lambda: made({"loss": [9.2, 2.3]}, said={CLASSES: 10.0, FIRST_LOSS: 9.21})),
    ("first-loss", "off the reference by a percent", BAD, lambda: made({"loss": [9.2, 2.3]}, said={FIRST_LOSS: 9.1})),
    ("first-loss", "no number", BAD, lambda: made({"loss": [NAN, NAN]})),
    ("first-loss", "classes are not known", UNKNOWN, lambda: made({"loss": [2.3, 2.2]})),
    ("first-loss", "recorded from step 10 on", UNKNOWN, lambda: made({"loss": FLAT}, every=10, said={CLASSES: 10.0})),
    ("first-nonfinite", "a recorded training", OK, lambda: recorded(DATA / "short_healthy")),
    ("first-nonfinite", "the loss was first", OK, lambda: recorded(DATA / "short_nan")),
    ("first-nonfinite", "a gradient before the loss", BAD,
     lambda: made({"loss": [2.0, 2.0, NAN], "grad_norm/w": [1.0, NAN, NAN]})),
    ("first-nonfinite", "a histogram that counts NaN", BAD,
     lambda: made({"loss": FLAT}, histograms={"gradient/w": [spread_histogram(1, -1, 1, odd=3)]})),
    ("first-nonfinite", "losses alone", UNKNOWN, lambda: made({"loss": [2.0, NAN]})),
    ("first-nonfinite", "tensors every tenth step only", UNKNOWN,
     lambda: made({"loss": [2.0] * 5 + [NAN] * 15}, sparse={"grad_norm/w": ([1, 10, 20], [1.0, NAN, NAN])})),
    ("gradient-norm", "calm", OK, lambda: made({"grad_norm": CALM}, about=SEEN_AT)),
    ("gradient-norm", "rising", BAD, lambda: made({"grad_norm": list(1.2 ** np.arange(80))}, about=SEEN_AT)),
    ("gradient-norm", "one norm ten times the others", BAD,
     lambda: made({"grad_norm": [*CALM[:50], 6.0, *CALM[:40]]}, about=SEEN_AT)),
    ("gradient-norm", "not finite in a recorded training", BAD, lambda: recorded(SAMPLE_RUNS / "loss_nan")),
    ("gradient-norm", "too early", UNKNOWN,
     lambda: made({"grad_norm": CALM}, about=incident(Symptom.GRAD_EXPLODE, 4))),
    ("gradient-norm", "not recorded", UNKNOWN, lambda: made({"loss": FLAT})),
    ("clip", "declared", OK, lambda: made({"loss": FLAT}, facts={"custom/clip_norm": 1.0})),
    ("clip", "declared off", BAD, lambda: made({"loss": FLAT}, facts={"custom/clip_norm": 0})),
    ("clip", "norms at a cap", OK, lambda: made({"grad_norm": [0.7, *[1.0] * 49]})),
    ("clip", "norms without a cap", UNKNOWN, lambda: made({"grad_norm": CALM})),
    ("weights-move", "a recorded training", OK, lambda: recorded(SAMPLE_RUNS / "healthy")),
    ("weights-move", "a layer stands still", BAD,
     lambda: made({**weights([1.0, 1.01, 1.02, 1.03], [1e-3] * 4), **weights([2.0] * 4, [0.0] * 4, "head.weight")})),
    ("weights-move", "declared as frozen", OK,
     lambda: made({**weights([1.0, 1.01, 1.02, 1.03], [1e-3] * 4), **weights([2.0] * 4, [0.0] * 4, "head.weight")},
                  facts={"custom/frozen_params": "head"})),
    ("weights-move", "by next to nothing", BAD, lambda: made(weights(list(1.0 + 1e-6 * np.arange(9)), [2e-6] * 9))),
    ("weights-move", "by their own size", BAD, lambda: made(weights([1.0, 2.0, 4.0, 8.0, 16.0], [1.0] * 5))),
    ("weights-move", "losses alone", UNKNOWN, lambda: made({"loss": FLAT})),
    ("optimizer-list", "a recorder's list", OK,
     lambda: made({"loss": FLAT}, facts=listed(("fc.weight", [4, 3], "trained"), ("fc.bias", [4], "trained")))),
    ("optimizer-list", "one left out", BAD,
     lambda: made({"loss": FLAT}, facts=listed(("fc.weight", [4, 3], "trained"), ("head.weight", [2, 4], "left_out")))),
    ("optimizer-list", "left out on purpose", OK,
     lambda: made({"loss": FLAT}, facts={**listed(("head.weight", [2, 4], "left_out")),
                                         "custom/frozen_params": "head"})),
    ("optimizer-list", "frozen by requires_grad", UNKNOWN,
     lambda: made({"loss": FLAT}, facts=listed(("fc.weight", [4, 3], "trained"), ("head.weight", [2, 4], "frozen")))),
    ("optimizer-list", "state of each in the graph", OK,
     lambda: with_graph(made({"loss": FLAT}), "inputs0", "fc.weight", "bn.moving_mean", "moments.fc.weight")),
    ("optimizer-list", "no state of one in the graph", BAD,
     lambda: with_graph(made({"loss": FLAT}), "fc.weight", "head.weight", "momentum", "moments.fc.weight")),
    ("optimizer-list", "a weight without gradient", BAD,
     lambda: made({**weights([1.0, 1.1], [0.1, 0.1]), "weight_norm/b": [1.0, 1.0], "grad_norm/fc.weight": [1.0, 1.0]})),
    ("optimizer-list", "a recorded training", OK, lambda: recorded(DATA / "record_network")),
    ("optimizer-list", "losses alone", UNKNOWN, lambda: made({"loss": FLAT})),
    ("frozen", "a recorded training", OK, lambda: recorded(DATA / "default_pynative")),
    ("frozen", "all on purpose", OK,
     lambda: made(weights([1.0] * 4, [0.0] * 4), facts={"custom/frozen_params": "fc.weight"})),
    ("frozen", "forgotten", BAD, lambda: made(weights([1.0] * 4, [0.0] * 4))),
    ("frozen", "another one than declared", BAD,
     lambda: made(weights([1.0] * 4, [0.0] * 4), facts={"custom/frozen_params": "head"})),
    ("frozen", "equal histograms", BAD,
     lambda: made({"loss": FLAT}, histograms={"fc.weight/auto": [spread_histogram(at, -1, 1) for at in (1, 10, 20)]})),
    ("frozen", "as the recorder found it", BAD,
     lambda: made({"loss": FLAT}, facts=listed(("mid.weight", [4], "frozen"), ("bn.moving_mean", [4], "statistics")))),
    ("frozen", "kept from the optimizer", BAD,
     lambda: made({"loss": FLAT}, facts={"custom/params_left_out": "mid.weight"})),
    ("frozen", "found by the recorder, all on purpose", OK,
     lambda: made({"loss": FLAT}, facts={"custom/params_frozen": "mid.weight", "custom/frozen_params": "mid"})),
    ("frozen", "still, though the optimizer has it", UNKNOWN,
     lambda: made(weights([1.0] * 4, [0.0] * 4), facts=listed(("fc.weight", [4, 3], "trained")))),
    ("frozen", "losses alone", UNKNOWN, lambda: made({"loss": FLAT})),
    ("lr-range", "with updates of usual size", OK,
     lambda: made({"learning_rate": [1e-3] * 60, **weights(list(1.0 + 0.002 * np.arange(60)), [2e-3] * 60)})),
    ("lr-range", "0", BAD, lambda: rate([0.1, 0.1, 0.0, 0.0, 0.0])),
    ("lr-range", "above 1", BAD, lambda: rate([3.0] * 20)),
    ("lr-range", "0.1 for Adam", BAD, lambda: rate([0.1] * 20, optimizer="AdamWeightDecay")),
    ("lr-range", "0.1 for an unknown optimizer", UNKNOWN, lambda: rate([0.1] * 20)),
    ("lr-range", "not recorded", UNKNOWN, lambda: made({"loss": FLAT})),
    ("lr-plan", "constant, as declared", OK, lambda: rate([0.1] * 20, **{"custom/lr_schedule": "constant"})),
    ("lr-plan", "declared as constant, and falls", BAD,
     lambda: rate(list(0.1 * 0.9 ** np.arange(20)), **{"custom/lr_schedule": "constant"})),
    ("lr-plan", "a jump", BAD, lambda: rate([0.01] * 20 + [0.5] * 20)),
    ("lr-plan", "a leap from far below the peak", BAD, lambda: rate([0.005] * 40 + [50.0] * 40)),
    ("lr-plan", "0 long before the end", BAD, lambda: rate([0.1] * 10 + [0.0] * 90, planned_steps=100)),
    ("lr-plan", "warm-up and decay of an unknown plan", UNKNOWN,
     lambda: rate([*(0.01 * np.arange(1, 11)), *(0.1 * 0.98 ** np.arange(80))])),
    ("lr-plan", "cycles", UNKNOWN, lambda: rate(epochs_of([0.1, 0.08, 0.05, 0.02, 0.01], 6))),
    ("lr-plan", "not recorded", UNKNOWN, lambda: made({"loss": FLAT})),
    ("overflow-rate", "none", OK, lambda: made({"overflow": [0.0] * 60})),
    ("overflow-rate", "the search for a scale", OK, lambda: made({"overflow": [1.0] * 10 + [0.0] * 90})),
    ("overflow-rate", "each step", BAD, lambda: made({"overflow": [1.0] * 60})),
    ("overflow-rate", "a scale that keeps falling", BAD,
     lambda: made({"loss_scale": list(2.0 ** (40 - np.arange(40)))})),
    ("overflow-rate", "FP32", OK, lambda: made({"loss": FLAT}, facts={"custom/precision": "float32"})),
    ("overflow-rate", "a log full of them", BAD,
     lambda: made({"loss": FLAT}, events=[event(EventKind.OVERFLOW)] * 6)),
    ("overflow-rate", "not recorded", UNKNOWN, lambda: made({"loss": FLAT})),
    ("scale-path", "halved at the start, doubled later", OK,
     lambda: made({"loss_scale": [4096.0, 2048.0, *[1024.0] * 40, *[2048.0] * 20]})),
    ("scale-path", "at its floor", BAD, lambda: made({"loss_scale": [*(2.0 ** np.arange(12, -1, -1)), 1.0, 1.0]})),
    ("scale-path", "constant while steps overflow", BAD,
     lambda: made({"loss_scale": [65536.0] * 60, "overflow": [1.0] * 60})),
    ("scale-path", "FP16 without", BAD, lambda: made({"loss": FLAT}, facts={"custom/amp_level": "O2"})),
    ("scale-path", "not recorded", UNKNOWN, lambda: made({"loss": FLAT})),
    ("zero-share", "a recorded training", OK, lambda: recorded(DATA / "short_healthy")),
    ("zero-share", "dead in a recorded training", BAD, lambda: recorded(DATA / "short_scale_mismatch")),
    ("zero-share", "dead after the onset only", OK,
     lambda: made({"act_zero_frac/a": [0.5] * 30 + [1.0] * 30, "loss": FLAT}, about=AT_20)),
    ("zero-share", "one gradient is 0", BAD,
     lambda: made({"act_zero_frac/a": [0.5] * 9, "grad_zero_frac/w": [1.0] * 9, "grad_zero_frac/v": [0.1] * 9})),
    ("zero-share", "losses alone", UNKNOWN, lambda: made({"loss": FLAT})),
    ("saturated-share", "off the limits", OK, lambda: made({"act_sat_frac/t": [0.1] * 9, "act_std/t": [0.4] * 9})),
    ("saturated-share", "nothing that has limits", OK, lambda: made({"act_std/relu": [0.4] * 9})),
    ("saturated-share", "at the limits", BAD, lambda: made({"act_sat_frac/t": [0.3, 0.8, 0.9, 0.95]})),
    ("saturated-share", "losses alone", UNKNOWN, lambda: made({"loss": FLAT})),
    ("rank-equality", "two recorded ranks", OK, lambda: recorded(DATA / "two_ranks")),
    ("rank-equality", "different at once", BAD, lambda: two_ranks([1.3, 1.4, 1.5])),
    ("rank-equality", "drifting", BAD, lambda: two_ranks([1.0, 1.2, 1.6])),
    ("rank-equality", "one rank", UNKNOWN, lambda: made({"loss": FLAT})),
    ("rank-equality", "losses only", UNKNOWN, lambda: made({"loss": FLAT}, ranks={1: {"loss": FLAT}})),
    ("rank-count", "two recorded ranks", OK, lambda: recorded(DATA / "two_ranks")),
    ("rank-count", "each says that it is alone", BAD, lambda: two_ranks([1.0, 1.1, 1.2], device_num=1)),
    ("rank-count", "fewer than planned", BAD, lambda: two_ranks([1.0, 1.1, 1.2], device_num=8)),
    ("rank-count", "one of eight", UNKNOWN, lambda: made({"loss": FLAT}, facts={"device_num": 8})),
    ("rank-count", "one rank", UNKNOWN, lambda: made({"loss": FLAT})),
    ("bn-statistics", "moving", OK,
     lambda: statistics("bn.moving_mean/auto", (1.0, 1.1, 1.2))),
    ("bn-statistics", "still", BAD,
     lambda: statistics("bn.moving_variance/auto", (1.0, 1.0, 1.0))),
    ("bn-statistics", "not recorded", UNKNOWN, lambda: recorded(DATA / "short_healthy")),
    ("pipeline-normalise", "Rescale and Normalize", OK,
     lambda: with_pipeline(made({"loss": FLAT}), *images("Decode, Rescale, Normalize"))),
    ("pipeline-normalise", "images as they are", BAD,
     lambda: with_pipeline(made({"loss": FLAT}), *images("Decode, Resize"))),
    ("pipeline-normalise", "figures of the input", OK,
     lambda: made({"input_mean/x": [0.01] * 5, "input_std/x": [1.0] * 5})),
    ("pipeline-normalise", "an input from 0 to 255", BAD,
     lambda: made({"input_mean/x": [120.0] * 5, "input_std/x": [60.0] * 5})),
    ("pipeline-normalise", "a generator", UNKNOWN, lambda: recorded(DATA / "short_healthy")),
    ("pipeline-normalise", "no graph", UNKNOWN, lambda: made({"loss": FLAT})),
    ("pipeline-shuffle", "in the graph", OK, lambda: with_pipeline(made({"loss": FLAT}), *SHUFFLED)),
    ("pipeline-shuffle", "not in the graph", BAD, lambda: with_pipeline(made({"loss": FLAT}), *UNSHUFFLED)),
    ("pipeline-shuffle", "a loss that repeats itself", BAD,
     lambda: made({"loss": epochs_of(PATTERN, 6)}, facts=EPOCH_FACT)),
    ("pipeline-shuffle", "sorted data", BAD, lambda: made({"loss": sorted_classes()})),
    ("pipeline-shuffle", "a recorded training in fixed order", BAD, lambda: recorded(SAMPLE_RUNS / "healthy")),
    ("pipeline-shuffle", "no graph and no pattern", UNKNOWN, lambda: made({"loss": FLAT}, facts=EPOCH_FACT)),
    ("pipeline-batch", "of a recorded training", OK, lambda: recorded(DATA / "full_graph")),
    ("pipeline-batch", "64 on 32 devices", BAD,
     lambda: made({"loss": FLAT}, facts={"batch_size": 64, "device_num": 32})),
    ("pipeline-batch", "512", UNKNOWN, lambda: made({"loss": FLAT}, facts={"batch_size": 512})),
    ("pipeline-batch", "not known", UNKNOWN, lambda: made({"loss": FLAT})),
    ("restart-before", "a recorded training", OK, lambda: recorded(DATA / "short_healthy")),
    ("restart-before", "ten steps before", BAD,
     lambda: made({"loss": FLAT[:60]}, restart=(50, {"loss": FLAT[:40]}), about=SEEN_AT)),
    ("restart-before", "long before", OK,
     lambda: made({"loss": FLAT[:30]}, restart=(20, {"loss": FLAT}), about=incident(Symptom.LOSS_SPIKE, 110))),
    ("restart-before", "nothing recorded", UNKNOWN, lambda: made({})),
    ("val-gap", "steady", OK, lambda: evaluated([0.5, 0.7, 0.8, 0.85, 0.9], [0.48, 0.69, 0.77, 0.84, 0.88])),
    ("val-gap", "growing", BAD, lambda: evaluated([0.5, 0.7, 0.8, 0.9, 0.99], [0.48, 0.6, 0.62, 0.61, 0.6])),
    ("val-gap", "two evaluations", UNKNOWN, lambda: evaluated([0.5, 0.7], [0.4, 0.6])),
    ("late-slope", "settled", OK, lambda: recorded(SAMPLE_RUNS / "healthy")),
    ("late-slope", "still falling", BAD, lambda: recorded(DATA / "short_healthy")),
    ("late-slope", "five records", UNKNOWN, lambda: made({"loss": FALLING[:5]})),
    ("step-time", "steady", OK, lambda: made({"loss": FLAT})),
    ("step-time", "jittering", BAD,
     lambda: made({"loss": FLAT}, walls=list(STARTED + np.cumsum(np.where(np.arange(100) % 5, 1.0, 4.0))))),
    ("step-time", "a log that complains", BAD,
     lambda: made({"loss": FLAT}, events=[event(EventKind.DATA_PIPELINE, "takes more than 25 seconds")])),
    ("step-time", "silent for long", UNKNOWN, lambda: made({"loss": FLAT}, running=True, now=STARTED + 900.0)),
    ("step-time", "five records", UNKNOWN, lambda: made({"loss": FALLING[:5]})),
    ("liveness", "both ranks, a second ago", OK,
     lambda: made({"loss": FLAT}, ranks={1: {"loss": FLAT}}, running=True, now=STARTED + 101.0)),
    ("liveness", "one rank behind", BAD,
     lambda: made({"loss": FLAT}, ranks={1: {"loss": FLAT[:40]}}, running=True, now=STARTED + 101.0)),
    ("liveness", "the process is gone", BAD, lambda: made({"loss": FLAT}, running=False, now=STARTED + 101.0)),
    ("liveness", "one rank, silent", UNKNOWN, lambda: made({"loss": FLAT}, running=True, now=STARTED + 900.0)),
    ("liveness", "nothing recorded", UNKNOWN, lambda: made({})),
    ("log-codes", "clean", OK, lambda: made({"loss": FLAT}, events=[event(EventKind.CHECKPOINT, "saved")])),
    ("log-codes", "a time-out", BAD,
     lambda: made({"loss": FLAT}, events=[event(EventKind.HCCL_TIMEOUT, "notify wait timeout", code="EI0002")])),
    ("log-codes", "a silent training's log", UNKNOWN,
     lambda: made({"loss": FLAT}, events=[event(EventKind.CHECKPOINT, "saved")], running=True, now=STARTED + 900.0)),
    ("log-codes", "no log", UNKNOWN, lambda: made({"loss": FLAT})),
    ("initial-statistics", "by the rule", OK,
     lambda: made({"weight_norm/fc.weight": [8.0 * 0.125, 1.1]}, facts=listed(("fc.weight", [1, 64], "trained")))),
    ("initial-statistics", "ten times too wide", BAD,
     lambda: made({"weight_norm/fc.weight": [8.0 * 1.8, 1.1]}, facts=listed(("fc.weight", [1, 64], "trained")))),
    ("initial-statistics", "far too narrow", BAD,
     lambda: made({"weight_norm/fc.weight": [8.0 * 0.001, 1.1]}, facts=listed(("fc.weight", [1, 64], "trained")))),
    ("initial-statistics", "all 0", BAD,
     lambda: made({"weight_norm/fc.weight": [0.0, 1.1]}, facts=listed(("fc.weight", [1, 64], "trained")))),
    ("initial-statistics", "recorded from step 100 on", UNKNOWN,
     lambda: made({"loss": FLAT}, sparse={"weight_norm/fc.weight": ([100], [1.0])},
                  facts=listed(("fc.weight", [1, 64], "trained")))),
    ("initial-statistics", "losses alone", UNKNOWN, lambda: made({"loss": FLAT})),
    ("batch-recurrence", "twice at the same place", BAD,
     lambda: made({"loss": [30.0 if at % 12 == 5 else 2.0 for at in range(36)]}, facts=EPOCH_FACT)),
    ("batch-recurrence", "one jump", UNKNOWN,
     lambda: made({"loss": [30.0 if at == 17 else 2.0 for at in range(36)]}, facts=EPOCH_FACT)),
    ("batch-recurrence", "no epochs", UNKNOWN, lambda: made({"loss": FLAT})),
    ("graph-connection", "a recorded network", OK, lambda: recorded(DATA / "record_network")),
    ("graph-connection", "a weight that only the optimizer reads", BAD, cut_off),
    ("graph-connection", "no graph", UNKNOWN, lambda: made({"loss": FLAT})),
    ("enough-run", "a recorded training", OK, lambda: recorded(DATA / "short_nan")),
    ("enough-run", "no loss", BAD, lambda: made({"learning_rate": [0.1]})),
]  # fmt: skip

NEVER: Dict[str, ProbeState] = {"batch-recurrence": OK, "enough-run": UNKNOWN}
"""What a probe cannot say: that a batch does not come back proves nothing; a loss is there or not."""


@pytest.mark.parametrize(("key", "name", "state", "view"), CASES, ids=[f"{c[0]}: {c[1]}" for c in CASES])
def test_a_probe_says(key: str, name: str, state: ProbeState, view: Callable[[], View]) -> None:
    found = probe(view(), key)
    assert found is not None
    assert found.state is state, found.say()
    assert "{" not in found.say()
    assert found.say().strip()


def test_each_probe_is_seen_in_each_state() -> None:
    seen = {key: {state for one, _, state, _ in CASES if one == key} for key in probes()}
    lacking = {key: set(ProbeState) - states - {NEVER.get(key)} for key, states in seen.items()}
    assert {key: states for key, states in lacking.items() if states} == {}


def test_every_probe_of_the_knowledge_is_carried_or_named_with_a_reason() -> None:
    base = knowledge()
    assert set(probes()) | set(LATER) == set(base.probes)
    assert set(probes()) & set(LATER) == set()
    assert all(LATER.values())


def test_what_the_documents_state_is_carried_but_for_what_comes_later() -> None:
    base = knowledge()
    said = list(uncarried(base, rows(), rules=base.symptoms, probes=probes()))
    assert [line.split(": no ")[1] for line in said] == ["probe:reference-run"]


def test_an_unknown_id_has_no_probe() -> None:
    assert probe(made({}), "no-such-probe") is None


@pytest.mark.parametrize(
    "curves", [{}, {"loss": [NAN]}, {"loss": [INF, NAN]}, {"loss": [0.0] * 3}, {"loss": [-1.0] * 40}]
)
def test_no_probe_stumbles_over_a_poor_run(curves: Dict[str, Sequence[float]]) -> None:
    for about in (None, AT_20):
        found = probe_all(made(curves, about=about, events=[]))
        assert set(found) == set(probes())
        assert all(each.say() for each in found.values())


def test_a_frozen_weight_is_named_as_the_alert_names_it() -> None:
    facts = listed(("a.w", [4, 3], "frozen"), ("b.w", [4, 3], "frozen"), ("c.w", [4, 3], "trained"))
    found = probe(made({"loss": FLAT}, facts=facts, about=incident(Symptom.WEIGHT_STATIC, 10, layer="b.w")), "frozen")
    assert found is not None
    assert found.say() == "b.w has requires_grad=False and was not declared as frozen; 2 such"


def test_running_statistics_do_not_count_as_parameters_of_the_optimizer() -> None:
    facts = listed(("fc.weight", [4, 3], "trained"), ("bn.moving_mean", [4], "statistics"))
    found = probe(made({"loss": FLAT}, facts=facts), "optimizer-list")
    assert found is not None
    assert found.say() == "the optimizer has all 1 parameters"


def test_texts_from_files_are_made_safe() -> None:
    view = made({"loss": FLAT}, events=[event(EventKind.HCCL_TIMEOUT, "\x1b[31mboom\u202e", code="EI0002")])
    found = probe(view, "log-codes")
    assert found is not None
    assert "\x1b" not in found.say()
    assert "\u202e" not in found.say()


@pytest.mark.parametrize(
    ("key", "run", "begins"),
    [
        ("liveness", lambda: made({"loss": FLAT}, running=True, now=STARTED + 101.0), "one rank writes, "),
        (
            "log-codes",
            lambda: made({"loss": FLAT}, events=[event(EventKind.HCCL_TIMEOUT, "EI0002 wait timeout")]),
            "one record: EI0002",
        ),
        ("scale-path", lambda: made({"loss_scale": [4.0, 2.0, *[2.0] * 9, 4.0]}), "halved once, 2 at the lowest"),
    ],
)
def test_of_one_it_is_told_in_the_singular(key: str, run: Callable[[], View], begins: str) -> None:
    found = probe(run(), key)
    assert found is not None
    assert found.say().startswith(begins)
