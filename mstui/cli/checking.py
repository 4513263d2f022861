"""Runs `check`: judges one run once and says how it stands. Loads no terminal library."""

from __future__ import annotations

import json
import time
from typing import Any, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import click

from mstui.cli.startup import recorded_path
from mstui.cli.watching import make_monitor, settings_for
from mstui.config import Settings, nearest
from mstui.detect.base import Process
from mstui.errors import StartError
from mstui.i18n import _
from mstui.journal import Journal
from mstui.model.alerts import Severity
from mstui.model.runs import RunInfo
from mstui.monitor import Monitor
from mstui.monitor.process_on_host import ProcessOnHost
from mstui.report import as_json, as_text, chosen_run, make_report
from mstui.safe_text import safe

LEVELS: Mapping[str, Severity] = {
    severity.name.lower(): severity for severity in (Severity.WARN, Severity.ERROR, Severity.CRITICAL)
}
PROCESSES = "running|exited:CODE|unknown"
NAMES_SHOWN = 40
"""Runs listed in an error"""


class Judged(NamedTuple):
    """A run that has been read and judged to its last record."""

    monitor: Monitor
    run: RunInfo
    settings: Settings
    now: float


def check(
    path: str,
    config: Optional[str],
    options: Mapping[str, Any],
    *,
    as_data: bool,
    fail_on: str,
    now: Optional[float],
    process: Optional[str],
) -> int:
    """Print the verdict. Returns 0 healthy, 1 at or above the level, 2 nothing readable, 3 stalled or not judged.

    Raises StartError for a path or run that is not there, or one of several with none named.
    """
    judged = judge(path, config, options, now=now, process=process, journal_kept=False)
    report = make_report(judged.monitor, judged.run, judged.monitor.objectives(judged.run.key))
    if as_data:
        print_json(as_json(report, LEVELS[fail_on]))
    else:
        click.echo("\n".join(as_text(report)))
    return report.exit_code(LEVELS[fail_on])


def judge(
    path: str,
    config: Optional[str],
    options: Mapping[str, Any],
    *,
    now: Optional[float] = None,
    process: Optional[str] = None,
    journal_kept: bool,
) -> Judged:
    """Read and judge one run below `path`.

    now: Unix seconds from when it is judged; None is the clock's. process: one of PROCESSES; None is what this host
    shows. journal_kept: what is found is noted in the journal, as a mstui that watches would; else it is only read.
    """
    root = recorded_path(path)
    settings = settings_for(root, config, options)
    known = None if process is None else parse_process(process)
    moment = time.time() if now is None else now
    monitor = make_monitor(
        root,
        settings,
        clock=lambda: moment,
        journal=Journal(settings.state_dir, read_only=not journal_kept),
        process=known or Process(),
        look_for_process=ProcessOnHost() if process is None else None,
        looks_once=True,
    )
    monitor.look_once(moment)
    return Judged(monitor, _choose(monitor.runs(), settings.run, root), settings, moment)


def _choose(runs: Sequence[RunInfo], wanted: Optional[str], root: str) -> RunInfo:
    if not runs:
        raise StartError(_("no runs here"), safe(root), _("Name a directory that MindSpore's summary wrote."))
    found = chosen_run(runs, wanted)
    if found is None:
        names = [safe(run.key) for run in runs[:NAMES_SHOWN]]
        raise StartError(_("no run {run}").format(run=safe(str(wanted))), safe(root), nearest(str(wanted), names))
    return found


def parse_process(text: str) -> Process:
    """`running`, `exited:1` or `unknown`. Raises ValueError for anything else."""
    if text == "unknown":
        return Process()
    if text == "running":
        return Process(running=True)
    kind, colon, code = text.partition(":")
    if kind == "exited" and colon:
        return Process(running=False, exit_code=int(code))
    raise ValueError(text)


def print_json(data: object) -> None:
    """Plain ASCII: whatever a tag is made of reaches the reader as it is."""
    click.echo(json.dumps(data, indent=1, allow_nan=False))


def rows(cells: Sequence[Tuple[str, ...]]) -> List[str]:
    """Columns under each other, two spaces apart."""
    widths = [max(map(len, column)) for column in zip(*cells)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
