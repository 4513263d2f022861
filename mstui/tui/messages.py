"""Every message that crosses from another thread or widget, in one place. Past tense: each states a fact."""

from __future__ import annotations

from textual.message import Message

from mstui.monitor_api import TagInfo


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


class DetailsWanted(Message):
    """A person wants to read what a tag holds; the screen opens a window."""

    def __init__(self, tag: TagInfo) -> None:
        super().__init__()
        self.tag = tag
