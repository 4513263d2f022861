"""Read from the disk for one panel without stopping the screen.

One fetch runs at a time for a panel. What is asked for meanwhile waits, and only the newest of it: a person who holds a
key down must not queue a hundred reads. It refuses to look at results; the panel does that when the message comes.
"""

from __future__ import annotations

from typing import Callable, Hashable, NamedTuple, Optional, Tuple

from textual.widget import Widget
from textual.worker import get_current_worker

from mstui.tui.messages import Fetched


class Answer(NamedTuple):
    """What `Fetched.result` holds: the request as it was asked, and what the call returned."""

    request: Hashable
    value: object


class Fetching:
    """The fetches of one panel. Everything but the call itself happens on the UI thread."""

    def __init__(self, panel: Widget, group: str = "fetch") -> None:
        """`group`: tells the fetches of one panel apart where it has several kinds; they do not end each other."""
        self._panel = panel
        self._group = group
        self._running: Optional[Hashable] = None
        self._waiting: Optional[Tuple[Hashable, Callable[[], object]]] = None

    @property
    def busy(self) -> bool:
        """A fetch runs."""
        return self._running is not None

    def ask(self, request: Hashable, call: Callable[[], object]) -> None:
        """Run `call` in a thread; its Answer is posted to the panel as Fetched.

        The same request is not run twice at once. `request` is not None and says all that the answer depends on.
        """
        if request == self._running:
            self._waiting = None
        elif self._running is None:
            self._start(request, call)
        else:
            self._waiting = (request, call)

    def take(self, message: Fetched) -> Optional[Answer]:
        """The answer in a message, after which the next fetch may run. Call it once for each Fetched.

        None for an answer that this panel no longer waits for.
        """
        answer = message.result
        if not isinstance(answer, Answer) or answer.request != self._running:
            return None
        self._running = None
        if self._waiting is not None:
            request, call = self._waiting
            self._waiting = None
            self._start(request, call)
        return answer

    def _start(self, request: Hashable, call: Callable[[], object]) -> None:
        self._running = request

        def work() -> None:
            value = call()
            if not get_current_worker().is_cancelled:
                self._panel.post_message(Fetched(Answer(request, value)))

        self._panel.run_worker(work, group=self._group, exclusive=True, thread=True)
