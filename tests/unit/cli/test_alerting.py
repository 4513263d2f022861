"""Alerts from a shell: listed, acknowledged, taken back, intended; by several at once, and where nothing is kept."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, List

import pytest

from mstui.cli.alerting import alerts, note, parse_end
from mstui.cli.checking import check
from mstui.errors import StartError
from mstui.journal import Journal
from mstui.model.journal import Entry, EntryKind, Until, UntilKind
from tests.unit.monitor.judged_runs import losses, write_log

ROOT = Path(__file__).parents[3]
ACK, UNACK = EntryKind.ACKNOWLEDGED, EntryKind.UNACKNOWLEDGED
SNOOZE, INTENDED = EntryKind.SNOOZED, EntryKind.INTENDED


class Shell:
    """One run whose loss becomes NaN, and the commands about it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = root / "run"
        write_log(self.path, losses(1, 40, bad_from=30))
        self.state = root / "state"
        self._capsys = capsys

    @property
    def options(self) -> Any:
        return {"state_dir": str(self.state)}

    def listed(self, **how: bool) -> Any:
        """What `alerts --json` prints."""
        asked = {"everything": False, "history": False, **how}
        assert alerts(str(self.path), None, self.options, as_data=True, **asked) == 0
        return json.loads(self._capsys.readouterr().out)["alerts"]

    def text(self, **how: bool) -> List[str]:
        asked = {"everything": False, "history": False, **how}
        assert alerts(str(self.path), None, self.options, as_data=False, **asked) == 0
        return self._capsys.readouterr().out.splitlines()

    def say(self, kind: EntryKind, alert_id: str, *, path: bool = False, **what: str) -> str:
        assert note(kind, alert_id, str(self.path) if path else None, None, self.options, **what) == 0
        return self._capsys.readouterr().out

    @property
    def state_now(self) -> str:
        (alert,) = self.listed(everything=True)
        return str(alert["state"])


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return Shell(tmp_path, capsys)


@pytest.mark.parametrize("path", [False, True], ids=["by the journal alone", "by the run"])
def test_an_alert_is_acknowledged_by_the_beginning_of_its_id_and_taken_back(shell: Shell, *, path: bool) -> None:
    (alert,) = shell.listed()
    assert alert["symptom"] == "loss-nan"
    assert alert["id"] in shell.say(ACK, alert["id"][:4].upper(), path=path, comment="known\x1b shard")
    (alert,) = shell.listed()
    assert (alert["state"], alert["comment"]) == ("acknowledged", "known\x1b shard")
    assert "@" in alert["by"]
    assert "acknowledged by" in shell.text()[0]
    shell.say(UNACK, alert["id"], path=path)
    (alert,) = shell.listed()
    assert (alert["state"], alert["reopened"]) == ("active", "taken-back")


@pytest.mark.parametrize("path", [False, True], ids=["by the journal alone", "by the run"])
def test_what_is_intended_is_listed_only_on_request_and_does_not_count(shell: Shell, *, path: bool) -> None:
    (alert,) = shell.listed()
    shell.say(INTENDED, alert["id"], path=path)
    assert shell.listed() == []
    assert shell.state_now == "intended"
    assert "no alerts" in shell.text()[0]
    judged = check(str(shell.path), None, shell.options, as_data=False, fail_on="warn", now=None, process="exited:0")
    assert judged == 0


@pytest.mark.parametrize("path", [False, True], ids=["by the journal alone", "by the run"])
def test_the_answer_names_the_alert_and_says_when_there_is_nothing_to_take_back(shell: Shell, *, path: bool) -> None:
    (alert,) = shell.listed()
    begins = alert["id"][:4]
    about = alert["id"] + (" {}: CRITICAL Loss is NaN at step" if path else " {}: Loss is NaN (loss)")
    assert shell.say(UNACK, begins, path=path).startswith(about.format("nothing to take back"))
    assert shell.say(ACK, begins, path=path).startswith(about.format("acknowledged for ever"))
    assert shell.say(UNACK, begins, path=path).startswith(about.format("acknowledgement taken back"))
    before = shell.listed(history=True)
    assert shell.say(UNACK, begins, path=path).startswith(about.format("nothing to take back"))
    assert shell.listed(history=True) == before


@pytest.mark.parametrize("path", [False, True], ids=["by the journal alone", "by the run"])
def test_what_is_intended_of_an_earlier_alert_is_taken_back_where_it_was_said(shell: Shell, *, path: bool) -> None:
    (alert,) = shell.listed(history=True)
    (run,) = {run for run, _incident in Journal(str(shell.state)).incidents_like(alert["id"])}
    subject = alert["history"][0]["subject"]
    assert Journal(str(shell.state)).add(run, [Entry("0ld", INTENDED, 1.0, "li@node7", subject=subject)])
    assert shell.state_now == "intended"
    assert "acknowledgement taken back" in shell.say(UNACK, alert["id"], path=path)
    assert shell.state_now == "active"


def test_the_history_tells_who_said_what_and_until_when(shell: Shell) -> None:
    (alert,) = shell.listed()
    shell.say(SNOOZE, alert["id"], until="2h")
    shell.say(ACK, alert["id"], until="step:500", comment="bad\x1b]0;shard")
    lines = shell.text(history=True)
    assert ["raised" in lines[1], "snoozed" in lines[2], "acknowledged" in lines[3]] == [True] * 3
    assert "until step 500 bad<1b>]0;shard" in lines[3]
    (alert,) = shell.listed(history=True)
    assert [entry["kind"] for entry in alert["history"]] == ["raised", "snoozed", "acknowledged"]
    assert alert["history"][2]["until"] == {"kind": "step", "value": 500.0}


def test_a_restart_ends_an_acknowledgement_that_was_to_last_until_then(shell: Shell) -> None:
    (alert,) = shell.listed()
    shell.say(ACK, alert["id"], path=True, until="restart")
    assert shell.state_now == "acknowledged"
    write_log(shell.path, losses(20, 60, bad_from=35))
    (alert,) = shell.listed(everything=True)
    assert (alert["state"], alert["reopened"]) == ("active", "restart")


REFUSED = {
    "an id that nobody has": (ACK, "zzzz", {}, "no alert zzzz"),
    "an end that cannot be understood": (ACK, "", {"until": "soon"}, "cannot understand"),
    "a time that is over": (SNOOZE, "", {"until": "2001-01-01"}, "this time is over"),
    "worse than what": (ACK, "", {"until": "worse"}, "how the run stands now"),
    "since which restart": (ACK, "", {"until": "restart"}, "how the run stands now"),
}


@pytest.mark.parametrize(("kind", "alert_id", "what", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_noted_is_refused_with_a_reason(
    shell: Shell, kind: EntryKind, alert_id: str, what: Any, message: str
) -> None:
    (alert,) = shell.listed()
    with pytest.raises(StartError, match=message):
        shell.say(kind, alert_id or alert["id"], **what)
    assert shell.state_now == "active"


def test_an_id_that_stands_for_several_names_them(shell: Shell) -> None:
    noted = [Entry(each, EntryKind.RAISED, 1.0) for each in ("feed0001", "feed0002")]
    assert Journal(str(shell.state)).add("elsewhere", noted)
    with pytest.raises(StartError) as caught:
        shell.say(ACK, "feed")
    assert "feed0001, feed0002" in caught.value.remedy
    assert shell.say(ACK, "feed0002").startswith("feed0002 acknowledged for ever")


def test_a_state_directory_that_cannot_be_written_is_said(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.state.write_text("a file where a folder should be")
    assert alerts(str(shell.path), None, shell.options, as_data=False, everything=False, history=False) == 0
    printed = capsys.readouterr()
    assert "Loss is NaN" in printed.out
    assert "the journal cannot be kept" in printed.err
    alert_id = printed.out.split()[0]
    with pytest.raises(StartError, match="the journal cannot be written") as caught:
        shell.say(ACK, alert_id, path=True)
    assert "--state-dir" in caught.value.remedy


@pytest.mark.parametrize("as_data", [False, True], ids=["as text", "as data"])
def test_what_a_newer_mstui_has_noted_is_counted_beside_the_alerts(
    shell: Shell, capsys: pytest.CaptureFixture[str], *, as_data: bool
) -> None:
    (alert,) = shell.listed()
    shell.say(ACK, alert["id"])
    assert capsys.readouterr().err == ""
    journal = sqlite3.connect(shell.state / "journal.sqlite3")
    journal.execute("UPDATE entries SET kind = 'escalated' WHERE kind = 'acknowledged'")
    journal.commit()
    journal.close()
    assert alerts(str(shell.path), None, shell.options, as_data=as_data, everything=False, history=False) == 0
    printed = capsys.readouterr()
    assert printed.err == "1 entry of a newer mstui is not shown\n"
    assert alert["id"] in printed.out


def test_two_processes_acknowledge_at_once(shell: Shell) -> None:
    (alert,) = shell.listed()
    code = "import sys, mstui.cli; mstui.cli.main(sys.argv[1:])"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, "ack", alert["id"], "--comment", f"nr {number}",
             "--state-dir", str(shell.state)],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for number in range(2)
    ]  # fmt: skip
    outputs = [process.communicate(timeout=60) for process in started]
    assert [process.returncode for process in started] == [0, 0], outputs
    (alert,) = shell.listed()
    assert {entry["comment"] for entry in alert["history"] if entry["kind"] == "acknowledged"} == {"nr 0", "nr 1"}


ENDS = {
    "ever": Until(),
    "30m": Until(UntilKind.TIME, 2800.0),
    "step:500": Until(UntilKind.STEP, 500.0),
    "step 2k": Until(UntilKind.STEP, 2000.0),
    "restart": Until(UntilKind.RESTART),
    "worse": Until(UntilKind.WORSE),
    "2027-01-31T08:00": Until(UntilKind.TIME, time.mktime((2027, 1, 31, 8, 0, 0, 0, 0, -1))),
}


@pytest.mark.parametrize(("text", "expected"), ENDS.items(), ids=ENDS.keys())
def test_for_how_long(text: str, expected: Until) -> None:
    assert parse_end(text, 1000.0) == expected


def test_watching_and_the_shell_share_one_journal(shell: Shell) -> None:
    shell.listed()
    assert Journal(str(shell.state)).incidents_like("")
