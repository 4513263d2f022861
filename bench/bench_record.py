"""What the recorder costs a training step: with and without it in one process, step by step in turns.

    PYTHONPATH=. python bench/bench_record.py [--mode graph|pynative] [--form cell|loop] [--rounds N] [--nets NET ...]

A round is EVERY steps without and as many with the recorder, of which one is recorded; the two kinds take turns, each
step ends with its loss on the host, and who goes first changes. A round gives one ratio, in wall time and in CPU time
of the whole process; told are the median and the quartiles of the rounds. On a busy machine CPU time is the steadier
one. The recorder has its default settings. The step is a train-one-step cell (`Recorder.wrap`), or a loop of one's own
(`before_update`, `after_update`). Bytes are those of a recorded step on the disk, its share of the histograms included.

MindSpore's convolutions are slow on a CPU (3 s for 32 images of 24 x 24): the ResNet gets few and small images, which
makes the recorder's share larger, not smaller.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

os.environ.setdefault("GLOG_v", "3")

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from mstui.record import Recorder

EVERY = 10


class Residual(nn.Cell):
    """Two convolutions and a way around them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(width, width, 3), nn.Conv2d(width, width, 3)
        self.na, self.nb = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
        self.ra, self.rb = nn.ReLU(), nn.ReLU()

    def construct(self, x: Tensor) -> Tensor:
        return self.rb(x + self.nb(self.b(self.ra(self.na(self.a(x))))))


class ResNet(nn.Cell):
    """Four residual blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3)
        self.body = nn.SequentialCell([Residual(16) for _ in range(4)])
        self.head = nn.Dense(16, 10)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.body(self.stem(x)).mean(axis=(2, 3)))


class Block(nn.Cell):
    """One transformer block with a single attention head."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Dense(width, width), nn.Dense(width, width), nn.Dense(width, width)
        self.out = nn.Dense(width, width)
        self.up, self.down, self.act = nn.Dense(width, 4 * width), nn.Dense(4 * width, width), nn.GELU()
        self.n1, self.n2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.scale = 1 / width**0.5
        self.matmul, self.softmax = ops.BatchMatMul(), nn.Softmax(-1)

    def construct(self, x: Tensor) -> Tensor:
        y = self.n1(x)
        weights = self.softmax(self.matmul(self.q(y), self.k(y).swapaxes(1, 2)) * self.scale)
        x = x + self.out(self.matmul(weights, self.v(y)))
        return x + self.down(self.act(self.up(self.n2(x))))


class Transformer(nn.Cell):
    """Four blocks over an embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(1000, 64)
        self.blocks = nn.SequentialCell([Block(64) for _ in range(4)])
        self.head = nn.Dense(64, 1000)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.table(x)).mean(axis=1))


def mlp(layers: int) -> nn.Cell:
    """Dense layers of 64."""
    cells: List[nn.Cell] = [nn.Dense(64, 64)]
    for _ in range(layers - 1):
        cells += [nn.ReLU(), nn.Dense(64, 64)]
    return nn.SequentialCell(cells)


def batch(name: str) -> Tuple[Tensor, Tensor]:
    rng = np.random.default_rng(1)
    if name == "resnet":
        return Tensor(rng.normal(size=(4, 3, 16, 16)).astype(np.float32)), Tensor(
            rng.integers(0, 10, 4).astype(np.int32)
        )
    if name == "transformer":
        return Tensor(rng.integers(0, 1000, (16, 128)).astype(np.int32)), Tensor(
            rng.integers(0, 1000, 16).astype(np.int32)
        )
    return Tensor(rng.normal(size=(64, 64)).astype(np.float32)), Tensor(rng.integers(0, 64, 64).astype(np.int32))


NETS: Dict[str, Callable[[], nn.Cell]] = {
    "resnet": ResNet,
    "transformer": Transformer,
    "mlp16": lambda: mlp(16),
    "mlp64": lambda: mlp(64),
    "mlp128": lambda: mlp(128),
}


Step = Callable[[Tensor, Tensor], Tensor]


def cell_of(net: nn.Cell, optimizer: nn.Cell) -> nn.Cell:
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer).set_train()


def loop_of(net: nn.Cell, optimizer: nn.Cell, recorder: Optional[Recorder]) -> Step:
    """One turn of a loop as MindSpore's tutorials write it."""
    net.set_train()
    loss_of = nn.CrossEntropyLoss()

    def forward(x: Tensor, y: Tensor) -> Tensor:
        return loss_of(net(x), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)
    if ms.get_context("mode") == ms.GRAPH_MODE:
        gradients_of = ms.jit(gradients_of)

    def step(x: Tensor, y: Tensor) -> Tensor:
        loss, gradients = gradients_of(x, y)
        if recorder is not None:
            recorder.before_update(gradients, loss)
        optimizer(gradients)
        if recorder is not None:
            recorder.after_update()
        return loss

    return step


def steps_of(name: str, form: str, recorder: Recorder) -> Tuple[Step, Step, nn.Cell]:
    """The step without and the step with the recorder, each with a network of its own, and the latter."""
    nets = [NETS[name](), NETS[name]()]
    optimizers = [nn.Momentum(net.trainable_params(), 1e-4, 0.9) for net in nets]
    if form == "cell":
        return cell_of(nets[0], optimizers[0]), recorder.wrap(cell_of(nets[1], optimizers[1])), nets[1]
    recorder.watch(nets[1], optimizers[1])
    return loop_of(nets[0], optimizers[0], None), loop_of(nets[1], optimizers[1], recorder), nets[1]


class Cost(NamedTuple):
    """Milliseconds of one step."""

    wall: float
    cpu: float


def cost_of(step: Any, inputs: Tuple[Tensor, Tensor]) -> Cost:
    wall, cpu = time.perf_counter(), time.process_time()
    step(*inputs).asnumpy()
    return Cost(1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu))


def spread(values: Sequence[float]) -> str:
    """Median and quartiles, in percent above one."""
    low, middle, high = np.quantile(np.array(values), (0.25, 0.5, 0.75))
    return f"{100 * (middle - 1):+5.1f} % ({100 * (low - 1):+.1f} to {100 * (high - 1):+.1f})"


def measure(name: str, form: str, rounds: int) -> None:
    inputs = batch(name)
    recorder = Recorder(tempfile.mkdtemp(), every=EVERY)
    plain, watched, net = steps_of(name, form, recorder)
    first_plain = cost_of(plain, inputs).wall
    first_watched = cost_of(watched, inputs).wall + cost_of(watched, inputs).wall
    while recorder.step % EVERY:
        cost_of(watched, inputs)
        cost_of(plain, inputs)
    recorder.flush()
    bytes_before = recorder.bytes_written
    ratios: Tuple[List[float], List[float]] = ([], [])
    between: Tuple[List[float], List[float]] = ([], [])
    always: Tuple[List[float], List[float]] = ([], [])
    everything: List[Cost] = []
    for number in range(rounds):
        without, others = [], []
        recorded = Cost(0, 0)
        for at in range(EVERY):
            if (at + number) % 2:
                without.append(cost_of(plain, inputs))
            cost = cost_of(watched, inputs)
            if recorder.step % EVERY:
                others.append(cost)
            else:
                recorded = cost
            if not (at + number) % 2:
                without.append(cost_of(plain, inputs))
        everything += without
        for kind in (0, 1):
            base = sum(cost[kind] for cost in without)
            quiet = sum(cost[kind] for cost in others)
            ratios[kind].append((quiet + recorded[kind]) / base)
            between[kind].append(quiet / base * EVERY / (EVERY - 1))
            always[kind].append(recorded[kind] / base * EVERY)
    recorder.flush()
    a_step = (recorder.bytes_written - bytes_before) / rounds
    weights = net.trainable_params()
    wall, cpu = (float(np.median([cost[kind] for cost in everything])) for kind in (0, 1))
    print(
        f"{name}: {len(weights)} parameters, {sum(weight.size for weight in weights)} elements; a step {wall:.1f} ms, "
        f"{cpu:.1f} ms CPU; {a_step:.0f} bytes a recorded step (with {EVERY} losses); first step "
        f"{first_plain / 1e3:.1f} s, with the recorder the first two {first_watched / 1e3:.1f} s"
    )
    for label, kind in (("wall", 0), ("CPU", 1)):
        print(
            f"    {label:4} every=10 {spread(ratios[kind])}; every=1 {spread(always[kind])}; "
            f"between recorded steps {spread(between[kind])}",
            flush=True,
        )
    recorder.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph")
    parser.add_argument("--form", choices=("cell", "loop"), default="cell")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--nets", nargs="*", choices=list(NETS), default=list(NETS))
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"MindSpore {ms.__version__}, {options.mode} mode, {options.form}, CPU, {options.rounds} rounds, load {load}",
        flush=True,
    )
    os.chdir(tempfile.mkdtemp())
    for name in options.nets:
        measure(name, options.form, options.rounds)


if __name__ == "__main__":
    main()
