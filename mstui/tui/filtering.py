"""What a filter leaves of the runs and the tags, and what its comparisons may ask of them."""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple, Union

from mstui.i18n import _
from mstui.model.roles import Role
from mstui.model.runs import Fact, RunInfo
from mstui.monitor_api import MonitorApi, TagInfo
from mstui.tui.kind_words import listed_name

LAST = "last."
NOT_READ = "not-read"
"""value of `state` for runs of which only the files are known"""
Value = Union[float, str, None]
Lookup = Callable[[str], Value]


def filtered_runs(monitor: MonitorApi, text: str) -> List[RunInfo]:
    """Runs that match."""
    runs = monitor.runs()
    if not text.strip():
        return list(runs)
    from mstui.model.filters import parse  # most screens start without a filter

    wanted = parse(text)
    return [run for run in runs if wanted.matches(run.key, run_figures(monitor, run))]


def filtered_tags(tags: Sequence[TagInfo], text: str) -> List[TagInfo]:
    """Tags that match."""
    if not text.strip():
        return list(tags)
    from mstui.model.filters import parse  # most screens start without a filter

    wanted = parse(text)
    return [tag for tag in tags if wanted.matches(listed_name(tag), tag_figures(tag))]


def problem(text: str) -> str:
    """What of a filter cannot be understood (and is left out of it); empty when all can."""
    if not text.strip():
        return ""
    from mstui.model.filters import parse

    return parse(text).problem


def run_hits(monitor: MonitorApi, text: str) -> Tuple[int, int]:
    """Runs that match, of all."""
    return len(filtered_runs(monitor, text)), len(monitor.runs())


def unread_runs(monitor: MonitorApi, text: str) -> int:
    """Runs that a comparison asks for a value which is not known, because they are not read."""
    if not text.strip():
        return 0
    from mstui.model.filters import parse

    wanted = parse(text)
    asked = 0
    for run in monitor.runs():
        if run.loaded:
            continue
        figures, unknown = run_figures(monitor, run), False

        def lookup(name: str, figures: Lookup = figures) -> Value:
            nonlocal unknown
            value = figures(name)
            unknown = unknown or value is None
            return value

        wanted.matches(run.key, lookup)
        asked += unknown
    return asked


def tags_left(monitor: MonitorApi, run_key: str, text: str) -> Tuple[int, Tuple[str, ...]]:
    """Tags of a run that match, and that in words, the longest first: of the curves too, where not every tag is one."""
    tags = monitor.tags(run_key)
    scalars = [tag for tag in tags if tag.kind is None]
    hits = len(filtered_tags(tags, text))
    all_tags = f"{hits}/{len(tags)}"
    if len(scalars) == len(tags):
        return hits, (f"[{all_tags}]",)
    curves = f"{len(filtered_tags(scalars, text))}/{len(scalars)}"
    return hits, (_("[{tags} tags, {curves} curves]").format(tags=all_tags, curves=curves), f"[{all_tags}]")


def run_figures(monitor: MonitorApi, run: RunInfo) -> Lookup:
    """`step`, `ranks`, `faults`, `state`, `last.TAG` (or `last.ROLE`), and every one of the run's facts.

    Of a run that is not read only `ranks` and `state` are known; everything else is None, also what would be zero.
    """

    def lookup(name: str) -> Value:
        if name == "state":
            return run.status.value if run.loaded else NOT_READ
        if name == "ranks":
            return float(len(run.ranks))
        if not run.loaded:
            return None
        if name.startswith(LAST):
            return _last_value(monitor.tags(run.key), name[len(LAST) :])
        own = {"step": run.last_step, "faults": run.fault_count}
        value = own[name] if name in own else _fact(run, name)
        return float(value) if isinstance(value, (int, float)) else value

    return lookup


def tag_figures(tag: TagInfo) -> Lookup:
    """`last`, `step` and `points`."""

    def lookup(name: str) -> Value:
        if name == "points":
            return float(tag.points)
        if name == "step":
            return None if tag.last_step is None else float(tag.last_step)
        return tag.last_value if name == "last" else None

    return lookup


def _last_value(tags: Sequence[TagInfo], name: str) -> Optional[float]:
    scalars = [tag for tag in tags if tag.kind is None]
    by_name = next((tag for tag in scalars if tag.tag == name), None)
    by_role = next((tag for tag in scalars if tag.role.value == name and tag.role is not Role.OTHER), None)
    found = by_name or by_role
    return found.last_value if found is not None else None


def _fact(run: RunInfo, name: str) -> Optional[Fact]:
    """A fact by its name, or by the short one that people use."""
    if name == "lr" and name not in run.facts:
        name = "learning_rate"
    return run.facts.get(name)
