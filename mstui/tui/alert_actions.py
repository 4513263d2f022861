"""The actions of the alert panel, a part of the table in mstui.tui.actions."""

from __future__ import annotations

from typing import Tuple

from mstui.i18n import mark
from mstui.tui.action import Action

_SHOWN: Tuple[Action, ...] = (
    Action(
        "alert-open",
        ("enter",),
        mark("why"),
        mark("The evidence: every symptom, where and when, and what was noted"),
        "alerts",
        mark("Alerts"),
    ),
    Action(
        "alert-ack",
        ("a",),
        mark("ack"),
        mark("Acknowledge: asks why and until when; enter alone is for ever"),
        "alerts",
        mark("Alerts"),
    ),
    Action("alert-check", ("g",), mark("check"), mark("The checks of this alert"), "alerts", mark("Alerts")),
    Action(
        "alert-snooze", ("z",), mark("snooze"), mark("Be silent for a while: asks how long"), "alerts", mark("Alerts")
    ),
    Action(
        "alert-fold",
        ("f", "space"),
        mark("fold"),
        mark("Show or hide the symptoms that followed"),
        "alerts",
        mark("Alerts"),
    ),
    Action("alert-ack-all", ("A",), mark("ack all"), mark("Acknowledge every active alert"), "alerts", mark("Alerts")),
    Action("alert-unack", ("u",), mark("take back"), mark("Take back what was said of it"), "alerts", mark("Alerts")),
    Action(
        "alert-intended",
        ("I",),
        mark("intended"),
        mark("It is meant to be so: this symptom of this tag stays silent in this run"),
        "alerts",
        mark("Alerts"),
    ),
    Action(
        "alert-verdict",
        ("V",),
        mark("verdict"),
        mark("Which rules could judge, which could not, and what each would need"),
        "alerts",
        mark("Alerts"),
    ),
    Action(
        "alert-to-curve",
        ("J",),
        mark("to curve"),
        mark("The point on the curve at which it began"),
        "alerts",
        mark("Alerts"),
    ),
)
"""in the footer where there is room, in this order"""
ALERT_ACTIONS: Tuple[Action, ...] = (
    Action("alert-up", ("k", "up"), mark("up"), mark("The line above"), "alerts", mark("Alerts")),
    Action("alert-down", ("j", "down"), mark("down"), mark("The line below"), "alerts", mark("Alerts")),
    Action("alert-top", ("home",), mark("top"), mark("The first line"), "alerts", mark("Alerts")),
    Action("alert-bottom", ("end", "G"), mark("bottom"), mark("The last line"), "alerts", mark("Alerts")),
    Action("alert-page-down", ("pagedown",), mark("page"), mark("A page down"), "alerts", mark("Alerts")),
    Action("alert-page-up", ("pageup",), mark("page"), mark("A page up"), "alerts", mark("Alerts")),
    *(action._replace(footer=True) for action in _SHOWN),
)
