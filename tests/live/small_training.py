"""A training that takes seconds: run by the tests as a process of its own, watched while it writes.

    python small_training.py SUMMARY_DIR STEPS SECONDS_PER_STEP [--nan-at STEP] [--die-at STEP]

Prints one JSON line a step, {"step": ..., "loss": ...}, after the record is flushed: what the watcher must then find.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.train import SummaryRecord


def main() -> None:
    """Train a small classifier and record its loss, learning rate and gradient norms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("summary_dir")
    parser.add_argument("steps", type=int)
    parser.add_argument("pace", type=float)
    parser.add_argument("--nan-at", type=int, default=0)
    parser.add_argument("--die-at", type=int, default=0)
    args = parser.parse_args()
    ms.set_seed(3)
    ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(256, 8)).astype(np.float32)
    labels = (inputs[:, 0] + inputs[:, 1] > 0).astype(np.int32)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 2))
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)

    def forward(x: Any, y: Any) -> Any:
        return loss_fn(net(x), y)

    gradients_of = ms.value_and_grad(forward, None, optimizer.parameters)
    with SummaryRecord(args.summary_dir, num_process=1) as record:
        for step in range(1, args.steps + 1):
            rows = slice(step * 32 % 256, step * 32 % 256 + 32)
            loss, gradients = gradients_of(Tensor(inputs[rows]), Tensor(labels[rows]))
            optimizer(gradients)
            value = float("nan") if step == args.nan_at else float(loss.asnumpy())
            record.add_value("scalar", "loss", Tensor(np.float32(value)))
            record.add_value("scalar", "learning_rate", Tensor(np.float32(0.1)))
            for parameter, gradient in zip(optimizer.parameters, gradients):
                norm = np.float32(np.linalg.norm(gradient.asnumpy()))
                record.add_value("scalar", f"grad_norm/{parameter.name}", Tensor(norm))
            record.add_value("histogram", f"{net[0].weight.name}/auto", net[0].weight.value())
            record.record(step)
            record.flush()
            print(json.dumps({"step": step, "loss": value}), flush=True)
            if step == args.die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(args.pace)


if __name__ == "__main__":
    main()
