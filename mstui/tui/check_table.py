"""The actions that open guided checks and the manual, a part of the table in mstui.tui.actions."""

from __future__ import annotations

from typing import Tuple

from mstui.i18n import mark
from mstui.tui.action import APP, Action

CHECK_ACTIONS: Tuple[Action, ...] = (
    Action(
        "checklists",
        ("C",),
        mark("checklists"),
        mark("Walk a checklist or a flow of checks without an alert: before a training, or to find a cause"),
        APP,
        mark("General"),
    ),
    Action(
        "manual",
        ("E",),
        mark("manual"),
        mark("The manual: every symptom, cause, check and flow, with its sources"),
        APP,
        mark("General"),
    ),
)
