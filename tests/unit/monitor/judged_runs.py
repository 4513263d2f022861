"""Trainings as text logs, for tests of what is judged: healthy, with a loss that becomes NaN, begun again."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Iterable, List, Optional, Tuple

from mstui.detect.base import Process
from mstui.ingest.watch import WatchMode
from mstui.journal import Journal
from mstui.model.alert_view import Alert
from mstui.monitor import Monitor

NOW = 1_800_000_000.0
FINISHED = Process(running=False, exit_code=0)


def losses(begin: int, end: int, *, bad_from: Optional[int] = None) -> List[str]:
    """Lines of LossMonitor, one a step, up to and without `end`."""
    noise = random.Random(7)
    lines = []
    for step in range(begin, end):
        value = 2.3 * math.exp(-step / 40) + 0.1 + 0.02 * noise.random()
        shown = "nan" if bad_from is not None and step >= bad_from else f"{value:.6f}"
        lines.append(f"epoch: 1 step: {step}, loss is {shown}\n")
    return lines


def write_log(folder: Path, lines: Iterable[str], name: str = "train.log") -> Path:
    """Append to a log below a run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    with path.open("a", encoding="utf-8") as stream:
        stream.writelines(lines)
    return path


def monitor_of(folder: Path, now: List[float], **options: object) -> Monitor:
    """A monitor that nobody has let look yet; its clock is now[0]."""
    return Monitor(str(folder), watch=WatchMode.POLL, clock=lambda: now[0], **options)  # type: ignore[arg-type]


def look(monitor: Monitor, now: List[float], seconds: float = 0.0) -> None:
    """Turns until there is nothing to do, after so many seconds."""
    now[0] += seconds
    while monitor.run_once(now[0]).more:
        pass


def judged(folder: Path, *, process: Process = FINISHED, state: str = "", now: float = NOW) -> Monitor:
    """A monitor that has looked once."""
    monitor = monitor_of(folder, [now], process=process, journal=Journal(state))
    monitor.look_once(now)
    return monitor


def alerts_of(monitor: Monitor) -> Tuple[Alert, ...]:
    """Those of the only run."""
    return tuple(monitor.alerts(monitor.runs()[0].key))


def told(monitor: Monitor) -> List[object]:
    """Everything that identifies the incidents of the only run, and that the data determine."""
    return [
        (alert.id, alert.standing.state, [(each.symptom, each.severity, each.scope, each.step, each.detected_step,
                                           each.cleared_step, each.evidence) for each in alert.incident.happenings])
        for alert in alerts_of(monitor)
    ]  # fmt: skip
