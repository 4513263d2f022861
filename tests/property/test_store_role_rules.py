"""What a rule is skipped by must be in everything that the rule matches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mstui.store.role_rules import EVALUATION, EVALUATION_PARTS, EVALUATION_RULES, TRAINING_RULES, Rule

RULES = (*TRAINING_RULES, *EVALUATION_RULES)


@pytest.mark.parametrize("rule", RULES, ids=[f"{rule.role.value}-{number}" for number, rule in enumerate(RULES)])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_name_of_a_rule_has_one_of_its_parts(rule: Rule, data: st.DataObject) -> None:
    assert rule.matches(data.draw(st.from_regex(rule.pattern, fullmatch=True)))


@given(st.from_regex(EVALUATION, fullmatch=True))
def test_every_word_for_held_out_data_has_one_of_the_parts(word: str) -> None:
    assert any(part in word for part in EVALUATION_PARTS)
