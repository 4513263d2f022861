from __future__ import annotations

from dataclasses import replace

from mstui.model.roles import Role
from mstui.model.series import Disagreement
from mstui.model.sources import SUMMARY, Source, SourceKind
from mstui.tui.source_words import disagreement_text, disagreements, short_disagreement, sources_text
from tests.tui.fakes import FakeMonitor

LOG = Source(SourceKind.LOG, "worker")
TABLE = Source(SourceKind.TABLE, "actv")
DIFFER = Disagreement(400, 12, 300, 2.5, 2.25, SUMMARY, LOG)


def test_the_summary_alone_needs_no_words() -> None:
    assert sources_text(()) == ""
    assert sources_text((SUMMARY, Source(SourceKind.SUMMARY, "b"))) == ""


def test_other_sources_are_named_once_the_most_exact_first() -> None:
    assert sources_text((LOG, Source(SourceKind.LOG, "info"))) == "logs"
    assert sources_text((LOG, SUMMARY)) == "summary+logs"
    assert sources_text((TABLE,)) == "table"


def test_a_disagreement_is_told_with_steps_and_both_values() -> None:
    assert short_disagreement(DIFFER) == "! differs from logs at 12 steps"
    text = disagreement_text(DIFFER)
    assert text == "at 12 of 400 steps the sources differ, first at step 300: summary 2.5, logs 2.25"
    two_logs = DIFFER._replace(source=Source(SourceKind.LOG, "1:info"))
    assert short_disagreement(two_logs) == "! differs from worker at 12 steps"
    assert disagreement_text(two_logs).endswith("info 2.5, worker 2.25")


def disagreeing(ranks: int = 1) -> FakeMonitor:
    monitor = FakeMonitor()
    monitor.add_run("a", ranks)
    key = monitor.put("a", "loss\x1b", [3.0, 2.0], role=Role.LOSS)
    monitor.disagreements[key] = DIFFER
    monitor.sources[key] = (SUMMARY, LOG)
    monitor.tag_lists["a"] = [replace(tag, sources=(SUMMARY, LOG)) for tag in monitor.tag_lists["a"]]
    return monitor


def test_a_run_lists_its_disagreements_by_curve() -> None:
    monitor = disagreeing()
    [said] = disagreements(monitor, monitor.run_list[0])
    assert said.startswith("loss<1b>: at 12 of 400 steps")
    monitor = disagreeing(2)
    [said] = disagreements(monitor, monitor.run_list[0])
    assert said.startswith("loss<1b> (rank 0): ")
    monitor.disagreements.clear()
    assert disagreements(monitor, monitor.run_list[0]) == []
