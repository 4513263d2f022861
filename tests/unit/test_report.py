"""A report says what was judged and what was not, and its exit code says no more than that."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Tuple

import pytest

from mstui.model.alert_view import Alert, LikelyCause
from mstui.model.alerts import Evidence, Happening, Incident, NotJudged, Scope, Severity, Symptom, Verdict
from mstui.model.batch import FileKey
from mstui.model.journal import AlertState, Standing
from mstui.model.log_view import LogPlace, ProcessFact, Weight
from mstui.model.logs import EventKind
from mstui.model.runs import FileState, FileStatus, RunInfo, RunStatus
from mstui.report import Health, Report, as_json, as_text, chosen_run, make_report
from tests.tui.fakes import FakeMonitor

RUN = RunInfo("exp", "/runs/exp", True, RunStatus.LIVE, (), 120, 0.0, 1, 1.0, 1, 10, 10, 0)  # noqa: FBT003
JUDGED = Verdict(
    ("loss-nonfinite", "loss-spike"),
    (NotJudged("overfit", Evidence("no evaluation loss"), Evidence("a loss on held-out data")),),
)
FILE = FileStatus("/runs/exp/f_MS", "exp", 0, "mindspore-summary", FileState.CURRENT, 10, 10, 1, 0)


def alert(
    severity: Severity, symptom: Symptom = Symptom.LOSS_NAN, state: AlertState = AlertState.ACTIVE, **changes: object
) -> Alert:
    happening = Happening(
        *(symptom, severity, Scope(0, "loss"), 40, 42, 1000.0),
        (Evidence("{tag} is nan", {"tag": "lo\x1b[31mss"}),),
    )
    base = Alert("1234abcd", "exp", Incident(1, (happening,)), Standing(state, 1000.0))
    return replace(base, **changes)  # type: ignore[arg-type]


def report(
    *alerts: Alert, verdict: Verdict = JUDGED, run: RunInfo = RUN, unread: Tuple[FileStatus, ...] = ()
) -> Report:
    return Report(run, alerts, verdict, unread)


NOTHING = Verdict((), JUDGED.not_judged)
STALL = alert(Severity.WARN, Symptom.STALL)
CASES = {
    "nothing found": (report(), Health.HEALTHY, (0, 0, 0)),
    "only worth a look": (report(alert(Severity.WATCH)), Health.HEALTHY, (0, 0, 0)),
    "a warning": (report(alert(Severity.WARN)), Health.WARN, (1, 0, 0)),
    "an error": (report(alert(Severity.ERROR)), Health.ERROR, (1, 1, 0)),
    "the worst counts": (report(alert(Severity.CRITICAL), alert(Severity.WARN)), Health.CRITICAL, (1, 1, 1)),
    "it is over": (report(alert(Severity.CRITICAL, state=AlertState.CLEARED)), Health.HEALTHY, (0, 0, 0)),
    "it is meant so": (report(alert(Severity.CRITICAL, state=AlertState.INTENDED)), Health.HEALTHY, (0, 0, 0)),
    "known is not well": (report(alert(Severity.ERROR, state=AlertState.ACKNOWLEDGED)), Health.ERROR, (1, 1, 0)),
    "silence": (report(STALL), Health.STALLED, (3, 3, 3)),
    "silence and worse": (report(STALL, alert(Severity.ERROR)), Health.ERROR, (1, 1, 3)),
    "nothing could be judged": (report(verdict=NOTHING), Health.NOT_JUDGED, (3, 3, 3)),
    "only how the process ended": (report(verdict=Verdict(("crash",), ())), Health.NOT_JUDGED, (3, 3, 3)),
    "no file can be read": (
        report(verdict=NOTHING, unread=(replace(FILE, state=FileState.DENIED),)),
        Health.UNREADABLE,
        (2, 2, 2),
    ),
}


@pytest.mark.parametrize(("given", "health", "codes"), CASES.values(), ids=CASES.keys())
def test_the_verdict_and_the_exit_codes(given: Report, health: Health, codes: Tuple[int, int, int]) -> None:
    assert given.health is health
    assert tuple(given.exit_code(level) for level in (Severity.WARN, Severity.ERROR, Severity.CRITICAL)) == codes


def test_the_text_names_verdict_incidents_rules_and_files() -> None:
    follows = replace(alert(Severity.WARN).incident.head, symptom=Symptom.METRIC_LOW, step=80)
    grave = alert(Severity.CRITICAL)
    grave = replace(grave, incident=replace(grave.incident, happenings=(grave.incident.head, follows)))
    torn = replace(FILE, state=FileState.TORN, skipped_bytes=7, detail="at byte 90")
    damage = "at byte 90; 7 bytes are damaged and were passed over"
    lines = as_text(replace(report(grave, unread=(torn,)), others=("a", "b")))
    assert lines == [
        "/runs/exp: critically ill, step 120",
        "",
        "CRITICAL Loss is NaN at step 40 (loss): lo<1b>[31mss is nan [1234abcd, active]",
        "  then WARNING Metric below expectation at step 80 (loss): lo<1b>[31mss is nan",
        "",
        "judged 2 of 3 rules",
        "not judged: overfit (no evaluation loss); needs a loss on held-out data",
        "unread: /runs/exp/f_MS: ends inside a record, and its writer is gone; " + damage,
        "2 other runs are not judged; --run chooses one: a, b",
    ]


def test_the_json_has_every_field_that_is_documented() -> None:
    cause = LikelyCause("lr-too-large", "Learning rate too large", 0.8, "likely", ("it was raised",))
    refuted = replace(cause, id="data-missing", refuted=True)
    given = report(alert(Severity.ERROR, causes=(cause, refuted)), unread=(replace(FILE, state=FileState.DENIED),))
    data = json.loads(json.dumps(as_json(given, Severity.WARN), allow_nan=False))
    assert (data["schema"], data["run"], data["verdict"], data["exit_code"]) == (1, "exp", "error", 1)
    assert data["judged"] == ["loss-nonfinite", "loss-spike"]
    assert data["not_judged"] == [
        {"rule": "overfit", "because": "no evaluation loss", "needs": "a loss on held-out data"}
    ]
    (incident,) = data["incidents"]
    assert {key: incident[key] for key in ("id", "symptom", "severity", "step", "detected_step", "state")} == {
        "id": "1234abcd", "symptom": "loss-nan", "severity": "error", "step": 40, "detected_step": 42,
        "state": "active",
    }  # fmt: skip
    assert incident["scope"] == {"tag": "loss", "layer": "", "rank": 0}
    assert incident["evidence"] == ["lo<1b>[31mss is nan"]
    assert incident["timeline"] == []
    assert incident["causes"] == [{"id": "lr-too-large", "score": 0.8, "because": ["it was raised"]}]
    assert data["unread"][0]["state"] == "denied"


def test_a_time_that_is_no_number_is_none_in_json() -> None:
    odd = alert(Severity.WARN)
    odd = replace(odd, incident=Incident(1, (replace(odd.incident.head, wall_time=float("nan")),)))
    assert as_json(report(odd), Severity.WARN)["incidents"][0]["wall_time"] is None


def test_a_report_is_made_of_what_the_monitor_says() -> None:
    monitor = FakeMonitor()
    monitor.put("exp", "loss", [3.0, 2.0])
    monitor.put("old", "loss", [3.0, 2.0])
    monitor.verdicts["exp"] = JUDGED
    monitor.alert_lists["exp"] = (alert(Severity.WARN),)
    (run,) = (each for each in monitor.runs() if each.key == "exp")
    made = make_report(monitor, run)
    assert made.verdict is JUDGED
    assert [each.id for each in made.alerts] == ["1234abcd"]
    assert made.others == ("old",)


def test_the_run_that_is_named_is_chosen_else_the_one_that_is_loaded() -> None:
    runs = [replace(RUN, key="a", loaded=False), replace(RUN, key="b"), replace(RUN, key="c", loaded=False)]
    for wanted, found in ((None, "b"), ("c", "c")):
        chosen = chosen_run(runs, wanted)
        assert chosen is not None
        assert chosen.key == found
    assert chosen_run(runs, "d") is None
    assert chosen_run([], None) is None


@pytest.mark.parametrize("page", ["check.md", "check.zh_CN.md"])
def test_every_field_of_the_json_is_documented(page: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / page).read_text("utf-8")
    damaged = replace(FILE, state=FileState.TORN)
    data = as_json(report(alert(Severity.WARN), unread=(damaged,)), Severity.WARN)
    fields = {*data, *data["incidents"][0], *data["unread"][0], *data["not_judged"][0], *data["incidents"][0]["scope"]}
    assert sorted(name for name in fields if f"`{name}`" not in text and f'"{name}"' not in text) == []
    assert [each.value for each in Health if f"`{each.value}`" not in text] == []


def fact(number: int = 3, weight: Weight = Weight.TROUBLE) -> ProcessFact:
    place = LogPlace(FileKey("exp", 0, 0, "/runs/exp/anomaly.json"), 3)
    text = f"Rule AnomalyNan reports anomaly signal at step {number}"
    return ProcessFact(EventKind.PROBE_ALERT, weight, 0, place, None, number, text, "")


def test_what_logs_tell_is_said_though_no_rule_judges_it() -> None:
    told = replace(report(), facts=(fact(),))
    lines = as_text(told)
    assert "  WARNING (rank 0, step 3): Rule AnomalyNan reports anomaly signal at step 3" in lines
    assert lines.index("the logs say:") < lines.index("judged 2 of 3 rules")
    (shown,) = as_json(told, Severity.WARN)["facts"]
    assert (shown["kind"], shown["weight"], shown["step"], shown["path"]) == (
        *("probe-alert", "trouble", 3),
        "/runs/exp/anomaly.json",
    )
    assert "the logs say:" not in as_text(report())


def test_a_log_that_tells_a_lot_does_not_fill_the_report() -> None:
    lines = as_text(replace(report(), facts=tuple(fact(step) for step in range(25))))
    assert sum("AnomalyNan" in line for line in lines) == 10
    assert "  15 more facts in the logs" in lines


def test_mere_news_of_the_logs_is_no_part_of_a_report() -> None:
    monitor = FakeMonitor()
    monitor.facts = {RUN.key: [fact(), fact(4, Weight.NEWS)]}
    assert [each.step for each in make_report(monitor, RUN).facts] == [3]
