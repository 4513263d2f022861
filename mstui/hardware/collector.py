"""Ask `npu-smi` again and again, in a thread of its own, while somebody looks at the answers.

The command is slow (a second with eight cards) and may hang with the driver, so nobody ever waits for it: `snapshot` is
what is known now. It refuses to run anything before it is shown, and to run a second command while one cannot be ended.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from dataclasses import dataclass, replace
from typing import Callable, List, Mapping, Optional

from mstui.hardware.command import Bounds, Ending, Finished, run
from mstui.hardware.npu_smi import parse_info, parse_usages
from mstui.i18n import _, ngettext
from mstui.model.hardware import Hardware, HardwareState, NpuUsages
from mstui.safe_text import safe

COMMAND = "npu-smi"
VARIABLE = "MSTUI_NPU_SMI"
"""environment variable that names another command; empty: none is run"""
REASON_LENGTH = 160
"""characters of what a command said when it failed: two lines of a narrow screen"""
FIRST_CARD = -1
"""stands for the first card of the answer, whose number nobody knows before"""
JOIN_S = 3.0
"""seconds that `stop` waits for the thread: more than it needs to kill a command and to give up on it"""

BOUNDS = Bounds(time_s=10.0, output=1_000_000, linger_s=0.2, kill_s=1.0)
"""Ten times what a command takes with eight cards, and a hundred times what it writes with sixteen"""


@dataclass(frozen=True)
class Limits:
    """How often and how long."""

    every_s: float = 5.0
    """seconds between the end of a command and the next: each takes about a second and the driver's attention"""
    most_s: float = 60.0
    """seconds between two commands after failures; the pause doubles from `every_s` on"""
    stale_s: float = 30.0
    """seconds after which an answer no longer tells of now: several commands that should have come"""
    bounds: Bounds = BOUNDS
    """of one command"""


LIMITS = Limits()


def find_command(environ: Mapping[str, str]) -> Optional[str]:
    """Path of npu-smi: what MSTUI_NPU_SMI names, else the first one on PATH; None when there is none.

    Relative entries of PATH are passed over: what lies in the working directory may have been written by others.
    """
    named = environ.get(VARIABLE)
    if named is not None:
        return shutil.which(named) if os.path.isabs(named) else None
    folders = [folder for folder in environ.get("PATH", "").split(os.pathsep) if os.path.isabs(folder)]
    return shutil.which(COMMAND, path=os.pathsep.join(folders)) if folders else None


def why_absent(environ: Mapping[str, str]) -> str:
    """Why `find_command` found none, and what would provide one: one line."""
    named = environ.get(VARIABLE)
    if named is None:
        return _("no npu-smi on PATH; the Ascend driver brings it, {variable} may name it").format(variable=VARIABLE)
    if not named:
        return _("npu-smi is turned off: {variable} is empty").format(variable=VARIABLE)
    return _("{variable} is not the full path of a command: {path}").format(variable=VARIABLE, path=safe(named))


class Collector:
    """Owned by whoever shows the chips; `changed` is called from the thread after every answer or failure."""

    def __init__(
        self,
        environ: Mapping[str, str],
        changed: Callable[[], object],
        *,
        clock: Callable[[], float],
        limits: Limits = LIMITS,
    ) -> None:
        self._environ = dict(environ)
        self._changed = changed
        self._clock = clock
        self._limits = limits
        self._turn = threading.Condition()
        self._shown = False
        self._stopping = False
        self._npu: Optional[int] = FIRST_CARD
        self._known = Hardware(HardwareState.WAITING)
        self._thread: Optional[threading.Thread] = None
        self._left: List[subprocess.Popen[bytes]] = []
        """killed, and still not gone"""

    # --- for the one who shows the chips; every call returns at once, but for `stop`

    def show(self) -> None:
        """Somebody looks from now on. Looks for the command again if there was none."""
        with self._turn:
            self._shown = True
            self._turn.notify_all()
            if self._thread is not None or self._stopping:
                return
            if find_command(self._environ) is None:
                self._known = Hardware(HardwareState.ABSENT, reason=why_absent(self._environ))
                return
            self._known = Hardware(HardwareState.WAITING)
            self._thread = threading.Thread(target=self._work, name="npu-smi", daemon=True)
            self._thread.start()

    def hide(self) -> None:
        """Nobody looks any more: a command that runs is finished, no other is begun."""
        with self._turn:
            self._shown = False

    def look_at(self, npu: Optional[int]) -> None:
        """The card whose usages are asked for too, from the next command on; None for no card.

        Until this is called it is the first one.
        """
        self._npu = npu

    def snapshot(self) -> Hardware:
        """What is known now."""
        known = self._known
        if known.state is HardwareState.OK and self._clock() - known.answered > self._limits.stale_s:
            return replace(known, state=HardwareState.STALE, reason=_("not asked since"))
        return known

    def stop(self) -> None:
        """End the thread and what it runs; safe to call twice."""
        with self._turn:
            self._stopping = True
            self._turn.notify_all()
        if self._thread is not None:
            self._thread.join(JOIN_S)

    # --- the thread

    def _work(self) -> None:
        pause = self._limits.every_s
        while self._wait_to_be_shown():
            try:
                fine = self._ask()
            except Exception as error:  # noqa: BLE001  # foreign bytes: said on the screen, not a thread that ends silently
                fine = self._failed(safe(repr(error), REASON_LENGTH))
            if self._stopping:
                return
            pause = self._limits.every_s if fine else min(pause * 2, self._limits.most_s)
            self._changed()
            with self._turn:
                self._turn.wait_for(lambda: self._stopping, pause)

    def _wait_to_be_shown(self) -> bool:
        """False when it is time to go."""
        with self._turn:
            self._turn.wait_for(lambda: self._stopping or self._shown)
            return not self._stopping

    def _ask(self) -> bool:
        """One question; what it tells is known afterwards. True when it was answered."""
        answer, trouble = self._run("info")
        if not trouble:
            table = parse_info(answer)
            if table.chips:
                npu = table.chips[0].npu if self._npu == FIRST_CARD else self._npu
                usages = self._usages(npu) if npu in {chip.npu for chip in table.chips} else None
                self._known = Hardware(HardwareState.OK, table, self._clock(), usages=usages)
                return True
            n = table.not_understood
            missed = ngettext("{n} line not understood", "{n} lines not understood", n).format(n=n)
            trouble = _("npu-smi's answer is of an unknown form: {missed}").format(missed=missed)
        return self._failed(trouble)

    def _failed(self, reason: str) -> bool:
        known = self._known
        if known.table is not None:
            self._known = replace(known, state=HardwareState.STALE, reason=reason)
        else:
            self._known = Hardware(HardwareState.FAILED, reason=reason)
        return False

    def _usages(self, npu: Optional[int]) -> Optional[NpuUsages]:
        if npu is None:
            return None
        answer, trouble = self._run("info", "-t", "usages", "-i", str(npu))
        return NpuUsages(npu, (), trouble=trouble) if trouble else parse_usages(npu, answer)

    def _run(self, *arguments: str) -> tuple[str, str]:
        """What the command wrote, and why that is of no use; one of both is empty."""
        self._left = [process for process in self._left if process.poll() is None]
        if self._left:
            return "", _("npu-smi hangs and cannot be ended; it is not asked again while it does")
        path = find_command(self._environ)
        if path is None:
            return "", why_absent(self._environ)
        done = run([path, *arguments], self._environ, self._limits.bounds, lambda: self._stopping)
        if done.left is not None:
            self._left.append(done.left)
        return done.out, self._trouble(done)

    def _trouble(self, done: Finished) -> str:
        bounds = self._limits.bounds
        if done.ending is Ending.TIMED_OUT:
            return _("npu-smi did not answer in {seconds:g} s").format(seconds=bounds.time_s)
        if done.ending is Ending.TOO_MUCH:
            return _("npu-smi wrote more than {n} bytes; nothing of it is used").format(n=bounds.output)
        said = next((line.strip() for line in (done.err + "\n" + done.out).split("\n") if line.strip()), "")
        said = safe(said, REASON_LENGTH)
        if done.ending is not Ending.EXITED:
            return _("npu-smi could not be run: {reason}").format(reason=said)
        if done.code:
            return _("npu-smi ended with {code}: {reason}").format(code=done.code, reason=said or "-")
        return ""
