"""Pictures as text, drawn once: for a shell, a log, an export. The only module that knows plotext.

plotext's own tick code dies on infinities and on subnormal ranges, and its time grows with every point. So it is given
no value of ours: finite points only, thinned to the columns, scaled to 0..1, with ticks that were worked out here. It
refuses to hide anything: what cannot be drawn is said in words below the picture.
"""

from __future__ import annotations

import math
from typing import Any, List, Sequence, Tuple

import numpy as np

from mstui.i18n import ngettext
from mstui.model.histogram import Histogram
from mstui.model.records import FloatArray, IntArray
from mstui.safe_text import fit, safe
from mstui.safe_text import width as cell_width

MIN_WIDTH, MIN_HEIGHT = 20, 6
"""Cells below which plotext draws a frame and nothing in it"""
MAX_WIDTH, MAX_HEIGHT = 1000, 300

_TICKS_X, _TICKS_Y = 5, 5
_MARGIN = 0.04
"""Share of the y range left free above and below, so that extremes do not lie on the frame"""
_ASCII = str.maketrans("┌┐└┘├┤┬┴┼─│█", "+++++++++-|#")


def number(value: float) -> str:
    """A figure as ticks and captions show it."""
    return f"{value:.4g}"


def nice_ticks(low: float, high: float, wanted: int) -> Tuple[float, ...]:
    """About `wanted` round numbers from low to high; one when the range is too small to be told apart."""
    half = high / 2 - low / 2  # the whole range may be larger than any float
    if not half > 0 or not math.isfinite(half):
        return (low,)
    rough = half / wanted * 2
    exponent = math.floor(math.log10(rough))
    if not -300 < exponent < 300:
        return (low, high)
    scale = 10.0**exponent
    step = next(scale * m for m in (1, 2, 5, 10) if scale * m >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if not 0 <= last - first <= 4 * wanted:
        return (low, high)
    return tuple(i * step for i in range(first, last + 1)) or (low, high)


def log_ticks(low: float, high: float, wanted: int) -> Tuple[float, ...]:
    """Decades from low to high, both exponents of ten; fewer than all of them when there are many."""
    first, last = math.ceil(low), math.floor(high)
    if last - first < 1:
        return (low, high) if high > low else (low,)
    every = max(1, math.ceil((last - first) / wanted))
    return tuple(float(i) for i in range(first, last + 1, every))


def thin(xs: FloatArray, ys: FloatArray, columns: int) -> IntArray:
    """Which finite points to draw: the lowest and highest of each column, in the given order. No spike is lost."""
    if len(xs) <= 2 * columns:
        return np.arange(len(xs), dtype=np.int64)
    column = np.minimum((_unit(xs, float(xs.min()), float(xs.max())) * columns).astype(np.int64), columns - 1)
    by_value = np.lexsort((ys, column))
    edges = np.flatnonzero(np.diff(column[by_value], prepend=-1))
    last = np.append(edges[1:], len(by_value)) - 1
    kept: IntArray = np.unique(np.concatenate([by_value[edges], by_value[last]])).astype(np.int64)
    return kept


def curve_picture(
    xs: FloatArray,
    ys: FloatArray,
    *,
    title: str,
    x_label: str,
    width: int = 80,
    height: int = 20,
    log: bool = False,
    ascii_only: bool = False,
) -> str:
    """One curve in at most width x height cells, with words for what is not finite below it.

    xs must be finite and of the length of ys. With `log`, values that are not positive are counted in words too.
    """
    width, height = _size(width, height)
    heading = _heading(title, width, ascii_only=ascii_only)
    words = describe_non_finite(xs, ys)
    drawable = np.isfinite(ys)
    if log:
        below = drawable & (ys <= 0)
        if below.any():
            n = int(below.sum())
            words.append(
                ngettext("{n} value is not above 0, not drawn", "{n} values are not above 0, not drawn", n).format(n=n)
            )
        drawable = drawable & (ys > 0)
    if not drawable.any():
        n = len(ys)
        words.insert(0, ngettext("nothing to draw in {n} point", "nothing to draw in {n} points", n).format(n=n))
        return "\n".join([heading, *words])
    shown = np.log10(ys[drawable]) if log else ys[drawable]
    kept = thin(xs[drawable], shown, width * 2)
    px, py = xs[drawable][kept], shown[kept]
    gaps = np.flatnonzero(np.diff(np.cumsum(~drawable)[drawable][kept])) + 1
    y_low, y_high = float(py.min()), float(py.max())
    x_low, x_high = float(px.min()), float(px.max())
    y_ticks = log_ticks(y_low, y_high, _TICKS_Y) if log else nice_ticks(y_low, y_high, _TICKS_Y)
    x_ticks = nice_ticks(x_low, x_high, _TICKS_X)
    figure = _figure(width, height - 1)
    marker = "*" if ascii_only else "braille"
    across, up = _unit(px, x_low, x_high), _unit(py, y_low, y_high)
    for stretch_x, stretch_y in zip(np.split(across, gaps), np.split(up, gaps)):
        figure.plot(stretch_x.tolist(), stretch_y.tolist(), marker=marker)
    figure.xlabel(safe(x_label, width, ascii_only=ascii_only))
    figure.xticks(_unit(np.array(x_ticks), x_low, x_high).tolist(), [number(t) for t in x_ticks])
    figure.yticks(_unit(np.array(y_ticks), y_low, y_high).tolist(), [number(_power(t) if log else t) for t in y_ticks])
    figure.xlim(0, 1)
    figure.ylim(-_MARGIN, 1 + _MARGIN)
    return "\n".join([_centred(heading, width), _built(figure, ascii_only=ascii_only), *words])


def histogram_picture(
    histogram: Histogram, *, title: str, width: int = 80, height: int = 20, ascii_only: bool = False
) -> str:
    """One histogram as bars, its figures in words below. More buckets than columns are summed."""
    width, height = _size(width, height)
    stats = histogram.stats
    heading = _heading(title, width, ascii_only=ascii_only)
    whole = ngettext(
        "{n} element, mean {mean}, min {low}, max {high}",
        "{n} elements, mean {mean}, min {low}, max {high}",
        stats.count,
    )
    words = [
        whole.format(n=stats.count, mean=number(stats.mean), low=number(stats.minimum), high=number(stats.maximum))
    ]
    for name, n in (("NaN", stats.nan_count), ("+Inf", stats.pos_inf_count), ("-Inf", stats.neg_inf_count)):
        if n:
            words.append(ngettext("{name}: {n} element", "{name}: {n} elements", n).format(name=name, n=n))
    centres = histogram.lefts + histogram.widths / 2
    usable = np.isfinite(centres)
    counts = np.maximum(histogram.counts[usable], 0).astype(np.float64)
    if not counts.any():
        return "\n".join([heading, *words])
    centres = centres[usable]
    low, high = float(centres.min()), float(centres.max())
    columns = min(len(centres), width // 2)
    column = np.minimum((_unit(centres, low, high) * columns).astype(np.int64), columns - 1)
    bars = np.bincount(column, weights=counts, minlength=columns)
    peak = float(bars.max())
    figure = _figure(width, height - 1)
    places = ((np.arange(columns) + 0.5) / columns).tolist()
    figure.bar(places, (bars / peak).tolist(), marker="#" if ascii_only else "sd", width=1.0)
    x_ticks, y_ticks = nice_ticks(low, high, _TICKS_X), nice_ticks(0.0, peak, _TICKS_Y)
    figure.xticks(_unit(np.array(x_ticks), low, high).tolist(), [number(t) for t in x_ticks])
    figure.yticks([t / peak for t in y_ticks], [number(t) for t in y_ticks])
    figure.xlim(0, 1)
    figure.ylim(0, 1)
    return "\n".join([_centred(heading, width), _built(figure, ascii_only=ascii_only), *words])


def describe_non_finite(xs: FloatArray, ys: FloatArray) -> List[str]:
    """A line for each of NaN, +Inf and -Inf that occurs: how often, and where first and last."""
    lines = []
    for name, mask in (("NaN", np.isnan(ys)), ("+Inf", np.isposinf(ys)), ("-Inf", np.isneginf(ys))):
        places = xs[mask]
        if len(places):
            n = len(places)
            text = ngettext("{name}: {n} point, at {first}", "{name}: {n} points, from {first} to {last}", n)
            lines.append(text.format(name=name, n=n, first=f"{places[0]:.10g}", last=f"{places[-1]:.10g}"))
    return lines


def _size(width: int, height: int) -> Tuple[int, int]:
    return min(max(width, MIN_WIDTH), MAX_WIDTH), min(max(height, MIN_HEIGHT), MAX_HEIGHT)


def _heading(title: str, width: int, *, ascii_only: bool) -> str:
    return fit(safe(title, ascii_only=ascii_only), width - 2, ellipsis="~" if ascii_only else "…")


def _centred(heading: str, width: int) -> str:
    """plotext would count characters, and wide ones would push the frame."""
    return " " * ((width - cell_width(heading)) // 2) + heading


def _unit(values: FloatArray, low: float, high: float) -> FloatArray:
    """Values from low..high to 0..1; a range of nothing lies in the middle. Halved first: it may exceed every float."""
    span = high / 2 - low / 2
    if not span > 0:
        return np.full(len(values), 0.5)
    scaled: FloatArray = (values / 2 - low / 2) / span
    return np.clip(scaled, 0.0, 1.0) if np.isfinite(scaled).all() else np.full(len(values), 0.5)


def _power(exponent: float) -> float:
    return float(np.power(10.0, exponent))


def _figure(width: int, height: int) -> Any:
    import plotext  # 36 ms that only pictures pay

    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)  # noqa: FBT003 - plotext's own signature
    plotext.plot_size(width, height)
    return plotext


def _built(figure: Any, *, ascii_only: bool) -> str:
    text: str = figure.uncolorize(figure.build())
    figure.clear_figure()  # plotext keeps every point until then
    lines = [line.rstrip() for line in text.rstrip("\n").split("\n")]
    return "\n".join(lines).translate(_ASCII) if ascii_only else "\n".join(lines)


def joined(parts: Sequence[FloatArray]) -> FloatArray:
    """Stretches of a series as one float64 array."""
    return np.concatenate([np.asarray(p, dtype=np.float64) for p in parts]) if parts else np.zeros(0)
