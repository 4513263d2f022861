"""The cause that a guided check has found for an alert, in words for the list of alerts. It judges nothing."""

from __future__ import annotations

from typing import Sequence

from mstui.i18n import _, current_language
from mstui.model.journal import Entry, EntryKind
from mstui.safe_text import safe

FOUND = "found"
"""the outcome of a check that names a cause; any later outcome replaces it"""
MOST_SHOWN = 60
"""characters of a cause that only another version knows"""


def cause_found(entries: Sequence[Entry]) -> str:
    """`cause found: Learning rate too large`; empty where no check has found one, or where it was taken back."""
    outcomes = [entry for entry in entries if entry.kind is EntryKind.OUTCOME]
    if not outcomes or outcomes[-1].comment != FOUND or not outcomes[-1].subject:
        return ""
    from mstui.knowledge.loader import knowledge  # only who has checked pays for it

    cause = knowledge().causes.get(outcomes[-1].subject)
    title = safe(outcomes[-1].subject, MOST_SHOWN) if cause is None else cause.title.text(current_language())
    return _("cause found: {title}").format(title=title)
