"""Small streams for the rules, seeded, and what the rules say of them."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from mstui.detect.base import Subject
from mstui.detect.engine import Engine, load_rules
from mstui.model.alerts import Detection, Phase, Severity
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role
from mstui.model.runs import Fact

Values = Union[Sequence[float], FloatArray]
START = 1.7e9

MEANINGS: Dict[str, Subject] = {
    "loss": Subject(Role.LOSS),
    "loss/val": Subject(Role.EVAL_LOSS),
    "accuracy/val": Subject(Role.EVAL_METRIC),
    "accuracy/train": Subject(Role.EVAL_METRIC),
    "learning_rate": Subject(Role.LEARNING_RATE),
    "grad_norm/global": Subject(Role.GRAD_NORM),
    "loss_scale": Subject(Role.LOSS_SCALE),
    "overflow": Subject(Role.OVERFLOW),
    "epoch": Subject(Role.EPOCH),
    "gan/d_loss": Subject(Role.LOSS),
    "reward": Subject(Role.LOSS),
}


def meaning(tag: str) -> Subject:
    """Roles as the store would give them."""
    known = MEANINGS.get(tag)
    if known is not None:
        return known
    statistic, _, parameter = tag.partition("/")
    return Subject(Role.PARAMETER, parameter, statistic)


class Stream:
    """Series of one run, to be judged."""

    def __init__(self, facts: Optional[Mapping[str, Fact]] = None) -> None:
        self.series: List[Tuple[int, str, IntArray, FloatArray, FloatArray]] = []
        self.facts = facts or {}

    def add(self, tag: str, values: Values, every: int = 1, first: int = 1, rank: int = 0, gap: float = 0.1) -> Stream:
        numbers = np.asarray(values, dtype=np.float64)
        steps: IntArray = first + every * np.arange(len(numbers), dtype=np.int64)
        self.series.append((rank, tag, steps, START + gap * steps.astype(np.float64), numbers))
        return self

    def engine(self, *, cut: int = 0) -> Tuple[Engine, List[Detection]]:
        """The engine after all points, and what it said; `cut`: steps a piece, 0 for all at once."""
        engine = Engine(load_rules())
        engine.declare(self.facts)
        last = max((int(steps[-1]) for _rank, _tag, steps, _walls, _values in self.series if len(steps)), default=0)
        edges = [*range(cut, last, cut), last] if cut else [last]
        found: List[Detection] = []
        before = -1
        for edge in edges:
            for rank, tag, steps, walls, values in self.series:
                keep = (steps > before) & (steps <= edge)
                engine.feed(rank, tag, meaning(tag), steps[keep], walls[keep], values[keep])
            found.extend(engine.advance())
            before = edge
        return engine, found

    def judge(self, *, cut: int = 0, end: bool = False) -> List[Detection]:
        engine, found = self.engine(cut=cut)
        found.extend(engine.end() if end else engine.advance(all_come=True))
        return found


def raised(found: Sequence[Detection], least: Severity = Severity.WARN) -> List[Tuple[str, int]]:
    """(symptom, step of the record that let it be said) of what was raised, and of what became graver."""
    return [
        (each.symptom.value, each.detected_step)
        for each in found
        if each.phase is not Phase.CLEARED and each.severity >= least
    ]


def cleared(found: Sequence[Detection]) -> List[Tuple[str, int]]:
    return [(each.symptom.value, each.detected_step) for each in found if each.phase is Phase.CLEARED]


def decay(n: int, seed: int = 1, noise: float = 0.03, start: float = 2.3, left: float = 0.2) -> FloatArray:
    """A healthy training loss."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    curve: FloatArray = (left + (start - left) * np.exp(-t / (0.3 * n))) * np.exp(rng.normal(0, noise, n))
    return curve


def flat(n: int, seed: int = 1, level: float = 2.303, noise: float = 0.01) -> FloatArray:
    curve: FloatArray = level * np.exp(np.random.default_rng(seed).normal(0, noise, n))
    return curve
