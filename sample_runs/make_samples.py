"""Train the bundled sample runs with MindSpore on the CPU and keep what its summary writer wrote.

    python sample_runs/make_samples.py [NAME ...] [--out DIR]

Needs the extra `mstui[mindspore]`. Seeds are fixed: curves come out the same. Two of the runs, `healthy` and
`loss_nan`, are made with SummaryCollector and callbacks of one's own, in real time: each step is held to STEP_SECONDS,
so that the records have the pace of a real training. The others (recorded_samples.py) are made with mstui's recorder,
at a pretended pace. Refuses to write over a run.
"""

# MindSpore reads the host's name when it is imported (E402), calls callbacks with arguments that not all of them need
# (ARG002), and lets nobody else write into the collector's record (SLF001).
# ruff: noqa: E402, SLF001, ARG002

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Sequence

platform.node = lambda: "sample"  # MindSpore puts the host's name into file names; nobody needs to know ours

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.dataset import GeneratorDataset
from mindspore.train import Callback, Model, SummaryCollector

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import recorded_samples

STEP_SECONDS = 0.15
"""Pace of a small real model on one NPU."""
BATCHES, BATCH_SIZE = 50, 32
EVERY = 5
"""Scalars are recorded at every 5th step"""
HISTOGRAM_EVERY = 50
FEATURES, HIDDEN, CLASSES = 20, (32, 16), 4

EPOCHS = {"healthy": 12, "loss_nan": 8}
PEAK_LEARNING_RATE = {"healthy": 0.05, "loss_nan": 0.6}
WARM_UP_STEPS = {"healthy": 60, "loss_nan": 500}


def synthetic(seed: int, samples: int) -> List[Any]:
    """Four noisy clusters on a curved surface: learnable, not trivial."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(0, 1.1, (CLASSES, FEATURES))
    labels = rng.integers(0, CLASSES, samples)
    inputs = centres[labels] + rng.normal(0, 1.6, (samples, FEATURES))
    inputs[:, ::3] = np.sin(inputs[:, ::3])
    return [(x.astype(np.float32), np.int32(y)) for x, y in zip(inputs, labels)]


class Net(nn.Cell):
    """Three dense layers."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Dense(FEATURES, HIDDEN[0])
        self.fc2 = nn.Dense(HIDDEN[0], HIDDEN[1])
        self.head = nn.Dense(HIDDEN[1], CLASSES)
        self.activation = nn.LeakyReLU(0.1)

    def construct(self, x: Tensor) -> Tensor:
        """Logits of a batch."""
        return self.head(self.activation(self.fc2(self.activation(self.fc1(x)))))


class UnguardedCrossEntropy(nn.Cell):
    """Cross entropy as a beginner writes it: log(softmax(x)). Once a probability underflows to 0 it is 0 * -inf."""

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Mean loss of a batch."""
        chosen = ops.one_hot(labels, CLASSES, Tensor(1.0, ms.float32), Tensor(0.0, ms.float32))
        return -(chosen * ops.log(ops.softmax(logits))).sum(axis=1).mean()


def learning_rates(name: str) -> List[float]:
    """Linear warm-up, then a cosine. The sick run is still warming up, to twelve times the peak, when it breaks."""
    total, warm, peak = EPOCHS[name] * BATCHES, WARM_UP_STEPS[name], PEAK_LEARNING_RATE[name]
    rates = []
    for step in range(total):
        if step < warm:
            rates.append(peak * (step + 1) / warm)
        else:
            rates.append(peak * 0.5 * (1 + float(np.cos(np.pi * (step - warm) / (total - warm)))))
    return rates


class Recorder(Callback):
    """Adds scalars and histograms to the collector's record. Stands before the collector in the list."""

    def __init__(
        self, collector: SummaryCollector, rates: List[float], network: nn.Cell, parameters: Sequence[Any]
    ) -> None:
        super().__init__()
        self.collector, self.rates, self.network, self.parameters = collector, rates, network, parameters
        self.before: Dict[str, np.ndarray] = {}
        self.started = 0.0
        self.evaluation = synthetic(seed=2, samples=512)

    def _scalar(self, tag: str, value: float) -> None:
        self.collector._record.add_value("scalar", tag, Tensor(np.float32(value)))

    def on_train_step_begin(self, run_context: Any) -> None:
        """Remember the weights, to see what the step changes."""
        self.started = time.monotonic()
        self.before = {p.name: p.asnumpy().astype(np.float32).copy() for p in self.parameters}

    def on_train_step_end(self, run_context: Any) -> None:
        """Record at collected steps, then wait until the step has taken its time."""
        args = run_context.original_args()
        step = args.cur_step_num
        if step == 1 or step % EVERY == 0:
            self._record(step, args)
        time.sleep(max(0.0, STEP_SECONDS - (time.monotonic() - self.started)))

    def _record(self, step: int, args: Any) -> None:
        loss, gradients = args.net_outputs[0], args.net_outputs[-1]
        self._scalar("loss", float(loss.asnumpy()))
        self._scalar("learning_rate", self.rates[step - 1])
        total = 0.0
        for name, gradient in gradients.items():
            values = gradient.asnumpy().astype(np.float64)
            square = float((values * values).sum())
            total += square
            self._scalar(f"grad_norm/{name}", square**0.5)
            if step % HISTOGRAM_EVERY == 0 and values.ndim > 1:
                self.collector._record.add_value("histogram", f"grad/{name}", Tensor(values.astype(np.float32)))
        self._scalar("grad_norm/global", total**0.5)
        for parameter in self.parameters:
            weight = parameter.asnumpy().astype(np.float32).copy()
            norm = float(np.linalg.norm(weight))
            change = float(np.linalg.norm(weight - self.before[parameter.name]))
            self._scalar(f"weight_norm/{parameter.name}", norm)
            self._scalar(f"update_ratio/{parameter.name}", change / norm if norm else 0.0)
            if step % HISTOGRAM_EVERY == 0 and weight.ndim > 1:
                self.collector._record.add_value("histogram", f"{parameter.name}/auto", Tensor(weight))

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Accuracy on data that the training never sees."""
        inputs = Tensor(np.stack([x for x, _ in self.evaluation]))
        answers = np.array([y for _, y in self.evaluation])
        accuracy = float((self.network(inputs).asnumpy().argmax(axis=1) == answers).mean())
        args = run_context.original_args()
        self._scalar("eval/accuracy", accuracy)
        self._scalar("epoch", float(args.cur_epoch_num))
        self.collector._record.record(args.cur_step_num)


class Flusher(Callback):
    """Puts every record on the disk at once. Stands after the collector in the list."""

    def __init__(self, collector: SummaryCollector) -> None:
        super().__init__()
        self.collector = collector

    def on_train_step_end(self, run_context: Any) -> None:
        """Flush."""
        self.collector._record.flush()

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Flush."""
        self.collector._record.flush()


def train(name: str, directory: Path) -> None:
    """One run, with its lineage."""
    ms.set_seed(1)
    np.random.seed(1)
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    network = Net()
    loss = (
        UnguardedCrossEntropy()
        if name == "loss_nan"
        else nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    )
    rates = learning_rates(name)
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=rates, momentum=0.9)
    step_cell = nn.TrainOneStepCell(nn.WithLossCell(network, loss), optimizer, return_grad=True)
    step_cell.set_train()
    model = Model(step_cell)
    data = GeneratorDataset(synthetic(seed=1, samples=BATCHES * BATCH_SIZE), ["data", "label"], shuffle=False)
    data = data.batch(BATCH_SIZE)
    wanted = {
        "collect_metric": False,
        "collect_graph": False,
        "collect_train_lineage": True,
        "collect_eval_lineage": True,
        "collect_input_data": False,
        "collect_dataset_graph": True,
        "histogram_regular": "^$",
    }
    collector = SummaryCollector(
        str(directory), collect_freq=EVERY, collect_specified_data=wanted, keep_default_action=False
    )
    callbacks = [Recorder(collector, rates, network, optimizer.parameters), collector, Flusher(collector)]
    model.train(EPOCHS[name], data, callbacks=callbacks, dataset_sink_mode=False)


def main() -> None:
    """Train what is named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=[*EPOCHS, *recorded_samples.SCENARIOS])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent)
    options = parser.parse_args()
    for name in options.names:
        directory = options.out / name
        if any(path.name != "run.toml" for path in directory.glob("*")):
            sys.exit(f"{directory} holds a run already; remove it first")
        directory.mkdir(parents=True, exist_ok=True)
        if name in EPOCHS:
            train(name, directory)
        else:
            recorded_samples.make(name, directory)
        for path in directory.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


if __name__ == "__main__":
    main()
