"""The sample runs that mstui's own recorder makes, and those that are text logs. `make_samples.py` runs them.

Each is a small training on the CPU with a fault that is really there. The clock is the script's: PACE_S a step, so
that a replay has the pace of a small real model and nobody has to wait for it.
"""

from __future__ import annotations

import contextlib
import datetime as dt
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence, Tuple

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import LossMonitor, Model, TimeMonitor

from mstui.record import Recorder

PACE_S = 0.25
BEGAN = 1_796_050_000.0
"""Unix seconds at which every one of these trainings says that it began"""
BATCH, FEATURES, CLASSES = 32, 20, 4
EVERY = 5


class Clock:
    """Seconds of the pretended training: moved on by each step."""

    def __init__(self) -> None:
        self.now = BEGAN

    def __call__(self) -> float:
        return self.now


def synthetic(samples: int, seed: int = 1, scale: float = 1.0) -> Tuple[np.ndarray, np.ndarray]:
    """Four noisy clusters on a curved surface: learnable, not trivial."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(0, 1.1, (CLASSES, FEATURES))
    labels = rng.integers(0, CLASSES, samples)
    inputs = centres[labels] + rng.normal(0, 1.6, (samples, FEATURES))
    inputs[:, ::3] = np.sin(inputs[:, ::3])
    return (inputs * scale).astype(np.float32), labels.astype(np.int32)


def dense(sizes: Sequence[int], activation: Callable[[], nn.Cell], gain: float, seed: int = 11) -> nn.SequentialCell:
    """Dense layers with an activation between them; weights are normal with gain / sqrt(inputs), biases zero."""
    rng = np.random.default_rng(seed)
    cells: List[nn.Cell] = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layer = nn.Dense(inputs, outputs)
        weight = rng.normal(0, gain / np.sqrt(inputs), (outputs, inputs)).astype(np.float32)
        layer.weight.set_data(Tensor(weight))
        layer.bias.set_data(Tensor(np.zeros(outputs, np.float32)))
        cells += [layer, activation()]
    return nn.SequentialCell(cells[:-1])


def train(
    directory: Path,
    net: nn.Cell,
    optimizer: nn.Cell,
    steps: int,
    *,
    planned: int = 0,
    scale: float = 1.0,
    finished: bool = True,
    every: int = EVERY,
    **options: Any,
) -> None:
    """A loop of one's own, recorded; every 50 steps an evaluation."""
    loss_fn = nn.CrossEntropyLoss()
    inputs, labels = synthetic(BATCH * 50, scale=scale)
    held_out, answers = synthetic(256, seed=2, scale=scale)

    def forward(x: Tensor, y: Tensor) -> Tensor:
        return loss_fn(net(x).astype(ms.float32), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)
    clock = Clock()
    recorder = Recorder(
        directory,
        every=every,
        histograms_every=100,
        network=net,
        optimizer=optimizer,
        clock=clock,
        declared={"num_classes": CLASSES, "planned_steps": planned or steps, "batch_size": BATCH},
        **options,
    )
    net.set_train()
    recorder.watch()
    for step in range(1, steps + 1):
        at = (step - 1) * BATCH % len(inputs)
        loss, gradients = gradients_of(Tensor(inputs[at : at + BATCH]), Tensor(labels[at : at + BATCH]))
        recorder.before_update(gradients, loss)
        optimizer(gradients)
        clock.now += PACE_S
        recorder.after_update()
        if step % 50 == 0 and finished:
            logits = net(Tensor(held_out)).astype(ms.float32)
            accuracy = float((logits.asnumpy().argmax(axis=1) == answers).mean())
            recorder.evaluation({"loss": float(loss_fn(logits, Tensor(answers)).asnumpy()), "accuracy": accuracy})
            recorder.mark_epoch(step // 50)
    recorder.close(finished=finished)


def fp16_overflow(directory: Path) -> None:
    """Inputs that nobody has normalised and a rate that keeps rising: half precision ends at 65504."""
    net = dense((FEATURES, 32, 32, CLASSES), lambda: nn.LeakyReLU(0.1), 1.4).to_float(ms.float16)
    rates = np.geomspace(1e-6, 5e-2, 150).tolist()
    train(directory, net, nn.Momentum(net.trainable_params(), rates, 0.9), 150, scale=600.0)


def lr_too_large(directory: Path) -> None:
    """Plain gradient descent with thirty times the rate that it stands."""
    net = dense((FEATURES, 32, 16, CLASSES), nn.Tanh, 1.2)
    train(directory, net, nn.Momentum(net.trainable_params(), 3.0, 0.9), 200)


def vanishing(directory: Path) -> None:
    """Nine sigmoids: of each gradient at most a quarter passes."""
    net = dense((FEATURES, *(24,) * 8, CLASSES), nn.Sigmoid, 1.0)
    train(directory, net, nn.Momentum(net.trainable_params(), 0.05, 0.9), 150)


def exploding(directory: Path) -> None:
    """Ten layers without normalisation or clipping, and a rate that rises until their gradients grow without bound."""
    net = dense((FEATURES, *(24,) * 9, CLASSES), lambda: nn.LeakyReLU(0.1), 1.4)
    rates = [0.3 * step / 120 for step in range(1, 121)]
    few = ["^0.weight", "^8.weight", "^18.weight"]  # each step of these: it is over in four
    train(directory, net, nn.Momentum(net.trainable_params(), rates, 0.9), 100, every=1, params=few, activations=False)


def frozen_layer(directory: Path) -> None:
    """The optimizer is given all parameters but those of one layer, and nobody has said that it should be so."""
    net = dense((FEATURES, 32, 16, CLASSES), nn.ReLU, 1.4)
    given = [parameter for parameter in net.trainable_params() if not parameter.name.startswith("2.")]
    train(directory, net, nn.Momentum(given, 0.03, 0.9), 200)


def dead_relu(directory: Path) -> None:
    """No warm-up: the first steps are so large that a layer's inputs all become negative, for good."""
    net = dense((FEATURES, 32, 16, CLASSES), nn.ReLU, 1.4)
    train(directory, net, nn.Momentum(net.trainable_params(), [12.0] * 12 + [0.05] * 188, 0.0), 200)


def rank_init(directory: Path) -> None:
    """Two ranks average their gradients, but nobody has given them the same weights to begin with."""
    loss_fn = nn.CrossEntropyLoss()
    nets = [dense((FEATURES, 24, 16, CLASSES), nn.ReLU, 1.4, seed=21 + rank) for rank in range(2)]
    optimizers = [nn.Momentum(net.trainable_params(), 0.03, 0.9) for net in nets]
    clock = Clock()
    recorders = [
        Recorder(
            directory, every=EVERY, histograms_every=100, network=net, optimizer=optimizer, rank_id=rank, clock=clock,
            declared={"num_classes": CLASSES, "planned_steps": 200, "device_num": 2, "parallel_mode": "data_parallel"},
        )
        for rank, (net, optimizer) in enumerate(zip(nets, optimizers))
    ]  # fmt: skip
    for recorder in recorders:
        recorder.watch()
    functions = [ms.value_and_grad(_loss_of(net, loss_fn), None, opt.parameters) for net, opt in zip(nets, optimizers)]
    inputs, labels = synthetic(2 * BATCH * 50)
    for step in range(200):
        at = step * 2 * BATCH % len(inputs)
        shards = [slice(at + rank * BATCH, at + (rank + 1) * BATCH) for rank in range(2)]
        found = [function(Tensor(inputs[s]), Tensor(labels[s])) for function, s in zip(functions, shards)]
        mean = tuple((a + b) / 2 for a, b in zip(found[0][1], found[1][1]))
        clock.now += PACE_S
        for recorder, optimizer, (loss, _) in zip(recorders, optimizers, found):
            recorder.before_update(mean, loss)
            optimizer(mean)
            recorder.after_update()
    for recorder in recorders:
        recorder.close()


def _loss_of(net: nn.Cell, loss_fn: nn.Cell) -> Callable[[Tensor, Tensor], Tensor]:
    def forward(x: Tensor, y: Tensor) -> Tensor:
        return loss_fn(net(x), y)

    return forward


def hang(directory: Path) -> None:
    """The process stands still after step 140 of 600: its files stay open, and nothing more comes."""
    net = dense((FEATURES, 32, 16, CLASSES), nn.ReLU, 1.4)
    train(directory, net, nn.Momentum(net.trainable_params(), 0.03, 0.9), 140, planned=600, finished=False)


def log_only(directory: Path) -> None:
    """No summary at all: what LossMonitor and TimeMonitor print."""
    directory.mkdir(parents=True, exist_ok=True)
    net = dense((FEATURES, 32, 16, CLASSES), nn.ReLU, 1.4)
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    data = NumpySlicesDataset(synthetic(BATCH * 50), ["x", "y"], shuffle=False).batch(BATCH)
    test = NumpySlicesDataset(synthetic(256, seed=2), ["x", "y"], shuffle=False).batch(BATCH)
    model = Model(net, nn.CrossEntropyLoss(), optimizer, metrics={"accuracy"})
    with (directory / "train.log").open("w", encoding="utf-8") as log, contextlib.redirect_stdout(log):
        model.fit(6, data, test, callbacks=[LossMonitor(5), TimeMonitor()], dataset_sink_mode=False)


def mindformers_log(directory: Path) -> None:
    """A next-character model that tells of itself as MindFormers does."""
    directory.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer((Path(__file__).parent.parent / "LICENSE").read_bytes(), np.uint8).astype(np.int32) % 128
    rng = np.random.default_rng(31)
    net = nn.SequentialCell(nn.Embedding(128, 16), nn.Flatten(), nn.Dense(16 * 8, 48), nn.GELU(), nn.Dense(48, 128))
    for parameter in net.get_parameters():
        spread = 0.5 / np.sqrt(parameter.shape[-1])
        parameter.set_data(Tensor(rng.normal(0, spread, parameter.shape).astype(np.float32)))
    steps, peak = 240, 3e-3
    rates = [peak * min(step / 20, 0.5 * (1 + np.cos(np.pi * step / steps))) for step in range(1, steps + 1)]
    optimizer = nn.AdamWeightDecay(net.trainable_params(), [float(rate) for rate in rates], weight_decay=0.01)
    gradients_of = ms.value_and_grad(_loss_of(net, nn.CrossEntropyLoss()), None, optimizer.parameters)
    began = dt.datetime.fromtimestamp(BEGAN, tz=dt.timezone.utc)
    lines = []
    for step in range(1, steps + 1):
        at = rng.integers(0, len(text) - 9, 64)
        x, y = np.stack([text[i : i + 8] for i in at]), np.array([text[i + 8] for i in at])
        loss, gradients = gradients_of(Tensor(x), Tensor(y))
        norm = float(np.sqrt(sum(float((g.asnumpy().astype(np.float64) ** 2).sum()) for g in gradients)))
        optimizer(gradients)
        took = 1800 if step == 1 else 200 + int(rng.integers(0, 25))
        began += dt.timedelta(milliseconds=took)
        epoch, within = divmod(step - 1, 120)
        left = dt.timedelta(seconds=int((steps - step) * 0.21))
        stamp = f"{began:%Y-%m-%d %H:%M:%S},{began.microsecond // 1000:03d} - mindformers"
        where = f"{stamp}[mindformers/core/callback/callback.py"
        lines.append(
            f"{where}:313] - INFO - {{ Epoch:[{epoch + 1:3d}/  2], step:[{within + 1:5d}/  120], "
            f"loss: {float(loss.asnumpy()):.3f}, per_step_time: {took}ms, lr: {rates[step - 1]:.6g}, "
            f"overflow cond: False, loss_scale: 1.0, global_norm: [{norm:.6f}]"
        )
        done = 100 * step / steps
        bar = "█" * int(done // 2) + " " * (50 - int(done // 2))
        lines.append(f"{where}:323] - INFO - {done:6.1f}% |{bar}| {64e3 / took:.5f} samples/s/p  {left} }}")
    (directory / "train.log").write_text("\n".join(lines) + "\n", "utf-8")


SCENARIOS: Dict[str, Callable[[Path], Any]] = {
    function.__name__: function
    for function in (
        *(fp16_overflow, lr_too_large, vanishing, exploding, frozen_layer, dead_relu, rank_init, hang),
        *(log_only, mindformers_log),
    )
}


def make(name: str, directory: Path) -> None:
    """One of them, the same each time."""
    ms.set_seed(1)
    # eagerly: each operator rounds as it says, which half precision is about
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    SCENARIOS[name](directory)
