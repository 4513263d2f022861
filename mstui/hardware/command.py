"""Run one foreign command without ever waiting for it longer than was said, and leave nothing of it behind.

The command gets a session of its own, no input, and only those variables that it needs. It refuses to read more than a
bounded answer, and to start anything twice.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from enum import Enum
from typing import Callable, Dict, List, Mapping, Optional, Sequence

LOOK_EVERY_S = 0.05
"""seconds between two looks whether we should stop: short for a person, nothing beside a command of a second"""
KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "HOME")
"""what npu-smi needs to find the driver's libraries; a training's own settings are no business of it"""
CHUNK = 65536


class Ending(Enum):
    """How a command ended."""

    EXITED = "exited"
    TIMED_OUT = "timed out"
    TOO_MUCH = "too much"
    """more output than was allowed"""
    NOT_STARTED = "not started"
    STOPPED = "stopped"
    """we were asked to stop"""


@dataclass(frozen=True)
class Bounds:
    """Limits of one command."""

    time_s: float
    """seconds that it may take"""
    output: int
    """bytes that it may write, errors included"""
    linger_s: float
    """seconds that its output may stay open after it has ended, because a child of it lives on"""
    kill_s: float
    """seconds in which a killed process is expected to be gone; one that sits in the driver may never go"""


@dataclass(frozen=True)
class Finished:
    """What became of a command."""

    ending: Ending
    code: Optional[int] = None
    """exit status, negative for a signal; None unless EXITED"""
    out: str = ""
    err: str = ""
    """what it wrote as errors, or why it could not be started"""
    left: Optional[subprocess.Popen[bytes]] = None
    """the process when even a kill did not end it"""


def clean_environment(environ: Mapping[str, str]) -> Dict[str, str]:
    """Variables for the command: what it needs, and English numbers and words."""
    return {**{name: environ[name] for name in KEPT_VARIABLES if name in environ}, "LC_ALL": "C"}


def run(command: Sequence[str], environ: Mapping[str, str], bounds: Bounds, stopped: Callable[[], bool]) -> Finished:
    """Run a command to its end, or to the first bound that it passes. Its whole process group is killed afterwards."""
    try:
        process = subprocess.Popen(  # noqa: S603  # the person's own PATH or setting names it; no shell
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env=clean_environment(environ),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Finished(Ending.NOT_STARTED, err=str(error))
    chunks: Dict[str, List[bytes]] = {"out": [], "err": []}
    try:
        ending = _read(process, chunks, bounds, stopped)
    finally:
        _kill_group(process)
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    left = None
    try:
        code = process.wait(bounds.kill_s)
    except subprocess.TimeoutExpired:
        code, left = None, process
    texts = {name: b"".join(parts).decode("utf-8", "replace") for name, parts in chunks.items()}
    return Finished(ending, code if ending is Ending.EXITED else None, texts["out"], texts["err"], left)


def _read(
    process: subprocess.Popen[bytes], chunks: Mapping[str, List[bytes]], bounds: Bounds, stopped: Callable[[], bool]
) -> Ending:
    deadline = time.monotonic() + bounds.time_s
    linger: Optional[float] = None
    size = 0
    with selectors.DefaultSelector() as selector:
        for name, pipe in (("out", process.stdout), ("err", process.stderr)):
            assert pipe is not None
            selector.register(pipe, selectors.EVENT_READ, name)
        while True:
            now = time.monotonic()
            if stopped():
                return Ending.STOPPED
            if now >= deadline:
                return Ending.TIMED_OUT
            if _has_ended(process):
                linger = now + bounds.linger_s if linger is None else linger
                if not selector.get_map() or now >= linger:
                    return Ending.EXITED
            ready = selector.select(min(LOOK_EVERY_S, deadline - now)) if selector.get_map() else _short_wait()
            for key, _events in ready:
                data = os.read(key.fd, CHUNK)
                size += len(data)
                if size > bounds.output:
                    return Ending.TOO_MUCH
                if data:
                    chunks[key.data].append(data)
                else:
                    selector.unregister(key.fileobj)


def _short_wait() -> List[tuple[selectors.SelectorKey, int]]:
    """Both ends of its output are closed, the process is not gone yet."""
    time.sleep(LOOK_EVERY_S)
    return []


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Without reaping it: until then no other process group can get its number, and a kill hits nobody else."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # nothing is left of it, or it runs as somebody else (sudo)
        process.kill()
