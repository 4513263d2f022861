"""A program in a pseudo-terminal of a given size: what it sends, when, and what it costs.

Used by the benchmarks and by the tests that need a real terminal. It answers the usual start-up queries, so that a
program which waits for them does not run into its time-outs, and it never draws: the screen is replayed through pyte
when somebody asks for it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from dataclasses import dataclass
from typing import Callable, Dict, List, Mapping, Optional, Pattern, Sequence, Tuple, Union

import pyte

ANSWERS: Tuple[Tuple[bytes, bytes], ...] = (
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[>c", b"\x1b[>1;10;0c"),
    (b"\x1b[6n", b"\x1b[1;1R"),
    (b"\x1b[5n", b"\x1b[0n"),
    (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
    (b"\x1b[?2048$p", b"\x1b[?2048;0$y"),
    (b"\x1b[?u", b"\x1b[?0u"),
    (b"\x1b]10;?", b"\x1b]10;rgb:dddd/dddd/dddd\x1b\\"),
    (b"\x1b]11;?", b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"),
)
NOT_FOR_PYTE = re.compile(rb"\x1b[P_][^\x1b]*\x1b\\|\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p")
"""Sequences that pyte prints instead of ignoring."""
KEYS: Dict[str, str] = {
    "tab": "\t",
    "enter": "\r",
    "esc": "\x1b",
    "space": " ",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
}
READ_SIZE = 1 << 16
END_LOOKED_FOR_S = 0.02
"""seconds between two looks whether a program has ended"""


@dataclass(frozen=True)
class Chunk:
    """One read(2) that returned data."""

    at: float
    """seconds since exec"""
    data: bytes
    cpu: float
    """CPU seconds of the program's threads so far"""


class Terminal:
    """One run of a command. Use as a context manager: the program is killed at the end."""

    def __init__(
        self, command: Sequence[str], columns: int, rows: int, env: Optional[Mapping[str, str]] = None
    ) -> None:
        self.columns, self.rows = columns, rows
        self.chunks: List[Chunk] = []
        self.alive = True
        self._emulator = _Screen(columns, rows)
        self._stream = pyte.ByteStream(self._emulator)
        self._shown = 0
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            **(env or {}),
        }
        for name in ("COLUMNS", "LINES", "TMUX"):  # the size is the terminal's, whatever pytest or a shell has exported
            environment.pop(name, None)
        for name in ("NO_COLOR", "SSH_CONNECTION"):
            if name not in (env or {}):
                environment.pop(name, None)
        self._begun = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:  # pragma: no cover  # the child becomes the program
            try:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                os.execvpe(command[0], list(command), environment)
            finally:
                os._exit(127)
        os.set_blocking(self._fd, False)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def now(self) -> float:
        """Seconds since exec."""
        return time.perf_counter() - self._begun

    def send(self, key: str) -> None:
        """Send a key by name, or text as it is."""
        try:
            os.write(self._fd, KEYS.get(key, key).encode())
        except OSError:
            self.alive = False

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size, as a person does."""
        self.columns, self.rows = columns, rows
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def pump(self, seconds: float, *, quiet: Optional[float] = None) -> int:
        """Read for so long, or until nothing came for `quiet` seconds after something did. Bytes read."""
        until, last, got = self.now() + seconds, None, 0
        while self.alive:
            now = self.now()
            if now >= until or (quiet is not None and last is not None and now - last >= quiet):
                break
            wait = until - now if quiet is None or last is None else min(until - now, quiet - (now - last))
            if not select.select([self._fd], [], [], max(wait, 0.0))[0]:
                continue
            try:
                data = os.read(self._fd, READ_SIZE)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                self.alive = False
                break
            last = self.now()
            got += len(data)
            self.chunks.append(Chunk(last, data, cpu_seconds(self.pid)))
            for query, answer in ANSWERS:
                if query in data:
                    self.send(answer.decode())
        return got

    def wait_for(self, wanted: Union[str, Callable[[List[str]], bool]], seconds: float, *, step: float = 0.05) -> bool:
        """Read until the screen holds a regular expression (or satisfies a function); False when time runs out."""
        until = self.now() + seconds
        pattern: Optional[Pattern[str]] = re.compile(wanted) if isinstance(wanted, str) else None
        while True:
            lines = self.screen()
            if pattern.search("\n".join(lines)) if pattern is not None else wanted(lines):  # type: ignore[operator]
                return True
            if self.now() >= until or not self.alive:
                return False
            self.pump(step)

    def screen(self) -> List[str]:
        """The rows on the screen now."""
        if (self._emulator.columns, self._emulator.lines) != (self.columns, self.rows):
            self._emulator.resize(self.rows, self.columns)
        for chunk in self.chunks[self._shown :]:
            # pyte raises on sequences it does not know; the rest of the screen still counts
            with contextlib.suppress(TypeError, KeyError, IndexError, ValueError):
                self._stream.feed(NOT_FOR_PYTE.sub(b"", chunk.data))
        self._shown = len(self.chunks)
        return list(self._emulator.display)

    def first(self, wanted: str) -> Optional[Chunk]:
        """The chunk after which the screen first held a regular expression."""
        pattern = re.compile(wanted)
        screen = _Screen(self.columns, self.rows)
        stream = pyte.ByteStream(screen)
        for chunk in self.chunks:
            with contextlib.suppress(TypeError, KeyError, IndexError, ValueError):
                stream.feed(NOT_FOR_PYTE.sub(b"", chunk.data))
            if pattern.search("\n".join(screen.display)):
                return chunk
        return None

    def bytes_between(self, start: float, end: float) -> int:
        """Bytes that arrived in a span of seconds since exec."""
        return sum(len(chunk.data) for chunk in self.chunks if start <= chunk.at < end)

    def hang_up(self) -> None:
        """Close the terminal, as a lost connection does."""
        os.close(self._fd)
        self._fd, self.alive = -1, False

    def wait_for_end(self, seconds: float) -> Optional[int]:
        """The exit status once the program has ended by itself; None when time runs out."""
        until = self.now() + seconds
        while self.now() < until:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(END_LOOKED_FOR_S)
        return None

    def close(self) -> Optional[int]:
        """Kill what still runs; the exit status if the program ended by itself."""
        with contextlib.suppress(OSError):
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.alive = False
                os.close(self._fd)
                return os.waitstatus_to_exitcode(status)
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        with contextlib.suppress(OSError):
            os.close(self._fd)
        self.alive = False
        return None


class _Screen(pyte.Screen):
    """A screen that never answers and ignores what it does not know."""

    def report_device_status(self, *_: object, **__: object) -> None:
        """Answers come from ANSWERS, at the time of the query."""

    def set_margins(self, top: Optional[int] = None, bottom: Optional[int] = None, **_: object) -> None:
        super().set_margins(top, bottom)

    def select_graphic_rendition(self, *attrs: int, **kwargs: object) -> None:
        if not kwargs.get("private"):
            super().select_graphic_rendition(*attrs)


def cpu_seconds(pid: int) -> float:
    """CPU seconds of all live threads of a process."""
    return sum(thread_seconds(pid).values())


def thread_seconds(pid: int) -> Dict[int, float]:
    """CPU seconds of each live thread of a process, from the scheduler's nanosecond counters; the first has its id."""
    found: Dict[int, float] = {}
    with contextlib.suppress(OSError, ValueError, IndexError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as handle:
                found[int(task)] = int(handle.read().split()[0]) / 1e9
    return found


def memory_mib(pid: int) -> float:
    """Proportional set size in MiB."""
    with contextlib.suppress(OSError, StopIteration), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as handle:
        return next(int(line.split()[1]) for line in handle if line.startswith("Pss:")) / 1024
    return 0.0
