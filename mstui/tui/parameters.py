"""Parameter names fit for a narrow column: what all names share is left out, and the leaf is kept.

It refuses to make names unique: two names that differ only in the middle may look the same when the column is narrow.
"""

from __future__ import annotations

from typing import List, Sequence

from mstui import safe_text

SEPARATOR = "."
_LEAF_SHARE = 2 / 3
"""of a narrow column that the end of a name may take: the end says what a parameter is, the start where it is"""


def common_prefix(names: Sequence[str]) -> str:
    """The leading components, separator included, that all names share; empty for fewer than two names."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    shared: List[str] = []
    for mine, other in zip(first.split(SEPARATOR)[:-1], last.split(SEPARATOR)[:-1]):
        if mine != other:
            break
        shared.append(mine)
    return SEPARATOR.join(shared) + SEPARATOR if shared else ""


def short_name(name: str, cells: int, *, prefix: str = "", ascii_only: bool = False) -> str:
    """A name without `prefix`, made safe, at most `cells` wide; cut in the middle so that whole components end it."""
    text = safe_text.safe(name.removeprefix(prefix), ascii_only=ascii_only)
    if safe_text.width(text) <= cells:
        return text
    ellipsis = safe_text.ASCII_ELLIPSIS if ascii_only else safe_text.ELLIPSIS
    end = _ending(text, int(cells * _LEAF_SHARE))
    room = cells - safe_text.width(end)
    if not end or room < 2:
        return safe_text.fit(text, cells, ellipsis=ellipsis)
    return safe_text.fit(text[: -len(end)], room, middle=False, ellipsis=ellipsis) + end


def _ending(text: str, cells: int) -> str:
    """The longest run of whole components at the end that takes at most `cells`."""
    end = ""
    for part in reversed(text.split(SEPARATOR)[1:]):
        longer = SEPARATOR + part + end
        if safe_text.width(longer) > cells:
            break
        end = longer
    return end
