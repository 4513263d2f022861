"""One payload as lines to read: text, the figures of a tensor, the parts of a graph, the facts of a lineage.

Pure: details in, rows out. Everything from the file is made safe here.
"""

from __future__ import annotations

import math
from typing import List, Mapping, Optional, Sequence

from mstui.i18n import _, ngettext
from mstui.model.details import PayloadDetails
from mstui.model.records import BlobKind
from mstui.model.runs import Fact
from mstui.safe_text import pad, safe, width
from mstui.tui.kind_words import KIND_WORDS, NAMELESS_WORDS
from mstui.tui.lines import Row, Span
from mstui.tui.numbers import data_size, number
from mstui.tui.wrapping import wrap, wrap_as_written

LONGEST_LINE = 10_000
"""characters of one line of a text that are shown; a longer one is data, not text"""
MOST_LINES = 5_000
"""lines of one payload that are shown"""
FIGURE_WIDTH = 11
"""cells of a number: a float32 in full with its sign and exponent"""
NAME_SHARE = 3
"""names of facts take at most this part of the width"""


def payload_rows(details: PayloadDetails, cells: int, *, ascii_only: bool = False) -> List[Row]:
    """All there is to say of a payload, for a width."""
    kind = _(NAMELESS_WORDS.get(details.kind) or KIND_WORDS[details.kind])
    rows: List[Row] = [((f"{kind}, {data_size(details.size)}", "dim"),)]
    if details.problem:
        rows += _sentences(safe(details.problem, LONGEST_LINE, ascii_only=ascii_only), cells, "warning")
        return rows
    if details.facts is not None:
        rows += [(), *fact_rows(details.facts, cells, ascii_only=ascii_only)]
    elif details.kind is BlobKind.TENSOR:
        rows += _tensor(details, cells)
    elif details.kind is BlobKind.GRAPH:
        n = len(details.texts)
        said = ngettext("{n} parameter, in the order of the network", "{n} parameters, in the order of the network", n)
        rows += [*_sentences(said.format(n=n), cells, "text"), (), *_numbered(details.texts, cells, ascii_only)]
    elif details.kind is BlobKind.TEXT:
        rows += [(), *_texts(details.texts, cells, ascii_only)]
    if details.kind is BlobKind.DATASET_GRAPH and details.texts:
        said = _("Operations, the one that feeds the network first, the data source last")
        rows += [(), *_sentences(said, cells, "dim"), *_texts(details.texts, cells, ascii_only)]
    left_out = len(rows) - MOST_LINES
    if left_out > 0:
        said = ngettext("{n} more line is not shown", "{n} more lines are not shown", left_out).format(n=left_out)
        rows = [*rows[:MOST_LINES], ((said, "warning"),)]
    return rows


def fact_rows(facts: Mapping[str, Fact], cells: int, *, ascii_only: bool = False) -> List[Row]:
    """Facts by name: the names in one column, long values wrapped beside them."""
    shown = [
        (safe(name, ascii_only=ascii_only), fact_text(facts[name], ascii_only=ascii_only)) for name in sorted(facts)
    ]
    column = min(max((width(name) for name, _value in shown), default=0), max(cells // NAME_SHARE, 1))
    rows: List[Row] = []
    for name, value in shown:
        if width(name) > column:
            rows += [((line, "dim"),) for line in wrap_as_written(name, cells)]
            name = ""
        for line in wrap_as_written(value, max(cells - column - 2, 1)):
            rows.append(((pad(name, column), "dim"), ("  ", "text"), (line, "text")))
            name = ""
    return rows or [((_("It states nothing."), "dim"),)]


def fact_text(fact: Fact, *, ascii_only: bool = False) -> str:
    """One fact in words; numbers as short as they are exact."""
    if isinstance(fact, bool):
        return _("yes") if fact else _("no")
    if isinstance(fact, float):
        return number(fact, FIGURE_WIDTH) if math.isfinite(fact) else str(fact)
    return safe(str(fact), LONGEST_LINE, ascii_only=ascii_only)


def _tensor(details: PayloadDetails, cells: int) -> List[Row]:
    stats = details.stats
    shape = " x ".join(map(str, details.shape)) or _("scalar")
    size = math.prod(details.shape)
    said = ngettext("{n} element", "{n} elements", size).format(n=size)
    rows: List[Row] = [(), ((_("shape") + " ", "dim"), (shape, "text"), (f"   {said}", "dim"))]
    if stats is not None:
        row: List[Span] = []
        for name, value in ((_("min"), stats.minimum), (_("max"), stats.maximum), (_("mean"), stats.mean)):
            row += [(f"{name} ", "dim"), (f"{number(value, FIGURE_WIDTH)}   ", "text")]
        rows.append(tuple(row))
        counts = (("NaN", stats.nan_count), ("+Inf", stats.pos_inf_count), ("-Inf", stats.neg_inf_count))
        row = []
        for name, count in counts:
            row += [(f"{name} ", "dim"), (f"{count}   ", "critical" if count else "text")]
        rows.append(tuple(row))
    if details.head:
        said = _("first elements") if len(details.head) < size else _("all elements")
        rows += [(), ((said, "dim"),)]
        rows += _figures(details.head, cells)
    return rows


def _figures(values: Sequence[float], cells: int) -> List[Row]:
    """Numbers in columns, each row begun by the index of its first one."""
    label = len(str(len(values))) + 1
    across = max((cells - label) // (FIGURE_WIDTH + 1), 1)
    rows: List[Row] = []
    for start in range(0, len(values), across):
        text = "".join(f" {number(value, FIGURE_WIDTH):>{FIGURE_WIDTH}}" for value in values[start : start + across])
        rows.append(((f"{start:>{label}}", "dim"), (text, "text")))
    return rows


def _numbered(texts: Sequence[str], cells: int, ascii_only: bool) -> List[Row]:
    label = len(str(len(texts)))
    rows: List[Row] = []
    for i, text in enumerate(texts, 1):
        lines = wrap_as_written(safe(text, LONGEST_LINE, ascii_only=ascii_only), max(cells - label - 2, 1))
        rows += [
            ((f"{i:>{label}}" if at == 0 else " " * label, "dim"), ("  " + line, "text"))
            for at, line in enumerate(lines)
        ]
    return rows


def _texts(texts: Sequence[str], cells: int, ascii_only: bool) -> List[Row]:
    """Texts as they were written, one under the other."""
    rows: List[Row] = []
    for text in texts:
        for line in text.replace("\r\n", "\n").split("\n"):
            shown = safe(line, LONGEST_LINE, ascii_only=ascii_only)
            rows += [((part, "text"),) for part in wrap_as_written(shown, cells)]
            if len(rows) > 2 * MOST_LINES:  # what is shown is decided by the caller; this only bounds the work
                return rows
    return rows or [((_("It is empty."), "dim"),)]


def _sentences(text: str, cells: int, look: str) -> List[Row]:
    return [((line, look),) for line in wrap(text, cells)]


def heading(details: Optional[PayloadDetails], name: str, when: str, at: int, number_of_steps: int) -> str:
    """`tag  step 120  2026-11-30 14:19:28  3/16` for a window's title; lineage has no step."""
    parts = [name]
    if details is not None:
        parts += [when] if details.facts is not None else [_("step {step}").format(step=details.step), when]
    if number_of_steps > 1:
        parts.append(f"{at + 1}/{number_of_steps}")
    return "  ".join(parts)
