"""What came of a guided check as files: its story in Markdown, and the draft for the maintainers where one is due.

Reads the monitor's memory and draws curves as text, which takes a while: for a worker. It refuses to write into what is
watched, and never over a file that is there.
"""

from __future__ import annotations

import os
from typing import Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from mstui.checks.markdown import Report, incident_markdown, maintainers_markdown
from mstui.checks.session import Session
from mstui.checks.session_rank import REPORT
from mstui.checks.words import Speaker
from mstui.export import Exported, write_export
from mstui.i18n import _, mark
from mstui.model.alerts import Incident
from mstui.model.roles import Role
from mstui.model.runs import RunInfo
from mstui.model.series import SeriesKey
from mstui.monitor_api import MonitorApi, TagInfo
from mstui.picture import curve_picture, joined
from mstui.safe_text import safe

CURVE_COLUMNS, CURVE_ROWS = 72, 14
MOST_STATISTICS = 12
"""tags whose figures a draft names"""
MOST_CURVES = 3
VERSION_NAMES: Tuple[Tuple[str, str], ...] = (
    ("mindspore", "MindSpore"),
    ("mindspore_version", "MindSpore"),
    ("cann", "CANN"),
    ("cann_version", "CANN"),
    ("driver", "driver"),
    ("python", "Python"),
    ("numpy", "numpy"),
    ("device_target", "device"),
    ("mode", "mode"),
)
"""names of facts, as recorders write them, and what a reader calls them"""
FIRST, LAST = mark("first {value}"), mark("last {value}")
LOWEST, HIGHEST, NOT_FINITE = mark("lowest {value}"), mark("highest {value}"), mark("{n} not finite")
_SHOWN = (Role.LOSS, Role.PARTIAL_LOSS, Role.GRAD_NORM, Role.LOSS_SCALE, Role.LEARNING_RATE, Role.EVAL_METRIC)


class Subject(NamedTuple):
    """What is written about."""

    session: Session
    run: Optional[RunInfo]
    incident: Optional[Incident]
    at: float
    """Unix seconds"""


def written(
    monitor: MonitorApi, subject: Subject, language: str, folder: str, *, ascii_only: bool = False
) -> List[Exported]:
    """Write the story, and the draft where the outcome asks for one, into a folder."""
    report = make_report(monitor, subject, language, ascii_only=ascii_only)
    name = _name(subject.session)
    found = [write_export(folder, f"check-{name}-{language}", ".md", incident_markdown(report, language))]
    outcome = subject.session.outcome
    if outcome is not None and outcome.kind == REPORT:
        found.append(write_export(folder, f"report-{name}-{language}", ".md", maintainers_markdown(report, language)))
    return found


def make_report(monitor: MonitorApi, subject: Subject, language: str, *, ascii_only: bool = False) -> Report:
    """Everything that goes into the files."""
    run = subject.run
    incident = subject.incident
    rank = incident.head.scope.rank_id if incident is not None else 0
    keys = [SeriesKey(run.key, rank, tag.tag) for tag in shown_tags(monitor, run, incident)] if run is not None else []
    return Report(
        subject.session,
        run.path if run is not None else _("no run"),
        subject.at,
        incident,
        versions(run) if run is not None else {},
        _statistics(monitor, keys, Speaker(language)),
        _curves(monitor, keys[:MOST_CURVES], ascii_only=ascii_only),
    )


def versions(run: RunInfo) -> Dict[str, str]:
    """What the run has told of its surroundings."""
    facts = {key.rpartition("/")[2]: value for key, value in run.facts.items()}
    found: Dict[str, str] = {}
    for name, title in VERSION_NAMES:
        if name in facts:
            found.setdefault(title, safe(str(facts[name])))
    return found


def shown_tags(monitor: MonitorApi, run: RunInfo, incident: Optional[Incident]) -> List[TagInfo]:
    """What the incident names first, then the figures that every training has."""
    tags = [tag for tag in monitor.tags(run.key) if tag.kind is None]
    named = {each.scope.tag for each in incident.happenings} if incident is not None else set()
    picked = [tag for tag in tags if tag.tag in named] + [tag for role in _SHOWN for tag in tags if tag.role is role]
    return list(dict.fromkeys(picked))[:MOST_STATISTICS]


def said(files: List[Exported]) -> str:
    """What became of them, for a person."""
    trouble = [file.problem for file in files if file.problem]
    if trouble:
        return trouble[0]
    return _("written to {path}").format(path=", ".join(safe(file.path, len(file.path)) for file in files))


def _name(session: Session) -> str:
    if session.case.symptoms:
        return session.case.symptoms[0]
    return session.case.flow.partition("#")[0] or "incident"


def _statistics(monitor: MonitorApi, keys: List[SeriesKey], say: Speaker) -> List[Tuple[str, str]]:
    """First, last, lowest and highest of each curve, and how much of it is not finite."""
    found = []
    for key in keys:
        series = monitor.series(key)
        if series is None or not series.current:
            continue
        values = joined([points.values.astype(np.float64) for points in series.current])
        finite = values[np.isfinite(values)]
        if not len(values):
            continue
        points = say.ngettext("{n} point", "{n} points", len(values))
        parts = [points, say(FIRST, value=f"{values[0]:.6g}"), say(LAST, value=f"{values[-1]:.6g}")]
        if len(finite):
            parts += [say(LOWEST, value=f"{finite.min():.6g}"), say(HIGHEST, value=f"{finite.max():.6g}")]
        parts += [say(NOT_FINITE, n=len(values) - len(finite))] if len(finite) < len(values) else []
        found.append((key.tag, ", ".join(parts)))
    return found


def _curves(monitor: MonitorApi, keys: List[SeriesKey], *, ascii_only: bool) -> List[Tuple[str, List[str]]]:
    found = []
    for key in keys:
        series = monitor.series(key)
        if series is None or not series.current:
            continue
        steps = joined([points.steps.astype(np.float64) for points in series.current])
        values = joined([points.values.astype(np.float64) for points in series.current])
        picture = curve_picture(
            *(steps, values),
            title=key.tag,
            x_label=_("step"),
            width=CURVE_COLUMNS,
            height=CURVE_ROWS,
            ascii_only=ascii_only,
        )
        found.append((key.tag, picture.splitlines()))
    return found


def export_folder(state_dir: str, fallback: str, root: str) -> str:
    """Where the files go: the state directory, else another directory outside of what is watched; empty for none."""
    for folder in (os.path.join(state_dir, "exports") if state_dir else "", fallback):
        if folder and not _inside(folder, root):
            return folder
    return ""


def _inside(path: str, root: str) -> bool:
    path, root = os.path.realpath(path), os.path.realpath(root)
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
