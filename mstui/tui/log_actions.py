"""The actions of the log panel, a part of the table in mstui.tui.actions."""

from __future__ import annotations

from typing import Tuple

from mstui.i18n import mark
from mstui.tui.action import Action

_SHOWN: Tuple[Action, ...] = (
    Action(
        "log-open",
        ("enter",),
        mark("open"),
        mark("The whole record in a window, where Y copies it"),
        "log",
        mark("Log"),
    ),
    Action("log-follow", ("G", "end"), mark("follow"), mark("The newest record, and stay there"), "log", mark("Log")),
    Action(
        "log-fact",
        ("p",),
        mark("trouble"),
        mark("The record of what went wrong first, then the next"),
        "log",
        mark("Log"),
    ),
    Action("log-level", ("s",), mark("level"), mark("Next least level: all, info, warning, error"), "log", mark("Log")),
    Action(
        "log-next-hit",
        ("n",),
        mark("hit"),
        mark("The next hit of the search, below"),
        "log",
        mark("Log"),
        beside=("log-previous-hit",),
    ),
    Action(
        "log-previous-error",
        ("less_than_sign",),
        mark("error"),
        mark("The error above"),
        "log",
        mark("Log"),
        beside=("log-next-error",),
    ),
    Action(
        "log-to-curve", ("J",), mark("to curve"), mark("The point on the curve that it tells of"), "log", mark("Log")
    ),
    Action(
        "log-ranks", ("a",), mark("ranks"), mark("Records of all ranks, or of the selected one"), "log", mark("Log")
    ),
    Action("log-file", ("f",), mark("file"), mark("Choose one log, all ranks or one rank"), "log", mark("Log")),
    Action("log-wrap", ("W",), mark("wrap"), mark("Wrap long messages, or cut them"), "log", mark("Log")),
)
"""in the footer where there is room, in this order"""
LOG_ACTIONS: Tuple[Action, ...] = (
    Action("log-up", ("k", "up"), mark("up"), mark("The record above; following stops"), "log", mark("Log")),
    Action("log-down", ("j", "down"), mark("down"), mark("The record below"), "log", mark("Log")),
    Action("log-page-up", ("pageup",), mark("page"), mark("A page up"), "log", mark("Log")),
    Action("log-page-down", ("pagedown", "space"), mark("page"), mark("A page down"), "log", mark("Log")),
    Action("log-top", ("home",), mark("oldest"), mark("The oldest record"), "log", mark("Log")),
    *(action._replace(footer=True) for action in _SHOWN),
    Action("log-previous-hit", ("N",), mark("hit"), mark("The hit of the search before, above"), "log", mark("Log")),
    Action("log-next-error", ("greater_than_sign",), mark("error"), mark("The error below"), "log", mark("Log")),
    Action("log-left", ("h", "left"), mark("left"), mark("Long messages from farther left"), "log", mark("Log")),
    Action("log-right", ("l", "right"), mark("right"), mark("Long messages from farther right"), "log", mark("Log")),
)
