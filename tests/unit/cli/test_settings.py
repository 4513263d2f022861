"""A mistake in a configuration file is the same mistake for every command that reads it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import List

import pytest
from click.testing import CliRunner

from mstui.assets import SAMPLE_RUNS, asset_dir
from mstui.cli import commands
from mstui.cli.settings import read_settings
from mstui.errors import ConfigError

HEALTHY = os.path.join(asset_dir(SAMPLE_RUNS), "healthy")
COMMANDS = [["watch", HEALTHY, "--plain"], ["check", HEALTHY], ["alerts", HEALTHY], ["rules"]]
MISTAKES = {
    "an action that there is not": ('[keys]\nquitt = "q"\n', "{file}: [keys]: no action"),
    "a key that there is not": ('[keys]\nquit = "pagedwn"\n', "{file}: [keys] quit: no key"),
    "a key that two actions have": ('[keys]\nquit = "x"\n', "{file}: [keys]: the key"),
    "a theme that there is not": ('theme = "nope"\n', "{file}: no theme"),
    "a rule that there is not": ("[rules.nope]\nenabled = false\n", "{file}: [rules]: no rule"),
    "a pattern that is none": ('[[log_pattern]]\nname = "x"\npattern = "("\n', "{file}: [[log_pattern]]"),
}


@pytest.fixture(autouse=True)
def _own_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: str(command[0]))
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_refused_by_every_command_naming_the_file(
    mistake: str, command: List[str], tmp_path: Path
) -> None:
    text, said = MISTAKES[mistake]
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    refused = CliRunner().invoke(commands.build(), [*command, "--config", str(file)]).exception
    assert isinstance(refused, ConfigError), refused
    assert str(refused).startswith(said.format(file=file))


def test_a_theme_that_the_command_line_names_is_looked_for_there() -> None:
    with pytest.raises(ConfigError) as caught:
        read_settings(HEALTHY, None, {"theme": "nope"})
    assert caught.value.where == "--theme"


def test_a_nearer_file_that_repairs_a_mistake_is_the_one_that_counts(tmp_path: Path) -> None:
    own = tmp_path / "config" / "mstui"
    own.mkdir(parents=True)
    (own / "config.toml").write_text('theme = "nope"\n', encoding="utf-8")
    nearer = tmp_path / "nearer.toml"
    nearer.write_text('theme = "dark"\n', encoding="utf-8")
    assert read_settings(HEALTHY, str(nearer), {}).theme == "dark"
    with pytest.raises(ConfigError) as caught:
        read_settings(HEALTHY, None, {})
    assert caught.value.where == str(own / "config.toml")
