"""The façade that front ends use: it wires reading, storing and views together and owns the one background thread."""

from __future__ import annotations

from mstui.monitor.monitor import Monitor

__all__ = ["Monitor"]
