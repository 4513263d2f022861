"""What the focused panel is as a file: numbers as CSV, curves as SVG or PNG, any other panel as an SVG of its rows."""

from __future__ import annotations

import csv
import io
from typing import Callable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from mstui.errors import MstuiError
from mstui.export import NoPicture, curves_png, curves_svg, series_csv
from mstui.i18n import _
from mstui.model.records import BlobKind
from mstui.model.series import CurveView, Series, SeriesKey
from mstui.monitor_api import CurveQuery, TagInfo
from mstui.safe_text import safe
from mstui.tui.filtering import filtered_runs, filtered_tags
from mstui.tui.palette import Palette
from mstui.tui.panel import Host, Panel

PICTURE_COLUMNS = 800
"""pixel columns of an exported chart"""
MAP_COLUMNS = 400
"""columns of an exported layer map"""
COLOURS = ("#0b6fa4", "#b35c00", "#2d7d32", "#b3261e", "#7b3fa0", "#00796b", "#ad1457", "#5d4037")
"""on white paper; the theme's colours are made for the screen"""
_FORMULA = ("=", "+", "-", "@")


class Export(NamedTuple):
    """A file to be written."""

    name: str
    suffix: str
    content: Union[str, bytes]


class NotExportableError(MstuiError):
    """The panel has nothing of this kind to save."""


def exported(host: Host, panel: Optional[Panel], kind: str, palette: Palette) -> Export:
    """The file for a kind ("csv", "svg", "png"). May read the disk: call it in a worker. Raises NotExportableError."""
    panel_id = panel.id if panel is not None and panel.id else "curves"
    if kind == "csv":
        tables: Mapping[str, Callable[[Host], str]] = {
            "runs": _runs_csv,
            "files": _files_csv,
            "layers": _layers_csv,
            "histogram": _histogram_csv,
        }
        if panel_id in tables:
            return Export(f"{panel_id}-{host.view.run_key}", ".csv", tables[panel_id](host))
        tags = _focused(panel) if panel_id == "curves" else _listed(host)
        name = tags[0] if len(tags) == 1 else "scalars"
        return Export(f"{name}-{host.view.run_key}", ".csv", series_csv(_series(host, tags)))
    if panel_id == "curves":
        return _curves(host, _focused(panel), kind)
    if kind == "png":
        raise NotExportableError(_("PNG is for curves; save this panel as SVG, CSV or text"))
    assert panel is not None
    return Export(panel_id, ".svg", rows_svg(panel, palette))


def rows_svg(panel: Panel, palette: Palette) -> str:
    """A panel's rows as they are on the screen."""
    from rich.console import Console
    from rich.text import Text

    width = max(panel.size.width, 1)
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True, markup=False, highlight=False)
    for row in panel.rows:
        text = Text(no_wrap=True, overflow="crop", end="\n")
        for part, look in row:
            text.append(part, palette.style(look))
        console.print(text)
    return console.export_svg(title=safe(panel.id or ""))


def _focused(panel: Optional[Panel]) -> Tuple[str, ...]:
    focused_tag = getattr(panel, "focused_tag", None)
    tag = focused_tag() if focused_tag is not None else None
    if not isinstance(tag, str):
        raise NotExportableError(_("no chart is focused"))
    return (tag,)


def _listed(host: Host) -> Tuple[str, ...]:
    """Scalar tags that the filter leaves."""
    tags: Sequence[TagInfo] = filtered_tags(host.monitor.tags(host.view.run_key), host.view.tag_filter)
    return tuple(tag.tag for tag in tags if tag.kind is None)


def _series(host: Host, tags: Sequence[str]) -> List[Series]:
    """The selected rank of the selected run and of the runs drawn with it."""
    runs = (host.view.run_key, *host.view.overlay)
    keys = [SeriesKey(run, host.view.rank_id, tag) for tag in tags for run in runs]
    found = [series for series in map(host.monitor.series, keys) if series is not None]
    if not found:
        raise NotExportableError(_("no points yet"))
    return found


def _curves(host: Host, tags: Sequence[str], kind: str) -> Export:
    view = host.view
    keys = tuple(SeriesKey(run, view.rank_id, tag) for tag in tags for run in (view.run_key, *view.overlay))
    curves: List[CurveView] = []
    for key in keys:
        query = CurveQuery(key, PICTURE_COLUMNS, view.axis, view.x_range, view.smoothing, ranges=keys)
        curve = host.monitor.curve(query)
        if curve is not None:
            curves.append(curve)
    if not curves:
        raise NotExportableError(_("no points yet"))
    name = f"{tags[0]}-{view.run_key}"
    label = _(view.axis.value)
    if kind == "svg":
        return Export(name, ".svg", curves_svg(curves, title=tags[0], x_label=label, colours=COLOURS))
    picture = curves_png(curves, title=tags[0], x_label=label, colours=COLOURS)
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


def _histogram_csv(host: Host) -> str:
    view = host.view
    tags = [tag for tag in host.monitor.tags(view.run_key) if tag.kind is BlobKind.HISTOGRAM]
    tag = next((tag for tag in tags if view.parameter in (tag.parameter, tag.tag)), tags[0] if tags else None)
    found = (
        host.monitor.fetch_histograms(SeriesKey(view.run_key, view.rank_id, tag.tag), [view.histogram_index])
        if tag is not None
        else []
    )
    histogram = found[0] if found else None
    if tag is None or histogram is None:
        raise NotExportableError(_("no histogram to save"))
    rows = zip(histogram.lefts.tolist(), histogram.widths.tolist(), histogram.counts.tolist())
    return _table(
        ("tag", "step", "left", "width", "count"), [(tag.tag, histogram.stats.step, *bucket) for bucket in rows]
    )
