"""Settings of rules reach the detectors, and mistakes in them are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List

import pytest

from mstui.config import Settings, apply
from mstui.detect.base import Subject
from mstui.detect.naming import Objective
from mstui.errors import ConfigError
from mstui.model.alerts import Symptom
from mstui.model.roles import Role
from mstui.model.rule_settings import RuleSetting
from mstui.monitor.rulebook import Rulebook, all_rules, make_rulebook
from tests.unit.monitor.judged_runs import NOW, alerts_of, losses, monitor_of, write_log

LOSS = Subject(Role.LOSS)


def book_of(*tables: Any) -> Rulebook:
    settings = Settings()
    for number, table in enumerate(tables):
        settings = apply(settings, {"rules": table}, f"{number}.toml")
    return make_rulebook(settings.rules)


def names(book: Rulebook) -> List[str]:
    return [rule.name for rule in book.rules]


def test_without_settings_every_rule_has_its_defaults() -> None:
    book = all_rules()
    assert names(book) == names(make_rulebook(()))
    assert book.value("loss-spike", "huge") == 10.0
    assert not book.off


def test_the_nearest_file_wins_and_a_tag_wins_over_all_tags() -> None:
    book = book_of(
        {"loss-spike": {"huge": 20, "sigmas": 7, "tags": {"aux/*": {"huge": 50}}}},
        {"loss-spike": {"huge": 30}},
    )
    assert book.value("loss-spike", "huge") == 30.0
    assert book.value("loss-spike", "sigmas") == 7.0
    assert book.value("loss-spike", "huge", "aux/loss") == 50.0
    assert book.thresholds("loss-huge", "loss") == {}


def test_a_rule_that_is_off_is_said_to_be_not_judged() -> None:
    book = book_of({"loss-spike": {"enabled": False}})
    assert "loss-spike" not in names(book)
    assert [each.rule for each in book.off] == ["loss-spike"]
    assert "off" in book.off[0].because.say()


def test_a_rule_may_be_off_for_some_tags_only_or_on_for_some_only() -> None:
    book = book_of({"loss-spike": {"tags": {"aux/*": {"enabled": False}}}})
    (rule,) = (each for each in book.rules if each.name == "loss-spike")
    assert rule.watches(LOSS, "loss")
    assert not rule.watches(LOSS, "aux/loss")
    book = book_of({"loss-spike": {"enabled": False, "tags": {"main*": {"enabled": True}}}})
    (rule,) = (each for each in book.rules if each.name == "loss-spike")
    assert not rule.watches(LOSS, "loss")
    assert rule.watches(LOSS, "main_loss")
    assert not book.off


def test_what_a_far_file_switches_off_a_near_one_switches_on() -> None:
    book = book_of({"loss-spike": {"enabled": False}}, {"loss-spike": {"enabled": True}})
    assert "loss-spike" in names(book)


MISTAKES = {
    "a rule": ({"los-spike": {}}, "0.toml: [rules]", 'Did you mean "loss-spike"?'),
    "a threshold": ({"loss-spike": {"hug": 3}}, '0.toml: [rules."loss-spike"]', 'Did you mean "huge"?'),
    "a threshold for a tag": (
        {"loss-spike": {"tags": {"a*": {"sigma": 3}}}},
        '0.toml: [rules."loss-spike".tags."a*"]',
        'Did you mean "sigmas"?',
    ),
    "no number": ({"loss-spike": {"huge": "ten"}}, '0.toml: [rules."loss-spike"]', "Expected: a number"),
    "infinity": ({"loss-spike": {"huge": float("inf")}}, '0.toml: [rules."loss-spike"]', "Expected: a number"),
    "no switch": ({"loss-spike": {"enabled": 1}}, '0.toml: [rules."loss-spike"]', "Expected: true or false"),
    "no table of tags": (
        {"loss-spike": {"tags": ["a"]}},
        '0.toml: [rules."loss-spike"]',
        'Expected: [rules."loss-spike".tags."val/*"]',
    ),
}


@pytest.mark.parametrize(("table", "where", "remedy"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_named_with_file_key_and_remedy(table: Any, where: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        book_of(table)
    assert caught.value.where == where
    assert caught.value.remedy == remedy


def test_rules_must_be_tables() -> None:
    with pytest.raises(ConfigError, match="rules"):
        book_of({"loss-spike": 3})


def test_the_judge_obeys(tmp_path: Path) -> None:
    write_log(tmp_path, losses(1, 40, bad_from=30))
    setting = RuleSetting("loss-nonfinite", enabled=False)
    monitor = monitor_of(tmp_path, [NOW], rulebook=make_rulebook([setting]))
    monitor.look_once(NOW)
    assert Symptom.LOSS_NAN not in [each.symptom for alert in alerts_of(monitor) for each in alert.incident.happenings]
    verdict = monitor.verdict(monitor.runs()[0].key)
    assert verdict is not None
    assert "loss-nonfinite" in [each.rule for each in verdict.not_judged]


def test_a_person_may_say_what_a_curve_is_supposed_to_do(tmp_path: Path) -> None:
    write_log(tmp_path, losses(1, 40))
    said = make_rulebook((), {"lo*": "signed", "*": "reward"})
    assert said.objectives.get("loss") is Objective.SIGNED
    assert said.objectives.get("other") is Objective.REWARD
    assert list(said.objectives) == ["lo*", "*"]
    assert not make_rulebook(()).objectives
    for book, expected in ((said, "signed"), (all_rules(), "descending")):
        monitor = monitor_of(tmp_path, [NOW], rulebook=book)
        monitor.look_once(NOW)
        assert monitor.objectives(monitor.runs()[0].key) == {"loss": expected}
    with pytest.raises(ConfigError, match="objectives"):
        apply(Settings(), {"objectives": {"loss": "upwards"}}, "0.toml")
