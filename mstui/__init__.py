"""mstui: watch a MindSpore training live in the terminal."""

from __future__ import annotations

__version__ = "0.1.0"
