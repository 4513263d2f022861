"""The causes of one incident, likeliest first: its symptoms, what is observed, and what checks have answered."""

from __future__ import annotations

from typing import Mapping, Optional, Tuple

from mstui.checks.evidence_base import observe
from mstui.checks.view import TRENDS, View
from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import Observation, Ranked, Verdict, rank
from mstui.model.alerts import Happening, Incident, Severity, Symptom

S = Symptom
CLOSENESS: Tuple[Symptom, ...] = (
    *(S.OVERFLOW_STREAK, S.SCALE_COLLAPSE, S.SCALE_STUCK, S.LR_ANOMALY, S.RANK_DIFFERS, S.INIT_ALL_ZERO),
    *(S.DATA_MISSING, S.DATA_SCALE, S.DATA_ORDER, S.DATA_IMBALANCE, S.LOSS_ZERO, S.WEIGHT_STATIC, S.ACT_SATURATED),
    *(S.DEAD_RELU, S.GRAD_ZERO, S.GRAD_VANISH, S.LOSS_NAN, S.LOSS_INF, S.WEIGHT_CHANGE_SMALL, S.WEIGHT_CHANGE_LARGE),
    *(S.LOSS_HUGE, S.GRAD_EXPLODE, S.LOSS_SPIKE, S.LOSS_SHIFT, S.LOSS_OSCILLATE, S.LOSS_DIVERGE, S.OVERFIT),
    *(S.LOSS_FLAT, S.LOSS_SLOW, S.PLATEAU, S.METRIC_CHANCE, S.METRIC_LOW, S.UNDERFIT, S.SLOW_DOWN, S.STALL, S.CRASH),
)
"""Of symptoms that began at one step, the one closer to a cause goes first: what all troubles end in, last."""
ENDS = frozenset((S.CRASH, S.STALL))
"""How a training ends. Where another symptom came first it is what that one led to, and suspects nobody."""


def symptoms_of(incident: Incident) -> Tuple[str, ...]:
    """Ids of an incident's symptoms in the order in which they began, those seen over a stretch behind the others.

    What is only told for completeness is left out.
    """
    loud = [each for each in incident.happenings if each.severity >= Severity.WATCH] or [incident.head]
    kept = [each for each in loud if each.symptom not in ENDS] or loud
    return tuple(dict.fromkeys(each.symptom.value for each in sorted(kept, key=_began)))


def _began(happening: Happening) -> Tuple[bool, int, int]:
    return happening.symptom in TRENDS, happening.step, CLOSENESS.index(happening.symptom)


def causes(
    view: View,
    verdicts: Optional[Mapping[str, Verdict]] = None,
    observations: Optional[Mapping[str, Observation]] = None,
) -> Tuple[Ranked, ...]:
    """The ranking for the incident that the view is about; empty without one. `observations`: what is known already."""
    if view.incident is None:
        return ()
    seen = observe(view) if observations is None else observations
    return rank(knowledge(), symptoms_of(view.incident), seen, verdicts or {})
