"""Every message that crosses from another thread or widget, in one place. Past tense: each states a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Sequence

from textual.message import Message

from mstui.monitor_api import TagInfo

if TYPE_CHECKING:
    from mstui.model.log_view import LogPlace, LogRow
    from mstui.tui.overlay import Choice


class Committed(Message, bubble=False):
    """The monitor has a new revision."""

    def __init__(self, revision: int) -> None:
        super().__init__()
        self.revision = revision

    def can_replace(self, message: Message) -> bool:
        """A newer revision makes an unread older one needless."""
        return isinstance(message, Committed)


class Fetched(Message, bubble=False):
    """A worker has read what a panel asked the disk for."""

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result


class Collected(Message, bubble=False):
    """The thread that asks about the hardware knows something new."""

    def can_replace(self, message: Message) -> bool:
        """One look shows all that is known."""
        return isinstance(message, Collected)


class RoleWanted(Message):
    """A person wants to say what a tag is; the screen asks."""

    def __init__(self, tag: str, current: str) -> None:
        super().__init__()
        self.tag = tag
        self.current = current
        """value of the role that it has now"""


class RecordWanted(Message):
    """A person wants to read a whole record of a log; the screen opens a window."""

    def __init__(self, row: LogRow) -> None:
        super().__init__()
        self.row = row


class LineWanted(Message):
    """A person wants the log record that tells of a point of a curve; the screen shows the log there."""

    def __init__(self, place: LogPlace) -> None:
        super().__init__()
        self.place = place


class PointWanted(Message):
    """A person wants a point of a curve that a log record or an alert tells of; the screen puts the cursor there."""

    def __init__(self, rank_id: int, step: int, tag: str = "") -> None:
        super().__init__()
        self.rank_id = rank_id
        self.step = step
        self.tag = tag
        """empty: of the focused chart, else of the first one"""


class ChoiceWanted(Message):
    """A panel lets a person pick one of a list; the screen opens it."""

    def __init__(self, title: str, choices: Sequence[Choice], chosen: Callable[[str], None], current: str = "") -> None:
        super().__init__()
        self.title = title
        self.choices = choices
        self.chosen = chosen
        self.current = current


class DetailsWanted(Message):
    """A person wants to read what a tag holds; the screen opens a window."""

    def __init__(self, tag: TagInfo) -> None:
        super().__init__()
        self.tag = tag


class EvidenceWanted(Message):
    """A person wants to know why an alert was raised; the screen opens a window."""

    def __init__(self, alert_id: str, at: int) -> None:
        super().__init__()
        self.alert_id = alert_id
        self.at = at
        """place of the selected symptom in the incident's timeline"""


class CheckWanted(EvidenceWanted):
    """A person wants to be led through the checks of an alert."""


class ManualWanted(Message):
    """A person wants to read an entry of the manual; the screen opens a window."""

    def __init__(self, entry: str) -> None:
        super().__init__()
        self.entry = entry
        """id of a symptom, cause, check or flow; empty: the list of all"""


class VerdictWanted(Message):
    """A person wants to know which rules could judge; the screen opens a window."""
