"""A curve in figures: where it began, where it is, how sure the difference is, and how it moves lately."""

from __future__ import annotations

import math
from typing import NamedTuple, Optional, Tuple

import numpy as np

from mstui.detect.robust import MEDIAN_COST, median, scatter_of_neighbours
from mstui.detect.track import Track
from mstui.model.records import FloatArray

LEAST_BLOCKS = 8
"""Blocks without which there is no course: four at either end leave nothing to compare with."""


class Course(NamedTuple):
    """What the blocks say."""

    began: float
    now: float
    error: float
    """standard error of their difference"""
    slope_t: float
    """how significant the fall over the last half is; negative when falling"""
    whole_t: float
    """the same over all of it"""

    gathers: bool
    """the last half falls faster than the whole"""

    @property
    def drop(self) -> float:
        """Share of the first level that is gone."""
        return (self.began - self.now) / abs(self.began)

    @property
    def doubt(self) -> float:
        """Two standard errors, as a share of the first level."""
        return 2.0 * self.error / abs(self.began)


def course_of(track: Track) -> Optional[Course]:
    """The course of a curve, or None while it is too short."""
    blocks = track.blocks
    count = len(blocks)
    if count < LEAST_BLOCKS:
        return None
    fifth = max(2, count // 5)
    began, now = median(blocks[:fifth]), median(blocks[-fifth:])
    # A learning rate that is too large throws the first points up; the very first one is the level of no knowledge.
    if track.certainly_above_first(began):
        began = max(track.first_level(), float(blocks.min()))
    # The upper of the last two thirds of differences: neighbours differ by noise, and only a little by the trend.
    noise = scatter_of_neighbours(blocks)
    error = noise * math.sqrt(2.0 * MEDIAN_COST / fifth)
    floor = max(noise, 1e-12 * abs(now))
    late = blocks[-max(4, count // 2) :]
    lately, late_size = _slope(late)
    wholly, whole_size = _slope(blocks)
    return Course(began, now, error, lately * late_size / floor, wholly * whole_size / floor, lately < wholly)


def _slope(levels: FloatArray) -> Tuple[float, float]:
    """The slope of these levels from block to block, and one over its standard error for noise of 1."""
    x = np.arange(len(levels)) - (len(levels) - 1) / 2
    squares = float((x * x).sum())
    return float((x * levels).sum()) / squares, math.sqrt(squares)
