"""Each bundled run is judged as its run.toml says, and its cause is among the likeliest."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Dict, List, Set

import pytest

from mstui.detect.base import Process
from mstui.model.alerts import Severity
from mstui.model.series import SeriesKey
from mstui.monitor import Monitor

tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
RUNS = Path(__file__).parents[2] / "sample_runs"
NAMES = sorted(path.parent.name for path in RUNS.glob("*/run.toml"))
HANG = "hang"
HANG_S = 120.0
"""How long a hung run has been silent when it is looked at"""


def judged(name: str) -> Monitor:
    """The run as it stands two minutes after its last record; a hung one has a process that still runs."""
    now = 1_796_050_000.0 + 1e6
    first = Monitor(str(RUNS / name), clock=lambda: now, process=Process(running=False, exit_code=0))
    first.look_once(now)
    if name != HANG:
        return first
    [run] = first.runs()
    at = max(
        float(series.current[-1].wall_times[-1])
        for tag in first.tags(run.key)
        for series in [first.series(SeriesKey(run.key, 0, tag.tag))]
        if series is not None
    )
    at += HANG_S
    hung = Monitor(str(RUNS / name), clock=lambda: at, process=Process(running=True))
    hung.look_once(at)
    return hung


def expected(name: str) -> Dict[str, Any]:
    """What run.toml promises."""
    promised: Dict[str, Any] = tomllib.loads((RUNS / name / "run.toml").read_text("utf-8"))["expect"]
    return promised


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_run_shows_the_symptoms_that_it_is_there_to_show(name: str) -> None:
    monitor = judged(name)
    [run] = monitor.runs()
    happenings = [each for alert in monitor.alerts(run.key) for each in alert.incident.happenings]
    loud: Set[str] = {each.symptom.value for each in happenings if each.severity >= Severity.WARN}
    wanted = set(expected(name)["symptoms"])
    assert wanted <= loud
    if not wanted:
        assert loud == set(), "a healthy run rings nothing"


@pytest.mark.parametrize("name", [name for name in NAMES if expected(name)["cause"]])
def test_its_cause_is_among_the_first_three(name: str) -> None:
    monitor = judged(name)
    [run] = monitor.runs()
    likely: List[str] = [
        cause.id for alert in monitor.alerts(run.key) for cause in monitor.fetch_causes(run.key, alert.id, "en")[:3]
    ]
    assert expected(name)["cause"] in likely
