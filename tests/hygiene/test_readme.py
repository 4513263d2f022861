"""The README says what is true."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path

from mstui.cli import commands
from mstui.config import Settings as Defaults
from mstui.config import apply, read_toml

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def test_the_key_table_is_that_of_the_actions() -> None:
    spec = importlib.util.spec_from_file_location("mstui_keys_table", ROOT / "scripts" / "keys_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.with_table(README) == README


def test_the_two_commands_are_scripts_that_can_run() -> None:
    named = re.findall(r"sh (scripts/\w+\.sh)", README)
    assert set(named) == {"scripts/try.sh", "scripts/test.sh"}
    for name in named:
        assert os.access(ROOT / name, os.X_OK)


def test_ci_runs_what_a_newcomer_runs() -> None:
    lines = (ROOT / ".ci/run").read_text("utf-8").splitlines()
    assert [line for line in lines if line and not line.startswith(("#", "set ", "cd "))] == ["exec sh scripts/test.sh"]


def test_every_command_and_option_named_exists() -> None:
    group = commands.build()
    known = {"--help"} | {
        option for command in group.commands.values() for p in command.params for option in (*p.opts, *p.secondary_opts)
    }
    shown = re.findall(r"(?<=[\s`(])--[a-z][a-z-]+", README)
    assert {option for option in shown if option not in known} == set()
    assert set(group.commands) <= set(re.findall(r"mstui ([a-z]+)", README))


def test_the_settings_shown_are_accepted(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(README.split("```toml\n")[1].split("```")[0], "utf-8")
    settings = apply(Defaults(), read_toml(str(tmp_path / "config.toml")), "README.md")
    assert settings.total_steps == 50000


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target
