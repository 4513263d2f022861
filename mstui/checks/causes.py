"""The causes of one incident, likeliest first: its symptoms, what is observed, and what checks have answered."""

from __future__ import annotations

from typing import Mapping, Optional, Tuple

from mstui.checks.evidence_base import observe
from mstui.checks.view import View
from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import Observation, Ranked, Verdict, rank
from mstui.model.alerts import Incident, Severity


def symptoms_of(incident: Incident) -> Tuple[str, ...]:
    """Ids of an incident's symptoms, the first one first. What is only told for completeness suspects nobody."""
    loud = [each for each in incident.happenings if each.severity >= Severity.WATCH] or [incident.head]
    return tuple(dict.fromkeys(each.symptom.value for each in loud))


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
