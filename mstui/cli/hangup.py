"""Notices that the terminal has gone: a closed window, a lost SSH connection, a killed `docker exec`.

SIGHUP tells it to most programs, but not where it is ignored or where the terminal is not ours. Textual then reads the
end of its input over and over, with one core, for as long as the machine runs. It refuses to guess: only what the
system calls a hang-up counts.
"""

from __future__ import annotations

import select
import threading
from typing import Callable, TextIO


def on_hangup(terminal: TextIO, action: Callable[[], object]) -> None:
    """Call `action` once, from a thread, when this terminal hangs up. Costs nothing until then.

    Does nothing where the system has no poll (Windows).
    """
    if hasattr(select, "poll"):
        threading.Thread(target=_wait, args=(terminal.fileno(), action), name="mstui-hangup", daemon=True).start()


def _wait(descriptor: int, action: Callable[[], object]) -> None:
    poll = select.poll()
    poll.register(descriptor, 0)  # hang-ups and errors are told without being asked for
    if any(events & select.POLLHUP for _, events in poll.poll()):
        action()
