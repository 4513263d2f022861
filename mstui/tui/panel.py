"""What a panel is: one file in mstui/tui/panels that declares PANEL.

A panel asks the monitor for a view and draws it. It holds no numbers of its own and decides nothing about training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, ClassVar, List, NamedTuple, Protocol, Sequence, Tuple

from mstui import safe_text
from mstui.monitor_api import MonitorApi
from mstui.tui.budget import LinkBudget
from mstui.tui.lines import Lines, Row, Span
from mstui.tui.state import ViewState

if TYPE_CHECKING:
    from mstui.tui.alert_asking import Question


class Host(Protocol):
    """What a panel may ask of the screen that holds it."""

    @property
    def monitor(self) -> MonitorApi:
        """Where numbers come from."""
        ...

    @property
    def view(self) -> ViewState:
        """What the person has chosen."""
        ...

    @property
    def ascii_only(self) -> bool:
        """Draw with ASCII characters only."""
        ...

    @property
    def budget(self) -> LinkBudget:
        """Bytes that pictures of incoming data may cost."""
        ...

    def now(self) -> float:
        """Unix seconds."""
        ...

    @property
    def config_path(self) -> str:
        """The configuration file that a person may write into; it need not exist."""
        ...

    def change_view(self, **changes: object) -> None:
        """Replace fields of the view; every visible panel is redrawn."""
        ...

    def say(self, message: str) -> None:
        """Show a short message in the footer until the next key."""
        ...

    async def ask(self, question: Question) -> None:
        """Show a line to type an answer in; returns when it has the keys."""
        ...


class Panel(Lines, can_focus=True):
    """Base of the panels. Its first row is its title rule; the body is what `body` draws.

    `left_rule` says whether a vertical rule separates it from a panel to its left; the layout sets it.
    """

    TITLE: ClassVar[str] = ""
    """msgid of the name shown in the title rule"""

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(id=panel_id)
        self.host = host
        self.left_rule = False
        self.compact = False
        """set by the layout where the panel has little room: no title rule"""

    def body(self, width: int, height: int) -> Tuple[Row, ...]:
        """Rows below the title."""
        raise NotImplementedError

    def title(self, width: int) -> Row:
        """What follows the name in the title rule (state, hit counts); cut to `width` cells by the caller."""
        raise NotImplementedError

    def draw(self, width: int, height: int) -> Tuple[Row, ...]:
        """Title rule, then body, both after the vertical rule if there is one."""
        from mstui.i18n import _

        inner = width - 1 if self.left_rule else width
        bar = "|" if self.host.ascii_only else "│"
        body = tuple(self.body(inner, height - (0 if self.compact else 1)))
        rows: Tuple[Row, ...] = ()
        if not self.compact:
            dash = "-" if self.host.ascii_only else "─"
            look = "title-focus" if self.has_focus else "title"
            # after the body, so that the title can say what the body found
            rows = (title_rule(_(self.TITLE), self.title(inner), inner, dash, look),)
        rows += body
        if not self.left_rule:
            return rows
        rows += ((),) * (height - len(rows))
        return tuple(((bar, "rule"), *row) for row in rows)

    def wants_room(self) -> bool:
        """Whether it should stand beside other panels though nobody asked for it."""
        return True

    def view_changed(self) -> None:
        """The view was replaced; draw again if it shows."""
        if self.display:
            self.redraw()

    def data_changed(self) -> None:
        """The monitor has a new revision; called at most `refresh_hz` times a second."""
        if self.display:
            self.redraw()

    def clock_ticked(self) -> None:
        """Called every few seconds while nothing new comes, for panels that show how old something is."""

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Show that keys go here, or elsewhere now. `on_focus` and `on_blur` would be too early: before it is so."""
        super().watch_has_focus(_has_focus)
        self.redraw()


def joined(parts: Sequence[Span], cells: int) -> Row:
    """The parts of a title that fit, from the left, two blanks between them."""
    row: List[Span] = []
    for text, look in parts:
        lead = "  " if row else ""
        if safe_text.width(text) + len(lead) > cells:
            break
        cells -= safe_text.width(text) + len(lead)
        row += [(lead, "text"), (text, look)] if lead else [(text, look)]
    return tuple(row)


def title_rule(name: str, rest: Row, width: int, dash: str, look: str) -> Row:
    """`─ name  rest ─────`: one row that both names a panel and separates it from the one above."""
    from rich.cells import cell_len

    used = 2 + cell_len(name) + 1 + sum(cell_len(text) for text, _ in rest) + (1 if rest else 0)
    spans: Tuple[Tuple[str, str], ...] = ((dash, "rule"), (f" {name} ", look))
    spans += (*rest, (" ", "text")) if rest else ()
    return (*spans, (dash * max(width - used, 0), "rule"))


class PanelSpec(NamedTuple):
    """How the application finds and places a panel."""

    id: str
    title: str
    """msgid"""
    help: str
    """msgid: what the panel shows and how to read it, a few sentences"""
    build: Callable[[Host], Panel]
