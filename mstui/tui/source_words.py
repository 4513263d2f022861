"""Where values come from, and that two records of a training disagree, in words."""

from __future__ import annotations

import re
from typing import List, Mapping, Sequence

from mstui.i18n import _, headed, mark, ngettext
from mstui.model.runs import RunInfo
from mstui.model.series import Disagreement, SeriesKey
from mstui.model.sources import Source, SourceKind
from mstui.monitor_api import MonitorApi
from mstui.safe_text import safe
from mstui.tui.numbers import number

KIND_WORDS: Mapping[SourceKind, str] = {
    SourceKind.SUMMARY: mark("summary"),
    SourceKind.TABLE: mark("table"),
    SourceKind.LOG: mark("logs"),
}
VALUE_WIDTH = 9
MOST_RANKS = 16
"""ranks of which disagreements are listed; those of more ranks say the same again"""
MOST_LISTED = 30
_ORDER = re.compile(r"^\d+:")


def sources_text(sources: Sequence[Source]) -> str:
    """`logs`, `table`, `summary+logs`; empty where the summary is the only source, or none is told."""
    kinds = sorted({source.kind for source in sources})
    if not kinds or kinds == [SourceKind.SUMMARY]:
        return ""
    return "+".join(_(KIND_WORDS[kind]) for kind in kinds)


def pair_text(told: Disagreement) -> str:
    """`summary 2.31, logs 2.35`; two sources of one kind by their names."""
    names = _names(told)
    values = (number(told.value, VALUE_WIDTH), number(told.other, VALUE_WIDTH))
    return ", ".join(f"{name} {value}" for name, value in zip(names, values))


def _names(told: Disagreement) -> List[str]:
    """What both are called: by their kind, or where that is the same, by their own names without the order in front."""
    sources = (told.source, told.other_source)
    words = [_(KIND_WORDS[source.kind]) for source in sources]
    if told.source.kind is not told.other_source.kind:
        return words
    return [_ORDER.sub("", source.name) or word for source, word in zip(sources, words)]


def short_disagreement(told: Disagreement) -> str:
    """For the title of a chart; the name of a source is not safe to show as it is."""
    other = _names(told)[1]
    said = ngettext("! differs from {source} at {n} step", "! differs from {source} at {n} steps", told.differing)
    return said.format(source=other, n=told.differing)


def disagreement_text(told: Disagreement) -> str:
    """All of it in one sentence; the names of sources are not safe to show as they are."""
    return _("at {n} of {compared} steps the sources differ, first at step {step}: {values}").format(
        n=told.differing, compared=told.compared, step=told.step, values=pair_text(told)
    )


def disagreements(monitor: MonitorApi, run: RunInfo, *, ascii_only: bool = False) -> List[str]:
    """One sentence a curve of which two sources tell different values; the one named first is drawn."""
    several = len(run.ranks) > 1
    said: List[str] = []
    for tag in monitor.tags(run.key):
        if tag.kind is not None or len(tag.sources) < 2:
            continue
        for rank in run.ranks[:MOST_RANKS]:
            series = monitor.series(SeriesKey(run.key, rank.rank_id, tag.tag))
            if series is None or series.disagreement is None:
                continue
            name = tag.tag
            if several:
                name += " " + _("(rank {rank})").format(rank=rank.rank_id)
            said.append(safe(headed(name, disagreement_text(series.disagreement)), ascii_only=ascii_only))
    return said[:MOST_LISTED]
