"""From the one small vector that a recorded step brings to the host to tags and values. Pure numpy.

Of a tensor that holds a value which is not finite the number of these is told, and everything else is NaN.
"""

from __future__ import annotations

import math
from typing import List, NamedTuple, Sequence, Tuple

import numpy as np
import numpy.typing as npt

GRADIENT_FIELDS = 8
"""norm, sum, sum of magnitudes, largest, smallest, values other than 0, finite values, untouched rows (of a table)"""
WEIGHT_FIELDS = 4
"""norm before the step, sum of magnitudes, norm of the elements that the change is measured on, norm of the change"""
ACTIVATION_FIELDS = 5
"""share of zeros, saturated share, mean, standard deviation, values that are not finite"""

Values = npt.NDArray[np.float64]
Scalar = Tuple[str, float]


class Subject(NamedTuple):
    """A tensor that statistics are of."""

    name: str
    size: int
    rows: int = 0
    """rows of an embedding table whose untouched rows do not count; 0 for other tensors"""


def gradient_scalars(fields: Values, subjects: Sequence[Subject], chosen: Sequence[bool], scale: float) -> List[Scalar]:
    """The statistics of the chosen columns, then `grad_norm/global` over all of them.

    fields: [GRADIENT_FIELDS, columns], still multiplied by `scale`, the loss scale that the gradients carry.
    """
    norms: List[float] = []
    found: List[Scalar] = []
    for column, (subject, wanted) in enumerate(zip(subjects, chosen)):
        norm, total, magnitude, largest, smallest, other, finite, untouched = fields[:, column].tolist()
        not_finite = subject.size - round(finite)
        count = float(subject.size)
        if subject.rows:
            count -= untouched * (subject.size // subject.rows)
            if count <= 0:
                largest = smallest = 0.0
        if not_finite > 0:
            norm = total = magnitude = largest = smallest = other = math.nan
        norms.append(norm / scale)
        if not wanted:
            continue
        name = subject.name
        found += [
            (f"grad_norm/{name}", norm / scale),
            (f"grad_mean/{name}", total / count / scale if count > 0 else 0.0),
            (f"grad_abs_mean/{name}", magnitude / count / scale if count > 0 else 0.0),
            (f"grad_max/{name}", largest / scale),
            (f"grad_min/{name}", smallest / scale),
            (f"grad_zero_frac/{name}", 1.0 - other / count if count > 0 else 1.0),
            (f"grad_nonfinite/{name}", float(max(not_finite, 0))),
        ]
    return [*found, ("grad_norm/global", _length(norms))]


def _length(norms: Sequence[float]) -> float:
    if any(math.isnan(norm) for norm in norms):
        return math.nan
    return math.hypot(*norms) if norms else 0.0


def weight_scalars(fields: Values, subjects: Sequence[Subject], *, moved: bool = True) -> List[Scalar]:
    """Weights before the step, and (if `moved`) how far it moved them. fields: [WEIGHT_FIELDS, columns]."""
    found: List[Scalar] = []
    for column, subject in enumerate(subjects):
        norm, magnitude, base, change = fields[:, column].tolist()
        found += [
            (f"weight_norm/{subject.name}", norm),
            (f"weight_abs_mean/{subject.name}", magnitude / subject.size),
        ]
        if base != 0 and moved:
            # a step away from zero has no size by this measure, and infinity would look like a fault
            found.append((f"update_ratio/{subject.name}", change / base))
    return found


def activation_scalars(fields: Values, name: str, *, saturates: bool) -> List[Scalar]:
    """Statistics of one activation. fields: [ACTIVATION_FIELDS].

    The count of what is not finite is of the examples that were looked at; at least one when the mean of all says so.
    """
    zeros, saturated, mean, spread, not_finite = fields.tolist()
    if not math.isfinite(mean):
        not_finite = max(not_finite, 1.0)
    if not_finite > 0:
        zeros = saturated = mean = spread = math.nan
    found = [(f"act_zero_frac/{name}", zeros)]
    if saturates:
        found.append((f"act_sat_frac/{name}", saturated))
    return [
        *found,
        (f"act_mean/{name}", mean),
        (f"act_std/{name}", spread),
        (f"act_nonfinite/{name}", not_finite),
    ]
