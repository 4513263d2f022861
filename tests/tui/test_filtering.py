from __future__ import annotations

from typing import List

import pytest

from mstui.model.roles import Role
from mstui.model.runs import RunStatus
from mstui.tui.filtering import filtered_runs
from tests.tui.fakes import FakeMonitor


def monitor_with_both() -> FakeMonitor:
    monitor = FakeMonitor()
    monitor.add_run("read", 2, facts={"optimizer": "Momentum", "learning_rate": 0.1}, last_step=500)
    monitor.put("read", "loss", [0.5], role=Role.LOSS)
    monitor.add_run("unread", loaded=False, status=RunStatus.STALE, last_step=None)
    return monitor


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("last.loss<2", ["read"]),
        ("last.loss>=2", []),
        ("step>100", ["read"]),
        ("faults<1", ["read"]),
        ("faults!=7", ["read"]),
        ("lr=0.1", ["read"]),
        ("optimizer=momentum", ["read"]),
        ("ranks=1", ["unread"]),
        ("state=not-read", ["unread"]),
        ("state=live", ["read"]),
        ("read", ["read", "unread"]),
    ],
)
def test_a_run_that_is_not_read_has_no_value_to_compare(text: str, left: List[str]) -> None:
    assert [run.key for run in filtered_runs(monitor_with_both(), text)] == left
