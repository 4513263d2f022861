"""One chart: title, y labels, curves, a row for what is not finite, x axis. Rows of exactly the width asked for.

It draws what CurveViews hold and decides nothing about training.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from mstui import safe_text
from mstui.i18n import _
from mstui.model.records import FloatArray
from mstui.model.series import BoolArray, CurveView
from mstui.tui.alert_marks import OnsetMark
from mstui.tui.axes import LABEL_WIDTH, NOTHING, YAxis, choose_axis, y_labels, y_ticks
from mstui.tui.canvas import (
    DOTS_X,
    DOTS_Y,
    Layer,
    area_mask,
    cell_codes,
    cell_text,
    column_mask,
    line_mask,
    stack,
)
from mstui.tui.lines import Row, Span
from mstui.tui.short_names import short_names
from mstui.tui.source_words import short_disagreement, sources_text
from mstui.tui.state import Scale
from mstui.tui.x_axis import axis_cells, x_ticks

FRAME = LABEL_WIDTH + 1
"""cells left of the canvas: a label and the axis line"""
_LEAST_LABELLED = 24
"""cells of a chart below which the canvas needs the labels' room"""
_MOST_LABELS, _LEAST_LABELS = 5, 2
_ROWS_A_LABEL = 2
_LEAST_TAG = 12
"""cells of the tag that the remarks of a title must leave"""
_SMALL_SHARE = 0.05
"""part of the values that may be too small for a symmetric logarithmic axis to tell apart"""
_SPIKE_POINTS, _SPIKE_RANGE = 0.01, 0.9
"""a part this small of the columns that takes this much of the range is called a spike"""
_TITLES_KEPT = 64
"""cut titles that are remembered: a grid's, while their figures change"""
_SPIKE_LEAST = 20
"""columns with data below which nothing is called a spike"""


class Curve(NamedTuple):
    """One run's curve and its looks."""

    view: CurveView
    look: str
    """of the averaged curve, or of the raw one where nothing is averaged"""
    raw_look: str = ""
    """of the raw curve under the averaged one; empty: only the averaged one is drawn"""


class ChartFrame(NamedTuple):
    """Everything about a chart but its numbers."""

    tag: str
    width: int
    height: int
    scale: Scale = Scale.LINEAR
    smoothing: float = 0.0
    superseded: bool = True
    marker: Optional[float] = None
    """x of the cursor line"""
    onsets: Tuple[OnsetMark, ...] = ()
    """where alerts began, the gravest last"""
    title_look: str = "title"
    ascii_only: bool = False
    beside: Tuple[str, ...] = ()
    """tags of the charts around it, from which its own shall be told"""

    @property
    def frame(self) -> int:
        """Cells left of the canvas."""
        return FRAME if self.width >= _LEAST_LABELLED else 0

    @property
    def columns(self) -> int:
        """Pixel columns of the canvas: what to ask the monitor for."""
        return DOTS_X * max(self.width - self.frame, 1)


def draw_chart(
    curves: Sequence[Curve], frame: ChartFrame, previous: Optional[YAxis] = None
) -> Tuple[Tuple[Row, ...], Optional[YAxis]]:
    """Rows of a chart, `frame.height` of them, and the y axis used. The last curve lies on top.

    Curves whose view has another number of columns than the frame are a caller's error.
    """
    if not curves:
        return _empty(frame, _("no points yet")), previous
    shown = _shown_values(curves, frame.smoothing, superseded=frame.superseded)
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (math.nan, math.nan)
    axis = choose_axis(low, high, frame.scale, previous, math.nan if frame.scale is Scale.LINEAR else _small(shown))
    rows: List[Row] = [_title(curves, frame, axis)]
    width = frame.columns // DOTS_X
    bad = [c.view for c in curves if c.view.first_non_finite is not None]
    bottom = (1 if bad and frame.height > 2 else 0) + (1 if frame.height > 3 else 0)
    height = frame.height - 1 - bottom
    if height > 0:
        canvas = stack(
            _layers(curves, frame, axis, height), width, height, curves[-1].look, ascii_only=frame.ascii_only
        )
        rows += [(*label, *row) for label, row in zip(_label_column(axis, frame, height), canvas)]
    if bad and frame.height > 2:
        rows.append(_bad_row(bad, frame, width))
    if frame.height > 3:
        rows.append(_x_row(curves, frame, width))
    return tuple(rows[: frame.height]), axis


def _empty(frame: ChartFrame, text: str) -> Tuple[Row, ...]:
    title = ((safe_text.pad(_short_tag(frame, frame.width), frame.width), frame.title_look),)
    blank: Row = ((" " * frame.width, "text"),)
    said: Row = ((safe_text.pad(" " * min(frame.frame, frame.width) + text, frame.width, middle=False), "dim"),)
    return (title, said, *([blank] * frame.height))[: frame.height]


def _ellipsis(frame: ChartFrame) -> str:
    return safe_text.ASCII_ELLIPSIS if frame.ascii_only else safe_text.ELLIPSIS


def _tag(frame: ChartFrame) -> str:
    return safe_text.safe(frame.tag, ascii_only=frame.ascii_only)


def _short_tag(frame: ChartFrame, cells: int) -> str:
    """The tag in so many cells, unlike those of the charts around it."""
    if safe_text.width(_tag(frame)) <= cells:
        return _tag(frame)
    return _short_among(frame.tag, frame.beside, max(cells, 0), frame.ascii_only)


@lru_cache(maxsize=_TITLES_KEPT)
def _short_among(tag: str, beside: Tuple[str, ...], cells: int, ascii_only: bool) -> str:
    names = [safe_text.safe(each, ascii_only=ascii_only) for each in (tag, *beside)]
    ellipsis = safe_text.ASCII_ELLIPSIS if ascii_only else safe_text.ELLIPSIS
    return short_names(names, cells, ellipsis=ellipsis)[0]


def _small(values: FloatArray) -> float:
    """The magnitude that a twentieth of them lies below: zeros and a few strays do not count. NaN if there is none."""
    sizes = np.fabs(values[values != 0])
    return float(np.quantile(sizes, _SMALL_SHARE)) if len(sizes) else math.nan


def _shown_values(curves: Sequence[Curve], smoothing: float, *, superseded: bool) -> FloatArray:
    """Every finite value that is drawn."""
    arrays: List[FloatArray] = []
    for curve in curves:
        view = curve.view
        if curve.raw_look or not smoothing:
            arrays += [view.lo, view.hi]
        arrays += [view.smooth, view.band_lo, view.band_hi]
        if superseded:
            arrays += [view.old_lo, view.old_hi]
    values = np.concatenate(arrays)
    finite: FloatArray = values[np.isfinite(values)]
    return finite


def _title(curves: Sequence[Curve], frame: ChartFrame, axis: YAxis) -> Row:
    remarks: List[Span] = []
    first = [c.view.first_non_finite for c in curves if c.view.first_non_finite is not None]
    if first:
        remarks.append((_("NaN/Inf from {step}").format(step=min(first)), "critical"))
    told = next((c.view.disagreement for c in reversed(curves) if c.view.disagreement is not None), None)
    if told is not None:
        remarks.append((safe_text.safe(short_disagreement(told), ascii_only=frame.ascii_only), "warning"))
    name = {Scale.LINEAR: _("lin"), Scale.LOG: _("log"), Scale.SYMLOG: _("symlog")}[axis.scale]
    if axis.scale is not frame.scale and axis is not NOTHING:
        name = _("{scale}: values <= 0").format(scale=name)
    remarks.append((name, "dim"))
    if axis.scale is Scale.LINEAR and any(has_spike(c.view) for c in curves):
        remarks.append((_("1 % takes 90 % of y: log?"), "warning"))
    if frame.smoothing:
        remarks.append((_("ema {weight}").format(weight=f"{frame.smoothing:.2g}"), "dim"))
    source = sources_text([source for c in curves for source in c.view.sources])
    if source:
        remarks.append((f"[{source}]", "info"))
    tag = _tag(frame)
    room = frame.width - min(safe_text.width(tag), max(_LEAST_TAG, frame.width // 2))
    kept: List[Span] = []
    for text, look in remarks:
        if safe_text.width(text) + 1 <= room:
            kept += [(" ", "text"), (text, look)]
            room -= safe_text.width(text) + 1
    used = sum(safe_text.width(text) for text, _look in kept)
    cut = _short_tag(frame, frame.width - used)
    blank = frame.width - used - safe_text.width(cut)
    return ((cut, frame.title_look), *kept, (" " * blank, "text")) if blank else ((cut, frame.title_look), *kept)


def has_spike(view: CurveView) -> bool:
    """True when one column in a hundred takes nine tenths of the range."""
    full = np.isfinite(view.lo)
    number = int(full.sum())
    if number < _SPIKE_LEAST:
        return False
    out = max(int(number * _SPIKE_POINTS), 1)
    lows, highs = np.sort(view.lo[full]), np.sort(view.hi[full])
    with np.errstate(over="ignore"):
        whole = highs[-1] - lows[0]
        rest = min(highs[-1 - out] - lows[0], highs[-1] - lows[out])
    return bool(whole > 0 and np.isfinite(whole) and rest < (1 - _SPIKE_RANGE) * whole)


def _layers(curves: Sequence[Curve], frame: ChartFrame, axis: YAxis, height: int) -> List[Layer]:
    dots = height * DOTS_Y
    layers: List[Layer] = []

    def add(mask: BoolArray, look: str, *, covers: bool = False) -> None:
        if mask.any():
            layers.append(Layer(cell_codes(mask), look, covers))

    if frame.marker is not None:
        add(column_mask(column_of(frame.marker, curves[-1].view), frame.columns, dots), "marker")
    for curve in curves:
        if len(curve.view.band_lo):
            add(area_mask(axis.rows(curve.view.band_hi, dots), axis.rows(curve.view.band_lo, dots), dots), "band")
    for curve in curves:
        view = curve.view
        if frame.superseded and np.isfinite(view.old_lo).any():
            top, bottom = axis.rows(view.old_hi, dots), axis.rows(view.old_lo, dots)
            centre = (top + bottom) / 2
            add(line_mask(centre, centre, top, bottom, np.zeros(len(top), dtype=np.bool_), dots), "old")
    for curve in curves:
        if curve.raw_look:
            add(_raw(curve.view, axis, dots), curve.raw_look)
    for curve in curves:
        if frame.smoothing:
            line = axis.rows(curve.view.smooth, dots)
            add(line_mask(line, line, line, line, _breaks(curve.view), dots), curve.look, covers=bool(curve.raw_look))
        else:
            add(_raw(curve.view, axis, dots), curve.look)
    return layers


def _breaks(view: CurveView) -> BoolArray:
    return view.nan | view.pos_inf | view.neg_inf


def _raw(view: CurveView, axis: YAxis, dots: int) -> BoolArray:
    rows = axis.rows(np.concatenate((view.first, view.last, view.hi, view.lo)), dots)
    enter, leave, top, bottom = rows.reshape(4, len(view.lo))
    return line_mask(enter, leave, top, bottom, _breaks(view), dots)


def column_of(x: float, view: CurveView) -> int:
    """Pixel column of a place on the x axis; -1 outside of it."""
    low, high = view.x_range
    if not low <= x <= high or not low < high:
        return -1
    return min(int((x - low) / (high - low) * len(view.lo)), len(view.lo) - 1)


def _label_column(axis: YAxis, frame: ChartFrame, height: int) -> List[Tuple[Span, ...]]:
    if not frame.frame:
        return [()] * height
    bar = "|" if frame.ascii_only else "│"
    texts = [""] * height
    ticks = y_ticks(axis, min(max(height // _ROWS_A_LABEL, _LEAST_LABELS), _MOST_LABELS))
    rows = axis.rows(np.array(ticks), height * DOTS_Y)
    for row, text in zip(rows.tolist(), y_labels(ticks)):
        if row == row and 0 <= round(row) < height * DOTS_Y:
            place = round(row) // DOTS_Y
            texts[place] = texts[place] or text
    return [((f"{text:>{LABEL_WIDTH}}{bar}", "dim"),) for text in texts]


def _bad_row(views: Sequence[CurveView], frame: ChartFrame, width: int) -> Row:
    nan, pos, neg = (np.logical_or.reduce(masks) for masks in zip(*((v.nan, v.pos_inf, v.neg_inf) for v in views)))
    marks = cell_text(((nan, "x"), (pos, "^"), (neg, "v")), width)
    if not frame.frame:
        return ((marks, "critical"),)
    bar = "|" if frame.ascii_only else "│"
    label = safe_text.fit(_("NaN/Inf"), LABEL_WIDTH, ellipsis=_ellipsis(frame))
    label = " " * (LABEL_WIDTH - safe_text.width(label)) + label
    return ((label, "critical"), (bar, "dim"), (marks, "critical"))


def _x_row(curves: Sequence[Curve], frame: ChartFrame, width: int) -> Row:
    view = curves[-1].view
    line, corner, mark = ("-", "+", "+") if frame.ascii_only else ("─", "└", "┴")
    lead = " " * LABEL_WIDTH + corner if frame.frame else ""
    marks: Dict[int, Span] = {column_of(x, c.view) // DOTS_X: ("R", "marker") for c in curves for x in c.view.restarts}
    marks.update((column_of(each.x, view) // DOTS_X, (each.glyph, each.look)) for each in frame.onsets)
    marks.pop(-1, None)
    cells = axis_cells(x_ticks(view.axis, *view.x_range, width), width, marks, line, mark)
    spans: List[Span] = []
    at = 0
    for cell, mark_there in sorted(marks.items()):
        spans += [(lead + "".join(cells[at:cell]), "dim"), mark_there]
        lead, at = "", cell + 1
    spans.append((lead + "".join(cells[at:]), "dim"))
    return tuple(span for span in spans if span[0])
