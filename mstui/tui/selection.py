"""What is selected, looked up in the monitor: the run, its rank, its loss."""

from __future__ import annotations

from typing import Optional, Sequence

from mstui.model.roles import Role
from mstui.model.runs import RunInfo
from mstui.monitor_api import TagInfo
from mstui.tui.panel import Host


def find_run(runs: Sequence[RunInfo], key: str) -> Optional[RunInfo]:
    """The run with this key."""
    return next((run for run in runs if run.key == key), None)


def selected_run(host: Host) -> Optional[RunInfo]:
    """The run that is looked at; None until one is found, or when it is gone."""
    return find_run(host.monitor.runs(), host.view.run_key)


def first_loss(host: Host, run: RunInfo) -> Optional[TagInfo]:
    """The tag that is "the loss" of a loaded run."""
    return next((tag for tag in host.monitor.tags(run.key) if tag.role is Role.LOSS and tag.kind is None), None)


def lowest_rank(run: RunInfo) -> int:
    """The rank to look at first."""
    return min((rank.rank_id for rank in run.ranks), default=0)
