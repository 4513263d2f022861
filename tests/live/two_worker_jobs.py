"""Jobs of two workers on this machine, started by MindSpore's msrun."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

MSRUN = shutil.which("msrun", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
"""None where MindSpore is not installed"""


def free_port() -> int:
    """A port that nobody listens on."""
    with contextlib.closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def started(folder: Path, script: Path, *options: str) -> subprocess.Popen[Any]:
    """Run a script as two workers that write into this folder, in a process group of their own."""
    environment = {**os.environ, "GLOG_v": "2", "PATH": f"{Path(str(MSRUN)).parent}:{os.environ.get('PATH', '')}"}
    command = [
        *(str(MSRUN), "--worker_num=2", "--local_worker_num=2", "--join=True"),
        *(f"--master_port={free_port()}", f"--log_dir={folder / 'msrun_log'}", str(script), *options),
    ]
    with open(folder / "console.log", "wb") as console:
        return subprocess.Popen(
            command, stdout=console, stderr=subprocess.STDOUT, cwd=folder, env=environment, start_new_session=True
        )
