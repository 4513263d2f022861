"""Runs `watch` and `replay`: settings, monitor, and the screen or the plain lines in front of it."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import signal
import sys
import threading
import time
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Set, Tuple

from mstui.cli import garbage
from mstui.cli.hangup import on_hangup
from mstui.cli.settings import FORMATS, formats_with, read_settings
from mstui.cli.startup import check_path, check_terminal, common_root, recorded_path
from mstui.cli.surroundings import resolve, textual_environment
from mstui.config import Settings, Watched, default_state_dir, override, user_config_dir
from mstui.detect.base import Process
from mstui.formats.base import Format
from mstui.i18n import _, set_language
from mstui.ingest.watch import WatchMode
from mstui.journal import Journal
from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.monitor import Monitor
from mstui.monitor.judge import UNKNOWN
from mstui.monitor.listing import Wishes
from mstui.monitor.monitor import LookForProcess
from mstui.monitor.process_on_host import ProcessOnHost
from mstui.monitor.rulebook import make_rulebook
from mstui.registry import collect
from mstui.safe_text import safe
from mstui.store.roles import Roles, TagMeaning

VIEW_TROUBLE_LENGTH = 1000
"""characters: a path and an error"""
ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What asks us to go: somebody's kill, and the end of the terminal or of its SSH connection. Windows has no SIGHUP."""
EXIT_STOPPED = 1
"""The monitor ended by itself"""


class PatternRoles(Roles):
    """Roles with the patterns of the configuration laid over the built-in rules."""

    def __init__(self, patterns: Mapping[str, str]) -> None:
        super().__init__()
        self._patterns = [(pattern, Role(role)) for pattern, role in patterns.items()]
        self._tried: Set[str] = set()

    def meaning(self, tag: str, kind: Optional[BlobKind] = None) -> TagMeaning:
        """What a tag means; the first pattern that fits decides, once."""
        if kind is None and self._patterns and tag not in self._tried:
            self._tried.add(tag)
            role = next((role for pattern, role in self._patterns if fnmatch.fnmatchcase(tag, pattern)), None)
            if role is not None and tag not in self.said:
                self.set(tag, role)
        return super().meaning(tag, kind)


def settings_for(watched: Watched, config: Optional[str], options: Mapping[str, Any]) -> Settings:
    """Settings from files and options, with nothing about the terminal left open. Speaks their language from now on."""
    settings = read_settings(watched, config, options)
    if not settings.state_dir:
        settings = override(settings, state_dir=default_state_dir())
    if settings.lang:
        set_language(settings.lang)
    return resolve(settings, os.environ, getattr(sys.stderr, "encoding", None))


def make_monitor(
    root: str,
    settings: Settings,
    paths: Sequence[str] = (),
    *,
    clock: Callable[[], float] = time.time,
    journal: Optional[Journal] = None,
    process: Process = UNKNOWN,
    look_for_process: Optional[LookForProcess] = None,
    looks_once: bool = False,
) -> Monitor:
    """The monitor that these settings describe, not started. `paths`: what to watch below `root` instead of it all.

    Raises ConfigError for a rule or a threshold that there is not. `looks_once`: nothing will be followed.
    """
    return Monitor(
        root,
        paths=tuple(paths),
        clock=clock,
        formats=formats_with(settings.log_pattern),
        watch=WatchMode.POLL if looks_once else WatchMode(settings.watch),
        roles=PatternRoles(settings.roles),
        first_run=settings.run,
        wishes=Wishes(settings.total_steps, settings.stale_after_s),
        journal=Journal(settings.state_dir) if journal is None else journal,
        rulebook=make_rulebook(settings.rules, settings.objectives),
        process=process,
        look_for_process=look_for_process,
    )


def watch(
    paths: Sequence[str], config: Optional[str], options: Mapping[str, Any], *, plain: bool, every_s: float
) -> int:
    """Watch paths until the person has seen enough. Returns the exit code."""
    found = [check_path(path) for path in paths]
    settings = settings_for(found, config, options)
    formats = formats_with(settings.log_pattern) or collect(FORMATS, "FORMAT", Format)
    root, parts = common_root(found, lambda name: any(form.claims_name(name) for form in formats))
    return _plain(root, settings, every_s, parts) if plain else _screen(root, settings, parts)


def replay(
    path: str,
    config: Optional[str],
    options: Mapping[str, Any],
    *,
    plain: bool,
    every_s: float,
    speed: float,
    at: Optional[str],
) -> int:
    """Watch a recording while it is being written again into a directory that goes away afterwards."""
    from mstui.replay import Replay, make_target, parse_place, remove_target

    source = recorded_path(path)
    settings = settings_for(source, config, options)
    if not plain:
        check_terminal(os.environ)
    at_step = None if at is None else parse_place(at)
    target = make_target(settings.state_dir)
    stop = threading.Event()
    try:
        root = os.path.join(target, os.path.basename(source))
        played = Replay(source, root, speed=speed, at_step=at_step)
        played.advance(0.0)
        writer = threading.Thread(target=played.run, args=(time.monotonic, stop.wait), name="replay", daemon=True)
        writer.start()
        try:
            journal = Journal(target)  # what is said of a replay goes with it
            if plain:
                return _plain(root, settings, every_s, journal=journal, look_for_process=played.process)
            return _screen(root, settings, journal=journal, look_for_process=played.process)
        finally:
            stop.set()
            writer.join()
    finally:
        remove_target(target)


def _screen(
    root: str,
    settings: Settings,
    paths: Sequence[str] = (),
    *,
    journal: Optional[Journal] = None,
    look_for_process: Optional[LookForProcess] = None,
) -> int:
    check_terminal(os.environ)
    os.environ.update(textual_environment(settings, os.environ))
    from mstui.tui.app import MstuiApp  # after the variables that Textual reads at import

    look = look_for_process if look_for_process is not None else ProcessOnHost()
    monitor = make_monitor(root, settings, paths, journal=journal, look_for_process=look)
    app = MstuiApp(monitor, settings, config_dir=user_config_dir(), on_painted=garbage.release)

    def leave() -> None:
        with contextlib.suppress(RuntimeError):  # it has left already
            app.call_from_thread(app.exit)

    on_hangup(sys.stdin, leave)
    with _on_signal(app.exit, *ENDINGS):  # a killed process would leave the terminal in raw mode and forget the view
        app.run(mouse=settings.mouse)
    if app.view_trouble:
        sys.stderr.write(
            _("the view could not be kept: {reason}").format(reason=safe(app.view_trouble, VIEW_TROUBLE_LENGTH)) + "\n"
        )
    return app.return_code or 0


def _plain(
    root: str,
    settings: Settings,
    every_s: float,
    paths: Sequence[str] = (),
    *,
    journal: Optional[Journal] = None,
    look_for_process: Optional[LookForProcess] = None,
) -> int:
    from mstui.plain import PlainReporter, report

    stop = threading.Event()
    look = look_for_process if look_for_process is not None else ProcessOnHost()
    monitor = make_monitor(root, settings, paths, journal=journal, look_for_process=look)
    reporter = PlainReporter(monitor, run=settings.run, rank=settings.rank, tag_filter=settings.filter, every_s=every_s)
    endings = (number for number in ENDINGS if signal.getsignal(number) is not signal.SIG_IGN)  # nohup: we stay
    with _on_signal(stop.set, signal.SIGINT, *endings):
        monitor.start(lambda _revision: None)
        garbage.release()
        try:
            ended_by_person = report(reporter, sys.stdout, clock=time.time, wait=stop.wait)
        finally:
            monitor.stop()
    return 0 if ended_by_person else EXIT_STOPPED


class _on_signal:  # noqa: N801 - reads as the with statement it is made for
    """Call something on these signals, and put the earlier handlers back."""

    def __init__(self, action: Callable[[], object], *signals: signal.Signals) -> None:
        self._action = action
        self._signals: Tuple[signal.Signals, ...] = signals
        self._earlier: Dict[signal.Signals, Any] = {}

    def __enter__(self) -> None:
        for number in self._signals:
            self._earlier[number] = signal.signal(number, lambda *_args: self._action() and None)

    def __exit__(self, *_details: object) -> None:
        for number, handler in self._earlier.items():
            signal.signal(number, handler)
