"""Causes move with evidence and answers, and say what moved them."""

from __future__ import annotations

from typing import Dict, List, Tuple

import pytest

from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import ACCUSES, ALSO_ACCUSES, FOLLOWER, Observation, Ranked, Verdict, next_step, rank
from mstui.knowledge.schema import CHINESE

BASE = knowledge()


def by_cause(ranked: Tuple[Ranked, ...]) -> Dict[str, Ranked]:
    return {each.cause: each for each in ranked}


def test_without_evidence_the_documented_order_stands() -> None:
    ranked = rank(BASE, ["loss-nan"], {}, {})
    priors = [suspect.prior for suspect in BASE.symptoms["loss-nan"].suspects]
    assert [each.score for each in ranked] == sorted(priors, reverse=True)
    assert ranked[0].cause == BASE.symptoms["loss-nan"].suspects[0].cause
    assert all(not each.reasons and not each.refuted for each in ranked)


def test_overflow_before_a_nan_raises_fp16_overflow_and_says_so() -> None:
    seen = {
        "overflow-before": Observation(
            value=True, sentence="overflow at step 118, 2 steps before", numbers={"step": 118.0}
        )
    }
    first = rank(BASE, ["loss-nan"], seen, {})[0]
    assert (first.cause, first.score, first.word) == ("fp16-overflow", 4 + 4, "likely")
    assert first.reasons[0].said("en") == "overflow at step 118, 2 steps before"


def test_a_clean_overflow_record_lowers_it() -> None:
    ranked = rank(BASE, ["loss-nan"], {"overflow-before": Observation(value=False)}, {})
    overflow = by_cause(ranked)["fp16-overflow"]
    assert overflow.score == 4 - 4
    assert overflow.word == "not-ruled-out"
    assert overflow.reasons[0].said("en") == "Overflow is recorded and did not fire."
    assert overflow.reasons[0].said(CHINESE) == "有溢出记录且未触发。"
    assert ranked[0].cause == "lr-too-large"


def test_unknown_moves_nothing() -> None:
    seen = {key: Observation(value=None, sentence="not recorded") for key in BASE.evidence}
    assert rank(BASE, ["loss-nan"], seen, {}) == rank(BASE, ["loss-nan"], {}, {})


def test_a_refuted_cause_stays_in_the_list_at_its_end() -> None:
    ranked = rank(BASE, ["data-order-s"], {}, {"st.shuf": Verdict.OK})
    assert [(each.cause, each.refuted, each.word) for each in ranked] == [("no-shuffle", True, "refuted")]
    assert not ranked[0].hidden


def test_a_cause_with_two_checks_is_refuted_by_both_only() -> None:
    """loss-nan asks about the learning rate twice: by its norm and by its value."""
    once = by_cause(rank(BASE, ["loss-nan"], {}, {"st.gnorm": Verdict.OK}))["lr-too-large"]
    twice = by_cause(rank(BASE, ["loss-nan"], {}, {"st.gnorm": Verdict.OK, "st.lr": Verdict.OK}))["lr-too-large"]
    assert (once.refuted, once.score) == (False, 4 - 3)
    assert twice.refuted


def test_trouble_in_a_check_accuses_and_mentions() -> None:
    before = by_cause(rank(BASE, ["loss-flat"], {}, {}))
    after = by_cause(rank(BASE, ["loss-flat"], {}, {"st.init": Verdict.BAD}))
    assert after["init-zero"].score - before["init-zero"].score == ACCUSES
    assert after["init-unreasonable"].score - before["init-unreasonable"].score == ALSO_ACCUSES
    assert after["label-wrong"].score == before["label-wrong"].score


@pytest.mark.parametrize("verdict", [Verdict.SKIPPED, Verdict.UNSURE])
def test_a_check_without_an_answer_moves_nothing(verdict: Verdict) -> None:
    assert rank(BASE, ["loss-flat"], {}, {"st.init": verdict}) == rank(BASE, ["loss-flat"], {}, {})


def test_a_later_symptom_adds_its_causes_a_little_lower() -> None:
    alone = by_cause(rank(BASE, ["overflow-streak"], {}, {}))
    joined = by_cause(rank(BASE, ["overflow-streak", "loss-nan"], {}, {}))
    assert "data-missing" not in alone
    assert joined["data-missing"].prior == 3 - FOLLOWER
    assert joined["fp16-overflow"].prior == 4
    assert set(alone) < set(joined)


def test_an_unknown_symptom_is_passed_over() -> None:
    assert rank(BASE, ["never-heard-of"], {}, {}) == ()
    assert next_step(BASE, ["never-heard-of"], (), {}) is None


def test_below_zero_is_hidden_unless_it_was_checked() -> None:
    ranked = by_cause(rank(BASE, ["loss-nan"], {"script-bce": Observation(value=False)}, {}))
    assert ranked["bce-logits-mixup"].score < 0
    assert ranked["bce-logits-mixup"].hidden


def test_the_next_check_is_about_the_likeliest_cause() -> None:
    asked: Dict[str, Verdict] = {}
    ranked = rank(BASE, ["loss-nan"], {}, asked)
    assert next_step(BASE, ["loss-nan"], ranked, asked) == "st.overflow"
    asked["st.overflow"] = Verdict.OK
    ranked = rank(BASE, ["loss-nan"], {}, asked)
    assert next_step(BASE, ["loss-nan"], ranked, asked) == "st.gnorm"


@pytest.mark.parametrize("symptom", sorted(BASE.symptoms))
def test_asking_on_always_comes_to_an_end_with_every_check_asked_once(symptom: str) -> None:
    asked: Dict[str, Verdict] = {}
    order: List[str] = []
    while True:
        step = next_step(BASE, [symptom], rank(BASE, [symptom], {}, asked), asked)
        if step is None:
            break
        assert step not in asked
        order.append(step)
        asked[step] = Verdict.OK
    assert sorted(order) == sorted(question.step for question in BASE.symptoms[symptom].questions)


@pytest.mark.parametrize("symptom", sorted(BASE.symptoms))
def test_each_answer_changes_the_ranking(symptom: str) -> None:
    plain = rank(BASE, [symptom], {}, {})
    for question in BASE.symptoms[symptom].questions:
        for verdict in (Verdict.OK, Verdict.BAD):
            assert rank(BASE, [symptom], {}, {question.step: verdict}) != plain, (question.step, verdict)


@pytest.mark.parametrize("symptom", sorted(BASE.symptoms))
def test_every_suspect_comes_to_the_top_when_its_evidence_is_there_and_the_other_checks_are_clean(symptom: str) -> None:
    for suspect in BASE.symptoms[symptom].suspects:
        seen = {w.evidence: Observation(w.when) for w in suspect.weights if w.points > 0}
        mine = {q.step for q in BASE.symptoms[symptom].questions if suspect.cause in (q.accuses, *q.also)}
        steps = [q.step for q in BASE.symptoms[symptom].questions]
        ranked = rank(BASE, [symptom], seen, {s: Verdict.BAD if s in mine else Verdict.OK for s in steps})
        assert suspect.cause in [each.cause for each in ranked[:3]], suspect.cause


def test_the_same_input_gives_the_same_order() -> None:
    seen = {key: Observation(value=True) for key in list(BASE.evidence)[::3]}
    assert rank(BASE, ["loss-flat"], seen, {}) == rank(BASE, ["loss-flat"], dict(reversed(seen.items())), {})
