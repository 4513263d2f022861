"""Lines about alerts: each change once, a grave word first, nothing that is for information only."""

from __future__ import annotations

from dataclasses import replace
from typing import List

from mstui.model.alert_view import Alert
from mstui.model.alerts import Evidence, Happening, Incident, NotJudged, Scope, Severity, Symptom, Verdict
from mstui.model.journal import AlertState, Entry, EntryKind, Reopening, Standing
from mstui.monitor.alert_news import COUNT_EVERY_S, AlertNews

SPIKE = Happening(
    *(Symptom.LOSS_SPIKE, Severity.WARN, Scope(0, "loss"), 40, 40, 1000.0),
    (Evidence("{value} at step {step}", {"value": 9, "step": 40}),),
)
NAN = Happening(Symptom.LOSS_NAN, Severity.CRITICAL, Scope(2, "loss"), 44, 44, 1004.0, ())
NOW = 1_800_000_000.0
VERDICT = Verdict(("a", "b"), ())


def alert(*happenings: Happening, standing: Standing = Standing(AlertState.ACTIVE, 1000.0)) -> Alert:  # noqa: B008
    return Alert("1234abcd", "run", Incident(1, happenings or (SPIKE,)), standing)


def told(news: AlertNews, *alerts: Alert) -> List[str]:
    return news.lines(alerts, VERDICT, NOW)


def test_an_alert_is_told_once_and_its_end_once() -> None:
    news = AlertNews()
    assert told(news, alert()) == [
        "judged 2 of 2 rules",
        "WARNING Loss spike at step 40 (loss): 9 at step 40 [1234abcd]",
    ]
    assert told(news, alert()) == []
    over = alert(standing=Standing(AlertState.CLEARED, 1010.0))
    assert told(news, over) == ["WARNING Loss spike: cleared [1234abcd]"]
    assert told(news, over) == []
    back = alert(standing=Standing(AlertState.ACTIVE, 1020.0, reopened=Reopening.BACK))
    assert told(news, back) == ["WARNING Loss spike: active again: it has come back [1234abcd]"]


def test_what_follows_is_a_line_of_its_own() -> None:
    news = AlertNews()
    told(news, alert())
    assert told(news, alert(SPIKE, NAN)) == ["1234abcd then CRITICAL Loss is NaN at step 44 (loss, rank 2)"]
    quiet = replace(NAN, symptom=Symptom.METRIC_LOW, severity=Severity.INFO)
    assert told(news, alert(SPIKE, NAN, quiet)) == []
    assert told(AlertNews(), alert(SPIKE, NAN, quiet))[1:] == [
        "WARNING Loss spike at step 40 (loss): 9 at step 40 (now CRITICAL) [1234abcd]",
        "1234abcd then CRITICAL Loss is NaN at step 44 (loss, rank 2)",
    ]


def test_an_alert_that_becomes_graver_is_told_again() -> None:
    news = AlertNews()
    told(news, alert())
    assert told(news, alert(replace(SPIKE, severity=Severity.ERROR))) == [
        "ERROR Loss spike: graver than before [1234abcd]"
    ]


def test_whose_word_it_was_is_told_and_made_safe() -> None:
    news = AlertNews()
    told(news, alert())
    entry = Entry("1234abcd", EntryKind.ACKNOWLEDGED, 1005.0, who="li\x07@host")
    acknowledged = alert(standing=Standing(AlertState.ACKNOWLEDGED, 1005.0, entry))
    assert told(news, acknowledged) == ["WARNING Loss spike: acknowledged by li<07>@host [1234abcd]"]
    assert told(AlertNews(), acknowledged)[1:] == [
        "WARNING Loss spike at step 40 (loss): 9 at step 40 [1234abcd, acknowledged by li<07>@host]"
    ]


def test_what_is_for_information_only_is_left_out_and_no_verdict_is_no_line() -> None:
    quiet = replace(SPIKE, severity=Severity.INFO)
    assert AlertNews().lines([alert(quiet)], None, NOW) == []


def test_more_rules_that_have_judged_are_told_a_while_later() -> None:
    news, waiting = AlertNews(), (NotJudged("c", Evidence("too short"), Evidence("more steps")),)
    early = Verdict(("a", "b"), waiting)
    assert news.lines((), None, NOW) == []
    assert news.lines((), early, NOW) == ["judged 2 of 3 rules"]
    settled = Verdict(("a", "b", "c"), ())
    assert news.lines((), settled, NOW + 1) == [], "not a line for every rule"
    assert news.lines((), settled, NOW + COUNT_EVERY_S) == ["judged 3 of 3 rules"]
    assert news.lines((), settled, NOW + 1000) == []
