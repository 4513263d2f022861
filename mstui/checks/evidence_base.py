"""What every family of evidence is made of, and the walk over all of them.

A family is one file in mstui/checks/evidence that declares FAMILY: evidence ids and how each is computed from a view.
Whatever cannot be told is None; nothing is guessed, and nothing raises because data are missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Dict, Mapping, Optional, Tuple

import numpy as np

from mstui.checks.view import View
from mstui.knowledge.ranking import Observation
from mstui.registry import collect
from mstui.safe_text import safe

FAMILIES = "mstui.checks.evidence"
UNKNOWN = Observation(None)

Evaluator = Callable[[View], Observation]


@dataclass(frozen=True)
class Family:
    """Evidence of one kind."""

    name: str
    facts: Mapping[str, Evaluator]
    """evidence id -> how it is computed"""


def told(
    value: Optional[bool], sentence: str = "", words: Optional[Mapping[str, str]] = None, /, **numbers: float
) -> Observation:
    """An observation with its sentence filled in. `words` come from files and are made safe to show."""
    if value is None:
        return UNKNOWN
    shown = {key: safe(text) for key, text in (words or {}).items()}
    return Observation(bool(value), sentence.format(**shown, **numbers) if sentence else "", numbers)


def yes(sentence: str = "", words: Optional[Mapping[str, str]] = None, /, **numbers: float) -> Observation:
    """It is so."""
    return told(True, sentence, words, **numbers)  # noqa: FBT003


def no(sentence: str = "", words: Optional[Mapping[str, str]] = None, /, **numbers: float) -> Observation:
    """It is not so."""
    return told(False, sentence, words, **numbers)  # noqa: FBT003


def families() -> Tuple[Family, ...]:
    """All families, by the names of their files."""
    return collect(FAMILIES, "FAMILY", Family)


def evaluators() -> Mapping[str, Evaluator]:
    """Every evidence id that is computed, and how."""
    return {key: evaluate for family in families() for key, evaluate in family.facts.items()}


def observe(view: View) -> Mapping[str, Observation]:
    """What is known of every fact that can be computed; ids that are not in it are not known."""
    found: Dict[str, Observation] = {}
    with np.errstate(all="ignore"):  # infinities are ordinary values here
        for key, evaluate in evaluators().items():
            seen = evaluate(view)
            if seen.value is not None:
                found[key] = seen
    return found
