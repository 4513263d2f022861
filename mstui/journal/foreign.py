"""Words for what a later mstui has written into the journal and this one cannot read: left out, and said."""

from __future__ import annotations

from mstui.i18n import ngettext


def left_out_text(entries: int) -> str:
    """One line; empty where nothing was left out."""
    if not entries:
        return ""
    text = ngettext("{n} entry of a newer mstui is not shown", "{n} entries of a newer mstui are not shown", entries)
    return text.format(n=entries)
