"""Data-parallel trainings of two workers under msrun, without and then with the recorder.

    msrun --worker_num=2 --local_worker_num=2 ... recorder_two_ranks.py graph|pynative OUT [--broadcast]

Run by test_recorder_ranks.py. OUT/summary is what the recorder writes; OUT/<rank>.json holds the losses of both
trainings and, bit for bit, the running statistics of a normalisation at their ends, which each rank has for itself.
With --broadcast rank 0's weights are sent to the others when a graph is compiled.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

sys.path.insert(0, str(Path(__file__).parents[2]))

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_rank, init

from mstui.record import Recorder

STEPS, EVERY, BATCH, FEATURES = 9, 3, 8, 6


class Net(nn.Cell):  # type: ignore[misc]
    """A layer with statistics that are not shared between ranks."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1, self.norm, self.relu, self.fc2 = nn.Dense(FEATURES, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dense(8, 1)

    def construct(self, x: Tensor) -> Tensor:
        """A number for each example."""
        return self.fc2(self.relu(self.norm(self.fc1(x))))


def train(recorder: Optional[Recorder], shared: bool) -> Dict[str, List[str]]:
    """Losses and what is left in the normalisation, every bit."""
    weights, examples = np.random.default_rng(1 if shared else get_rank()), np.random.default_rng(10 + get_rank())
    net = Net()
    for parameter in net.get_parameters():
        if "moving" not in parameter.name:
            parameter.set_data(Tensor(weights.normal(size=parameter.shape).astype(np.float32) * 0.3))
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()
    step: Any = cell if recorder is None else recorder.wrap(cell)
    losses = []
    for _ in range(STEPS):
        x = Tensor(examples.normal(size=(BATCH, FEATURES)).astype(np.float32))
        losses.append(float(step(x, x.sum(axis=1, keepdims=True)).asnumpy()).hex())
    running = [float(value).hex() for value in net.norm.moving_mean.asnumpy()]
    return {"losses": losses, "running": running}


def main() -> None:
    """Both trainings."""
    mode, out, broadcast = sys.argv[1], Path(sys.argv[2]), "--broadcast" in sys.argv
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE, device_target="CPU")
    init()
    ms.set_auto_parallel_context(
        parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True, parameter_broadcast=broadcast
    )
    without = train(None, shared=not broadcast)
    with Recorder(out / "summary", every=EVERY, declared={"planned_steps": STEPS}) as recorder:
        watched = train(recorder, shared=not broadcast)
    found = {"without": without, "with": watched, "broadcast": ms.get_auto_parallel_context("parameter_broadcast")}
    (out / f"{get_rank()}.json").write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main()
