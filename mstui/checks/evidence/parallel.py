"""Evidence from comparing ranks, and from what is known of the job's shape."""

from __future__ import annotations

from functools import reduce
from typing import Dict, List, Mapping, Tuple

import numpy as np

from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.measures import WEIGHT_NORMS, evaluations
from mstui.checks.view import View
from mstui.i18n import _
from mstui.knowledge.ranking import Observation
from mstui.model.records import FloatArray, IntArray
from mstui.model.roles import Role

EQUAL = 1e-6
"""Relative: weights that are averaged are equal to the last bits of float32."""
DRIFTED = 1e-4
THREE = 3
LARGE_BATCH = 1024.0
FEW_STEPS = 20.0
EVALUATIONS = 4
"""Evaluations whose distance stands in for an epoch: fewer may be a short training."""

MOST_STEPS = 64
"""Common steps at which ranks are compared: both ends, and evenly between."""

Figures = Mapping[str, Mapping[int, Mapping[int, float]]]
"""what is compared -> rank -> step -> value"""


def figures(view: View) -> Figures:
    """Figures of weights by rank and step, where all ranks have one: those that data-parallel ranks must share."""
    found: Dict[str, Dict[int, Tuple[IntArray, FloatArray]]] = {}
    for rank in view.ranks:
        for each in view.of_statistic(*WEIGHT_NORMS, "weight_abs_mean", rank_id=rank):
            found.setdefault(f"{each.statistic}/{each.parameter}", {})[rank] = (each.good_steps, each.good)
        for parameter, several in view.histograms("weight", rank).items():
            steps = np.array([one.stats.step for one in several], np.int64)
            sizes = np.array([one.stats.mean + one.stats.abs_max for one in several], np.float64)
            found.setdefault(f"histogram/{parameter}", {})[rank] = (steps, sizes)
    return {name: _common(ranks) for name, ranks in found.items() if len(ranks) > 1}


def _common(ranks: Mapping[int, Tuple[IntArray, FloatArray]]) -> Mapping[int, Mapping[int, float]]:
    common = reduce(np.intersect1d, (steps for steps, _values in ranks.values()))
    if len(common) > MOST_STEPS:
        common = common[np.linspace(0, len(common) - 1, MOST_STEPS).astype(int)]
    found = {}
    for rank, (steps, values) in ranks.items():
        at = np.searchsorted(steps, common)
        found[rank] = dict(zip(common.tolist(), values[at].tolist()))
    return found


def spreads(view: View) -> List[Tuple[int, float]]:
    """(step, largest relative difference between ranks) at the steps that all ranks have; rising steps."""
    worst: Dict[int, float] = {}
    for ranks in figures(view).values():
        for step in next(iter(ranks.values())):
            values = [each[step] for each in ranks.values()]
            size = max(abs(value) for value in values)
            if size > 0.0:
                worst[step] = max(worst.get(step, 0.0), (max(values) - min(values)) / size)
    return sorted(worst.items())


def _differ_first(view: View) -> Observation:
    found = spreads(view)
    if not found:
        return UNKNOWN
    step, spread = found[0]
    return told(spread > EQUAL, _("ranks differ by {spread:.2g} at step {step}"), spread=spread, step=step)


def _drift(view: View) -> Observation:
    found = spreads(view)
    if len(found) < THREE:
        return UNKNOWN
    first, last = found[0][1], found[-1][1]
    return told(
        first <= EQUAL and last > DRIFTED,
        _("ranks differ by {first:.2g} at first, by {last:.2g} now"),
        first=first,
        last=last,
    )


def _departs(view: View) -> Observation:
    if len(view.ranks) < THREE:
        return UNKNOWN
    lonely: List[int] = []
    for ranks in figures(view).values():
        steps = list(next(iter(ranks.values())))
        if not steps or len(ranks) < THREE:
            continue
        values = {rank: each[steps[-1]] for rank, each in ranks.items()}
        middle = float(np.median(list(values.values())))
        off = [rank for rank, value in values.items() if abs(value - middle) > DRIFTED * abs(middle)]
        if len(off) == 1:
            lonely.append(off[0])
        elif off:
            return no()
    if not lonely:
        return no() if figures(view) else UNKNOWN
    return told(len(set(lonely)) == 1, _("rank {rank} differs alone"), rank=lonely[0])


def _only(view: View) -> Observation:
    if len(view.ranks) < 2 or view.incident is None:
        return UNKNOWN
    head = view.incident.head
    ranks = {head.scope.rank_id, *(scope.rank_id for scope in head.others)}
    return told(len(ranks) == 1, _("seen on rank {rank} only"), rank=head.scope.rank_id)


def _standalone(view: View) -> Observation:
    mode, devices = view.declared.text("parallel_mode").lower(), view.declared.devices
    if not mode and devices is None:
        return UNKNOWN
    alone = devices == 1.0 or "stand" in mode
    return told(alone and len(view.ranks) > 1, "", ranks=len(view.ranks))


def _batch_large(view: View) -> Observation:
    batch = view.declared.batch
    if batch is not None:
        whole = batch * (view.declared.devices or float(len(view.ranks) or 1))
        if whole > LARGE_BATCH:
            return yes(_("global batch {batch:.0f}"), batch=whole)
    epoch = view.steps_per_epoch
    if epoch is None:
        for role in (Role.EVAL_METRIC, Role.EVAL_LOSS):
            held = view.one(role)
            at = evaluations(held)[0] if held is not None else np.empty(0, np.int64)
            if len(at) >= EVALUATIONS:
                epoch = float(np.median(np.diff(at)))
                break
    if epoch is None:
        return no() if batch is not None else UNKNOWN
    return told(epoch < FEW_STEPS, _("{steps:.0f} steps an epoch"), steps=epoch)


FAMILY = Family(
    "parallel",
    {
        "ranks-differ-first": _differ_first, "ranks-drift": _drift, "one-rank-departs": _departs,
        "one-rank-only": _only, "standalone": _standalone, "global-batch-large": _batch_large,
    },
)  # fmt: skip
