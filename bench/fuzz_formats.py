"""Coverage-guided fuzzing of every reader in mstui.formats.

    python bench/fuzz_formats.py [--seconds 120] [--engine auto|atheris|trace] [--corpus DIR] [--replay FILE ...]

With atheris when it is installed (pip install atheris), else with a mutation loop that keeps what reaches a new line.
The first byte of an input chooses what is attacked, the rest is its bytes. Any exception but PayloadError is a finding;
so is a stream that gives other points when it is cut in two, or other points for a record that is repeated often enough
to be decoded by a template. A finding is written to crash-* in the working directory and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

SEEDS = ROOT / "tests" / "data" / "summary"
MAX_INPUT = 8192
REPEATS = 24
"""Enough records of one shape for a template."""
SLOWEST_SECONDS = 5.0
"""CPU seconds one input may take; the slowest honest one needs milliseconds."""
PACKAGE = str(ROOT / "mstui" / "formats")
RECORD_PIECES = [
    b"\x09" + bytes(8),
    b"\x10\x05",
    b"\x2a\x0a\x0a\x08\x0a\x01a\x1d\0\0\x80\x3f",
    b"\x15\0\0\0\0",
    b"\x42\x00",
]
"""Wire bytes that the mutation loop likes to insert."""

Points = Dict[str, List[Tuple[int, bytes]]]


def engine_of(name: str) -> Optional[Any]:
    """The atheris module, or None for the mutation loop."""
    if name == "trace":
        return None
    with suppress(ImportError):
        import atheris

        return atheris
    if name == "atheris":
        sys.exit("atheris is not installed")
    return None


@contextmanager
def instrumented(atheris: Optional[Any]) -> Iterator[None]:
    if atheris is None:
        yield
        return
    with atheris.instrument_imports(include=["mstui.formats"]):
        yield


def make_target() -> Callable[[bytes], None]:
    """The function that is fuzzed; imports the readers."""
    from mstui.formats import payloads
    from mstui.formats.base import Decoded, Format
    from mstui.formats.crc import masked_crc
    from mstui.formats.decoders import mindspore_lineage, mindspore_summary, tensorboard
    from mstui.formats.framing import find_boundary
    from mstui.model.records import BlobKind

    warnings.simplefilter("error")  # a warning from numpy would be printed over the screen
    formats: List[Format] = [mindspore_summary.FORMAT, mindspore_lineage.FORMAT, tensorboard.FORMAT]
    kinds = [BlobKind.TRAIN_LINEAGE, BlobKind.EVALUATION_LINEAGE, BlobKind.CUSTOM_LINEAGE, BlobKind.DATASET_GRAPH]

    def frame(payload: bytes) -> bytes:
        head = struct.pack("<Q", len(payload))
        return head + struct.pack("<I", masked_crc(head)) + payload + struct.pack("<I", masked_crc(payload))

    def points(*parts: Decoded) -> Points:
        found: Points = {}
        for part in parts:
            for column in part.columns:
                assert (
                    column.values.shape
                    == (len(column.tags), len(column.steps))
                    == (len(column.tags), len(column.wall_times))
                )
                for line, tag in enumerate(column.tags):
                    values = [value.tobytes() for value in column.values[line]]
                    found.setdefault(tag, []).extend(zip(column.steps.tolist(), values))
        return found

    def stream(known: Format, data: bytes) -> None:
        known.claims_head(data or b"\0")
        find_boundary(data)
        for at_end, condemn in ((True, False), (True, True), (False, False)):
            got = known.make_decoder("f").decode(data, 0, at_end=at_end, condemn=condemn)
            assert 0 <= got.consumed <= len(data)
            assert (got.suspect is None) or (at_end and not condemn)
            for refs in got.blobs:
                assert (refs.offsets + refs.lengths <= len(data)).all()
        cut = len(data) // 2
        whole = known.make_decoder("f").decode(data, 0, at_end=False)
        if not whole.faults:
            decoder = known.make_decoder("f")
            first = decoder.decode(data[:cut], 0, at_end=False)
            second = decoder.decode(data[first.consumed :], first.consumed, at_end=False)
            assert first.records + second.records == whole.records
            assert points(first, second) == points(whole)

    def record(known: Format, payload: bytes) -> None:
        one = known.make_decoder("f").decode(frame(payload), 1, at_end=True)
        many = known.make_decoder("f").decode(frame(payload) * REPEATS, 1, at_end=True)
        assert many.records == one.records * REPEATS
        if all(len(rows) == 1 for rows in points(one).values()):
            assert points(many) == {tag: rows * REPEATS for tag, rows in points(one).items()}

    def payload_of(data: bytes) -> None:
        for dialect in ("mindspore", "tensorboard"):
            for decode in (payloads.histogram, payloads.histogram_stats):
                with suppress(payloads.PayloadError):
                    decode(data, dialect, 1, 1.0)
            with suppress(payloads.PayloadError):
                payloads.tensor(data, dialect)
        for kind in kinds:
            with suppress(payloads.PayloadError):
                payloads.lineage_facts(kind, data)
        with suppress(payloads.PayloadError):
            payloads.graph_parameters(data)
        with suppress(payloads.PayloadError):
            payloads.text(data)

    def target(data: bytes) -> None:
        if not data:
            return
        choice, rest = data[0], bytes(data[1:])
        begun = time.process_time()
        if choice % 8 < 3:
            stream(formats[choice % 8], rest)
        elif choice % 8 < 6:
            record(formats[choice % 8 - 3], rest)
        elif choice % 8 == 6:
            payload_of(rest)
        else:
            stream(formats[choice % 3], b"".join(frame(part) for part in rest.split(b"\xab\xcd")))
        assert time.process_time() - begun < SLOWEST_SECONDS, "too slow"

    return target


def seeds() -> List[bytes]:
    """Small real files for the stream readers, their first records and payloads for the others."""
    found = []
    for path in sorted(SEEDS.rglob("*summary.*")):
        data = path.read_bytes()[: MAX_INPUT - 1]
        found += [bytes([choice]) + data for choice in range(3)]
        at = 0
        for _ in range(4):
            if at + 12 > len(data):
                break
            length = struct.unpack_from("<Q", data, at)[0]
            payload = data[at + 12 : at + 12 + length]
            found += [bytes([choice]) + payload for choice in range(3, 7)] + [b"\x06" + payload[20:]]
            at += 16 + length
    return found


def mutate(data: bytes, corpus: List[bytes], rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(out) + 1)
        move = rng.randrange(7)
        if move == 0 and out:
            out[at % len(out)] ^= 1 << rng.randrange(8)
        elif move == 1 and out:
            out[at % len(out)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif move == 2:
            del out[at : at + rng.randint(1, 16)]
        elif move == 3:
            out[at:at] = rng.choice(RECORD_PIECES)
        elif move == 4:
            out[at:at] = out[at : at + rng.randint(1, 64)]
        elif move == 5:
            other = rng.choice(corpus)
            out[at:] = other[rng.randrange(len(other) + 1) :]
        else:
            out[at : at + 4] = rng.randbytes(4)
    return bytes(out[:MAX_INPUT])


def by_tracing(target: Callable[[bytes], None], seconds: float, corpus: List[bytes]) -> int:
    """The mutation loop: keep every input that reaches a new pair of consecutive lines."""
    rng = random.Random(1)
    seen: Set[Tuple[str, int, int]] = set()
    fresh: List[bool] = [False]
    last = [0]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            edge = (frame.f_code.co_name, last[0], frame.f_lineno)
            last[0] = frame.f_lineno
            if edge not in seen:
                seen.add(edge)
                fresh[0] = True
        return trace

    kept = list(corpus)
    waiting = list(corpus)
    findings = runs = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end and findings < 10:
        data = waiting.pop() if waiting else mutate(rng.choice(kept), kept, rng)
        fresh[0] = False
        sys.settrace(trace)
        try:
            target(data)
        except Exception as error:
            sys.settrace(None)
            findings += 1
            path = Path(f"crash-{findings}")
            path.write_bytes(data)
            print(f"{path}: {type(error).__name__}: {error}")
        finally:
            sys.settrace(None)
        runs += 1
        if fresh[0]:
            kept.append(data)
    print(f"{runs} inputs, {len(seen)} edges, {len(kept)} kept, {findings} findings")
    return 1 if findings else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--engine", choices=["auto", "atheris", "trace"], default="auto")
    parser.add_argument("--corpus", type=Path, help="folder that keeps what atheris finds interesting")
    parser.add_argument("--replay", type=Path, nargs="+", help="run these inputs once and stop")
    args = parser.parse_args()
    atheris = engine_of(args.engine)
    with instrumented(atheris):
        target = make_target()
    if args.replay:
        for path in args.replay:
            target(path.read_bytes())
        return
    if atheris is None:
        sys.exit(by_tracing(target, args.seconds, seeds()))
    folder = args.corpus or Path(tempfile.mkdtemp(prefix="mstui-fuzz-"))
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(seeds()):
        (folder / f"seed-{number}").write_bytes(data)
    options = [f"-max_total_time={int(args.seconds)}", f"-max_len={MAX_INPUT}", "-timeout=20", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options, str(folder)], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
