"""`rules` tells everything that can be set, and what is set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import pytest

from mstui.cli.ruling import rules
from mstui.detect.engine import load_rules
from mstui.errors import ConfigError, StartError


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def listed(capsys: pytest.CaptureFixture[str], name: Optional[str] = None, config: Optional[str] = None) -> Any:
    assert rules(name, config, as_data=True) == 0
    return json.loads(capsys.readouterr().out)["rules"]


def test_every_rule_is_listed_with_every_threshold(capsys: pytest.CaptureFixture[str]) -> None:
    found = {rule["rule"]: rule for rule in listed(capsys)}
    known = {rule.name: rule for rule in load_rules()}
    assert set(found) == set(known)
    for name, rule in known.items():
        assert [each["name"] for each in found[name]["parameters"]] == [each.name for each in rule.parameters]
        for parameter in found[name]["parameters"]:
            assert parameter["value"] == parameter["default"]
            assert parameter["unit"]
            assert parameter["reason"]
            assert parameter["source"]
        assert found[name]["needs"]
        assert found[name]["symptoms"]


def test_what_is_set_is_marked_with_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "mine.toml"
    config.write_text(
        '[rules."loss-spike"]\nhuge = 20\n[rules."loss-spike".tags."aux/*"]\nenabled = false\nshare = 0.3\n'
        '[rules."stall"]\nenabled = false\n'
    )
    (rule,) = listed(capsys, "loss-spike", str(config))
    (huge,) = (each for each in rule["parameters"] if each["name"] == "huge")
    assert (huge["value"], huge["default"], huge["where"]) == (20.0, 10.0, str(config))
    assert rule["tags"] == [{"tag": "aux/*", "enabled": False, "values": {"share": 0.3}, "where": str(config)}]
    assert rules("loss-spike", str(config), as_data=False) == 0
    text = capsys.readouterr().out
    assert f"default 10; set in {config}" in text
    assert f"for tags aux/*: share = 0.3, enabled = false (set in {config})" in text
    assert rules("stall", str(config), as_data=False) == 0
    assert "stall: No progress (switched off in the settings)" in capsys.readouterr().out


def test_the_text_of_all_names_needs_and_known_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert rules(None, None, as_data=False) == 0
    text = capsys.readouterr().out
    for rule in load_rules():
        assert f"\n{rule.name}: " in f"\n{text}"
        assert f"needs: {rule.needs}" in text
        assert all(f"may err on: {each}" in text for each in rule.false_alarms)


def test_an_unknown_rule_and_a_wrong_setting_are_named(tmp_path: Path) -> None:
    with pytest.raises(StartError) as caught:
        rules("spike", None, as_data=False)
    assert caught.value.remedy == 'Did you mean "loss-spike"?'
    config = tmp_path / "mine.toml"
    config.write_text('[rules."loss-spike"]\nhug = 20\n')
    with pytest.raises(ConfigError) as wrong:
        rules(None, str(config), as_data=False)
    assert str(config) in wrong.value.where
