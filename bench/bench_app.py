"""The application from outside, in a pseudo-terminal: first frame, bytes and CPU a redraw, idle, keys, memory, latency.

    python bench/bench_app.py [first|live|regions|idle|keys|memory|latency|logs ...] [--runs 5] [--size 120x40]

CPU seconds are the figures, medians of runs that alternate with their floor (python + numpy + Textual's imports in a
process of its own); wall seconds on a shared machine are a note. Nothing here is asserted: figures are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.gen_logs import KINDS, write  # noqa: E402
from bench.terminal import Terminal, cpu_seconds, memory_mib, thread_seconds  # noqa: E402  # the checkout is not installed

FLOOR = (
    "import numpy\nfrom textual.app import App\nfrom textual.screen import Screen\n"
    "from textual.widget import Widget\nprint('hello')"
)
QUIET_S = 0.8
"""A start is over when nothing was sent for so long."""
KEYS = ("tab", "j", "k", "x", "+", "-", "L", "w")
LIVE_S = 12.0
RATES = (1.0, 10.0, 100.0, 1000.0)
HISTORIES = (20, 200, 2_000)
WRITING_S = 1e-4
"""seconds that a record of the history takes to be written, more than it needs"""
FRAME_BEGINS = b"\x1b[?2026h"
"""synchronized output: Textual opens every redraw with it"""
LOG_KEYS = ("j", "k", "+", "-")
LOG_PATIENCE_S = 300.0
KEY_PATIENCE_S = 2.0
KEY_REST_S = 0.15
HISTORY = 2_000
"""Records that are there before the pace begins: a run that has been going for a while."""


def environment(scratch: Path) -> Dict[str, str]:
    """Bytecode is kept, as in an installed package; state goes to a scratch directory."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(scratch / "bytecode"),
        "XDG_CONFIG_HOME": str(scratch / "config"),
        "LANG": "C.UTF-8",
    }


def watch_command(path: Path, state: Path, *options: str) -> List[str]:
    """`mstui watch` with a fresh state, so that no remembered view changes the picture."""
    return [sys.executable, "-m", "mstui", "watch", str(path), "--state-dir", str(state), "--lang", "en", *options]


class Bench:
    """Data made once, and the settings of all measurements."""

    def __init__(self, scratch: Path, runs: int, size: str, log_mb: int) -> None:
        self.scratch, self.runs, self.log_mb = scratch, runs, log_mb
        self.columns, self.rows = (int(part) for part in size.split("x"))
        self.env = environment(scratch)
        self._states = 0

    def data(self, name: str, *arguments: str) -> Path:
        """Event files made by gen_summary; the MindSpore half of them."""
        folder = self.scratch / name
        if not folder.exists():
            script = str(ROOT / "bench" / "gen_summary.py")
            subprocess.run([sys.executable, script, str(folder), *arguments], check=True, env=self.env)
        return folder / "ms"

    def state(self) -> Path:
        """A state directory that nobody has used."""
        self._states += 1
        return self.scratch / f"state-{self._states}"

    def open(self, path: Path, *options: str) -> Terminal:
        """The application on a path."""
        return Terminal(watch_command(path, self.state(), *options), self.columns, self.rows, self.env)

    def floor(self) -> float:
        """CPU seconds of python + numpy + Textual's imports."""
        before = os.times()
        subprocess.run([sys.executable, "-c", FLOOR], check=True, env=self.env, stdout=subprocess.DEVNULL)
        after = os.times()
        return after.children_user - before.children_user + after.children_system - before.children_system


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def first_frame(bench: Bench) -> None:
    """CPU seconds until the first whole frame with all data in, against the floor."""
    cases = {
        "100k points": (bench.data("s100k", "scalars", "--steps", "10000"), r"step 10000\b"),
        "1M points": (bench.data("s1m", "scalars", "--steps", "100000"), r"step 100000\b"),
        "200 MB of histograms": (bench.data("h200", "histograms"), r"step 900\b"),
    }
    floors: List[float] = []
    cpu: Dict[str, List[float]] = {name: [] for name in cases}
    wall: Dict[str, List[float]] = {name: [] for name in cases}
    sent: Dict[str, List[float]] = {name: [] for name in cases}
    bench.floor()
    for _ in range(bench.runs):
        floors.append(bench.floor())
        for name, (path, text) in cases.items():
            with bench.open(path) as terminal:
                terminal.pump(20.0, quiet=QUIET_S)
                chunk = terminal.first(text)
                if chunk is None:
                    print(f"# {name}: the frame never came\n" + "\n".join(terminal.screen()), file=sys.stderr)
                    continue
                cpu[name].append(chunk.cpu)
                wall[name].append(chunk.at)
                sent[name].append(float(sum(len(c.data) for c in terminal.chunks)))
    floor = median(floors)
    print(f"floor: python + numpy + textual {floor:.3f} CPU s")
    for name in cases:
        if cpu[name]:
            print(
                f"first frame, {name}: {median(cpu[name]):.3f} CPU s = {median(cpu[name]) / floor:.2f} x floor,"
                f" {median(wall[name]):.2f} s wall; {median(sent[name]) / 1000:.1f} kB until stable"
            )


def _drip(
    bench: Bench, folder: Path, rate: float, truth: Optional[Path] = None, history: int = HISTORY
) -> subprocess.Popen[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(ROOT / "bench" / "drip.py"), str(folder), "--rate", str(rate), "--tags", "6"]
    command += ["--history", str(history), "--rough", "0.1"]
    if truth is not None:
        command += ["--truth", str(truth)]
    return subprocess.Popen(command, env=bench.env, stdout=subprocess.DEVNULL)


def _measured(bench: Bench, rate: float, history: int, key: str) -> Tuple[List[bytes], float, Dict[int, float], int]:
    """Redraws, seconds, CPU seconds by thread and the process id, of a run that grows."""
    folder = bench.scratch / f"live-{rate:g}-{history}"
    shutil.rmtree(folder, ignore_errors=True)
    writer = _drip(bench, folder, rate, history=history)
    try:
        time.sleep(1.0 + history * WRITING_S)
        with bench.open(folder) as terminal:
            terminal.wait_for("loss", 10)
            if key:
                terminal.send(key)
            terminal.pump(3.0)
            begun, before = terminal.now(), thread_seconds(terminal.pid)
            terminal.pump(LIVE_S)
            after, seconds = thread_seconds(terminal.pid), terminal.now() - begun
            data = b"".join(chunk.data for chunk in terminal.chunks if chunk.at >= begun)
            spent = {thread: used - before.get(thread, 0.0) for thread, used in after.items()}
            return data.split(FRAME_BEGINS)[1:], seconds, spent, terminal.pid
    finally:
        writer.kill()
        writer.wait()


def live(bench: Bench) -> None:
    """Six charts, one new point each: bytes and CPU a redraw, at several data rates and ages of the run."""
    for history in HISTORIES:
        for rate in RATES:
            frames, seconds, spent, main = _measured(bench, rate, history, "o")
            sizes = sorted(len(frame) for frame in frames) or [0]
            total, cpu = sum(sizes), sum(spent.values())
            print(
                f"live {rate:g} Hz after {history} records: {len(frames) / seconds:.1f} redraws/s of"
                f" {median(sizes):.0f} bytes (mean {total / len(sizes):.0f}, most {sizes[-1]}),"
                f" {total / seconds:.0f} B/s; CPU {100 * cpu / seconds:.2f} %,"
                f" of it {1000 * spent[main] / len(sizes):.1f} ms a redraw drawing",
                flush=True,
            )


def regions(bench: Bench) -> None:
    """Where the bytes of a redraw go, by row of the screen."""
    frames, _seconds, _spent, _main = _measured(bench, 10.0, HISTORIES[-1], "")
    rows: Counter[int] = Counter()
    for frame in frames:
        for piece in re.finditer(rb"\x1b\[(\d+);\d+H(?:[^\x1b]|\x1b(?!\[\d+;\d+H))*", frame):
            rows[int(piece[1])] += len(piece[0])
    print(f"bytes a redraw by row, of {len(frames)} redraws:")
    for row, size in rows.most_common():
        print(f"  row {row:3d}: {size / (len(frames) or 1):6.1f}")


def idle(bench: Bench) -> None:
    """Nothing is written: CPU and bytes."""
    path = bench.data("s100k", "scalars", "--steps", "10000")
    with bench.open(path) as terminal:
        terminal.pump(20.0, quiet=QUIET_S)
        terminal.pump(6.0)
        begun, cpu = terminal.now(), cpu_seconds(terminal.pid)
        sent = terminal.pump(20.0)
        spent, seconds = cpu_seconds(terminal.pid) - cpu, terminal.now() - begun
    print(f"idle: {100 * spent / seconds:.2f} % of a core, {sent} bytes in {seconds:.0f} s")


def _press(terminal: Terminal, keys: Sequence[str]) -> Tuple[List[float], List[float], List[int]]:
    cpu, settled, sizes = [], [], []
    for key in keys:
        terminal.pump(0.5)
        before, mark, sent = cpu_seconds(terminal.pid), len(terminal.chunks), terminal.now()
        terminal.send(key)
        terminal.pump(1.0, quiet=0.06)
        chunks = terminal.chunks[mark:]
        if chunks:
            settled.append(1000 * (chunks[-1].at - sent))
            sizes.append(sum(len(chunk.data) for chunk in chunks))
            cpu.append(1000 * (cpu_seconds(terminal.pid) - before))
    return cpu, settled, sizes


def keys(bench: Bench) -> None:
    """A key's answer, on a quiet screen and while 200 MB are loading."""
    with bench.open(bench.data("s100k", "scalars", "--steps", "10000")) as terminal:
        terminal.pump(20.0, quiet=QUIET_S)
        cpu, settled, sizes = _press(terminal, KEYS * 2)
    print(
        f"key: {median(cpu):.1f} CPU ms, {median(settled):.1f} ms (most {max(settled):.0f}) to the last byte,"
        f" {median(sizes):.0f} bytes"
    )
    slow: List[float] = []
    for _ in range(bench.runs):
        with bench.open(bench.data("h200", "histograms")) as terminal:
            terminal.wait_for("loss", 10)
            for key in ("j", "k", "j", "k"):
                mark, sent = len(terminal.chunks), terminal.now()
                terminal.send(key)
                terminal.pump(0.5, quiet=0.04)
                if len(terminal.chunks) > mark:
                    slow.append(1000 * (terminal.chunks[mark].at - sent))
    if slow:
        print(f"key while 200 MB load: {median(slow):.1f} ms (most {max(slow):.0f}) to the first byte")


def memory(bench: Bench) -> None:
    """Proportional set size of the whole application."""
    small = bench.data("s1k", "scalars", "--steps", "100")
    sizes = {}
    for name, path in {
        "1,000 points": small,
        "1M points": bench.data("s1m", "scalars", "--steps", "100000"),
        "200 MB of histograms": bench.data("h200", "histograms"),
    }.items():
        with bench.open(path) as terminal:
            terminal.pump(20.0, quiet=QUIET_S)
            terminal.pump(3.0)
            sizes[name] = memory_mib(terminal.pid)
    base = sizes["1,000 points"]
    for name, size in sizes.items():
        print(f"memory, {name}: {size:.1f} MiB (+{size - base:.1f})")


def latency(bench: Bench) -> None:
    """From the writer's write(2) to the last byte on the screen that shows the step."""
    for mode in ("--events", "--poll"):
        folder, truth = bench.scratch / f"latency{mode}", bench.scratch / f"truth{mode}.jsonl"
        writer = _drip(bench, folder, 0.7, truth)
        delays: List[float] = []
        try:
            time.sleep(1.0)
            with bench.open(folder, mode) as terminal:
                terminal.wait_for("loss", 10)
                offset = time.monotonic() - terminal.now()
                shown: Dict[int, float] = {}
                until = terminal.now() + 25.0
                while terminal.now() < until:
                    terminal.pump(until - terminal.now(), quiet=0.01)
                    found = re.search(r"step (\d+)", terminal.screen()[0])
                    if found:
                        shown.setdefault(int(found[1]), terminal.chunks[-1].at + offset)
        finally:
            writer.kill()
            writer.wait()
        for line in truth.read_text().splitlines():
            record = json.loads(line)
            if record["step"] in shown and record["step"] > min(shown):
                delays.append(1000 * (shown[record["step"]] - record["at"]))
        if delays:
            delays.sort()
            print(
                f"write to screen, {mode[2:]}: median {median(delays):.0f} ms,"
                f" p95 {delays[int(0.95 * (len(delays) - 1))]:.0f} ms, {len(delays)} writes"
            )


def _peak_mib(pid: int) -> float:
    """The most that was resident at a time."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


def _waited_ms(pid: int) -> float:
    """Milliseconds that the program's first thread was ready and got no processor: others' work on this machine."""
    return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1]) / 1e6


def logs(bench: Bench) -> None:
    """A long log: until its newest record and its newest point are shown, keys while the rest is read, memory."""
    for kind in KINDS:
        folder = bench.scratch / f"log-{kind}"
        path = folder / "train.log"
        folder.mkdir(parents=True, exist_ok=True)
        written = write(path, kind, bench.log_mb * 1_000_000)
        begun = os.times()
        with path.open("rb") as stream:
            lines = sum(1 for _line in stream)
        floor = os.times().user + os.times().system - begun.user - begun.system
        shown: Dict[str, Tuple[float, float]] = {}
        wanted = {
            "newest record": rf"{re.escape(written.loss)}",
            "newest point": rf"step {written.step}\b",
            "whole": r"\A(?!.*history \d+ %)(?=.*step \d)",
        }
        delays: List[float] = []
        others: List[float] = []
        with bench.open(path) as terminal:
            turn = 0
            while len(shown) < len(wanted) and terminal.alive and terminal.now() < LOG_PATIENCE_S:
                terminal.pump(0.05)
                screen = terminal.screen()
                for name, pattern in wanted.items():
                    text = screen[0] if name == "whole" else "\n".join(screen)
                    if name not in shown and re.search(pattern, text):
                        shown[name] = (terminal.now(), cpu_seconds(terminal.pid))
                if "newest record" not in shown:
                    continue
                mark, sent, waited = len(terminal.chunks), terminal.now(), _waited_ms(terminal.pid)
                terminal.send(LOG_KEYS[turn % len(LOG_KEYS)])
                terminal.pump(KEY_PATIENCE_S, quiet=0.0)
                terminal.pump(KEY_REST_S)
                turn += 1
                if len(terminal.chunks) > mark:
                    delays.append(1000 * (terminal.chunks[mark].at - sent))
                    others.append(_waited_ms(terminal.pid) - waited)
            if not terminal.alive:
                print(f"# {kind}: the application has ended\n" + "\n".join(terminal.screen()), file=sys.stderr)
                continue
            resident, peak = memory_mib(terminal.pid), _peak_mib(terminal.pid)
        path.unlink()
        print(f"{kind}, {bench.log_mb} MB, {lines:,} lines; reading by lines alone {floor:.2f} CPU s")
        for name, (at, cpu) in shown.items():
            print(f"  {name:14s} after {at:6.2f} s, {cpu:6.2f} CPU s")
        delays.sort()
        if delays:
            worst = max(delay - other for delay, other in zip(delays, others))
            late = delays[int(0.99 * (len(delays) - 1))]
            print(
                f"  {len(delays)} keys: median {median(delays):.1f} ms, p99 {late:.0f},"
                f" most {delays[-1]:.0f} ms to the first byte (at most {worst:.0f} without waiting for a processor)"
            )
        print(f"  memory {resident:.0f} MiB, at most {peak:.0f} MiB resident", flush=True)


PARTS: Dict[str, Callable[[Bench], None]] = {
    "first": first_frame,
    "live": live,
    "regions": regions,
    "idle": idle,
    "keys": keys,
    "memory": memory,
    "latency": latency,
    "logs": logs,
}


def main() -> None:
    """Run the chosen parts, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--size", default="120x40")
    parser.add_argument("--log-mb", type=int, default=1000, help="size of the logs of `logs`")
    parser.add_argument("--scratch", help="keep the data here between calls")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(Path(args.scratch or temporary), args.runs, args.size, args.log_mb)
        for part in args.parts or PARTS:
            PARTS[part](bench)


if __name__ == "__main__":
    main()
