"""Every action, once: its id (which the configuration may rebind), default keys, words, and where it applies.

Help, the footer, the command palette and the README's key table are made from this table. Keys are plain keys: no
Ctrl+A/B/S/Q/Z, no Alt, no function keys, because tmux, screen, job control and web consoles take those.
"""

from __future__ import annotations

from typing import Iterator, List, Mapping, Sequence, Tuple

from textual.binding import Binding

from mstui.tui.action import APP, Action
from mstui.tui.alert_actions import ALERT_ACTIONS
from mstui.tui.check_table import CHECK_ACTIONS
from mstui.tui.log_actions import LOG_ACTIONS

MOVES: Tuple[str, ...] = ("up", "down", "left", "right")
"""labels of the actions that share one place in the footer"""
EVERYWHERE = ("General", "Views")
"""groups of what applies whatever has the focus"""


def _(text: str) -> str:
    """Mark a msgid; the table is translated when it is shown, since the language is chosen later."""
    return text


ACTIONS: Tuple[Action, ...] = (
    Action(
        "help",
        ("question_mark",),
        _("help"),
        _("Help of the focused panel, then of everything"),
        APP,
        _("General"),
        footer=True,
    ),
    Action(
        "filter", ("slash",), _("filter"), _("Filter the focused panel while typing"), APP, _("General"), footer=True
    ),
    Action(
        "command-palette",
        ("colon", "ctrl+p"),
        _("commands"),
        _("Find any action by name"),
        APP,
        _("General"),
        footer=True,
    ),
    Action("next-panel", ("tab",), _("panel"), _("Focus the next panel"), APP, _("General"), footer=True),
    Action("previous-panel", ("shift+tab",), _("back"), _("Focus the previous panel"), APP, _("General")),
    Action("view-curves", ("1",), _("curves"), _("Show the curves"), APP, _("Views")),
    Action("view-layers", ("2",), _("layers"), _("Show the map of layers over steps"), APP, _("Views")),
    Action("view-alerts", ("3",), _("alerts"), _("Show the alerts of the selected run"), APP, _("Views")),
    Action("view-log", ("4",), _("logs"), _("Show the text logs of the selected run"), APP, _("Views")),
    Action("view-runs", ("5",), _("runs"), _("Show the runs, their ranks and tags"), APP, _("Views")),
    Action(
        "view-files", ("6",), _("files"), _("Show every file, its state and what could not be read"), APP, _("Views")
    ),
    Action("view-ranks", ("7",), _("ranks"), _("Show the ranks of the selected run side by side"), APP, _("Views")),
    Action(
        "view-hardware",
        ("8",),
        _("hardware"),
        _("Show the chips of this machine, where npu-smi tells of them"),
        APP,
        _("Views"),
    ),
    Action(
        "only", ("o",), _("only"), _("Let the focused panel fill the screen, or go back"), APP, _("Views"), footer=True
    ),
    Action("read-now", ("r",), _("read now"), _("Look at every file at once"), APP, _("General")),
    Action("theme", ("t",), _("theme"), _("Next theme"), APP, _("General")),
    Action(
        "mouse",
        ("M",),
        _("mouse"),
        _("Turn mouse capture off or on, so that the terminal can select text"),
        APP,
        _("General"),
    ),
    Action(
        "copy", ("Y",), _("copy"), _("Copy what is focused to the clipboard (OSC 52) and to a file"), APP, _("General")
    ),
    Action("export", ("e",), _("export"), _("Save what is focused as CSV, SVG or PNG"), APP, _("General"), footer=True),
    Action(
        "back",
        ("escape",),
        _("back"),
        _("Leave the cursor, the filter or the zoomed panel; at the top, nothing"),
        APP,
        _("General"),
    ),
    Action("quit", ("q",), _("quit"), _("Leave mstui; the training is not touched"), APP, _("General"), footer=True),
    Action("cursor", ("v",), _("values"), _("Value cursor on or off"), APP, _("Curves"), footer=True),
    Action(
        "smooth-more",
        ("plus",),
        _("smooth"),
        _("Average more of the past"),
        APP,
        _("Curves"),
        footer=True,
        beside=("smooth-less",),
    ),
    Action("smooth-less", ("minus",), _("rawer"), _("Average less of the past"), APP, _("Curves")),
    Action("smooth-off", ("0",), _("raw"), _("No averaging, or the last averaging again"), APP, _("Curves")),
    Action(
        "scale",
        ("L",),
        _("log"),
        _("Next y scale of the focused chart: linear, logarithmic, symmetric log"),
        APP,
        _("Curves"),
        footer=True,
    ),
    Action(
        "axis",
        ("x",),
        _("axis"),
        _("Next x axis: step, epoch, relative time, wall time"),
        APP,
        _("Curves"),
        footer=True,
    ),
    Action(
        "pan-left",
        ("left_square_bracket",),
        _("range"),
        _("Look earlier"),
        APP,
        _("Curves"),
        footer=True,
        beside=("pan-right", "zoom-out", "zoom-in"),
    ),
    Action("pan-right", ("right_square_bracket",), _("pan"), _("Look later"), APP, _("Curves")),
    Action("zoom-in", ("right_curly_bracket",), _("zoom"), _("Zoom in on x"), APP, _("Curves")),
    Action("zoom-out", ("left_curly_bracket",), _("zoom"), _("Zoom out of x"), APP, _("Curves")),
    Action("zoom-all", ("equals_sign",), _("all"), _("Show all steps and follow"), APP, _("Curves")),
    Action("zoom-back", ("backspace",), _("last view"), _("Back to the view before"), APP, _("Curves")),
    Action("superseded", ("O",), _("old"), _("Show or hide what a restart has overwritten"), APP, _("Curves")),
    Action("band", ("B",), _("ranks"), _("Show or hide the spread over ranks"), APP, _("Curves")),
    Action(
        "chart-left",
        ("h", "left"),
        _("left"),
        _("Previous chart; with the cursor on, one point back"),
        "curves",
        _("Curves"),
    ),
    Action(
        "chart-right",
        ("l", "right"),
        _("right"),
        _("Next chart; with the cursor on, one point on"),
        "curves",
        _("Curves"),
    ),
    Action("chart-up", ("k", "up"), _("up"), _("The chart above"), "curves", _("Curves")),
    Action("chart-down", ("j", "down"), _("down"), _("The chart below"), "curves", _("Curves")),
    Action(
        "cursor-left-ten",
        ("H", "less_than_sign", "shift+left"),
        _("-10"),
        _("Cursor ten points back"),
        "curves",
        _("Curves"),
    ),
    Action(
        "cursor-right-ten",
        ("greater_than_sign", "shift+right"),
        _("+10"),
        _("Cursor ten points on"),
        "curves",
        _("Curves"),
    ),
    Action(
        "cursor-first",
        ("circumflex_accent", "home"),
        _("first"),
        _("Cursor to the first point, or the first chart"),
        "curves",
        _("Curves"),
    ),
    Action(
        "cursor-last",
        ("dollar_sign", "end"),
        _("last"),
        _("Cursor to the last point, or the last chart"),
        "curves",
        _("Curves"),
    ),
    Action("cursor-next-bad", ("N",), _("next NaN"), _("Cursor to the next NaN or infinity"), "curves", _("Curves")),
    Action("page-down", ("pagedown",), _("page"), _("Next page of charts"), "curves", _("Curves")),
    Action("page-up", ("pageup",), _("page"), _("Previous page of charts"), "curves", _("Curves")),
    Action(
        "one-chart",
        ("enter",),
        _("one chart"),
        _("Let the focused chart fill the panel, or go back"),
        "curves",
        _("Curves"),
        footer=True,
    ),
    Action(
        "curve-to-log",
        ("J",),
        _("to log"),
        _("The log record of the step under the cursor, or of the newest"),
        "curves",
        _("Curves"),
    ),
    Action("metric", ("w",), _("metric"), _("Next statistic of the layer map"), APP, _("Layers"), footer=True),
    Action("layer-up", ("k", "up"), _("up"), _("The layer above"), "layers", _("Layers")),
    Action("layer-down", ("j", "down"), _("down"), _("The layer below"), "layers", _("Layers")),
    Action("layer-top", ("home",), _("top"), _("The first layer"), "layers", _("Layers")),
    Action("layer-bottom", ("end", "G"), _("bottom"), _("The last layer"), "layers", _("Layers")),
    Action(
        "layer-open",
        ("enter",),
        _("open"),
        _("Show the histogram of this parameter"),
        "layers",
        _("Layers"),
        footer=True,
    ),
    Action("histogram-earlier", ("h", "left"), _("earlier"), _("The recorded step before"), "histogram", _("Layers")),
    Action("histogram-later", ("l", "right"), _("later"), _("The recorded step after"), "histogram", _("Layers")),
    Action(
        "histogram-kind", ("k", "up"), _("kind"), _("Weights or gradients of this parameter"), "histogram", _("Layers")
    ),
    Action(
        "histogram-mode",
        ("d",),
        _("detail"),
        _("Over steps, or one step in detail"),
        "histogram",
        _("Layers"),
        footer=True,
    ),
    Action(
        "run-info",
        ("i",),
        _("info"),
        _("Everything known of the run: state and why, ranks, rhythm, files, facts, what is missing"),
        APP,
        _("Runs"),
        footer=True,
    ),
    Action("run-up", ("k", "up"), _("up"), _("The line above"), "runs", _("Runs")),
    Action("run-down", ("j", "down"), _("down"), _("The line below"), "runs", _("Runs")),
    Action("run-top", ("home",), _("top"), _("The first line"), "runs", _("Runs")),
    Action("run-bottom", ("end", "G"), _("bottom"), _("The last line"), "runs", _("Runs")),
    Action("run-page-down", ("pagedown",), _("page"), _("A page down"), "runs", _("Runs")),
    Action("run-page-up", ("pageup",), _("page"), _("A page up"), "runs", _("Runs")),
    Action("run-open", ("enter",), _("open"), _("Look at this run or rank"), "runs", _("Runs"), footer=True),
    Action(
        "run-overlay",
        ("space",),
        _("overlay"),
        _("Draw this run with the selected one, or not"),
        "runs",
        _("Runs"),
        footer=True,
    ),
    Action(
        "run-pin", ("p",), _("pin"), _("Keep this run on top of the others, or not"), "runs", _("Runs"), footer=True
    ),
    Action("run-fold", ("f",), _("fold"), _("Show or hide the ranks of this run"), "runs", _("Runs"), footer=True),
    Action("rank-up", ("k", "up"), _("up"), _("The rank above"), "ranks", _("Runs")),
    Action("rank-down", ("j", "down"), _("down"), _("The rank below"), "ranks", _("Runs")),
    Action("rank-left", ("h", "left"), _("left"), _("The rank to the left"), "ranks", _("Runs")),
    Action("rank-right", ("l", "right"), _("right"), _("The rank to the right"), "ranks", _("Runs")),
    Action("rank-top", ("home",), _("top"), _("The first rank"), "ranks", _("Runs")),
    Action("rank-bottom", ("end", "G"), _("bottom"), _("The last rank"), "ranks", _("Runs")),
    Action("rank-page-down", ("pagedown",), _("page"), _("A page down"), "ranks", _("Runs")),
    Action("rank-page-up", ("pageup",), _("page"), _("A page up"), "ranks", _("Runs")),
    Action("rank-open", ("enter",), _("open"), _("Look at this rank"), "ranks", _("Runs"), footer=True),
    Action("rank-order", ("s",), _("sort"), _("Sort the ranks by the next figure"), "ranks", _("Runs"), footer=True),
    Action("tag-up", ("k", "up"), _("up"), _("The tag above"), "tags", _("Runs")),
    Action("tag-down", ("j", "down"), _("down"), _("The tag below"), "tags", _("Runs")),
    Action("tag-top", ("home",), _("top"), _("The first tag"), "tags", _("Runs")),
    Action("tag-bottom", ("end", "G"), _("bottom"), _("The last tag"), "tags", _("Runs")),
    Action("tag-page-down", ("pagedown",), _("page"), _("A page down"), "tags", _("Runs")),
    Action("tag-page-up", ("pageup",), _("page"), _("A page up"), "tags", _("Runs")),
    Action(
        "tag-open",
        ("enter",),
        _("show"),
        _("Show this tag: its chart, its row of the map, or its histogram"),
        "tags",
        _("Runs"),
        footer=True,
    ),
    Action(
        "tag-role",
        ("R",),
        _("role"),
        _("Say what this tag is: the loss, a metric, the learning rate ..."),
        "tags",
        _("Runs"),
        footer=True,
    ),
    Action("file-up", ("k", "up"), _("up"), _("The file above"), "files", _("Files")),
    Action("file-down", ("j", "down"), _("down"), _("The file below"), "files", _("Files")),
    Action("file-page-down", ("pagedown",), _("page"), _("A page down"), "files", _("Files")),
    Action("file-page-up", ("pageup",), _("page"), _("A page up"), "files", _("Files")),
    *ALERT_ACTIONS,
    *CHECK_ACTIONS,
    *LOG_ACTIONS,
    Action("chip-up", ("k", "up"), _("up"), _("The chip above"), "hardware", _("Hardware")),
    Action("chip-down", ("j", "down"), _("down"), _("The chip below"), "hardware", _("Hardware")),
    Action("chip-page-down", ("pagedown",), _("page"), _("A page down"), "hardware", _("Hardware")),
    Action("chip-page-up", ("pageup",), _("page"), _("A page up"), "hardware", _("Hardware")),
)


def bindings(scope: str) -> List[Binding]:
    """Textual bindings of one scope. The id is what a key map names."""
    return [
        Binding(",".join(action.keys), action.method, action.label, id=action.id, show=False)
        for action in ACTIONS
        if action.scope == scope
    ]


def by_id() -> Mapping[str, Action]:
    """Actions by id."""
    return {action.id: action for action in ACTIONS}


def footer_actions(scope: str) -> Iterator[Action]:
    """What the footer shows for a focused panel: moving and the panel's own, then its group's, then what always is."""
    own = [action for action in ACTIONS if action.scope == scope != APP]
    yield from (action for action in own if action.footer or action.label in MOVES)
    own_groups = {action.group for action in own}
    shown = [action for action in ACTIONS if action.scope == APP and action.footer]
    yield from (action for action in shown if action.group in own_groups)
    yield from (action for action in shown if action.group not in own_groups and action.group in EVERYWHERE)


def groups() -> Sequence[Tuple[str, Sequence[Action]]]:
    """Help's headings with their actions, in table order."""
    order: List[str] = []
    for action in ACTIONS:
        if action.group not in order:
            order.append(action.group)
    return [(name, [action for action in ACTIONS if action.group == name]) for name in order]
