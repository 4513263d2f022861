"""How many digits a record of a training was written with, told by its values alone: what counts as the same value.

A summary holds float32; a log holds what somebody chose to print, by a fixed number of decimals (`%5.3f`) or of digits
(`%.6E`). Two values are the same when printing, or float32, rounds one to the other.
"""

from __future__ import annotations

from typing import NamedTuple, Union

import numpy as np
import numpy.typing as npt

from mstui.model.records import FloatArray, ValueArray

MOST_DECIMALS = 12
"""Decimals that are tried: a learning rate printed by `%.6E` has as many. With more, nothing was
rounded."""
LEAST_SIGNIFICANT = 3
"""Digits that a print is granted at least: a few values like 20000 or 1e-05 do not tell that it has only one."""
MOST_SIGNIFICANT = 9
"""Digits that are tried; as many tell every float32 from every other."""
SAMPLED = 512
"""Values looked at in one stretch, evenly spaced."""
_EXACT = 4e-16
"""Relative: a decimal of at most 15 digits is found again within two roundings of float64."""
_FLOAT32 = 2.0**-23
"""Relative distance of neighbouring float32."""


class Digits(NamedTuple):
    """What a source's values need. A number above the limit means that it does not round in this way."""

    decimals: int = 0
    significant: int = LEAST_SIGNIFICANT


EXACT = Digits(MOST_DECIMALS + 1, MOST_SIGNIFICANT + 1)


def refined(known: Digits, values: ValueArray) -> Digits:
    """The digits that these values need beside those known before; the same when they need no more."""
    if values.dtype.itemsize < np.dtype(np.float64).itemsize:
        return EXACT
    sample = values[:: max(len(values) // SAMPLED, 1)]
    sample = sample[np.isfinite(sample) & (sample != 0.0)].astype(np.float64)
    if not len(sample):
        return known
    decimals, significant = known
    # log10 of a subnormal number is one too, and the powers of ten go no farther
    order = np.floor(np.log10(np.maximum(np.abs(sample), np.finfo(np.float64).tiny)))
    with np.errstate(over="ignore", invalid="ignore"):
        while decimals <= MOST_DECIMALS and not _is_decimal(sample, float(decimals)):
            decimals += 1
        while significant <= MOST_SIGNIFICANT and not _is_decimal(sample, significant - 1.0 - order):
            significant += 1
    return Digits(decimals, significant)


def _is_decimal(values: FloatArray, decimals: Union[float, FloatArray]) -> bool:
    scale = np.power(10.0, decimals)
    near = np.abs(np.rint(values * scale) / scale - values) <= _EXACT * np.abs(values)
    return bool(near.all())


def _unit(digits: Digits, order: FloatArray) -> FloatArray:
    """One of the last digit that is written of values with this power of ten."""
    fixed = 10.0**-digits.decimals if digits.decimals <= MOST_DECIMALS else 0.0
    if digits.significant > MOST_SIGNIFICANT:
        return np.full(len(order), fixed)
    unit: FloatArray = np.maximum(fixed, np.power(10.0, order + 1.0 - digits.significant))
    return unit


def differ(ours: ValueArray, theirs: ValueArray, our_digits: Digits, their_digits: Digits) -> npt.NDArray[np.bool_]:
    """[n] do the values of two sources differ by more than rounding?

    Two values that are not finite never do: MindSpore's own stop says "NAN or INF" and leaves open which.
    """
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    size = np.where(finite, np.maximum(np.abs(a), np.abs(b)), 1.0)
    order = np.floor(np.log10(np.maximum(size, np.finfo(np.float64).tiny)))
    unit = np.maximum(_unit(our_digits, order), _unit(their_digits, order))
    near = np.zeros(len(a), dtype=np.bool_)
    away = np.abs(a[finite] - b[finite])
    near[finite] = away <= 0.5 * unit[finite] + _FLOAT32 * size[finite]
    bad = ~np.isfinite(a) & ~np.isfinite(b)
    apart: npt.NDArray[np.bool_] = ~(near | bad)
    return apart
