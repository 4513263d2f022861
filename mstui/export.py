"""Curves as files: every point as CSV, the picture as SVG or PNG. Pure functions make the bytes, one writer puts them.

It refuses to write over an existing file. Text from event files is made harmless first, in CSV also for spreadsheets.
"""

from __future__ import annotations

import csv
import io
import os
import re
from dataclasses import dataclass
from typing import Iterator, List, Optional, Sequence, Tuple, Union
from xml.sax.saxutils import escape

import numpy as np

from mstui.i18n import _
from mstui.model.series import CurveView, Series
from mstui.picture import nice_ticks, number
from mstui.safe_text import safe

CSV_COLUMNS = ("run", "rank_id", "tag", "step", "wall_time", "value", "superseded")

STEM_LENGTH = 80
"""Characters of a tag that go into a file name; file systems allow 255 bytes for the whole"""
MAX_TWINS = 1000
"""Files of one name before giving up"""

_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 16, 34, 44
"""Margins of a chart in pixels: numbers, nothing, title, numbers and label"""
_MARKS = 12
"""Height of the strip under a chart where what is not finite is marked"""
_DASHES = ((), (6, 3), (2, 3), (8, 3, 2, 3))
"""Curves differ by dash as well as by colour"""
_TICKS = 6
_FORMULA = ("=", "+", "-", "@")

Point = Tuple[float, float]


@dataclass(frozen=True)
class Exported:
    """What became of an export."""

    path: str
    """absolute; empty when nothing was written"""
    problem: str = ""
    """in words, with what to do; empty when all went well"""


def series_csv(all_series: Sequence[Series]) -> str:
    """Every point of every generation, one a row; values as short as they read back exactly, nan and inf included."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for series in all_series:
        name = (_cell(series.key.run_key), series.key.rank_id, _cell(series.key.tag))
        for superseded, stretches in ((0, series.current), (1, series.superseded)):
            for points in stretches:
                rows = zip(points.steps.tolist(), points.wall_times.tolist(), map(str, points.values))
                writer.writerows((*name, step, repr(when), value, superseded) for step, when, value in rows)
    return out.getvalue()


def _cell(text: str) -> str:
    """Spreadsheets run a cell that begins like a formula; an apostrophe makes it text."""
    shown = safe(text)
    return "'" + shown if shown.startswith(_FORMULA) else shown


class _Chart:
    """Where things of a chart lie, in pixels; the same for SVG and PNG."""

    def __init__(self, curves: Sequence[CurveView], width: int, height: int) -> None:
        self.left, self.right = _LEFT, width - _RIGHT
        self.top, self.bottom = _TOP, height - _BOTTOM - _MARKS
        self.x_low = min((c.x_range[0] for c in curves), default=0.0)
        self.x_high = max((c.x_range[1] for c in curves), default=1.0)
        ends = [e for c in curves for e in (c.lo, c.hi, c.smooth)]
        finite = np.concatenate([e[np.isfinite(e)] for e in ends]) if ends else np.zeros(0)
        self.empty = not len(finite)
        self.y_low, self.y_high = (0.0, 1.0) if self.empty else (float(finite.min()), float(finite.max()))

    def x(self, value: float) -> float:
        return self._place(value, self.x_low, self.x_high, self.left, self.right)

    def y(self, value: float) -> float:
        return self._place(value, self.y_low, self.y_high, self.bottom, self.top)

    @staticmethod
    def _place(value: float, low: float, high: float, begin: float, end: float) -> float:
        half = high / 2 - low / 2
        share = (value / 2 - low / 2) / half if half > 0 else 0.5
        return round(begin + (end - begin) * min(max(share, 0.0), 1.0), 2)

    def x_ticks(self) -> List[Tuple[float, str]]:
        return [(self.x(t), number(t)) for t in nice_ticks(self.x_low, self.x_high, _TICKS)]

    def y_ticks(self) -> List[Tuple[float, str]]:
        return [(self.y(t), number(t)) for t in nice_ticks(self.y_low, self.y_high, _TICKS)]

    def columns(self, curve: CurveView) -> List[float]:
        number_of = len(curve.lo)
        begin, end = curve.x_range
        return [self.x(begin + (end - begin) * (i + 0.5) / number_of) for i in range(number_of)]

    def spans(self, curve: CurveView) -> List[Tuple[float, float, float]]:
        """x, upper and lower y of every column that holds a finite value."""
        rows = zip(self.columns(curve), curve.lo.tolist(), curve.hi.tolist())
        return [(x, self.y(hi), self.y(lo)) for x, lo, hi in rows if np.isfinite(lo) and np.isfinite(hi)]

    def strokes(self, curve: CurveView) -> Iterator[List[Point]]:
        """The averaged line, broken where a column holds points and none of them is finite."""
        stroke: List[Point] = []
        rows = zip(self.columns(curve), curve.smooth.tolist(), curve.count.tolist())
        for x, value, count in rows:
            if np.isfinite(value):
                stroke.append((x, self.y(value)))
            elif count and stroke:
                yield stroke
                stroke = []
        if stroke:
            yield stroke

    def marks(self, curve: CurveView) -> List[Tuple[float, str]]:
        """Letters under the chart: N for NaN, + and - for infinities."""
        found = []
        for mask, letter in ((curve.nan, "N"), (curve.pos_inf, "+"), (curve.neg_inf, "-")):
            found += [(x, letter) for x, is_set in zip(self.columns(curve), mask.tolist()) if is_set]
        return found


def _name(curve: CurveView) -> str:
    return safe(f"{curve.key.run_key} #{curve.key.rank_id} {curve.key.tag}")


def curves_svg(
    curves: Sequence[CurveView],
    *,
    title: str,
    x_label: str,
    width: int = 960,
    height: int = 480,
    colours: Sequence[str] = ("currentColor",),
) -> str:
    """A chart as SVG. `colours` are repeated when there are more curves; without them it takes the page's own."""
    chart = _Chart(curves, width, height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="12" fill="currentColor">',
        f"<title>{escape(safe(title))}</title>",
        f'<text x="{chart.left}" y="18">{escape(safe(title))}</text>',
        f'<path d="M{chart.left} {chart.top}V{chart.bottom}H{chart.right}" fill="none" stroke="currentColor"/>',
        f'<text x="{chart.right}" y="{height - 6}" text-anchor="end">{escape(safe(x_label))}</text>',
    ]
    for x, label in chart.x_ticks():
        parts.append(f'<path d="M{x} {chart.bottom}v5" stroke="currentColor"/>')
        parts.append(f'<text x="{x}" y="{chart.bottom + _MARKS + 18}" text-anchor="middle">{label}</text>')
    for y, label in chart.y_ticks():
        parts.append(f'<path d="M{chart.left - 5} {y}h5" stroke="currentColor"/>')
        parts.append(f'<text x="{chart.left - 8}" y="{y + 4}" text-anchor="end">{label}</text>')
    if chart.empty:
        nothing = escape(_("no finite value"))
        parts.append(f'<text x="{width / 2}" y="{height / 2}">{nothing}</text>')
    for index, curve in enumerate(curves):
        colour = escape(colours[index % len(colours)], {'"': "&quot;"})
        dash = " ".join(map(str, _DASHES[index % len(_DASHES)]))
        parts.append(f'<g stroke="{colour}" fill="none"><title>{escape(_name(curve))}</title>')
        band = "".join(f"M{x} {upper}V{lower}" for x, upper, lower in chart.spans(curve))
        if band:
            parts.append(f'<path d="{band}" stroke-opacity="0.35" stroke-linecap="round"/>')
        for stroke in chart.strokes(curve):
            path = "M" + "L".join(f"{x} {y}" for x, y in stroke) + ("h0.1" if len(stroke) == 1 else "")
            dashed = f' stroke-dasharray="{dash}"' if dash else ""
            parts.append(f'<path d="{path}" stroke-width="1.6" stroke-linecap="round"{dashed}/>')
        for x, letter in chart.marks(curve):
            parts.append(
                f'<text x="{x}" y="{chart.bottom + _MARKS}" text-anchor="middle" stroke="none" fill="{colour}" '
                f'font-size="9">{letter}</text>'
            )
        parts.append("</g>")
        parts.append(
            f'<text x="{chart.right}" y="{chart.top + 14 * index}" text-anchor="end" fill="{colour}">'
            f"{escape(_name(curve))}</text>"
        )
    return "\n".join([*parts, "</svg>", ""])


@dataclass(frozen=True)
class NoPicture:
    """Why there is no PNG, and what to do."""

    problem: str


def curves_png(
    curves: Sequence[CurveView],
    *,
    title: str,
    x_label: str,
    width: int = 960,
    height: int = 480,
    colours: Sequence[str] = ("black",),
    paper: str = "white",
    ink: str = "black",
) -> Union[bytes, NoPicture]:
    """A chart as PNG through Pillow, which the extra `mstui[png]` brings; without it, how to get it."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        return NoPicture(_("PNG needs Pillow: pip install 'mstui[png]'; SVG and CSV work without it"))
    chart = _Chart(curves, width, height)
    image = Image.new("RGB", (width, height), paper)
    draw = ImageDraw.Draw(image)
    draw.text((chart.left, 8), _latin(title), fill=ink)
    draw.line([(chart.left, chart.top), (chart.left, chart.bottom), (chart.right, chart.bottom)], fill=ink)
    draw.text((chart.right, height - 16), _latin(x_label), fill=ink, anchor="ra")
    for x, label in chart.x_ticks():
        draw.line([(x, chart.bottom), (x, chart.bottom + 5)], fill=ink)
        draw.text((x, chart.bottom + _MARKS + 6), label, fill=ink, anchor="ma")
    for y, label in chart.y_ticks():
        draw.line([(chart.left - 5, y), (chart.left, y)], fill=ink)
        draw.text((chart.left - 8, y), label, fill=ink, anchor="rm")
    for index, curve in enumerate(curves):
        colour = colours[index % len(colours)]
        for x, upper, lower in chart.spans(curve):
            draw.line([(x, upper), (x, lower)], fill=colour)
        for stroke in chart.strokes(curve):
            draw.line(stroke if len(stroke) > 1 else [*stroke, *stroke], fill=colour, width=2)
        for x, letter in chart.marks(curve):
            draw.text((x, chart.bottom + 1), letter, fill=colour, anchor="ma")
        draw.text((chart.right, chart.top + 14 * index), _latin(_name(curve)), fill=colour, anchor="ra")
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def _latin(text: str) -> str:
    """Pillow's built-in font knows ASCII for certain."""
    return safe(text, ascii_only=True)


def file_stem(name: str) -> str:
    """A tag or title as the beginning of a file name."""
    stem = re.sub(r"[^\w.-]+", "_", safe(name, STEM_LENGTH, ascii_only=True), flags=re.ASCII).strip("._-")
    return stem or "mstui"


def write_export(directory: str, name: str, suffix: str, content: Union[str, bytes]) -> Exported:
    """Put content into a new file `<name><suffix>` of the directory; a number is added while the name is taken."""
    raw = content.encode("utf-8") if isinstance(content, str) else content
    stem = file_stem(name)
    try:
        os.makedirs(directory, exist_ok=True)
        for twin in range(1, MAX_TWINS):
            path = os.path.abspath(os.path.join(directory, stem + (f"-{twin}" if twin > 1 else "") + suffix))
            descriptor = _create(path)
            if descriptor is not None:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(raw)
                return Exported(path)
    except OSError as error:
        return Exported("", _("cannot write: {error}").format(error=safe(str(error))))
    return Exported("", _("{directory} holds {n} exports of this name").format(directory=directory, n=MAX_TWINS))


def _create(path: str) -> Optional[int]:
    """A descriptor of a file that did not exist before, also when somebody else creates one right now."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return None
