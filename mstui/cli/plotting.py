"""Runs `plot`: reads a run to its end and prints one tag as a text picture."""

from __future__ import annotations

import time
from typing import Optional, Sequence

import click
import numpy as np

from mstui.cli.startup import recorded_path
from mstui.config import nearest
from mstui.errors import StartError
from mstui.i18n import _
from mstui.ingest.watch import WatchMode
from mstui.model.records import BlobKind
from mstui.model.runs import RunInfo
from mstui.model.series import SeriesKey
from mstui.monitor import Monitor
from mstui.monitor_api import TagInfo
from mstui.picture import curve_picture, histogram_picture, joined
from mstui.safe_text import safe

NAMES_SHOWN = 40
"""Tags listed in an error"""


def plot(
    path: str,
    tag: str,
    *,
    run: Optional[str],
    rank: Optional[int],
    width: int,
    height: int,
    log: bool,
    ascii_only: bool,
) -> int:
    """Print the picture. Raises StartError naming what there is when run, rank or tag do not exist."""
    root = recorded_path(path)
    monitor = Monitor(root, watch=WatchMode.POLL, first_run=run)
    while monitor.run_once(time.time()).more:
        pass
    chosen = _choose_run(monitor.runs(), run, root)
    ranks = sorted(r.rank_id for r in chosen.ranks)
    rank_id = (ranks[0] if ranks else 0) if rank is None else rank
    if ranks and rank_id not in ranks:
        known = ", ".join(map(str, ranks[:NAMES_SHOWN]))
        raise StartError(_("no rank {rank}").format(rank=rank_id), root, _("Ranks: {names}").format(names=known))
    found = _choose_tag(monitor.tags(chosen.key), tag, root)
    key = SeriesKey(chosen.key, rank_id, found.tag)
    if found.kind is BlobKind.HISTOGRAM:
        steps = monitor.histogram_steps(key)
        histogram = monitor.fetch_histograms(key, [len(steps) - 1])[0] if steps else None
        if histogram is None:
            raise StartError(_("this rank has no histogram of {tag}").format(tag=safe(found.tag)), root)
        title = _("{tag} at step {step}").format(tag=found.tag, step=histogram.stats.step)
        text = histogram_picture(histogram, title=title, width=width, height=height, ascii_only=ascii_only)
    else:
        series = monitor.series(key)
        if series is None:
            raise StartError(_("this rank has no {tag}").format(tag=safe(found.tag)), root)
        steps_x = joined([np.asarray(p.steps, dtype=np.float64) for p in series.current])
        values = joined([np.asarray(p.values, dtype=np.float64) for p in series.current])
        text = curve_picture(
            steps_x,
            values,
            title=found.tag,
            x_label=_("step"),
            width=width,
            height=height,
            log=log,
            ascii_only=ascii_only,
        )
    click.echo(text)
    return 0


def _choose_run(runs: Sequence[RunInfo], wanted: Optional[str], root: str) -> RunInfo:
    if not runs:
        raise StartError(_("no runs here"), safe(root), _("Name a directory that MindSpore's summary wrote."))
    if wanted is None:
        return runs[0]
    found = next((run for run in runs if run.key == wanted), None)
    if found is None:
        raise StartError(_("no run {run}").format(run=safe(wanted)), safe(root), nearest(wanted, _names(runs)))
    return found


def _names(runs: Sequence[RunInfo]) -> Sequence[str]:
    return [safe(run.key) for run in runs[:NAMES_SHOWN]]


def _choose_tag(tags: Sequence[TagInfo], wanted: str, root: str) -> TagInfo:
    """By its whole name, else by its role ("loss"), else the only one that contains the word."""
    drawable = [tag for tag in tags if tag.kind in (None, BlobKind.HISTOGRAM)]
    if not drawable:
        remedy = _("`mstui watch` shows the state of every file (key 6).")
        raise StartError(_("no scalar and no histogram here (yet)"), safe(root), remedy)
    for matches in (
        [tag for tag in drawable if tag.tag == wanted],
        [tag for tag in drawable if tag.role.value == wanted][:1],
        [tag for tag in drawable if wanted in tag.tag],
    ):
        if len(matches) == 1:
            return matches[0]
    many = [safe(tag.tag) for tag in drawable if wanted in tag.tag]
    if many:
        names = ", ".join(many[:NAMES_SHOWN])
        what = _('{n} tags contain "{tag}"').format(n=len(many), tag=safe(wanted))
        raise StartError(what, safe(root), _("Name one of them: {names}").format(names=names))
    what = _('no tag "{tag}"').format(tag=safe(wanted))
    raise StartError(what, safe(root), nearest(wanted, [safe(tag.tag) for tag in drawable][:NAMES_SHOWN]))
