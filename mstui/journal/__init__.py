"""Alerts, acknowledgements and answers, kept under the state directory and shared by every mstui that uses it."""

from __future__ import annotations

from mstui.journal.journal import Journal, JournalState

__all__ = ["Journal", "JournalState"]
