"""Makes incidents of detections: one trouble is one incident, and what follows from it joins its timeline.

A table says which symptom may follow from which. It refuses to guess causes: an earlier symptom is not called the
cause of a later one, only told before it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Dict, FrozenSet, Iterable, List, Mapping, Optional, Tuple

from mstui.model.alerts import Detection, Happening, Incident, IncidentState, Phase, Scope, Symptom

MOST_OTHERS = 64
"""Further places of one symptom that are listed; more are counted."""

S = Symptom
_LOST = (S.LOSS_FLAT, S.LOSS_DIVERGE, S.METRIC_LOW, S.METRIC_CHANCE, S.UNDERFIT, S.LOSS_SLOW, S.PLATEAU)
"""what any trouble that stops the learning ends in"""
_NUMBERS = (S.LOSS_NAN, S.LOSS_INF, S.LOSS_HUGE, S.LOSS_SPIKE, S.LOSS_OSCILLATE, S.LOSS_SHIFT)
_DEAD = (S.DEAD_RELU, S.GRAD_ZERO, S.WEIGHT_STATIC, S.WEIGHT_CHANGE_SMALL, S.GRAD_VANISH, S.ACT_SATURATED)
_BLOWN = (*_NUMBERS, S.GRAD_EXPLODE, S.WEIGHT_CHANGE_LARGE, S.OVERFLOW_STREAK, S.SCALE_COLLAPSE)

FOLLOWS: Mapping[Symptom, FrozenSet[Symptom]] = {
    S.LR_ANOMALY: frozenset((*_LOST, *_BLOWN, *_DEAD)),
    **{each: frozenset((*_LOST, *_BLOWN, *_DEAD, S.CRASH)) for each in _BLOWN},
    **{each: frozenset((*_LOST, *_DEAD)) for each in _DEAD},
    S.INIT_ALL_ZERO: frozenset((*_LOST, *_DEAD)),
    S.LOSS_ZERO: frozenset((*_LOST, *_DEAD)),
    S.LOSS_DIVERGE: frozenset((*_LOST, *_BLOWN, *_DEAD)),
    S.LOSS_FLAT: frozenset((*_LOST, *_DEAD)),
    S.LOSS_SLOW: frozenset((S.METRIC_LOW, S.METRIC_CHANCE, S.UNDERFIT, S.LOSS_FLAT, S.PLATEAU)),
    S.PLATEAU: frozenset((S.METRIC_LOW, S.UNDERFIT)),
    S.METRIC_CHANCE: frozenset((S.METRIC_LOW, S.LOSS_FLAT, S.LOSS_SLOW, S.UNDERFIT)),
    S.METRIC_LOW: frozenset((S.OVERFIT, S.UNDERFIT, S.METRIC_CHANCE, S.LOSS_SLOW)),
    S.OVERFIT: frozenset((S.METRIC_LOW,)),
    S.UNDERFIT: frozenset((S.METRIC_LOW, S.METRIC_CHANCE, S.LOSS_SLOW)),
    S.SCALE_STUCK: frozenset((S.OVERFLOW_STREAK, S.WEIGHT_STATIC, *_LOST)),
    S.DATA_MISSING: frozenset((*_NUMBERS, *_LOST, *_DEAD, S.GRAD_EXPLODE)),
    S.DATA_SCALE: frozenset((*_BLOWN, *_LOST, *_DEAD)),
    S.DATA_ORDER: frozenset((*_LOST, *_DEAD, S.OVERFIT, S.LOSS_OSCILLATE)),
    S.DATA_IMBALANCE: frozenset((S.METRIC_LOW, S.METRIC_CHANCE)),
    S.SLOW_DOWN: frozenset((S.STALL,)),
    S.STALL: frozenset((S.CRASH,)),
    S.CRASH: frozenset((S.STALL,)),
}
"""symptom -> what may follow from it"""


class Incidents:
    """The incidents of one run. Detections must come in the order in which they were made."""

    def __init__(self) -> None:
        self._incidents: List[Incident] = []
        self._open: Dict[Symptom, int] = {}
        """symptom -> index of the incident in which it is open"""
        self._cases: Dict[Symptom, Dict[Scope, bool]] = {}

    @property
    def all(self) -> Tuple[Incident, ...]:
        """Every incident, by number."""
        return tuple(self._incidents)

    def take(self, detections: Iterable[Detection]) -> Tuple[int, ...]:
        """Work detections in; gives back the numbers of the incidents that changed."""
        changed = []
        for detection in detections:
            index = self._clear(detection) if detection.phase is Phase.CLEARED else self._raise(detection)
            if index is not None:
                changed.append(index + 1)
        return tuple(dict.fromkeys(changed))

    def _raise(self, found: Detection) -> int:
        cases = self._cases.setdefault(found.symptom, {})
        again = found.scope in cases
        cases[found.scope] = True
        index = self._open.get(found.symptom)
        if index is not None:
            self._join_same(index, found, again=again)
            return index
        index = self._home(found)
        self._open[found.symptom] = index
        return index

    def _home(self, found: Detection) -> int:
        """The incident that it belongs to: the newest open one that it may follow from, or a new one."""
        happening = Happening(
            found.symptom, found.severity, found.scope, found.step, found.detected_step, found.wall_time, found.evidence
        )
        for index in range(len(self._incidents) - 1, -1, -1):
            incident = self._incidents[index]
            again = any(each.symptom is found.symptom for each in incident.happenings)
            follows = incident.state is IncidentState.OPEN and any(
                found.symptom in FOLLOWS.get(each.symptom, ()) for each in incident.happenings
            )
            if again or follows:
                self._incidents[index] = replace(incident, happenings=(*incident.happenings, happening))
                return index
        self._incidents.append(Incident(len(self._incidents) + 1, (happening,)))
        return len(self._incidents) - 1

    def _join_same(self, index: int, found: Detection, *, again: bool) -> None:
        incident = self._incidents[index]
        happenings = list(incident.happenings)
        at = self._place(happenings, found.symptom)
        old = happenings[at]
        others = old.others
        if not again and found.scope != old.scope and len(others) < MOST_OTHERS:
            others = (*others, found.scope)
        graver = found.severity > old.severity
        happenings[at] = replace(
            old,
            severity=max(old.severity, found.severity),
            evidence=found.evidence if graver else old.evidence,
            others=others,
            repeats=old.repeats + 1,
        )
        self._incidents[index] = replace(incident, happenings=tuple(happenings))

    def _clear(self, found: Detection) -> Optional[int]:
        index = self._open.get(found.symptom)
        cases = self._cases.get(found.symptom, {})
        cases.pop(found.scope, None)
        if index is None or cases:
            return None
        del self._open[found.symptom]
        incident = self._incidents[index]
        happenings = list(incident.happenings)
        at = self._place(happenings, found.symptom)
        happenings[at] = replace(happenings[at], cleared_step=found.detected_step, cleared_wall=found.wall_time)
        self._incidents[index] = replace(incident, happenings=tuple(happenings))
        return index

    @staticmethod
    def _place(happenings: List[Happening], symptom: Symptom) -> int:
        """The newest happening of a symptom."""
        return max(at for at, each in enumerate(happenings) if each.symptom is symptom)
