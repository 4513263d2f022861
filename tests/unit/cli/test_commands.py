"""The commands as a person types them: help, exit codes, both languages, nothing loaded in vain."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import click
import pytest
from click.testing import CliRunner

from mstui import __version__, i18n
from mstui.cli import commands, watching
from mstui.errors import StartError
from mstui.formats.logs.own_patterns import TAGS, own_pattern
from tests.unit.formats.logs.reading import read

tomllib = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
ROOT = Path(__file__).parents[3]


def mstui(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "SSH_"))}
    return subprocess.run(
        [sys.executable, "-m", "mstui", *arguments],
        env={**clean, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_version() -> None:
    done = mstui("--version")
    assert (done.returncode, done.stdout.strip()) == (0, f"mstui, version {__version__}")


ERRORS: Dict[str, Any] = {
    "no such path": (["watch", "/no/such/path"], "/no/such/path: no such file or directory\n  The nearest directory"),
    "no terminal": (["watch", "."], "stdin is not a terminal\n  Without a terminal use --plain"),
    "no such command": (["wach"], "No such command"),
    "wrong option value": (["replay", "healthy", "--speed", "0"], "--speed"),
    "wrong place": (["replay", "healthy", "--plain", "--at", "noon"], 'cannot go to "noon"\n  Write for example'),
    "wrong config": (["watch", ".", "--plain", "--config", "/no/such.toml"], "/no/such.toml: No such file"),
}


@pytest.mark.parametrize(("arguments", "said"), ERRORS.values(), ids=ERRORS.keys())
def test_errors_go_to_stderr_with_code_2(arguments: List[str], said: str) -> None:
    done = mstui(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_errors_and_help_speak_chinese() -> None:
    for done in (
        mstui("watch", "/no/such/path", "--lang", "zh_CN"),
        mstui("watch", "/no/such/path", LANG="zh_CN.UTF-8"),
    ):
        assert done.returncode == 2
        assert "没有这个文件或目录" in done.stderr
    assert "用法" in mstui("--help", LANG="zh_CN.UTF-8").stdout
    assert "Usage:" in mstui("--help", LANG="zh_CN.UTF-8", PYTHONIOENCODING="ascii").stdout


@pytest.mark.parametrize("command", [["watch"], ["replay"], ["plot", "--width", "40"]])
def test_a_directory_that_may_not_be_read_is_said_with_what_to_do(
    command: List[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_given, **_more: False)
    arguments = [*command, str(tmp_path), *(["loss"] if command[0] == "plot" else [])]
    result = CliRunner().invoke(commands.build(), arguments)
    assert isinstance(result.exception, StartError)
    assert result.exception.what == "permission denied"
    assert "mode" in result.exception.remedy


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    code = "import sys; from mstui.cli import main; main(['locate'])"
    with subprocess.Popen(
        [sys.executable, "-c", f"import time; time.sleep(0.3); {code}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 1


def test_every_command_has_help_with_an_example() -> None:
    group = commands.build()
    alerts = {"check", "alerts", "ack", "unack", "snooze", "intended", "rules"}
    assert {"watch", "replay", "plot", "locate", *alerts} <= set(group.commands)
    for name in set(group.commands) - {"record"}:  # its help is a page of its own
        shown = CliRunner().invoke(group, [name, "--help"]).output
        assert f"mstui {name}" in shown
        assert "Examples:" in shown
        for parameter in group.commands[name].params:
            assert not isinstance(parameter, click.Option) or parameter.help, parameter.name


def test_help_of_watch_shows_how_unknown_logs_are_read_with_a_pattern_that_works() -> None:
    shown = CliRunner().invoke(commands.build(), ["watch", "--help"], terminal_width=80).output
    lines = [line.strip() for line in shown.splitlines()]
    begin = lines.index("[[log_pattern]]")
    (table,) = tomllib.loads("\n".join(lines[begin : begin + 4]))["log_pattern"]
    assert table["files"] == "*.txt"
    own = own_pattern(table["name"], table["pattern"])
    assert read(b"step 7 of 100: loss 2.5, lr 1e-05\n", own=[own]).series == {
        "loss": [(7, 2.5)], "learning_rate": [(7, 1e-05)]
    }  # fmt: skip
    assert all(name in shown for name in (*TAGS, "epoch", "step", "steps"))


def test_help_is_built_in_the_language_of_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "")
    i18n.set_language("zh_CN")
    try:
        assert "回放" in (commands.build().commands["replay"].help or "")
    finally:
        i18n.set_language("en")


def test_options_reach_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Dict[str, Any] = {}

    def watch(paths: List[str], config: object, options: Dict[str, Any], **rest: Any) -> int:
        seen.update(options, paths=paths, config=config, **rest)
        return 7

    monkeypatch.setattr(watching, "watch", watch)
    line = (
        "watch d e --lang zh_CN --theme t --ascii --no-mouse --low-bandwidth --plain --poll --filter f --smoothing 0.5"
    )
    more = "--run r --rank 2 --refresh 1 --state-dir s --config c --total-steps 9 --every 3"
    code = commands.build().main([*line.split(), *more.split()], standalone_mode=False)
    assert code == 7
    assert seen == {
        "paths": ("d", "e"), "config": "c", "plain": True, "every_s": 3.0, "lang": "zh_CN", "theme": "t", "ascii": True,
        "mouse": False, "low_bandwidth": True, "watch": "poll", "filter": "f", "smoothing": 0.5, "run": "r",
        "rank": 2, "refresh_hz": 1.0, "state_dir": "s", "total_steps": 9,
    }  # fmt: skip


def test_what_is_not_said_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: Dict[str, Any] = {}
    monkeypatch.setattr(watching, "watch", lambda paths, config, options, **rest: seen.update(options) or 0)
    commands.build().main(["watch", "d"], standalone_mode=False)
    assert set(seen.values()) == {None}


@pytest.mark.parametrize("what", commands.LOCATIONS)
def test_locate_prints_one_path(what: str) -> None:
    lines = CliRunner().invoke(commands.build(), ["locate", what]).output.splitlines()
    assert len(lines) == 1
    assert os.path.isabs(lines[0])


@pytest.mark.parametrize(("written", "language"), [("zh", "zh_CN"), ("zh-cn", "zh_CN"), ("en_US.UTF-8", "en")])
def test_a_language_may_be_written_as_people_write_it(written: str, language: str) -> None:
    assert mstui("watch", "/no/such/path", "--lang", written).stderr == (
        mstui("watch", "/no/such/path", "--lang", language).stderr
    )


def test_a_language_that_there_is_not_is_named_with_those_that_there_are() -> None:
    refused = mstui("watch", "/no/such/path", "--lang", "fr")
    assert refused.returncode == 2
    assert "fr is not one of en, zh_CN" in refused.stderr
