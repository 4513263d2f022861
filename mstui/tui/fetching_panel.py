"""Base of the panels whose pictures come from the disk: when they look whether something has to be fetched."""

from __future__ import annotations

from mstui.tui.fetching import Fetching
from mstui.tui.messages import Fetched
from mstui.tui.panel import Host, Panel


class FetchingPanel(Panel):
    """Looks after every change of the view, the data or its own size, and when a fetch has come back."""

    def __init__(self, host: Host, panel_id: str) -> None:
        super().__init__(host, panel_id)
        self._fetching = Fetching(self)

    def _look(self) -> None:
        """Ask for what is missing; called often, so that nothing missing must cost next to nothing."""
        raise NotImplementedError

    def _taken(self, value: object) -> None:
        """Keep what a worker has read."""
        raise NotImplementedError

    def view_changed(self) -> None:
        """Another run, parameter or statistic is another picture."""
        self._look()
        super().view_changed()

    def data_changed(self) -> None:
        """There may be more to read."""
        self._look()
        super().data_changed()

    def on_show(self) -> None:
        """Catch up with what happened while hidden."""
        self._look()

    def on_resize(self) -> None:
        """Another width has another number of columns."""
        self._look()

    def on_fetched(self, message: Fetched) -> None:
        """Show what a worker has read."""
        answer = self._fetching.take(message)
        if answer is None:
            return
        self._taken(answer.value)
        self._look()
        self.redraw()
