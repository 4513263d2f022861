"""Evidence from gradients: their norms over time, their zeros, their sizes from layer to layer."""

from __future__ import annotations

from typing import Dict, Optional

import numpy as np

from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.measures import (
    GRADIENT_NORMS,
    WEIGHT_NORMS,
    gradient_norms,
    movement,
    rising,
    update_sizes,
)
from mstui.checks.view import View
from mstui.detect.robust import median
from mstui.i18n import _
from mstui.knowledge.ranking import Observation
from mstui.model.histogram import Histogram
from mstui.model.roles import Role

WINDOW = 20
LEAST_BEFORE = 4
SPIKE = 10.0
"""Times the median."""
HIGH = 10.0
HEALTHY = (1e-4, 10.0)
"""Norms in which usual learning rates move weights, of all parameters together."""
ZERO_SHARE = 0.9
BLOCK_ZERO, BLOCK_ALIVE = 0.999, 0.9
FADED = 1e-3
"""Of the last layer's norm."""
ALREADY_SMALL = 1e-3
"""A first layer with a larger norm than this learns, whatever the last one does."""
CAPPED = 0.9
CAP_WIDTH = 1e-3
"""Recorded norms that were clipped agree to the rounding of float32."""
LEAST_NORMS = 20
NEAR_ONSET = 2
"""Records on either side of the onset in which a jump belongs to it."""
CLIPPING = (
    *("clip_norm", "max_grad_norm", "clip_grad", "gradient_clip", "grad_clip", "clip", "use_clip_grad", "clip_value"),
)
"""Names under which people declare it."""
UPDATES = (1e-5, 0.05)
"""Median change of a weight a step, over its size, outside which it does not learn well."""


def _before(view: View) -> Observation:
    norms = gradient_norms(view)
    if norms is None or view.onset is None:
        return UNKNOWN
    values = norms.before(view.onset, WINDOW)
    if len(values) < LEAST_BEFORE:
        return UNKNOWN
    return told(rising(values), _("gradient norm {last:.3g} at the onset"), last=float(values[-1]))


def _spike(view: View) -> Observation:
    norms = gradient_norms(view)
    if norms is None or len(norms.good) < LEAST_BEFORE:
        return UNKNOWN
    if view.onset is None:
        near = norms.good
        usual = median(norms.good)
    else:
        at = int(np.searchsorted(norms.steps, view.onset))
        near = norms.values[max(0, at - NEAR_ONSET) : at + NEAR_ONSET + 1]
        before = norms.before(view.onset, WINDOW)
        usual = median(before) if len(before) >= LEAST_BEFORE else median(norms.good)
        near = near[np.isfinite(near)]
    if not len(near) or not usual > 0.0:
        return UNKNOWN
    times = float(near.max()) / usual
    return told(times >= SPIKE, _("gradient norm {times:.3g} times its median"), times=times)


def _high(view: View) -> Observation:
    norms = gradient_norms(view)
    if norms is None or len(norms.good) < LEAST_BEFORE:
        return UNKNOWN
    usual = median(norms.good)
    return told(usual > HIGH, _("median gradient norm {norm:.3g}"), norm=usual)


def _nonfinite(view: View) -> Observation:
    bad = [
        each.bad_step for each in view.curves if each.rank_id == view.rank and _is_gradient(each.role, each.statistic)
    ]
    steps = [step for step in bad if step is not None]
    steps += [
        one.stats.step for several in view.histograms("gradient").values() for one in several if one.stats.non_finite
    ]
    if not bad and not view.histograms("gradient"):
        return UNKNOWN
    counted = view.of_statistic("grad_nonfinite", "grad_nan", "grad_inf")
    steps += [
        int(each.good_steps[int((each.good > 0.0).argmax())]) for each in counted if bool((each.good > 0.0).any())
    ]
    if not steps:
        return no()
    loss_bad = view.loss.bad_step if view.loss is not None else None
    first = min(steps)
    # At the same step the forward pass had gone bad already: the gradients tell nothing of their own.
    return yes(_("first at step {step}"), step=first) if loss_bad is None or first < loss_bad else UNKNOWN


def _is_gradient(role: Role, statistic: str) -> bool:
    return role is Role.GRAD_NORM or (role is Role.PARAMETER and statistic.startswith(("grad", "local_norm")))


def zero_shares(view: View) -> Dict[str, float]:
    """Parameter -> usual share of gradients that are exactly 0."""
    names = ("grad_zero_frac", "gradient_zero_frac", "grad_zero_ratio")
    shares = {each.parameter: median(each.good) for each in view.of_statistic(*names) if len(each.good)}
    for each in view.of_statistic(*GRADIENT_NORMS):
        if len(each.good) >= LEAST_BEFORE - 1 and each.parameter not in shares:
            shares[each.parameter] = 1.0 if not each.good.any() else 0.0
    for parameter, several in view.histograms("gradient").items():
        if several and parameter not in shares:
            shares[parameter] = median(np.array([_all_zero(one) for one in several]))
    return shares


def _all_zero(one: Histogram) -> float:
    return 1.0 if one.stats.count > 0 and one.stats.abs_max == 0.0 else 0.0


def _zeros(view: View) -> Observation:
    shares = list(zero_shares(view).values())
    if not shares:
        return UNKNOWN
    usual = median(np.array(shares))
    return told(usual >= ZERO_SHARE, _("{share:.1f} % of the gradients are 0"), share=100.0 * usual)


def _zero_block(view: View) -> Observation:
    shares = zero_shares(view)
    if len(shares) < 2:
        return UNKNOWN
    dead = [name for name, share in shares.items() if share >= BLOCK_ZERO]
    alive = [name for name, share in shares.items() if share < BLOCK_ALIVE]
    if not dead:
        return no()
    return told(
        bool(alive),
        _("{layer} gets no gradient; {n} of {total} such"),
        {"layer": dead[0]},
        n=len(dead),
        total=len(shares),
    )


def fades(view: View) -> Observation:
    """Is next to nothing left of the gradient in the first layer?"""
    norms = [median(each.good) for each in view.of_statistic(*GRADIENT_NORMS) if len(each.good) >= 2]
    if len(norms) < 3:
        return UNKNOWN
    first, last = norms[0], max(norms[len(norms) // 2 :])
    if not last > 0.0:
        return UNKNOWN
    faded = first < FADED * last and first < ALREADY_SMALL
    return told(faded, _("norm {first:.2g} in the first layer, {last:.2g} at the end"), first=first, last=last)


def _missing(view: View) -> Observation:
    if view.declared.left_out:
        names = sorted(view.declared.left_out, key=lambda name: name not in view.layers)  # what the alert names first
        return yes(_("{layer} is not in the optimizer"), {"layer": names[0]}, n=len(names))
    weights = {each.parameter for each in (*view.of_statistic(*WEIGHT_NORMS), *view.of_statistic("update_ratio"))}
    gradients = {
        each.parameter for each in view.of_statistic(*GRADIENT_NORMS, "grad_mean", "grad_max", "grad_zero_frac")
    }
    if not weights:
        return UNKNOWN
    if not gradients:
        # Of no weight at all: nothing was recorded, unless the gradients of all together were.
        norm = view.one(Role.GRAD_NORM)
        if norm is None or not len(norm.good) or norm.good.any():
            return UNKNOWN
    without = sorted(weights - gradients, key=lambda name: (name not in view.layers, name))
    if not without:
        return no()
    return yes(
        _("{layer} has no gradient; {n} of {total} such"),
        {"layer": without[0]},
        n=len(without),
        total=len(weights),
    )


def _healthy(view: View) -> Observation:
    norms = gradient_norms(view)
    if norms is None or len(norms.good) < LEAST_BEFORE:
        return UNKNOWN
    usual, now = median(norms.good), median(norms.good[-max(LEAST_BEFORE, len(norms.good) // 5) :])
    well = HEALTHY[0] <= min(usual, now) and max(usual, now) <= HEALTHY[1] and len(norms.good) == len(norms.values)
    well &= not fades(view).value and not _zeros(view).value
    moved = movement(view)
    if moved:
        well &= all(moved.values())
    sizes = [median(each) for each in update_sizes(view).values()]
    if sizes:
        well &= UPDATES[0] <= median(np.array(sizes)) <= UPDATES[1]
    if well and not moved and not sizes:
        return UNKNOWN  # the norm of all together hides a dead layer, and steps that do not reach the weights
    return told(well, _("median gradient norm {norm:.3g}"), norm=usual)


def share_at_cap(view: View) -> Optional[float]:
    """Share of the norms that end at the largest one; None below LEAST_NORMS of them."""
    norms = gradient_norms(view)
    if norms is None or len(norms.good) < LEAST_NORMS:
        return None
    return float(np.mean(norms.good >= float(norms.good.max()) * (1.0 - CAP_WIDTH)))


def clip_declared(view: View) -> Optional[bool]:
    """Was it said that gradients are clipped; None where nothing was said."""
    said = view.declared.fact(*CLIPPING)
    return None if said is None else str(said).strip().lower() not in ("", "0", "0.0", "false", "none", "off", "no")


def _clip_known(view: View) -> Observation:
    said = clip_declared(view)
    if said is not None:
        return told(said)
    share, norms = share_at_cap(view), gradient_norms(view)
    if share is None or norms is None:
        return UNKNOWN
    if share >= CAPPED:
        return yes(_("{share:.0f} % of the norms end at one cap"), share=100.0 * share)
    # A norm that jumps so far was recorded before clipping, or there is none: an update that followed it tells.
    times = float(norms.good.max()) / max(median(norms.good), 1e-30)
    sizes = [float(each.max()) for each in update_sizes(view).values() if len(each)]
    return no() if times > SPIKE and sizes and max(sizes) > UPDATES[1] else UNKNOWN


def _clip_always(view: View) -> Observation:
    share = share_at_cap(view)
    if share is None:
        return UNKNOWN
    return told(share >= CAPPED, _("{share:.0f} % of the norms end at one cap"), share=100.0 * share)


FAMILY = Family(
    "gradient",
    {
        "gradient-rising": _before, "gradient-spike": _spike, "gradient-high": _high, "gradient-nonfinite": _nonfinite,
        "gradient-zeros": _zeros, "gradient-zero-block": _zero_block, "gradient-fades": fades,
        "gradient-missing": _missing, "gradient-healthy": _healthy, "clip-known": _clip_known,
        "clip-every-step": _clip_always,
    },
)  # fmt: skip
