"""Text logs, whatever wrote them: metrics, places of records, events (see mstui.formats.logs)."""

from __future__ import annotations

from mstui.formats.logs.text_format import FORMAT

__all__ = ["FORMAT"]
