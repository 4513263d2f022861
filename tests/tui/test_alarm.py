from __future__ import annotations

from dataclasses import replace
from typing import List

import pytest

from mstui.model.alerts import Severity, Symptom
from mstui.model.journal import AlertState, Reopening, Standing
from mstui.tui.alarm import Alarm, title_text
from tests.tui.alert_scene import NOW, alert, happening, nan_alert, put_alerts, some_alerts
from tests.tui.scene import RUN, make_app, scene


def test_what_was_there_when_the_history_was_read_rings_nothing() -> None:
    monitor, alarm = scene(), Alarm()
    assert not alarm.look(monitor, [RUN]), "still reading"
    put_alerts(monitor, [nan_alert()])
    assert not alarm.look(monitor, [RUN])
    assert not alarm.look(monitor, [RUN])


def test_a_new_critical_alert_rings_once_and_a_new_warning_does_not() -> None:
    monitor, alarm = scene(), Alarm()
    put_alerts(monitor, [])
    assert not alarm.look(monitor, [RUN])
    warning = alert(2, happening(Symptom.LOSS_SPIKE, Severity.WARN, 5))
    put_alerts(monitor, [warning])
    assert not alarm.look(monitor, [RUN])
    put_alerts(monitor, [warning, nan_alert()])
    assert alarm.look(monitor, [RUN])
    assert not alarm.look(monitor, [RUN])


def test_one_that_becomes_active_again_rings_again() -> None:
    monitor, alarm = scene(), Alarm()
    put_alerts(monitor, [nan_alert()])
    alarm.look(monitor, [RUN])
    put_alerts(monitor, [replace(nan_alert(), standing=Standing(AlertState.ACKNOWLEDGED, NOW))])
    assert not alarm.look(monitor, [RUN])
    put_alerts(monitor, [replace(nan_alert(), standing=Standing(AlertState.ACTIVE, NOW, None, Reopening.TIME))])
    assert alarm.look(monitor, [RUN])


def test_the_title_says_the_worst_and_is_harmless() -> None:
    assert title_text("run3", some_alerts(), ascii_only=False) == "‼ Overflow streak: run3"
    assert title_text("run3", (), ascii_only=False) == "mstui: run3"
    assert "\x1b" not in title_text("a\x1b]2;b", some_alerts(), ascii_only=False)


@pytest.mark.parametrize("bell", [True, False])
async def test_the_bell_rings_where_it_is_wanted(bell: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = scene()
    put_alerts(monitor, [])
    app = make_app(monitor, bell=bell)
    rung: List[str] = []
    monkeypatch.setattr(app, "bell", lambda: rung.append("bell"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        app.watch_screen._flush()
        put_alerts(monitor, [nan_alert()])
        app.watch_screen._flush()
        await pilot.pause()
    assert rung == (["bell"] if bell else [])


@pytest.mark.parametrize("wanted", [True, False])
async def test_the_title_is_said_once_and_given_back(wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monitor = scene()
    put_alerts(monitor, [nan_alert()])
    app = make_app(monitor, title=wanted)
    sent: List[str] = []
    monkeypatch.setattr(app, "_tell_terminal", sent.append)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for _ in range(3):
            monitor.bump()
            app.watch_screen._flush()
    said = ["\x1b[22;2t\x1b]2;‼ Overflow streak: resnet50/run3\x1b\\", "\x1b[23;2t"]
    assert sent == (said if wanted else [])
