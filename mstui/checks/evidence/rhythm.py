"""Evidence from the noise and the rhythm of the training loss: zigzag, epochs, batches that come again."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from mstui.checks.curves import Curve, detrended
from mstui.checks.evidence.loss import certain_fall
from mstui.checks.evidence_base import UNKNOWN, Family, no, told
from mstui.checks.measures import epoch_lag
from mstui.checks.view import View
from mstui.i18n import _
from mstui.knowledge.ranking import Observation

NOISE_HIGH, NOISE_LOW = 0.12, 0.03
"""Scatter over level; batches of 32 give 5 to 10 %."""
ZIGZAG = 1.5
"""Mean neighbouring difference over the standard deviation: 1.13 for independent noise, 2 for a strict zigzag."""
INDEPENDENT = (0.9, 1.4)
"""The same ratio for independent noise, with the error of some dozens of points."""
PERIODIC = 0.5
"""Autocorrelation at one epoch; shuffled epochs have none."""
EPOCHS = 3
"""Epochs that must be recorded before one is compared with the next."""
LEAST_LAG = 5
"""Records of an epoch below which what comes again every epoch cannot be told from what comes at any time."""
TOOTH_RECORDS, TOOTH_FALL, TOOTH_RISE, TOOTH_PEAK, TOOTH_LOW, TEETH = 3, 0.15, 0.25, 1.15, 0.85, 2
"""A tooth: a fall over three records or more by 15 % in all, then a rise by a quarter above the first level."""
TEETH_WITHIN = 64
"""Records from the start: the first epochs of sorted data show it, before the net is thrown back for good."""
FEW_POINTS = 12
"""Points below which the end of a curve has no shape."""


def _noise_high(view: View) -> Observation:
    return _noise(view, high=True)


def _smooth(view: View) -> Observation:
    return _noise(view, high=False)


def _noise(view: View, *, high: bool) -> Observation:
    loss = view.loss
    if loss is None or len(loss.good) < FEW_POINTS or math.isnan(loss.noise):
        return UNKNOWN
    beyond = loss.noise > NOISE_HIGH if high else loss.noise < NOISE_LOW
    return told(beyond, _("the loss scatters by {noise:.3g} % of its level"), noise=100.0 * loss.noise)


def _ratio(loss: Curve) -> Optional[float]:
    """Mean neighbouring difference over the standard deviation, of the last fifth."""
    if len(loss.end) < FEW_POINTS:
        return None
    rest = detrended(loss.end)
    spread = float(rest.std())
    return float(np.abs(np.diff(rest)).mean()) / spread if spread > 0.0 else None


def _independent(view: View) -> Observation:
    loss = view.loss
    if loss is None:
        return UNKNOWN
    ratio = _ratio(loss)
    if ratio is None:
        return UNKNOWN
    # Only noise that hides a fall speaks of too small a batch.
    falls = certain_fall(loss) > 0.0
    return told(INDEPENDENT[0] <= ratio <= INDEPENDENT[1] and falls)


def _zigzag(view: View) -> Observation:
    ratio = None if view.loss is None else _ratio(view.loss)
    return UNKNOWN if ratio is None else told(ratio > ZIGZAG)


def periodic(view: View) -> Observation:
    """Does the loss of an epoch repeat that of the one before?"""
    loss = view.loss
    lag = None if loss is None else epoch_lag(view, loss)
    if loss is None or lag is None or len(loss.good) < EPOCHS * lag:
        return UNKNOWN
    values = loss.good[-min(len(loss.good) // lag, 2 * EPOCHS) * lag :]
    rows = values.reshape(-1, lag)
    # Each epoch less its own straight line: a loss that falls within every epoch repeats nothing but that.
    rest = np.concatenate([detrended(row) for row in rows])
    ahead, behind = rest[lag:], rest[:-lag]
    scale = float(np.sqrt((ahead**2).sum() * (behind**2).sum()))
    if not scale > 0.0:
        return UNKNOWN
    alike = float((ahead * behind).sum()) / scale
    return told(alike >= PERIODIC, _("correlation {alike:.2f} at one epoch, {lag} records"), alike=alike, lag=lag)


def recurs(view: View) -> Observation:
    """Jumps at the same place of two epochs."""
    loss = view.loss
    lag = None if loss is None else epoch_lag(view, loss)
    if loss is None or lag is None or lag < LEAST_LAG or len(loss.good) < 2 * lag:
        return UNKNOWN
    middle = np.median(np.lib.stride_tricks.sliding_window_view(np.pad(loss.good, 3, mode="edge"), 7), axis=1)
    rest = loss.good - middle
    spread = 1.4826 * float(np.median(np.abs(rest - np.median(rest))))
    jumps = np.flatnonzero(rest > np.maximum(8.0 * spread, 0.5 * np.abs(middle)))
    jumps = jumps[np.diff(jumps, prepend=-lag) > 2]
    if not 2 <= len(jumps) <= len(loss.good) // lag + 1:
        return no()  # one a batch and epoch at most; more of them are swings
    distances = np.diff(jumps)
    off = np.minimum(distances % lag, lag - distances % lag)
    return told(bool((off <= 1).all() and (distances >= lag - 1).all()))


def sawtooth(view: View) -> Observation:
    """Sorted data: one class is learnt within some steps, and the next one finds a net that knows only the last."""
    loss = view.loss
    if loss is None or len(loss.good) < 2 * FEW_POINTS or not loss.began > 0.0:
        return UNKNOWN
    values = loss.good[:TEETH_WITHIN]
    first = float(values[0])
    teeth, at, lowest = 0, 0, first
    while at < len(values) - 1:
        end = at
        while end + 1 < len(values) and values[end + 1] < values[end]:
            end += 1
        after = values[end + 1 : end + 3]
        sank = end - at >= TOOTH_RECORDS and values[end] < (1.0 - TOOTH_FALL) * values[at]
        if sank and len(after) and after.max() > max((1.0 + TOOTH_RISE) * values[end], TOOTH_PEAK * first):
            teeth += 1
            lowest = min(lowest, float(values[end]))
        at = max(end, at + 1)
    # What swings around its first level without ever learning anything is another trouble.
    return told(teeth >= TEETH and lowest < TOOTH_LOW * first, _("the loss sank and jumped back {n} times"), n=teeth)


FAMILY = Family(
    "rhythm",
    {
        "loss-noise-high": _noise_high,
        "loss-smooth": _smooth,
        "loss-noise-independent": _independent,
        "loss-zigzag": _zigzag,
        "loss-period-epoch": periodic,
        "loss-recurs-with-batch": recurs,
        "loss-sawtooth": sawtooth,
    },
)
