"""What the recorder costs a training step: with and without it in one process, in turns.

    python bench/bench_record.py [--mode graph|pynative] [--rounds N] [--nets resnet transformer mlp16 mlp64 mlp128]

A round is BLOCK steps without the recorder and BLOCK with it; each step ends with its loss on the host. The machine may
be busy, so a step's time is the QUANTILE of all of its kind (without, recorded, between two recorded ones), and the
overhead at `every` is put together from these. The step is a train-one-step cell with the default settings of
`Recorder.wrap` (all parameters; activations in PyNative mode only). Bytes are those of a recorded step on the disk,
histograms not counted.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

os.environ.setdefault("GLOG_v", "3")

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from mstui.record import Recorder

BLOCK = 20
"""Steps of a block: two recorded ones at every=10."""
QUANTILE = 0.2
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
        return Tensor(rng.normal(size=(32, 3, 24, 24)).astype(np.float32)), Tensor(
            rng.integers(0, 10, 32).astype(np.int32)
        )
    if name == "transformer":
        return Tensor(rng.integers(0, 1000, (32, 32)).astype(np.int32)), Tensor(
            rng.integers(0, 1000, 32).astype(np.int32)
        )
    return Tensor(rng.normal(size=(64, 64)).astype(np.float32)), Tensor(rng.integers(0, 64, 64).astype(np.int32))


NETS: Dict[str, Callable[[], nn.Cell]] = {
    "resnet": ResNet,
    "transformer": Transformer,
    "mlp16": lambda: mlp(16),
    "mlp64": lambda: mlp(64),
    "mlp128": lambda: mlp(128),
}


def step_of(name: str) -> Tuple[nn.Cell, nn.Cell]:
    net = NETS[name]()
    optimizer = nn.Momentum(net.trainable_params(), 1e-4, 0.9)
    return net, nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer).set_train()


def block(
    step: Any, inputs: Tuple[Tensor, Tensor], recorder: Optional[Recorder] = None
) -> Tuple[List[float], List[float]]:
    """Milliseconds of the steps that are recorded and of the others."""
    kinds: Tuple[List[float], List[float]] = ([], [])
    for _ in range(BLOCK):
        began = time.perf_counter()
        step(*inputs).asnumpy()
        spent = 1e3 * (time.perf_counter() - began)
        recorded = recorder is not None and recorder.step % EVERY == 0
        kinds[0 if recorded else 1].append(spent)
    return kinds


def measure(name: str, rounds: int) -> None:
    inputs = batch(name)
    net, plain = step_of(name)
    began = time.perf_counter()
    block(plain, inputs)
    compile_plain = time.perf_counter() - began
    recorder = Recorder(tempfile.mkdtemp(), every=EVERY, histograms_every=0)
    watched = recorder.wrap(step_of(name)[1])
    began = time.perf_counter()
    block(watched, inputs)
    compile_watched = time.perf_counter() - began
    recorder.flush()
    bytes_before = recorder.bytes_written
    without: List[float] = []
    recorded: List[float] = []
    between: List[float] = []
    for _ in range(rounds):
        without += block(plain, inputs)[1]
        some, others = block(watched, inputs, recorder)
        recorded += some
        between += others
    recorder.flush()
    a_step = (recorder.bytes_written - bytes_before) / (rounds * BLOCK / EVERY)
    base, most, least = (float(np.quantile(times, QUANTILE)) for times in (without, recorded, between))
    ten = ((EVERY - 1) * least + most) / EVERY
    weights = net.trainable_params()
    print(
        f"{name:12} {len(weights):4} parameters, {sum(weight.size for weight in weights):7} elements: "
        f"{base:7.2f} ms a step; between {100 * (least / base - 1):+5.1f} %, recorded {most - base:+7.2f} ms; "
        f"every=10 {100 * (ten / base - 1):+5.1f} %, every=1 {100 * (most / base - 1):+5.1f} %; "
        f"{a_step:6.0f} bytes a recorded step (with {EVERY} losses); first {BLOCK} steps {compile_plain:.1f} s, "
        f"with the recorder {compile_watched:.1f} s",
        flush=True,
    )
    recorder.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=("graph", "pynative"), default="graph")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--nets", nargs="*", choices=list(NETS), default=list(NETS))
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    print(f"MindSpore {ms.__version__}, {options.mode} mode, CPU, {options.rounds} rounds of {BLOCK} steps")
    os.chdir(tempfile.mkdtemp())
    for name in options.nets:
        measure(name, options.rounds)


if __name__ == "__main__":
    main()
