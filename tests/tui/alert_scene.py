"""Alerts as the screen's tests show them: one of every severity and state, on the usual training."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Optional, Sequence, Tuple

from mstui.model.alert_view import Alert
from mstui.model.alerts import Evidence, Happening, Incident, NotJudged, Scope, Severity, Symptom, Verdict
from mstui.model.journal import AlertState, Entry, EntryKind, Reopening, Standing, Until, UntilKind
from tests.tui.fakes import START, FakeMonitor
from tests.tui.scene import RUN, scene

NOW = START + 2003
WHO = "li@node7"


def happening(symptom: Symptom, severity: Severity, step: int, scope: Scope = Scope(), **more: Any) -> Happening:  # noqa: B008
    """Seen two steps after it began."""
    evidence = (Evidence("the loss is nan at step {step}", {"step": step}),)
    return Happening(symptom, severity, scope, step, step + 2, START + 2 * step, evidence, **more)


def alert(
    number: int,
    *happenings: Happening,
    state: AlertState = AlertState.ACTIVE,
    entry: Optional[Entry] = None,
    reopened: Optional[Reopening] = None,
) -> Alert:
    """With an id made of its number."""
    since = entry.at if entry is not None else happenings[0].wall_time
    return Alert(f"{number:08x}", RUN, Incident(number, happenings), Standing(state, since, entry, reopened))


def entry(number: int, kind: EntryKind, comment: str = "", until: Until = Until()) -> Entry:  # noqa: B008
    """A minute and a half ago."""
    return Entry(f"{number:08x}", kind, NOW - 90, WHO, comment, until=until)


def nan_alert() -> Alert:
    """Critical, with what followed from it."""
    return alert(
        1,
        happening(Symptom.OVERFLOW_STREAK, Severity.ERROR, 600, Scope(0, "loss_scale")),
        happening(Symptom.SCALE_COLLAPSE, Severity.ERROR, 640, Scope(0, "loss_scale"), cleared_step=700),
        happening(
            Symptom.LOSS_NAN,
            Severity.CRITICAL,
            700,
            Scope(3, "loss"),
            others=(Scope(0, "loss"), Scope(1, "loss")),
            repeats=4,
        ),
    )


def some_alerts() -> Tuple[Alert, ...]:
    """In the order in which they were raised."""
    held = entry(3, EntryKind.ACKNOWLEDGED, "known bad shard", Until(UntilKind.STEP, 20_000))
    snoozed = entry(4, EntryKind.SNOOZED, "", Until(UntilKind.TIME, NOW + 1800))
    meant = entry(6, EntryKind.INTENDED, "a cosine")
    return (
        nan_alert(),
        alert(2, happening(Symptom.GRAD_VANISH, Severity.WARN, 300, Scope(1, "grad_norm/fc1.weight", "fc1.weight"))),
        alert(
            3,
            happening(Symptom.LOSS_SPIKE, Severity.WARN, 200, Scope(0, "loss"), repeats=2),
            state=AlertState.ACKNOWLEDGED,
            entry=held,
        ),
        alert(4, happening(Symptom.SLOW_DOWN, Severity.WARN, 100), state=AlertState.SNOOZED, entry=snoozed),
        alert(
            5,
            happening(Symptom.PLATEAU, Severity.WATCH, 50, Scope(0, "eval/acc"), cleared_step=90),
            state=AlertState.CLEARED,
        ),
        alert(
            6, happening(Symptom.LR_ANOMALY, Severity.INFO, 10, Scope(0, "lr")), state=AlertState.INTENDED, entry=meant
        ),
        alert(
            7,
            happening(Symptom.OVERFIT, Severity.ERROR, 800, Scope(0, "eval/acc")),
            entry=replace(held, incident=f"{7:08x}", comment=""),
            reopened=Reopening.STEP,
        ),
    )


def some_verdict(judged: int = 7) -> Verdict:
    """Of eleven rules."""
    missing = (
        NotJudged("overfit", Evidence("no evaluation loss"), Evidence("a loss of evaluations, recorded by the script")),
        NotJudged("data-input", Evidence("what it needs is not recorded"), Evidence("figures of the input")),
        NotJudged("stall", Evidence("the process is not known to run"), Evidence("a process that is known to run")),
        NotJudged("rank-differs", Evidence("one rank only"), Evidence("the same figures from two ranks")),
    )
    more = tuple(NotJudged(f"rule-{i}", Evidence("not enough data yet"), Evidence("steps")) for i in range(7 - judged))
    return Verdict(tuple(f"rule-{i}" for i in range(10, 10 + judged)), missing + more)


def put_alerts(monitor: FakeMonitor, alerts: Sequence[Alert], judged: int = 7) -> None:
    """Set the alerts of the usual run, and what was judged."""
    monitor.alert_lists[RUN] = tuple(alerts)
    monitor.verdicts[RUN] = some_verdict(judged)
    monitor.entries = {(RUN, each.id): [each.standing.entry] for each in alerts if each.standing.entry is not None}
    monitor.bump()


def alerts_scene() -> FakeMonitor:
    """The usual scene with one alert of every kind."""
    monitor = scene()
    put_alerts(monitor, some_alerts())
    return monitor


def quiet_scene() -> FakeMonitor:
    """The usual scene, judged, with nothing raised."""
    monitor = scene()
    put_alerts(monitor, [])
    return monitor
