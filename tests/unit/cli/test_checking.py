"""`check` judges files of a real training, and says with its exit code how they stand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional, Tuple

import pytest
from click.testing import CliRunner

from mstui.cli import commands, main
from mstui.cli.checking import check
from mstui.errors import ConfigError, StartError
from tests.unit.monitor.judged_runs import losses, write_log

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings and no journal of whoever runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def checked(
    path: object,
    *,
    fail_on: str = "warn",
    now: Optional[float] = None,
    process: Optional[str] = "exited:0",
    config: Optional[str] = None,
    **options: Any,
) -> int:
    return check(str(path), config, options, as_data=True, fail_on=fail_on, now=now, process=process)


def data_of(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


SAMPLES = {
    "healthy": ("healthy", 0, None),
    "loss_nan": ("loss_nan", 1, "loss-nan"),
    "rank_init": ("rank_init", 1, "rank-differs"),
    "vanishing": ("vanishing", 1, "grad-vanish"),
}


@pytest.mark.parametrize(("sample", "code", "symptom"), SAMPLES.values(), ids=SAMPLES.keys())
def test_a_sample_gets_its_verdict(
    capsys: pytest.CaptureFixture[str], sample: str, code: int, symptom: Optional[str]
) -> None:
    assert checked(sample) == code
    data = data_of(capsys)
    assert data["exit_code"] == code
    found = [each["symptom"] for one in data["incidents"] for each in (one, *one["timeline"])]
    assert symptom is None or symptom in found
    assert data["judged"]
    assert all(set(each) == {"rule", "because", "needs"} for each in data["not_judged"])


def test_the_level_decides_what_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(tmp_path / "run", losses(1, 40))
    assert checked(tmp_path / "run", process="exited:1", fail_on="critical") == 1
    assert data_of(capsys)["verdict"] == "critical"
    assert checked(tmp_path / "run", fail_on="critical") == 0


def test_a_run_that_hangs_is_stalled(capsys: pytest.CaptureFixture[str]) -> None:
    hang = ROOT / "sample_runs" / "hang"
    late = max(path.stat().st_mtime for path in hang.rglob("*")) + 10 * 86_400
    assert checked("hang", process="running", now=late) == 3
    assert data_of(capsys)["verdict"] == "stalled"


def test_a_run_that_has_begun_only_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(tmp_path / "run", losses(1, 2))
    assert checked(tmp_path / "run", process="running") in (0, 3)
    assert data_of(capsys)["verdict"] in ("healthy", "not-judged")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "events.out.events.summary.1796037707.0.vm_MS").write_bytes(b"")
    assert checked(tmp_path / "empty") == 3
    assert data_of(capsys)["verdict"] == "not-judged"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_log(tmp_path / "run", losses(1, 40))
    path.chmod(0)
    assert checked(tmp_path / "run") == 2
    (unread,) = data_of(capsys)["unread"]
    assert unread["state"] == "denied"


def test_a_text_that_nobody_understands_is_unreadable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(tmp_path / "run", ["lorem ipsum dolor\n"] * 50)
    assert checked(tmp_path / "run") == 2
    data = data_of(capsys)
    assert (data["verdict"], data["unread"][0]["state"]) == ("unreadable", "not-recognised")


def test_of_several_runs_the_named_one_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(tmp_path / "runs" / "good", losses(1, 40))
    write_log(tmp_path / "runs" / "bad", losses(1, 40, bad_from=20))
    for run, code in (("good", 0), ("bad", 1)):
        assert checked(tmp_path / "runs", run=run) == code
        assert data_of(capsys)["run"] == run
    with pytest.raises(StartError) as caught:
        checked(tmp_path / "runs", run="goot")
    assert caught.value.remedy == 'Did you mean "good"?'


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartError):
        checked(tmp_path / "absent")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(StartError, match="no runs here"):
        checked(tmp_path / "nothing")


def test_a_probe_s_gradients_that_are_no_numbers_are_found_and_its_own_word_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    probe = ROOT / "tests" / "data" / "logs" / "msprobe" / "monitor_output"
    assert checked(probe, process="unknown") == 1
    data = data_of(capsys)
    (found,) = data["incidents"]
    assert (found["symptom"], found["severity"], found["step"]) == ("grad-explode", "error", 3)
    assert found["scope"]["layer"] == "layers.0.mlp.linear_fc1.weight"
    (told,) = data["facts"]
    assert (told["kind"], told["step"]) == ("probe-alert", 3)


def test_rules_of_the_config_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "mine.toml"
    config.write_text('[rules."loss-nonfinite"]\nenabled = false\n')
    write_log(tmp_path / "run", losses(1, 40, bad_from=30))
    checked(tmp_path / "run", config=str(config))
    assert "loss-nonfinite" in [each["rule"] for each in data_of(capsys)["not_judged"]]
    config.write_text('[rules."loss-nonfinit"]\n')
    with pytest.raises(ConfigError):
        checked(tmp_path / "run", config=str(config))


def test_it_leaves_the_journal_alone(tmp_path: Path) -> None:
    write_log(tmp_path / "run", losses(1, 40, bad_from=30))
    assert checked(tmp_path / "run") == 1
    assert not list((tmp_path / "state").rglob("*.sqlite3"))


WRONG = {"no state": "sleeping", "no code": "exited", "no number": "exited:x"}


@pytest.mark.parametrize("process", WRONG.values(), ids=WRONG.keys())
def test_a_process_that_makes_no_sense_is_refused(process: str) -> None:
    shown = CliRunner().invoke(commands.build(), ["check", "healthy", "--process", process])
    assert shown.exit_code == 2
    assert "running|exited:CODE|unknown" in shown.output


def run_check(*arguments: str) -> Tuple[int, str]:
    code = "import sys, mstui.cli; mstui.cli.main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def test_the_command_ends_with_the_verdict() -> None:
    code, text = run_check("loss_nan", "--process", "exited:0")
    assert code == 1
    assert text.splitlines()[0].endswith("critically ill, step 400")
    assert "judged " in text
    code, text = run_check("loss_nan", "--json", "--process", "exited:0", "--fail-on", "critical")
    assert code == json.loads(text)["exit_code"] == 1
    assert run_check("absent")[0] == 2


def test_it_needs_no_terminal_library() -> None:
    code = (
        "import sys, mstui.cli\n"
        "try:\n    mstui.cli.main(['check', 'healthy', '--json'])\n"
        "except SystemExit:\n    print(sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert "'numpy'" in done.stderr
    assert not [name for name in ("textual", "rich", "plotext", "mindspore") if f"'{name}'" in done.stderr]


def test_a_bug_of_mstui_is_no_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_arguments: object, **_options: object) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr("mstui.cli.checking.check", broken)
    with pytest.raises(SystemExit) as ended:
        main(["check", str(ROOT / "sample_runs" / "healthy")])
    assert ended.value.code == 70
    told = capsys.readouterr().err
    assert "ZeroDivisionError" in told
    assert told.endswith("mstui: this is a bug of mstui; the lines above tell where\n")
