"""A training with an alert whose checks can be walked: the real knowledge, and evidence that is set here."""

from __future__ import annotations

import asyncio
from typing import Any, Sequence

from textual.pilot import Pilot

from mstui.checks.session import Case
from mstui.knowledge.ranking import Observation
from mstui.model.alerts import Scope, Severity, Symptom
from mstui.model.checks import ProbeResult, ProbeState
from mstui.model.roles import Role
from mstui.tui.app import MstuiApp
from mstui.tui.check_window import CheckWindow
from tests.tui.alert_scene import alert, happening
from tests.tui.fakes import FakeMonitor
from tests.tui.scene import RUN, scene

FLAT = "00000007"
"""id of the alert"""
SEEN = {
    "update-small": Observation(value=True, sentence="a step changes a weight by 2e-07 of its size"),
    "lr-tiny": Observation(value=True, sentence="the learning rate is 1e-09"),
    "weights-static-some": Observation(value=False),
}
PROBES = {
    "overflow-rate": ProbeResult(
        ProbeState.OK, "{n} of {total} steps in {log}", {"n": 0, "total": 100, "log": "a.log"}
    ),
    "lr-range": ProbeResult(ProbeState.BAD, "the learning rate is {lr} at step {step}", {"lr": 1e-09, "step": 10}),
}


def flat_case(**more: Any) -> Case:
    """The loss does not fall, since the learning rate is tiny."""
    return Case(("loss-flat",), **{"observations": SEEN, "probes": PROBES, "version": "2.3.1", **more})


def check_scene(case: Case = flat_case(version="2.3.1")) -> FakeMonitor:  # noqa: B008
    """The usual training with one alert."""
    monitor = scene()
    monitor.put(
        RUN, "grad/conv1.weight", [1.0, 1.0], role=Role.PARAMETER, parameter="conv1.weight", statistic="grad_norm"
    )
    monitor.put(RUN, "grad/fc.weight", [1.0, 1.0], role=Role.PARAMETER, parameter="fc.weight", statistic="grad_norm")
    monitor.alert_lists[RUN] = (alert(7, happening(Symptom.LOSS_FLAT, Severity.WARN, 300, Scope(0, "loss"))),)
    monitor.cases[RUN, FLAT] = case
    return monitor


def window(app: MstuiApp) -> CheckWindow:
    """The check that is open."""
    over = app.watch_screen.overlay
    assert isinstance(over, CheckWindow)
    return over


async def settled(pilot: Pilot[None], app: MstuiApp) -> None:
    """What was asked for has come back."""
    await pilot.pause()
    over = app.watch_screen.overlay
    while isinstance(over, CheckWindow) and over._fetching.busy:
        await asyncio.sleep(0.01)
    await app.workers.wait_for_complete()
    await pilot.pause()


async def press(pilot: Pilot[None], app: MstuiApp, keys: Sequence[str]) -> None:
    """One key after the other, each when the one before has done its work."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot, app)


async def opened(pilot: Pilot[None], app: MstuiApp) -> CheckWindow:
    """The check of the alert."""
    await pilot.pause()
    await press(pilot, app, ("3", "g"))
    return window(app)
