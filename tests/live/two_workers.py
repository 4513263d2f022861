"""One worker of a data-parallel training under msrun, on the CPU: run by the tests, watched while it writes.

    msrun --worker_num=2 --local_worker_num=2 ... two_workers.py EPOCHS SECONDS_PER_STEP [--kill|--raise] [--at STEP]

Prints what MindSpore's own LossMonitor and TimeMonitor print. At the step named by --at, rank 1 is ended by SIGKILL
with --kill, and raises an exception with --raise.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from typing import Any, Iterator, Tuple

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.communication import get_rank, init
from mindspore.train import Callback, LossMonitor, Model, TimeMonitor

SAMPLES = 24
BATCH = 4
FAULTY_RANK = 1


class Fate(Callback):  # type: ignore[misc]
    """Slows the training down to the pace that the test wants, and ends it at the step that it names."""

    def __init__(self, args: argparse.Namespace) -> None:
        super().__init__()
        self.args = args

    def on_train_step_end(self, run_context: Any) -> None:
        """After each step."""
        time.sleep(self.args.pace)
        if get_rank() != FAULTY_RANK or run_context.original_args().cur_step_num != self.args.at:
            return
        if self.args.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.args.fail:
            raise RuntimeError(f"this step was to fail: {self.args.at}")


def samples() -> Iterator[Tuple[Any, Any]]:
    """Points of a plane and a noisy linear function of them; another part of them on each rank."""
    rng = np.random.default_rng(get_rank())
    for _ in range(SAMPLES):
        x = rng.normal(size=2).astype(np.float32)
        yield x, np.array([x[0] - x[1] + 0.1 * rng.normal()], np.float32)


def main() -> None:
    """Train a linear model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("epochs", type=int)
    parser.add_argument("pace", type=float)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--raise", action="store_true", dest="fail")
    parser.add_argument("--at", type=int, default=0)
    args = parser.parse_args()
    ms.set_seed(5)
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    data = ds.GeneratorDataset(samples, ["x", "y"], shuffle=False).batch(BATCH)
    net = nn.Dense(2, 1)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.05))
    model.train(args.epochs, data, callbacks=[LossMonitor(), TimeMonitor(), Fate(args)], dataset_sink_mode=False)


if __name__ == "__main__":
    main()
