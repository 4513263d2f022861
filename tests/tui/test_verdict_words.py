from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from mstui.model.alert_view import JournalHealth
from mstui.model.alerts import Evidence, NotJudged, Verdict
from mstui.model.rule_settings import RuleSetting
from mstui.model.runs import RunStatus
from mstui.monitor.rulebook import make_rulebook
from mstui.tui.lines import Row
from mstui.tui.verdict_words import failure_waits, journal_text, judged_span, verdict_row, verdict_rows
from tests.tui.alert_scene import nan_alert, some_alerts, some_verdict


def text_of(row: Row) -> str:
    return "".join(text for text, _look in row)


def test_it_names_what_could_not_judge_and_why() -> None:
    assert text_of(verdict_row(some_verdict(), (), 140, ascii_only=False)) == (
        "judged 7 of 11 rules: no open trouble; "
        "not judged: overfit (no evaluation loss), data-input (what it needs is not recorded), 2 more"
    )


def test_where_no_reason_fits_the_rules_are_named_and_where_no_name_fits_they_are_counted() -> None:
    assert text_of(verdict_row(some_verdict(), (), 72, ascii_only=False)).endswith("not judged: overfit, 3 more")
    assert text_of(verdict_row(some_verdict(), (), 55, ascii_only=False)).endswith("; 4 not judged")


@given(st.integers(0, 200), st.integers(0, 7))
def test_it_is_never_wider_than_its_row(cells: int, judged: int) -> None:
    assert cell_len(text_of(verdict_row(some_verdict(judged), (), cells, ascii_only=True))) <= cells


def test_nothing_is_green_without_a_judged_rule() -> None:
    assert judged_span(None, ())[1] == "dim"
    assert "reading history" in judged_span(None, ())[0]
    text, look = judged_span(some_verdict(0), ())
    assert look == "warning"
    assert "judged 0 of 11" in text
    assert judged_span(Verdict((), ()), ())[1] == "warning"


def test_nothing_is_green_while_an_alert_is_open() -> None:
    assert judged_span(some_verdict(), ())[1] == "ok"
    assert judged_span(some_verdict(), (nan_alert(),))[1] == "text"


def test_a_failure_that_is_not_judged_yet_is_no_health() -> None:
    text, look = judged_span(some_verdict(), (), status=RunStatus.FAILED)
    assert (text, look) == ("judged 7 of 11 rules: its failure is not judged yet", "warning")
    judged = Verdict(("crash",), ())
    assert judged_span(judged, (), status=RunStatus.FAILED)[0].endswith("no open trouble"), "a person said intended"
    off = make_rulebook([RuleSetting("crash", enabled=False)]).off
    assert not failure_waits(Verdict((), off), RunStatus.FAILED), "nobody will judge it"
    assert judged_span(some_verdict(), (), status=RunStatus.LIVE)[1] == "ok"
    assert not failure_waits(None, RunStatus.FAILED)


def test_trouble_that_was_acknowledged_is_silent_but_not_green() -> None:
    text, look = judged_span(some_verdict(), some_alerts()[2:3])
    assert (text, look) == ("judged 7 of 11 rules: known trouble only", "text")
    assert judged_span(some_verdict(), some_alerts()[4:6])[1] == "ok", "cleared, or intended"


def test_the_whole_list_says_what_each_rule_would_need() -> None:
    rows = verdict_rows(some_verdict(), (), JournalHealth(ok=True), 76, ascii_only=False)
    text = "\n".join(text_of(row) for row in rows)
    for part in ("overfit  Over-fitting", "no evaluation loss", "needs: a loss of evaluations", "rule-16"):
        assert part in text, text
    assert all(cell_len(text_of(row)) <= 76 for row in rows)


def test_a_journal_that_cannot_be_kept_says_why() -> None:
    assert journal_text(JournalHealth(ok=True), ascii_only=False) == ""
    text = journal_text(JournalHealth(ok=False, detail="/st: disk full", unsaved=2, lost=1), ascii_only=False)
    assert text == "! acknowledgements cannot be kept: /st: disk full, 2 not stored yet, 1 lost"


def test_what_a_newer_mstui_has_noted_is_counted_in_the_whole_list() -> None:
    def shown(foreign: int) -> str:
        rows = verdict_rows(some_verdict(), (), JournalHealth(ok=True, foreign=foreign), 76, ascii_only=False)
        return "\n".join(text_of(row) for row in rows)

    assert "newer" not in shown(0)
    assert "1 entry of a newer mstui is not shown" in shown(1)
    assert "2 entries of a newer mstui are not shown" in shown(2)


def test_the_two_lines_of_the_recorder_are_offered_where_rules_wait_for_what_it_writes() -> None:
    def shown(rule: str) -> str:
        lacking = NotJudged(rule, Evidence("what it needs is not recorded"), Evidence("something"))
        rows = verdict_rows(Verdict((), (lacking,)), (), JournalHealth(ok=True), 70, ascii_only=False)
        return "\n".join(text_of(row) for row in rows)

    assert "  from mstui.record import Recorder\n" in shown("grad-vanish")
    assert "more: mstui record --help" in shown("grad-vanish")
    assert "mstui.record" not in shown("crash")
