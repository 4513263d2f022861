"""The part of the screen that knows of what lies over the panels: one window, or one line to type in, never both."""

from __future__ import annotations

from typing import Optional, Union

from textual.screen import Screen
from textual.widget import Widget

from mstui.tui.overlay import Overlay
from mstui.tui.panel import Panel
from mstui.tui.prompt import Prompt


class OverScreen(Screen[None]):
    """Opens and closes what lies over the panels; its subclass says which panel gets the focus back."""

    _before: Optional[Widget] = None
    """what had the focus before an overlay or the prompt opened"""

    def first_panel(self) -> Optional[Panel]:
        """What should have the focus when nothing has it."""
        raise NotImplementedError

    @property
    def overlay(self) -> Optional[Overlay]:
        """The window that is open."""
        return next((node for node in self.children if isinstance(node, Overlay) and node.display), None)

    async def open_over(self, widget: Union[Overlay, Prompt]) -> None:
        """Show a window, or the line to type in; it has the keys until it closes. An open one is replaced.

        To be awaited, so that the next key, which may have come already, goes to the new widget.
        """
        if isinstance(self.focused, Panel):
            self._before = self.focused
        self._remove_over()
        await self.mount(widget)
        self.set_focus(widget)

    def close_over(self) -> None:
        """Take the window or the line to type in away and give the focus back."""
        if self._remove_over():
            back = self._before if self._before is not None and self._before.display else self.first_panel()
            self._before = None
            self.set_focus(back)

    def _remove_over(self) -> bool:
        old = [node for node in self.children if isinstance(node, (Overlay, Prompt)) and node.display]
        for node in old:
            node.display = False  # removal takes a while; until then it must not count as open
            node.remove()
        return bool(old)
