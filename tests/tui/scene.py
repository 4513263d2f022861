"""A training as the screen's tests show it: fixed figures, so that snapshots stay the same."""

from __future__ import annotations

from typing import Any, List

import numpy as np

from mstui.config import Settings
from mstui.model.faults import FaultKind, ReadFault
from mstui.model.roles import Role
from mstui.model.runs import FileState, FileStatus, RunStatus
from mstui.tui.app import MstuiApp
from tests.tui.fakes import START, FakeMonitor

NOW = START + 2003
RUN = "resnet50/run3"
POINTS = 100


def scene() -> FakeMonitor:
    """Three runs, the newest of which is looked at."""
    monitor = FakeMonitor()
    monitor.add_run(RUN, 8, facts={"planned_steps": 50000, "epoch": 100, "learning_rate": 0.1}, fault_count=2)
    steps = np.arange(POINTS)
    monitor.put(RUN, "loss", 3 * np.exp(-steps / 30) + 0.1 * np.cos(steps), role=Role.LOSS)
    monitor.put(RUN, "eval/acc", 1 - np.exp(-np.arange(10) / 3), steps=np.arange(10) * 100, role=Role.EVAL_METRIC)
    monitor.put(RUN, "train/grad_norm", 1 + 0.3 * np.sin(steps * 1.7), role=Role.GRAD_NORM)
    monitor.put(RUN, "loss_scale", np.full(POINTS, 65536.0), role=Role.LOSS_SCALE)
    monitor.put(RUN, "lr", np.linspace(1e-3, 1e-5, POINTS), role=Role.LEARNING_RATE)
    monitor.add_run("resnet50/run2", last_data=START, last_step=None, loaded=False, status=RunStatus.STALE)
    monitor.add_run("bert/base", last_data=START - 90000, last_step=12, status=RunStatus.STALE)
    monitor.file_list.append(
        FileStatus(
            "/runs/resnet50/run3/events.out.events.summary.1700000000.host_MS",
            RUN,
            0,
            "mindspore",
            FileState.DENIED,
            4096,
            0,
            0,
            0,
            {"image": 12},
            (ReadFault("/runs/x", FaultKind.DAMAGED, 1234, 56, "checksum", START),),
            1,
            START,
            "It belongs to root (mode 0400).",
        )
    )
    return monitor


def make_app(monitor: FakeMonitor, **settings: Any) -> MstuiApp:
    """The application on this monitor, with a clock that stands."""
    return MstuiApp(monitor, Settings(**{"refresh_hz": 10.0, **settings}), clock=lambda: NOW)


def screen_rows(app: MstuiApp) -> List[str]:
    """The screen as text, one string a row, trailing blanks kept."""
    return ["".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips()]


def screen_text(app: MstuiApp) -> str:
    """The screen as text without trailing blanks."""
    return "\n".join(row.rstrip() for row in screen_rows(app)) + "\n"
