"""Detections become incidents: what follows joins, what has nothing to do with it does not."""

from __future__ import annotations

from mstui.detect.incidents import FOLLOWS, Incidents
from mstui.model.alerts import Detection, Evidence, IncidentState, Phase, Scope, Severity, Symptom

S = Symptom


def said(
    symptom: Symptom,
    step: int,
    severity: Severity = Severity.WARN,
    tag: str = "loss",
    layer: str = "",
    phase: Phase = Phase.RAISED,
) -> Detection:
    evidence = (Evidence("{value:.3g} at step {step}", {"value": 1.5, "step": step}),)
    return Detection("rule", symptom, severity, Scope(0, tag, layer), phase, step, step, 1.7e9 + step, evidence)


def symptoms(incidents: Incidents) -> list[list[str]]:
    return [[each.symptom.value for each in incident.happenings] for incident in incidents.all]


def test_a_chain_is_one_incident() -> None:
    incidents = Incidents()
    incidents.take([said(S.OVERFLOW_STREAK, 10), said(S.SCALE_COLLAPSE, 20), said(S.LOSS_NAN, 30, Severity.CRITICAL)])
    incidents.take([said(S.METRIC_LOW, 60, tag="accuracy/val")])
    assert symptoms(incidents) == [["overflow-streak", "scale-collapse", "loss-nan", "metric-low"]]
    incident = incidents.all[0]
    assert incident.severity is Severity.CRITICAL
    assert incident.head.symptom is S.OVERFLOW_STREAK
    assert [each.step for each in incident.timeline] == [20, 30, 60]


def test_troubles_of_another_kind_are_incidents_of_their_own() -> None:
    incidents = Incidents()
    incidents.take([said(S.SLOW_DOWN, 10), said(S.DEAD_RELU, 20), said(S.RANK_DIFFERS, 30)])
    assert symptoms(incidents) == [["slow-down"], ["dead-relu"], ["rank-differs"]]
    assert [each.number for each in incidents.all] == [1, 2, 3]


def test_the_same_in_other_layers_is_one_symptom_with_many_places() -> None:
    incidents = Incidents()
    incidents.take([said(S.GRAD_ZERO, 10, tag=f"grad_norm/{k}", layer=str(k)) for k in range(5)])
    (incident,) = incidents.all
    assert incident.head.scope.layer == "0"
    assert [scope.layer for scope in incident.head.others] == ["1", "2", "3", "4"]
    assert incident.head.repeats == 4


def test_places_are_bounded() -> None:
    incidents = Incidents()
    incidents.take([said(S.GRAD_ZERO, 10, layer=str(k)) for k in range(500)])
    assert len(incidents.all[0].head.others) == 64
    assert incidents.all[0].head.repeats == 499


def test_it_is_cleared_when_every_place_is() -> None:
    incidents = Incidents()
    incidents.take([said(S.DEAD_RELU, 10, layer="a"), said(S.DEAD_RELU, 12, layer="b")])
    assert incidents.take([said(S.DEAD_RELU, 20, layer="a", phase=Phase.CLEARED)]) == ()
    assert [each.state for each in incidents.all] == [IncidentState.OPEN]
    assert incidents.take([said(S.DEAD_RELU, 30, layer="b", phase=Phase.CLEARED)]) == (1,)
    assert [each.state for each in incidents.all] == [IncidentState.CLEARED]
    assert incidents.all[0].head.cleared_step == 30


def test_the_same_symptom_again_reopens_its_incident() -> None:
    incidents = Incidents()
    incidents.take([said(S.LOSS_SPIKE, 10), said(S.LOSS_SPIKE, 20, phase=Phase.CLEARED), said(S.LOSS_SPIKE, 90)])
    assert symptoms(incidents) == [["loss-spike", "loss-spike"]]
    assert incidents.all[0].state is IncidentState.OPEN


def test_nothing_joins_an_incident_that_is_over() -> None:
    incidents = Incidents()
    incidents.take([said(S.LOSS_SPIKE, 10), said(S.LOSS_SPIKE, 20, phase=Phase.CLEARED), said(S.METRIC_LOW, 90)])
    assert symptoms(incidents) == [["loss-spike"], ["metric-low"]]


def test_a_graver_word_brings_its_evidence() -> None:
    incidents = Incidents()
    incidents.take([said(S.STALL, 10), said(S.STALL, 10, Severity.ERROR, phase=Phase.CHANGED)])
    assert incidents.all[0].severity is Severity.ERROR
    assert incidents.all[0].head.evidence[0].say() == "1.5 at step 10"


def test_no_symptom_is_said_to_follow_from_itself() -> None:
    assert all(symptom is not S.CRASH or S.STALL in follows for symptom, follows in FOLLOWS.items())
    assert set(FOLLOWS) <= set(S)


def test_hostile_names_are_made_safe_in_sentences() -> None:
    shown = Evidence("{tag} is bad", {"tag": "a\x1b[31m\u202eb"}).say()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
