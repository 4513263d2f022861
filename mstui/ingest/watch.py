"""Notices that something changed below the root: by file events where they can be trusted, else by the clock alone.

What it gives is a hint, never a fact: a set of paths to look at. It reads no file. Events are refused where the file
system does not report what other machines write, and given up as soon as they fail (inotify limits, a dead thread, a
flood); then `heartbeat_s` is short and the caller looks at everything that often. The only user of watchdog, which is
imported when events begin.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, Callable, Dict, Iterable, NamedTuple, Optional, Set, Tuple

from mstui.i18n import _
from mstui.ingest.filesystems import Mounts, needs_polling, read_mounts
from mstui.safe_text import safe

POLL_S = 1.0
"""without events everything is looked at this often"""
HEARTBEAT_S = 5.0
"""with events everything is looked at this often: a missed event costs so many seconds at most"""
REST = 3.0
"""times as long as a look at everything took is the pause after it, up to a heartbeat: a slow server is spared"""
SETTLE_S = 0.02
"""after the first event of a burst, so that a writer of thousands of small pieces does not cause as many turns"""
FLOOD_EVENTS_PER_S = 500
"""from here on a stat of every file each second costs less than the events do"""
FLOOD_WINDOW_S = 4.0
"""for so long the flood must last"""
MOST_WATCHES = 32
"""folders watched one by one when the tree is too large to be watched as a whole; each takes threads"""
STOP_S = 2.0
"""a thread of watchdog that does not end in this time is left behind; it is a daemon"""


class WatchMode(Enum):
    """What a person asked for."""

    AUTO = "auto"
    EVENTS = "events"
    POLL = "poll"


class _Wish(NamedTuple):
    """One folder to be watched."""

    path: str
    recursive: bool


@dataclass
class _Scheduled:
    """One watch that is set."""

    watch: Any
    identity: Tuple[int, int]


class Watcher:
    """Waits for changes below one root. `wait` belongs to one thread; `wake` and `stop` may come from any."""

    def __init__(
        self,
        root: str,
        *,
        mode: WatchMode = WatchMode.AUTO,
        poll_s: float = POLL_S,
        heartbeat_s: float = HEARTBEAT_S,
        monotonic: Callable[[], float] = time.monotonic,
        mounts: Callable[[], Mounts] = read_mounts,
        make_observer: Optional[Callable[[], Any]] = None,
    ) -> None:
        self.root = os.path.abspath(root)
        self._base = os.path.dirname(self.root) if os.path.isfile(self.root) else self.root
        self._asked = mode
        self._poll_s = poll_s
        self._event_heartbeat_s = heartbeat_s
        self._monotonic = monotonic
        self._mounts = mounts
        self._make_observer = make_observer or _watchdog_observer
        self._observer: Any = None
        self._handler: Any = None
        self._scheduled: Dict[_Wish, _Scheduled] = {}
        self._wishes: Tuple[_Wish, ...] = (_Wish(self._base, recursive=False),)
        self._followed: Tuple[bool, Tuple[str, ...]] = (False, ())
        self._reason = ""
        self._polling = True
        self._lock = threading.Lock()
        self._signal = threading.Event()
        self._dirty: Set[str] = set()
        self._woken = False
        self._events = 0
        self._window_begun = 0.0
        self._next_beat = 0.0
        self._beat_begun: Optional[float] = None

    @property
    def mode(self) -> str:
        """How changes are noticed: "events" or "poll"."""
        return "poll" if self._polling else "events"

    @property
    def reason(self) -> str:
        """Why everything is polled, safe to show; empty with events."""
        return self._reason

    @property
    def polling(self) -> bool:
        """Is nothing noticed but by looking?"""
        return self._polling

    @property
    def heartbeat_s(self) -> float:
        """Seconds between two looks at everything."""
        return self._poll_s if self._polling else self._event_heartbeat_s

    def start(self) -> None:
        """Begin. Never fails: without events the reason is kept and everything is polled."""
        self._window_begun = self._monotonic()
        if self._asked is WatchMode.POLL:
            self._reason = "--poll"
            return
        kind = self._polled_type((self._base,))
        if kind and self._asked is WatchMode.AUTO:
            self._reason = kind
            return
        try:
            self._observer = self._make_observer()
            self._handler = _handler(self._notice)
            self._observer.start()
            self._polling = False
            self._reason = ""
            self._apply()
        except Exception as error:  # noqa: BLE001 - whatever keeps events from working, polling works
            self._give_up(_why(error))

    def follow(self, folders: Iterable[str], *, whole_tree: bool) -> None:
        """Say what is worth watching: all of the tree, or only these folders beside the root.

        whole_tree: the tree is known and small (see Ingestor.watchable). Folders that come new are looked at once, for
        they may have changed before the watch was set.
        """
        folders = tuple(folders)
        if self._polling or self._followed == (whole_tree, folders):
            return
        self._followed = (whole_tree, folders)
        kind = self._polled_type(folders) if self._asked is WatchMode.AUTO else ""
        if kind:
            self._give_up(kind)
            return
        if whole_tree:
            wishes = [_Wish(self._base, recursive=True), *self._outside(folders)]
        else:
            wishes = [_Wish(self._base, recursive=False)]
            wishes += [_Wish(folder, recursive=False) for folder in folders if folder != self._base]
        if len(wishes) > MOST_WATCHES:
            self._give_up(_("too many folders for file events"))
            return
        if tuple(wishes) != self._wishes:
            self._wishes = tuple(wishes)
            self._try_apply()

    def wait(self, timeout: float) -> Set[str]:
        """Wait for a hint, a `wake`, the next heartbeat, or `timeout` seconds. The paths to look at, maybe none."""
        if self._beat_begun is not None:
            now = self._monotonic()
            self._next_beat = max(self._next_beat, now + min(REST * (now - self._beat_begun), HEARTBEAT_S))
            self._beat_begun = None
        left = max(min(timeout, self._next_beat - self._monotonic()), 0.0)
        if self._signal.wait(left) and not self._woken:
            time.sleep(SETTLE_S)
        with self._lock:
            dirty, self._dirty = self._dirty, set()
            self._signal.clear()
            self._woken = False
        self._watch_rate()
        return dirty

    def beat(self) -> bool:
        """Is it time to look at everything? Says yes once a heartbeat, and sees to the health of the watches then."""
        now = self._monotonic()
        if now < self._next_beat:
            return False
        self._check()
        self._beat_begun = now
        self._next_beat = now + self.heartbeat_s
        return True

    def wake(self) -> None:
        """End a `wait` at once. Any thread."""
        with self._lock:
            self._woken = True
        self._signal.set()

    def stop(self) -> None:
        """Stop the observer's threads. Safe to call twice."""
        observer, self._observer = self._observer, None
        self._scheduled = {}
        self._polling = True
        if observer is None:
            return
        with suppress(Exception):  # it is going away; how it fails concerns nobody any more
            observer.stop()
            if observer.is_alive():
                observer.join(STOP_S)
        self.wake()

    def _notice(self, paths: Iterable[str]) -> None:
        """Called from watchdog's thread; does nothing that can fail or wait."""
        with self._lock:
            self._dirty.update(paths)
            self._events += 1
        self._signal.set()

    def _watch_rate(self) -> None:
        now = self._monotonic()
        if now - self._window_begun < FLOOD_WINDOW_S:
            return
        with self._lock:
            rate = self._events / (now - self._window_begun)
            self._events = 0
        self._window_begun = now
        if rate > FLOOD_EVENTS_PER_S and not self._polling and self._asked is WatchMode.AUTO:
            self._give_up(_("more than {n} events a second").format(n=FLOOD_EVENTS_PER_S))

    def _polled_type(self, folders: Iterable[str]) -> str:
        """The first file-system type among these folders on which events cannot be trusted; "" when there is none."""
        mounts = self._mounts()
        kinds = (mounts.type_of(os.path.realpath(folder)) for folder in folders)
        return next((safe(kind) for kind in kinds if needs_polling(kind)), "")

    def _outside(self, folders: Iterable[str]) -> Iterable[_Wish]:
        """Folders that a recursive watch on the root does not reach: it follows no symlinks."""
        real_base = os.path.realpath(self._base)
        for folder in folders:
            expected = os.path.join(real_base, os.path.relpath(folder, self._base))
            if os.path.realpath(folder) != os.path.normpath(expected):
                yield _Wish(folder, recursive=False)

    def _check(self) -> None:
        """Notice threads that died and watches whose folder is another one now."""
        if self._polling:
            return
        if not self._observer.is_alive():
            self._give_up(_("the event thread died"))
            return
        alive = {emitter.watch for emitter in self._observer.emitters if emitter.is_alive()}
        for wish, scheduled in list(self._scheduled.items()):
            same = _identity(wish.path) == scheduled.identity
            if same and scheduled.watch not in alive:
                self._give_up(_("the event thread died"))
                return
            if not same:
                self._unschedule(wish)
        self._try_apply()

    def _try_apply(self) -> None:
        try:
            self._apply()
        except Exception as error:  # noqa: BLE001 - see start
            self._give_up(_why(error))

    def _apply(self) -> None:
        """Bring the watches in line with the wishes. A folder that does not exist is tried again at the next beat."""
        for wish in [wish for wish in self._scheduled if wish not in self._wishes]:
            self._unschedule(wish)
        for wish in self._wishes:
            identity = _identity(wish.path)
            if wish in self._scheduled or identity is None:
                continue
            try:
                # "link/." is the folder behind the link, where "link" would be the link itself
                path = os.path.join(wish.path, os.curdir) if os.path.islink(wish.path) else wish.path
                watch = self._observer.schedule(self._handler, path, recursive=wish.recursive)
            except FileNotFoundError:
                continue
            self._scheduled[wish] = _Scheduled(watch, identity)
            self._notice((wish.path,))

    def _unschedule(self, wish: _Wish) -> None:
        scheduled = self._scheduled.pop(wish)
        with suppress(Exception):  # the folder is gone, and its watch may be gone already
            self._observer.unschedule(scheduled.watch)

    def _give_up(self, reason: str) -> None:
        self.stop()
        self._reason = reason
        self._next_beat = 0.0


def _identity(path: str) -> Optional[Tuple[int, int]]:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENOSPC, errno.ENFILE):
        return _("inotify limit reached")
    return safe(f"{type(error).__name__}: {error}")


def _watchdog_observer() -> Any:
    import logging
    import warnings

    from watchdog.observers import Observer

    # what it has to say goes to stderr by default, into the middle of the screen; what matters is seen by `beat`
    logging.getLogger("watchdog").addHandler(logging.NullHandler())
    warnings.filterwarnings("ignore", module=r"watchdog\.")
    return Observer()


def _handler(notice: Callable[[Iterable[str]], None]) -> Any:
    """watchdog's handler. Opening and closing without a write is what readers do, ourselves among them: no hint."""
    from watchdog.events import FileSystemEventHandler

    telling = frozenset({"created", "modified", "moved", "deleted", "closed", "attrib"})

    class Hints(FileSystemEventHandler):
        """Passes on the paths of events that may mean a change."""

        def on_any_event(self, event: Any) -> None:
            """Any event of any version of watchdog."""
            with suppress(Exception):  # one that escaped would end the observer; the heartbeat sees all
                if event.event_type not in telling or (event.is_directory and event.event_type == "modified"):
                    return
                paths = (event.src_path, getattr(event, "dest_path", ""))
                notice([os.path.normpath(os.fsdecode(path)) for path in paths if path])

    return Hints()
