"""Trainings with and without the recorder, and what numpy makes of the same tensors. Run by test_recorder.py.

    python recorder_trainings.py graph|pynative OUT

For each scenario OUT/<name>/ holds the summary and OUT/<name>.json the losses of both trainings and, where the scenario
has them, the values that must have been recorded: {step: {tag: value}}.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

sys.path.insert(0, str(Path(__file__).parents[2]))

import mindspore as ms
import numpy as np
import numpy.typing as npt
from mindspore import Tensor, amp, nn, ops
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import (
    Callback,
    CheckpointConfig,
    FixedLossScaleManager,
    Model,
    ModelCheckpoint,
    SummaryCollector,
)

from mstui.record import Recorder

BATCH, STEPS, EVERY = 16, 12, 5
FIRST = 2
"""the first recorded step is this one or the one before it"""
CLASSES, FEATURES, WIDE = 3, 8, 9000
LARGE, COPIED, LOOKED_AT = 40_000, 1 << 18, 1 << 17
"""width of a layer whose weight has more elements than are copied, and whose output has more than are looked at"""
RATES = [0.05] * 7 + [0.02] * 1000
Expected = Dict[int, Dict[str, float]]
Array = npt.NDArray[Any]


class Net(nn.Cell):  # type: ignore[misc]
    """Dense layers with activations that can die and saturate; one is too wide to be reduced with others."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Dense(FEATURES, 16)
        self.relu = nn.ReLU()
        self.fc2 = nn.Dense(16, 16)
        self.tanh = nn.Tanh()
        self.wide = nn.Dense(16, WIDE)
        self.head = nn.Dense(WIDE, CLASSES)

    def construct(self, x: Tensor) -> Tensor:
        """Logits."""
        return self.head(self.wide(self.tanh(self.fc2(self.relu(self.fc1(x))))))


class Large(nn.Cell):  # type: ignore[misc]
    """One layer has more weights and outputs than are looked at whole."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.relu, self.head = nn.Dense(FEATURES, LARGE), nn.ReLU(), nn.Dense(LARGE, CLASSES)

    def construct(self, x: Tensor) -> Tensor:
        """Logits."""
        return self.head(self.relu(self.fc1(x)))


class Words(nn.Cell):  # type: ignore[misc]
    """An embedding table of which a batch touches a few rows."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(200, 6)
        self.head = nn.Dense(6, CLASSES)

    def construct(self, x: Tensor) -> Tensor:
        """Logits of the mean word."""
        return self.head(self.table(x).mean(axis=1))


class ScaledStep(nn.TrainOneStepWithLossScaleCell):  # type: ignore[misc]
    """MindSpore's own asks an operator for the overflow that no CPU has."""

    def start_overflow_check(self, pre_cond: Any, compute_input: Any) -> Any:
        """Nothing to clear: 2.0 asks the same of a CPU here."""
        return Tensor([0], ms.int32), compute_input

    def get_overflow_status(self, status: Any, compute_output: Any) -> Any:
        """Is any gradient not finite."""
        finite = ops.isfinite(compute_output[0]).all()
        for each in compute_output[1:]:
            finite = ops.logical_and(finite, ops.isfinite(each).all())
        return ops.logical_not(finite)


class LoudLoss(nn.CrossEntropyLoss):  # type: ignore[misc]
    """Large enough that the largest loss scales overflow."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Eight times the loss."""
        return super().construct(logits, labels) * 8


class AccumulatingStep(nn.Cell):  # type: ignore[misc]
    """Hands the sum of four batches' gradients to the optimizer."""

    def __init__(self, network: nn.Cell, optimizer: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.network, self.optimizer = network, optimizer
        self.weights = optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True)
        self.sums = self.weights.clone(prefix="sums", init="zeros")
        self.count = ms.Parameter(Tensor(0, ms.int32), name="count", requires_grad=False)
        self.add, self.clear = ops.AssignAdd(), ops.Assign()
        self.empty: Any = ()  # a graph of release 2.0 knows no annotation, and mypy asks for one

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        """One batch."""
        loss = self.network(x, y)
        gradients = self.grad(self.network, self.weights)(x, y)
        for index in range(len(gradients)):
            loss = ops.depend(loss, self.add(self.sums[index], gradients[index]))
        loss = ops.depend(loss, self.add(self.count, Tensor(1, ms.int32)))
        if self.count % 4 == 0:
            whole = self.empty
            for each in self.sums:
                whole += (each / 4,)
            loss = ops.depend(loss, self.optimizer(whole))
            for each in self.sums:
                loss = ops.depend(loss, self.clear(each, ops.zeros_like(each)))
        return loss


class AdversarialStep(nn.Cell):  # type: ignore[misc]
    """Two networks with an optimizer each, in one step."""

    def __init__(self, networks: List[nn.Cell], optimizers: List[nn.Cell]) -> None:
        super().__init__(auto_prefix=False)
        self.one, self.other = (nn.WithLossCell(network, nn.CrossEntropyLoss()) for network in networks)
        self.optimizer_of_one, self.optimizer_of_other = optimizers
        self.weights_of_one, self.weights_of_other = (optimizer.parameters for optimizer in optimizers)
        self.grad = ops.GradOperation(get_by_list=True)

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        """One batch for both."""
        loss = self.one(x, y)
        loss = ops.depend(loss, self.optimizer_of_one(self.grad(self.one, self.weights_of_one)(x, y)))
        return ops.depend(loss, self.optimizer_of_other(self.grad(self.other, self.weights_of_other)(x, y)))


class Losses(Callback):  # type: ignore[misc]
    """What a training gave, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.values: List[str] = []

    def on_train_step_end(self, run_context: Any) -> None:
        """Keep every bit of the loss."""
        outputs = run_context.original_args().net_outputs
        first = outputs[0] if isinstance(outputs, (tuple, list)) else outputs
        self.values.append(float(first.asnumpy()).hex())


class Breaks(Callback):  # type: ignore[misc]
    """Ends a training as LossMonitor ends one whose loss is NaN."""

    def on_train_step_end(self, run_context: Any) -> None:
        """Raise at the seventh step."""
        if run_context.original_args().cur_step_num == 7:
            raise ValueError("In epoch: 2 step: 1, loss is NAN or INF")


def seeded(net: nn.Cell) -> nn.Cell:
    """The same weights each time, in every release."""
    ms.set_seed(3)
    rng = np.random.default_rng(3)
    for parameter in net.get_parameters():
        bound = 1 / np.sqrt(parameter.shape[-1])
        parameter.set_data(Tensor(rng.uniform(-bound, bound, parameter.shape).astype(np.float32)))
    return net


def data(words: bool = False) -> Tuple[Array, Array]:
    """Inputs and labels of STEPS batches."""
    rng = np.random.default_rng(5)
    labels = rng.integers(0, CLASSES, BATCH * STEPS).astype(np.int32)
    if words:
        return rng.integers(0, 40, (BATCH * STEPS, 4)).astype(np.int32), labels
    return rng.normal(0, 1, (BATCH * STEPS, FEATURES)).astype(np.float32), labels


def batches(words: bool = False) -> List[Tuple[Tensor, Tensor]]:
    """The same for a loop."""
    x, y = data(words)
    return [(Tensor(x[at : at + BATCH]), Tensor(y[at : at + BATCH])) for at in range(0, len(x), BATCH)]


def dataset() -> Any:
    """The same for Model."""
    return NumpySlicesDataset(data(), ["x", "y"], shuffle=False).batch(BATCH)


def network() -> nn.Cell:
    """One bias is frozen."""
    net = seeded(Net())
    net.fc1.bias.requires_grad = False
    return net


def momentum(net: nn.Cell, **options: Any) -> nn.Cell:
    """The last bias is forgotten."""
    return nn.Momentum(net.trainable_params()[:-1], RATES, 0.9, **options)


def of_gradient(name: str, g: Array) -> Dict[str, float]:
    """Numpy's figures of a gradient."""
    g = g.astype(np.float64)
    return {
        f"grad_norm/{name}": float(np.linalg.norm(g)),
        f"grad_mean/{name}": float(g.mean()),
        f"grad_abs_mean/{name}": float(np.abs(g).mean()),
        f"grad_max/{name}": float(g.max()),
        f"grad_min/{name}": float(g.min()),
        f"grad_zero_frac/{name}": float((g == 0).mean()),
        f"grad_nonfinite/{name}": float((~np.isfinite(g)).sum()),
    }


def of_weight(name: str, before: Array, after: Array) -> Dict[str, float]:
    """Numpy's figures of a weight."""
    before, after = before.astype(np.float64), after.astype(np.float64)
    norm = float(np.linalg.norm(before))
    found = {f"weight_norm/{name}": norm, f"weight_abs_mean/{name}": float(np.abs(before).mean())}
    if norm:
        found[f"update_ratio/{name}"] = float(np.linalg.norm(after - before)) / norm
    return found


def of_activation(name: str, y: Array, limit: Optional[float]) -> Dict[str, float]:
    """Numpy's figures of an activation's output."""
    y = y.astype(np.float64)
    found = {
        f"act_zero_frac/{name}": float((y == 0).mean()),
        f"act_mean/{name}": float(y.mean()),
        f"act_std/{name}": float(y.std()),
        f"act_nonfinite/{name}": 0.0,
    }
    if limit is not None:
        found[f"act_sat_frac/{name}"] = float((np.abs(y) >= limit).mean())
    return found


def copies(parameters: Any) -> List[Array]:
    """On the CPU asnumpy shares the parameter's memory."""
    return [parameter.asnumpy().copy() for parameter in parameters]


def expected_of_net() -> Expected:
    """Train in a plain loop and let numpy look at every tensor."""
    net = network()
    optimizer = momentum(net)
    loss_fn = nn.CrossEntropyLoss()

    def forward(x: Tensor, y: Tensor) -> Tensor:
        return loss_fn(net(x), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)
    found: Expected = {}
    everything = list(net.get_parameters())
    for step, (x, y) in enumerate(batches(), 1):
        weights = {p.name: p.asnumpy().copy() for p in everything}
        hidden = np.maximum(x.asnumpy() @ weights["fc1.weight"].T + weights["fc1.bias"], 0)
        squashed = np.tanh(hidden @ weights["fc2.weight"].T + weights["fc2.bias"])
        loss, gradients = gradients_of(x, y)
        arrays = [g.asnumpy().copy() for g in gradients]
        optimizer(gradients)
        found[step] = {"loss": float(loss.asnumpy())}
        if step > FIRST and step % EVERY:
            continue
        values = found[step]
        values["learning_rate"] = RATES[step - 1]
        values["grad_norm/global"] = float(np.sqrt(sum(float((a.astype(np.float64) ** 2).sum()) for a in arrays)))
        for parameter, array in zip(optimizer.parameters, arrays):
            values.update(of_gradient(parameter.name, array))
        for parameter in everything:
            values.update(of_weight(parameter.name, weights[parameter.name], parameter.asnumpy()))
        values.update(of_activation("relu", hidden, None))
        values.update(of_activation("tanh", squashed, 0.99))
    return found


def by_model(recorder: Optional[Recorder], *others: Callback) -> List[str]:
    """Model.fit with an evaluation after each epoch."""
    net = network()
    model = Model(net, nn.CrossEntropyLoss(), momentum(net), metrics={"accuracy", "loss"})
    losses = Losses()
    callbacks = [losses, *others] + ([recorder] if recorder else [])
    model.fit(1, dataset(), dataset(), callbacks=callbacks, dataset_sink_mode=False)
    return losses.values


def beside(recorder: Optional[Recorder]) -> List[str]:
    """Recorder, SummaryCollector and ModelCheckpoint write into one directory."""
    folder = str(Path("beside" if recorder else "beside_without").absolute())
    net = network()
    losses = Losses()
    checkpoints = ModelCheckpoint("net", folder, CheckpointConfig(save_checkpoint_steps=6))
    # MindSpore 2.0 and 2.7 cannot write a data set's graph with the protobuf of today
    collector = SummaryCollector(folder, collect_freq=1, collect_specified_data={"collect_dataset_graph": False})
    callbacks: List[Any] = [collector, checkpoints, losses]
    Model(net, nn.CrossEntropyLoss(), momentum(net)).train(
        1, dataset(), callbacks=([recorder] if recorder else []) + callbacks, dataset_sink_mode=False
    )
    return losses.values


def by_loop(recorder: Optional[Recorder]) -> List[str]:
    """value_and_grad and the optimizer."""
    net = network()
    optimizer = momentum(net)
    loss_fn = nn.CrossEntropyLoss()

    def forward(x: Tensor, y: Tensor) -> Tensor:
        return loss_fn(net(x), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)
    if recorder:
        recorder.watch(net, optimizer)
    losses = []
    for x, y in batches():
        loss, gradients = gradients_of(x, y)
        if recorder:
            recorder.before_update(gradients, loss)
        optimizer(gradients)
        if recorder:
            recorder.after_update()
        losses.append(float(loss.asnumpy()).hex())
    if recorder:
        recorder.evaluation({"accuracy": 0.5, "loss": 1.25})
        recorder.mark_epoch(1)
    return losses


def by_cell(recorder: Optional[Recorder]) -> List[str]:
    """A train-one-step cell."""
    net = network()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), momentum(net)).set_train()
    if recorder:
        step = recorder.wrap(step)
    return [float(step(x, y).asnumpy()).hex() for x, y in batches()]


def fixed_scale(recorder: Optional[Recorder]) -> List[str]:
    """FixedLossScaleManager: gradients reach the optimizer multiplied by 1024."""
    net = network()
    manager = FixedLossScaleManager(1024, drop_overflow_update=False)
    model = Model(net, nn.CrossEntropyLoss(), momentum(net, loss_scale=1024.0), loss_scale_manager=manager)
    losses = Losses()
    model.train(1, dataset(), callbacks=[losses] + ([recorder] if recorder else []), dataset_sink_mode=False)
    return losses.values


def dynamic_scale(recorder: Optional[Recorder]) -> List[str]:
    """A dynamic loss scale that begins too high: the first steps overflow and update nothing."""
    net = network()
    scale = nn.DynamicLossScaleUpdateCell(loss_scale_value=3e38, scale_factor=2**8, scale_window=4)
    step = ScaledStep(nn.WithLossCell(net, LoudLoss()), momentum(net), scale)
    losses = Losses()
    Model(step).train(1, dataset(), callbacks=[losses] + ([recorder] if recorder else []), dataset_sink_mode=False)
    return losses.values


def half_precision(recorder: Optional[Recorder]) -> List[str]:
    """amp in a loop: float16 in the network, a dynamic scaler around it."""
    net = amp.auto_mixed_precision(network(), "O2")
    optimizer = momentum(net)
    loss_fn = nn.CrossEntropyLoss()
    scaler = amp.DynamicLossScaler(scale_value=2**10, scale_factor=2, scale_window=5)

    def forward(x: Tensor, y: Tensor) -> Tensor:
        return scaler.scale(loss_fn(net(x).astype(ms.float32), y))

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)
    if recorder:
        recorder.watch(net, optimizer)
    losses = []
    for x, y in batches():
        loss, gradients = gradients_of(x, y)
        loss = scaler.unscale(loss)
        finite = amp.all_finite(gradients)
        gradients = scaler.unscale(gradients)
        if recorder:
            recorder.before_update(gradients, loss, loss_scale=scaler.scale_value, overflow=ops.logical_not(finite))
        if finite:
            optimizer(gradients)
        scaler.adjust(finite)
        if recorder:
            recorder.after_update()
        losses.append(float(loss.asnumpy()).hex())
    return losses


def accumulation(recorder: Optional[Recorder]) -> List[str]:
    """An update every fourth step."""
    net = network()
    step = AccumulatingStep(nn.WithLossCell(net, nn.CrossEntropyLoss()), momentum(net))
    losses = Losses()
    Model(step).train(1, dataset(), callbacks=[losses] + ([recorder] if recorder else []), dataset_sink_mode=False)
    return losses.values


def embedding(recorder: Optional[Recorder], seen: Optional[Expected] = None) -> List[str]:
    """A table of which most rows have no gradient."""
    net = seeded(Words())
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    loss_fn = nn.CrossEntropyLoss()

    def forward(x: Tensor, y: Tensor) -> Tensor:
        return loss_fn(net(x), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)
    if recorder:
        recorder.watch(net, optimizer)
    losses = []
    for step, (x, y) in enumerate(batches(words=True), 1):
        loss, gradients = gradients_of(x, y)
        if seen is not None and (step == 1 or step % EVERY == 0):
            table = gradients[0].asnumpy()
            name = optimizer.parameters[0].name
            touched = table[np.any(table != 0, axis=1)]
            seen[step] = {**of_gradient(name, touched), f"grad_norm/{name}": float(np.linalg.norm(table))}
        if recorder:
            recorder.before_update(gradients, loss)
        optimizer(gradients)
        if recorder:
            recorder.after_update()
        losses.append(float(loss.asnumpy()).hex())
    return losses


def adversarial(recorder: Optional[Recorder]) -> List[str]:
    """Two optimizers: whose gradients are meant nobody can say, and weights are recorded alone."""
    networks = [network(), network()]
    for parameter in networks[1].get_parameters():
        parameter.name = "other." + parameter.name
    optimizers = [momentum(net) for net in networks]
    for parameter in optimizers[1].get_parameters():
        if not parameter.name.startswith("other."):
            parameter.name = "other." + parameter.name  # release 2.0 wants every name once
    cell = AdversarialStep(networks, optimizers).set_train()
    step = recorder.wrap(cell) if recorder else cell
    return [float(step(x, y).asnumpy()).hex() for x, y in batches()]


def large_step() -> Tuple[nn.Cell, nn.Cell]:
    """A network and the step that trains it."""
    net = seeded(Large())
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    return net, nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer).set_train()


def large(recorder: Optional[Recorder]) -> List[str]:
    """A layer too large to be copied or looked at whole."""
    step = large_step()[1]
    if recorder:
        step = recorder.wrap(step)
    return [float(step(x, y).asnumpy()).hex() for x, y in batches()]


def expected_of_large() -> Expected:
    """The change of every n-th weight, and the output for the first examples."""
    net, cell = large_step()
    every = -(-FEATURES * LARGE // COPIED)
    examples = LOOKED_AT // LARGE
    found: Expected = {}
    for step, (x, y) in enumerate(batches(), 1):
        before = net.fc1.weight.asnumpy().copy()
        output = np.maximum(x.asnumpy() @ before.T + net.fc1.bias.asnumpy(), 0)
        cell(x, y)
        if step <= FIRST or step % EVERY == 0:
            name = net.fc1.weight.name
            some, moved = before.ravel()[::every], net.fc1.weight.asnumpy().ravel()[::every]
            values = of_weight(name, before, net.fc1.weight.asnumpy())
            values[f"update_ratio/{name}"] = of_weight(name, some, moved)[f"update_ratio/{name}"]
            values.update(of_activation("relu", output[:examples], None))
            values["act_mean/relu"] = float(output.astype(np.float64).mean())
            found[step] = values
    return found


def raising(recorder: Optional[Recorder]) -> List[str]:
    """The recorded fifth step gets a batch that does not fit, and the loop goes on without it."""
    net = network()
    optimizer = momentum(net)
    cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer).set_train()
    step = recorder.wrap(cell) if recorder else cell

    def loss_of(x: Tensor, y: Tensor) -> str:
        try:
            return float(step(x, y).asnumpy()).hex()
        except (ValueError, RuntimeError):
            own = type(optimizer) is nn.Momentum and type(net.relu) is nn.ReLU and not cell.phase.endswith(".mstui")
            return "its own classes" if own else "classes of the recorder"

    return [loss_of(x[:, :3] if number == EVERY else x, y) for number, (x, y) in enumerate(batches(), 1)]


def crash(recorder: Optional[Recorder]) -> List[str]:
    """A callback before the recorder ends the training at step 7."""
    try:
        return by_model(recorder, Breaks())
    except ValueError:
        return []


def run(out: Path, name: str, training: Callable[..., List[str]], expected: Optional[Expected], **options: Any) -> None:
    """Train twice and keep what is needed to compare."""
    without = training(None)
    recorder = Recorder(
        out / name,
        every=EVERY,
        histograms_every=10,
        activations=True,
        declared={"frozen_params": ["fc1.bias"], "num_classes": CLASSES},
    )
    recorded = training(recorder, **options)
    recorder.close(finished=name != "crash")
    report = {"without": without, "with": recorded, "expected": expected or {}}
    (out / f"{name}.json").write_text(json.dumps(report), "utf-8")


def main() -> None:
    """Every scenario in one mode."""
    mode, out = sys.argv[1], Path(sys.argv[2])
    os.chdir(out)  # MindSpore leaves compile errors where it is
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    expected = expected_of_net()
    for name, training in (("model", by_model), ("loop", by_loop), ("cell", by_cell), ("fixed_scale", fixed_scale)):
        run(out, name, training, expected)
    for name, training in (
        ("dynamic_scale", dynamic_scale),
        ("half_precision", half_precision),
        ("accumulation", accumulation),
        ("crash", crash),
        ("beside", beside),
        ("adversarial", adversarial),
    ):
        run(out, name, training, None)
    run(out, "large", large, expected_of_large())
    run(out, "raising", raising, None)
    seen: Expected = {}
    run(out, "embedding", embedding, seen, seen=seen)


if __name__ == "__main__":
    main()
