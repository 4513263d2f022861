"""Cold load against TensorBoard's Rust data server: CPU seconds of the load alone, medians of alternating runs.

    python bench/bench_load.py [--runs 7] [--data DIR] [packed] [single] [histograms]

Ours: the file in 4 MiB blocks through the format's decoder, every checksum verified, every column and reference kept
in plain lists. The peer: tensorboard-data-server over the same content as TensorBoard events, keeping all ("all"), and
with its sampling defaults ("defaults"). Each run is a process of its own. Imports and process start are not counted for
ours; what the peer spends until it has loaded is counted as it stands (it starts in a few milliseconds).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List

BLOCK = 4 << 20
CONTENT = {
    "packed": ["scalars", "--layout", "packed"],
    "single": ["scalars", "--layout", "single"],
    "histograms": ["histograms"],
}
GOALS = {"packed": (0.15, 0.4), "single": (0.5, 1.0), "histograms": (0.4, 1.2)}
"""Our CPU seconds as a share of the peer's keeping all, and of its defaults."""
SAMPLES = {"all": "scalars=all,histograms=all", "defaults": ""}
HERE = Path(__file__).parent


def load_ours(path: Path) -> Dict[str, Any]:
    """Decode one file; its figures."""
    from mstui.formats.decoders import mindspore_summary

    groups: Dict[Any, List[Any]] = {}
    records = values = base = 0
    rest = b""
    begun = time.process_time()
    decoder = mindspore_summary.FORMAT.make_decoder(str(path))
    with path.open("rb", buffering=0) as handle:
        while True:
            block = handle.read(BLOCK)
            data = rest + block if rest else block
            got = decoder.decode(data, base, at_end=not block)
            assert not got.faults
            for column in got.columns:
                groups.setdefault(column.tags, []).append(column)
                values += column.points
            for refs in got.blobs:
                groups.setdefault((refs.kind, refs.tag), []).append(refs)
                values += len(refs.steps)
            records += got.records
            base += got.consumed
            rest = data[got.consumed :]
            if not block:
                break
    spent = time.process_time() - begun
    return {"cpu": spent, "records": records, "values": values, "one": one_histogram(path, groups)}


def one_histogram(path: Path, groups: Dict[Any, List[Any]]) -> float:
    """CPU milliseconds of decoding one histogram; 0 when the file has none."""
    from mstui.formats.payloads import histogram

    for pieces in groups.values():
        if not hasattr(pieces[0], "offsets"):
            continue
        with path.open("rb") as handle:
            handle.seek(int(pieces[0].offsets[0]))
            data = handle.read(int(pieces[0].lengths[0]))
        begun = time.process_time()
        turns = 200
        for _ in range(turns):
            histogram(data, "mindspore", 1, 1.0)
        return (time.process_time() - begun) / turns * 1000
    return 0.0


def load_rust(folder: Path, samples: str) -> Dict[str, Any]:
    """CPU seconds of the data server until its first load is done."""
    import tensorboard_data_server as server

    command = [server.server_binary(), "--logdir", str(folder), "--reload", "once", "--port", "0", "-v"]
    command += ["--samples-per-plugin", samples]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as peer:
        assert peer.stderr is not None
        for line in peer.stderr:
            if "finished load cycle" in line.lower():
                break
        ticks = Path(f"/proc/{peer.pid}/stat").read_text().rpartition(")")[2].split()
        peer.kill()
    return {"cpu": (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")}


def run(who: str, path: Path) -> Dict[str, Any]:
    command = [sys.executable, __file__, "--one", who, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: Dict[str, Any] = json.loads(done.stdout)
    return found


def compare(name: str, data: Path, runs: int) -> bool:
    """Print one table; True when both goals are met."""
    folder = data / name
    if not folder.exists():
        print(f"writing {folder} ...", flush=True)
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
        subprocess.run(
            [sys.executable, str(HERE / "gen_summary.py"), str(folder), *CONTENT[name]], check=True, env=environment
        )
    (file,) = (folder / "ms").iterdir()
    figures: Dict[str, List[float]] = {"ours": [], "all": [], "defaults": []}
    ours: Dict[str, Any] = {}
    for _ in range(runs):
        ours = run("ours", file)
        figures["ours"].append(ours["cpu"])
        for peer in ("all", "defaults"):
            figures[peer].append(run(peer, folder / "tb")["cpu"])
    middle = {who: statistics.median(found) for who, found in figures.items()}
    print(
        f"{name}: {file.stat().st_size / 1e6:.1f} MB, {ours['records']:,} records, {ours['values']:,} values, "
        f"{runs} runs"
    )
    for who, found in figures.items():
        print(f"  {who:9} {middle[who]:.3f} CPU s (from {min(found):.3f} to {max(found):.3f})")
    good = True
    for peer, goal in zip(("all", "defaults"), GOALS[name]):
        ratio = middle["ours"] / middle[peer]
        good = good and ratio <= goal
        print(f"  ours / {peer:9} {ratio:.3f}  (goal <= {goal}: {'met' if ratio <= goal else 'MISSED'})")
    if ours["one"]:
        good = good and ours["one"] <= 1.0
        print(f"  one histogram decoded in {ours['one']:.3f} ms CPU (goal <= 1)")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("content", nargs="*", default=list(CONTENT))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "mstui-bench")
    parser.add_argument("--one", choices=["ours", *SAMPLES], help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        path = Path(args.content[0])
        print(json.dumps(load_ours(path) if args.one == "ours" else load_rust(path, SAMPLES[args.one])))
        return
    met = [compare(name, args.data, args.runs) for name in args.content]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
