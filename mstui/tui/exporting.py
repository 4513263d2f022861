"""What the focused panel is as a file: numbers as CSV, curves as SVG or PNG, any other panel as an SVG of its rows."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from mstui.errors import MstuiError
from mstui.export import NoPicture, curves_png, curves_svg, series_csv
from mstui.i18n import _
from mstui.model.series import CurveView, Series, SeriesKey
from mstui.safe_text import safe
from mstui.tui.curve_source import Shown
from mstui.tui.export_source import Source
from mstui.tui.filtering import filtered_runs
from mstui.tui.palette import SERIES_LOOKS, Palette
from mstui.tui.panel import Host
from mstui.tui.panels.histogram import Place
from mstui.tui.theme import load_palette

PICTURE_COLUMNS = 800
"""pixel columns of an exported chart"""
MAP_COLUMNS = 400
"""columns of an exported layer map"""
PAPER_THEME = "light"
"""whose colours a picture gets: it is looked at on white, whatever the screen is like"""
_FORMULA = ("=", "+", "-", "@")


class Export(NamedTuple):
    """A file to be written."""

    name: str
    suffix: str
    content: Union[str, bytes]


class NotExportableError(MstuiError):
    """The panel has nothing of this kind to save."""


def exported(host: Host, source: Source, kind: str, palette: Palette) -> Export:
    """The file for a kind ("csv", "svg", "png"). May read the disk: call it in a worker. Raises NotExportableError."""
    panel_id = source.panel_id
    if kind == "csv":
        tables: Mapping[str, Callable[[Host], str]] = {
            "runs": _runs_csv,
            "files": _files_csv,
            "layers": _layers_csv,
            "alerts": _alerts_csv,
        }
        if panel_id in tables:
            return Export(f"{panel_id}-{host.view.run_key}", ".csv", tables[panel_id](host))
        if panel_id == "histogram":
            return Export(f"{panel_id}-{host.view.run_key}", ".csv", _histogram_csv(host, source.histogram))
        shown = _focused(source) if panel_id == "curves" else None
        keys = source.listed if shown is None else tuple(key for key, _query in shown.curves)
        name = "scalars" if shown is None else shown.tag
        return Export(f"{name}-{host.view.run_key}", ".csv", series_csv(_series(host, keys)))
    if panel_id == "curves":
        return _curves(host, _focused(source), kind)
    if kind == "png":
        raise NotExportableError(_("PNG is for curves; save this panel as SVG, CSV or text"))
    return Export(panel_id, ".svg", rows_svg(source, palette))


def rows_svg(source: Source, palette: Palette) -> str:
    """A panel's rows as they are on the screen."""
    from rich.console import Console
    from rich.text import Text

    width = max(source.width, 1)
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, markup=False, highlight=False)
    for row in source.rows:
        text = Text(no_wrap=True, overflow="crop", end="\n")
        for part, look in row:
            text.append(part, palette.style(look))
        console.print(text)
    return console.export_svg(title=safe(source.panel_id))


def paper_colours() -> Tuple[str, ...]:
    """One colour a series look, as #rrggbb, dark enough for white paper."""
    palette = load_palette(PAPER_THEME)
    colours = (palette.style(f"series-{i}").color for i in range(SERIES_LOOKS))
    return tuple(colour.get_truecolor(foreground=True).hex for colour in colours if colour is not None)


def _focused(source: Source) -> Shown:
    if source.shown is None:
        raise NotExportableError(_("no chart is focused"))
    return source.shown


def _series(host: Host, keys: Sequence[SeriesKey]) -> List[Series]:
    found = [series for series in map(host.monitor.series, keys) if series is not None]
    if not found:
        raise NotExportableError(_("no points yet"))
    return found


def _curves(host: Host, shown: Shown, kind: str) -> Export:
    """The focused chart with more columns than a terminal has, each run in the place of its lasting look."""
    view, paper = host.view, paper_colours()
    curves: List[CurveView] = []
    colours: List[str] = []
    for key, query in shown.curves:
        curve = host.monitor.curve(replace(query, columns=PICTURE_COLUMNS))
        if curve is not None:
            curves.append(curve)
            colours.append(paper[view.look_of(key.run_key) % len(paper)])
    if not curves:
        raise NotExportableError(_("no points yet"))
    name = f"{shown.tag}-{view.run_key}"
    label = _(view.axis.value)
    if kind == "svg":
        return Export(name, ".svg", curves_svg(curves, title=shown.tag, x_label=label, colours=colours))
    picture = curves_png(curves, title=shown.tag, x_label=label, colours=colours)
    if isinstance(picture, NoPicture):
        raise NotExportableError(picture.problem)
    return Export(name, ".png", picture)


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    """Spreadsheets run a cell that begins like a formula; an apostrophe makes it text."""
    if not isinstance(value, str):
        return value
    shown = safe(value)
    return "'" + shown if shown.startswith(_FORMULA) else shown


def _runs_csv(host: Host) -> str:
    runs = filtered_runs(host.monitor, host.view.run_filter)
    header = ("run", "status", "ranks", "last_step", "last_data", "files", "bytes", "faults")
    return _table(
        header,
        [
            (r.key, r.status.value, len(r.ranks), r.last_step, r.last_data, r.file_count, r.bytes_total, r.fault_count)
            for r in runs
        ],
    )


def _alerts_csv(host: Host) -> str:
    """One row a symptom; those of one incident share its id."""
    header = ("id", "state", "severity", "symptom", "step", "detected_step", "cleared_step", "rank_id", "tag", "layer")
    return _table(
        (*header, "places", "repeats", "wall_time", "who", "comment", "evidence"),
        [
            (
                *(a.id, a.standing.state.value, h.severity.name.lower(), h.symptom.value, h.step, h.detected_step),
                *(h.cleared_step, h.scope.rank_id, h.scope.tag, h.scope.layer, 1 + len(h.others), h.repeats),
                *(h.wall_time, entry.who if entry else "", entry.comment if entry else ""),
                "; ".join(evidence.say() for evidence in h.evidence),
            )
            for a in host.monitor.alerts(host.view.run_key)
            for entry in (a.standing.entry,)
            for h in a.incident.happenings
        ],
    )


def _files_csv(host: Host) -> str:
    header = ("path", "run", "rank_id", "state", "size", "consumed", "records", "skipped_bytes", "faults", "detail")
    return _table(
        header,
        [
            (
                *(f.path, f.run_key, f.rank_id, f.state.value, f.size),
                *(f.consumed, f.records, f.skipped_bytes, f.fault_count, f.detail),
            )
            for f in host.monitor.files()
        ],
    )


def _layers_csv(host: Host) -> str:
    view = host.view
    found = host.monitor.fetch_layer_map(view.run_key, view.rank_id, view.layer_metric, MAP_COLUMNS)
    if found is None or not found.rows:
        raise NotExportableError(_("this run has no statistic of single parameters"))
    return _table(
        ("parameter", *(f"{found.metric}@{step}" for step in found.steps)),
        [(row.parameter, *row.cells) for row in found.rows],
    )


def _histogram_csv(host: Host, place: Optional[Place]) -> str:
    found = host.monitor.fetch_histograms(place[0], [place[1]]) if place is not None else []
    histogram = found[0] if found else None
    if place is None or histogram is None:
        raise NotExportableError(_("no histogram to save"))
    rows = zip(histogram.lefts.tolist(), histogram.widths.tolist(), histogram.counts.tolist())
    return _table(
        ("tag", "step", "left", "width", "count"), [(place[0].tag, histogram.stats.step, *bucket) for bucket in rows]
    )
