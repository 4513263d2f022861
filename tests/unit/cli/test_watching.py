"""Settings, monitor and signals of watch and replay, with a real sample run behind them."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import Iterator, List

import pytest

from mstui import i18n
from mstui.assets import SAMPLE_RUNS, asset_dir
from mstui.cli import watching
from mstui.cli.settings import formats_with
from mstui.cli.watching import PatternRoles, make_monitor, settings_for
from mstui.config import Settings
from mstui.errors import ConfigError, StartError
from mstui.formats.logs import text_format
from mstui.formats.logs.own_patterns import own_pattern
from mstui.journal import Journal
from mstui.model.log_patterns import LogPattern
from mstui.model.roles import Role
from mstui.monitor.monitor import LookForProcess

HEALTHY = os.path.join(asset_dir(SAMPLE_RUNS), "healthy")


@pytest.fixture(autouse=True)
def _own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    yield
    i18n.set_language("en")


class Listener(io.StringIO):
    """Presses Ctrl-C once it has read a certain text, or a minute has gone."""

    def __init__(self, wanted: str) -> None:
        super().__init__()
        self._wanted = wanted
        self._patience = threading.Timer(60.0, self._press)
        self._patience.start()

    def _press(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def write(self, text: str) -> int:
        if self._wanted in text:
            self._patience.cancel()
            self._press()
        return super().write(text)


@pytest.fixture
def quiet_interrupt() -> Iterator[object]:
    """A SIGINT that nobody expects must not end the test session."""

    def ignore(*_args: object) -> None:
        pass

    before = signal.signal(signal.SIGINT, ignore)
    yield ignore
    signal.signal(signal.SIGINT, before)


def test_patterns_lie_over_the_rules() -> None:
    roles = PatternRoles({"my_*": "loss", "my_metric": "eval-metric", "loss": "other"})
    assert roles.meaning("my_metric").role is Role.LOSS
    assert roles.meaning("loss").role is Role.OTHER
    assert roles.meaning("learning_rate").role is Role.LEARNING_RATE
    assert roles.meaning("My_metric").role is not Role.LOSS


def test_a_word_said_on_the_screen_beats_a_pattern() -> None:
    roles = PatternRoles({"my_*": "loss"})
    roles.set("my_metric", Role.EVAL_METRIC)
    assert roles.meaning("my_metric").role is Role.EVAL_METRIC


def test_options_win_over_files_and_the_language_is_spoken(tmp_path: Path) -> None:
    (tmp_path / "config/mstui").mkdir(parents=True)
    (tmp_path / "config/mstui/config.toml").write_text('lang = "zh"\nsmoothing = 0.1\nascii = true\n')
    settings = settings_for(HEALTHY, None, {"smoothing": 0.9, "run": None})
    assert (settings.lang, settings.smoothing, settings.ascii) == ("zh_CN", 0.9, True)
    assert settings.state_dir == str(tmp_path / "state/mstui")
    assert settings.low_bandwidth is not None
    assert i18n.current_language() == "zh_CN"


def test_plain_watching_ends_with_a_signal_and_tells_what_it_saw(
    monkeypatch: pytest.MonkeyPatch, quiet_interrupt: object
) -> None:
    out = Listener("step 600, loss ")
    monkeypatch.setattr(sys, "stdout", out)
    assert watching.watch([HEALTHY], None, {}, plain=True, every_s=0.1) == 0
    assert f"watching {HEALTHY}" in out.getvalue()
    assert "step 600, loss " in out.getvalue()
    assert signal.getsignal(signal.SIGINT) is quiet_interrupt


def test_plain_watching_tells_what_the_filter_leaves(monkeypatch: pytest.MonkeyPatch, quiet_interrupt: object) -> None:
    assert quiet_interrupt
    out = Listener("step 600, ")
    monkeypatch.setattr(sys, "stdout", out)
    assert watching.watch([HEALTHY], None, {"filter": "accuracy"}, plain=True, every_s=0.1) == 0
    assert "step 600, eval/accuracy" in out.getvalue()


def test_a_replay_is_watched_in_a_directory_that_goes_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_interrupt: object
) -> None:
    out = Listener("WARNING loss is NaN at step 345")
    monkeypatch.setattr(sys, "stdout", out)
    options = {"state_dir": str(tmp_path / "s")}
    assert watching.replay("loss_nan", None, options, plain=True, every_s=0.1, speed=20.0, at="step 300") == 0
    assert "WARNING loss is NaN at step 345" in out.getvalue()
    assert os.listdir(tmp_path / "s/replays") == []


def test_a_replay_of_a_run_that_hangs_is_asked_for_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: List[LookForProcess] = []

    def played(_root: str, _settings: Settings, *_rest: object, look_for_process: LookForProcess, **_o: object) -> int:
        asked.append(look_for_process)
        return 0

    monkeypatch.setattr(watching, "_plain", played)
    options = {"state_dir": str(tmp_path / "s")}
    assert watching.replay("hang", None, options, plain=True, every_s=1.0, speed=1.0, at="step 600") == 0
    (look,) = asked
    assert [look(".", tuple, now).running for now in (0.0, 60.0)] == [None, True]


def test_a_summary_and_its_log_are_watched_as_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quiet_interrupt: object
) -> None:
    assert quiet_interrupt
    log = tmp_path / "log/train.log"
    log.parent.mkdir()
    log.write_text("epoch: 1 step: 7, loss is 2.5\n")
    shutil.copytree(HEALTHY, tmp_path / "summary")
    out = Listener("step 600, ")
    monkeypatch.setattr(sys, "stdout", out)
    assert watching.watch([str(tmp_path / "summary"), str(log)], None, {}, plain=True, every_s=0.1) == 0
    assert f"watching {tmp_path}" in out.getvalue()


def test_of_several_paths_the_one_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StartError) as caught:
        watching.watch([str(tmp_path), str(tmp_path / "zzz")], None, {}, plain=True, every_s=0.1)
    assert caught.value.where == str(tmp_path / "zzz")


def test_the_monitor_is_the_one_that_was_set() -> None:
    monitor = make_monitor(HEALTHY, Settings(roles={"eval/*": "eval-loss"}, total_steps=1200))
    while monitor.run_once(1_900_000_000.0).more:
        pass
    roles = {tag.tag: tag.role for tag in monitor.tags(".")}
    assert roles["eval/accuracy"] is Role.EVAL_LOSS
    assert roles["loss"] is Role.LOSS
    assert monitor.runs()[0].facts["planned_steps"] == 1200


OWN = "[[log_pattern]]\nname = 'mine'\npattern = 'it (?P<step>[0-9]+) L=(?P<loss>[0-9.]+)'\nfiles = '{files}'\n"


def test_a_pattern_from_the_configuration_reads_the_logs_that_it_is_for(tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text(OWN.format(files="*.dat"))
    formats = formats_with(settings_for(str(tmp_path), str(config), {}).log_pattern)
    assert formats is not None
    line = b"it 7 L=2.5\nepoch: 1 step: 2, loss is 0.5\n"
    (chosen,) = (form for form in formats if form.claims_name("mine.dat") and form.claims_head(line))
    assert chosen is formats[-1]
    assert chosen.claims_name("mine.dat")
    assert not chosen.claims_name("mine.bin")
    own = chosen.make_decoder("/run/mine.dat").decode(line, 0, at_end=True)
    other = chosen.make_decoder("/run/train.log").decode(line, 0, at_end=True)
    assert [(column.tags, column.steps.tolist()) for column in own.columns if "loss" in column.tags] == [
        (("loss",), [7, 2])
    ]
    assert [column.steps.tolist() for column in other.columns if "loss" in column.tags] == [[2]]


@pytest.mark.parametrize(
    ("files", "path", "read"),
    [
        ("", "/a/b/x.log", True),
        ("x.*", "/a/b/x.log", True),
        ("y.*", "/a/b/x.log", False),
        ("b/*.log", "/a/b/x.log", True),
        ("c/*.log", "/a/b/x.log", False),
        ("/a/*", "/a/b/x.log", True),
    ],
)
def test_wildcards_say_which_logs_a_pattern_is_for(files: str, path: str, read: bool) -> None:
    form = text_format.with_patterns([(own_pattern("mine", "it (?P<step>[0-9]+) L=(?P<loss>[0-9.]+)"), files)])
    assert bool(form.make_decoder(path).decode(b"it 7 L=2.5\n", 0, at_end=True).columns) is read


def test_without_patterns_the_formats_are_the_usual_ones() -> None:
    assert formats_with(()) is None


def test_a_pattern_that_cannot_be_used_is_said_with_its_place() -> None:
    with pytest.raises(ConfigError) as caught:
        formats_with([LogPattern("mine", "(?P<loss>", "", "/c.toml: [[log_pattern]] 1")])
    assert str(caught.value).startswith("/c.toml: [[log_pattern]] 1: log pattern mine: ")


def test_a_view_that_could_not_be_kept_is_said_when_the_screen_is_gone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class App:
        view_trouble = "/state\x1b[2J: No space left on device"
        return_code = 0

        def __init__(self, *_given: object, **_more: object) -> None:
            pass

        def exit(self) -> None:
            pass

        def run(self, *, mouse: bool) -> None:
            assert mouse

    monkeypatch.setattr("mstui.tui.app.MstuiApp", App)
    monkeypatch.setattr(watching, "check_terminal", lambda _environ: None)
    monkeypatch.setattr(watching, "on_hangup", lambda *_given: None)
    monkeypatch.setattr(watching, "textual_environment", lambda *_given: {})
    assert watching.watch([HEALTHY], None, {}, plain=False, every_s=1.0) == 0
    assert capsys.readouterr().err == "the view could not be kept: /state<1b>[2J: No space left on device\n"


def test_what_is_said_of_a_replay_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: List[Journal] = []

    def played(_root: str, _settings: Settings, *_rest: object, journal: Journal, **_others: object) -> int:
        made.append(journal)
        return 0

    monkeypatch.setattr(watching, "_plain", played)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    options = {"state_dir": str(tmp_path / "state")}
    assert watching.replay("loss_nan", None, options, plain=True, every_s=1.0, speed=1.0, at=None) == 0
    assert len(made) == 1
    assert not list((tmp_path / "state").rglob("*.sqlite3"))
