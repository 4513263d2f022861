"""Plays recorded runs into a directory that goes away afterwards."""

from __future__ import annotations

from mstui.replay.player import MAX_WAIT_S, Progress, Replay, parse_place
from mstui.replay.targets import make_target, remove_target

__all__ = ["MAX_WAIT_S", "Progress", "Replay", "make_target", "parse_place", "remove_target"]
