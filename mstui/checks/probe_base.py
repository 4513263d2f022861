"""What a probe is, and asking one or all of them.

A probe is one file in mstui/checks/probes that declares PROBE. It answers one documented check from a view: as
expected, trouble found, or unknown with what is missing. It errs towards unknown: its word weighs like a person's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping, Optional, Tuple

import numpy as np

from mstui.checks.view import View
from mstui.model.alerts import Number
from mstui.model.checks import ProbeResult, ProbeState
from mstui.registry import collect

PROBES = "mstui.checks.probes"

LATER: Mapping[str, str] = {
    "reference-run": "needs a reference run",
}
"""Probes of the knowledge that are not carried yet, and why. Their checks ask the person."""


@dataclass(frozen=True)
class Probe:
    """One check that answers itself."""

    id: str
    """as in mstui/knowledge/probes.toml"""
    look: Callable[[View], ProbeResult]


def ok(sentence: str, steps: Tuple[int, ...] = (), /, **numbers: Number) -> ProbeResult:
    """As expected. `sentence` is a marked message id."""
    return ProbeResult(ProbeState.OK, sentence, numbers, steps)


def bad(sentence: str, steps: Tuple[int, ...] = (), /, **numbers: Number) -> ProbeResult:
    """Trouble found."""
    return ProbeResult(ProbeState.BAD, sentence, numbers, steps)


def unknown(sentence: str, **numbers: Number) -> ProbeResult:
    """Cannot be told; the sentence says what is missing."""
    return ProbeResult(ProbeState.UNKNOWN, sentence, numbers)


def probes() -> Mapping[str, Probe]:
    """Every probe there is, by its id."""
    return {each.id: each for each in collect(PROBES, "PROBE", Probe)}


def probe(view: View, key: str) -> Optional[ProbeResult]:
    """One probe's word; None for an id that no probe carries."""
    found = probes().get(key)
    return None if found is None else _ask(found, view)


def probe_all(view: View) -> Mapping[str, ProbeResult]:
    """Every probe's word."""
    return {key: _ask(each, view) for key, each in probes().items()}


def _ask(each: Probe, view: View) -> ProbeResult:
    with np.errstate(all="ignore"):  # infinities are ordinary values here
        return each.look(view)
