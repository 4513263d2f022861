from __future__ import annotations

from typing import List

import pytest

from mstui.model.roles import Role
from mstui.model.runs import RunStatus
from mstui.tui.filtering import filtered_runs, unread_runs
from tests.tui.fakes import FakeMonitor
from tests.tui.scene import make_app, scene, screen_rows


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


def test_runs_whose_values_are_not_known_are_counted_only_where_one_is_asked_for() -> None:
    monitor = monitor_with_both()
    assert unread_runs(monitor, "last.loss<2") == 1
    assert unread_runs(monitor, "read") == 0
    assert unread_runs(monitor, "ranks=1") == 0
    assert unread_runs(monitor, "") == 0


async def test_the_prompt_says_how_many_runs_are_not_read() -> None:
    app = make_app(scene())
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("5", "slash", *"step>1")
        assert screen_rows(app)[-1].rstrip().endswith("[2/3] 1 not read")
