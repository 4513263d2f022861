"""What the rules cost through the monitor: CPU seconds of opening a run with all of them, held against reading alone.

    python bench/bench_judge.py PATH... [--runs 3]

Reading alone is reading, decoding and storing, without lists, facts and rules. Each measurement is a process of its
own; the two alternate, and the least of the runs counts. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, Sequence, Tuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

KINDS = ("alone", "judged")


def alone(path: Path) -> int:
    """Read and store everything below a path; gives back the points."""
    from bench.reading import decoders, read_whole

    return read_whole(path, decoders()).memory()["points"]


def judged(path: Path) -> int:
    """Open it as `mstui check` does; gives back the longest turn in milliseconds."""
    from mstui.ingest.watch import WatchMode
    from mstui.monitor import Monitor

    monitor, now, longest = Monitor(str(path), watch=WatchMode.POLL), time.time(), 0.0
    more = True
    while more:
        begun = time.thread_time()
        more = monitor.run_once(now).more
        longest = max(longest, time.thread_time() - begun)
    return round(1000 * longest)


def measured(kind: str, path: Path) -> Tuple[float, float, int]:
    """CPU seconds without the interpreter's start, most MiB resident, and what the work gave back."""
    command = [sys.executable, __file__, "--one", kind, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ})
    cpu, memory, result = done.stdout.split()
    return float(cpu), float(memory), int(result)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.one is not None:
        work = alone if args.one == "alone" else judged
        before = time.process_time()
        result = work(args.paths[0])
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(time.process_time() - before, memory, result)
        return
    for path in args.paths:
        found: Dict[str, List[Tuple[float, float, int]]] = {kind: [] for kind in KINDS}
        for _ in range(args.runs):
            for kind in KINDS:
                found[kind].append(measured(kind, path))
        read, whole = (min(found[kind]) for kind in KINDS)
        print(
            f"{path}: {read[2]:,} points; read and stored in {read[0]:.2f} CPU s, {read[1]:.0f} MiB;"
            f" judged as well {whole[0]:.2f} CPU s ({whole[0] / read[0]:.2f} times), {whole[1]:.0f} MiB,"
            f" longest turn {whole[2]} ms",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
