"""Read a table in one go or in pieces, and give what it holds in a form that tests can compare."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from mstui.formats.base import Format
from mstui.formats.tables.csv_decoder import TableDecoder
from mstui.registry import collect
from tests.unit.formats.logs.reading import SAMPLES

FORMATS = collect("mstui.formats.decoders", "FORMAT", Format)


class Got(NamedTuple):
    """What a table gave."""

    series: Dict[str, List[Tuple[int, float]]]
    walls: Dict[str, List[float]]
    faults: List[Tuple[str, int, int]]
    skipped: Dict[str, int]
    records: int
    consumed: int


def read(path: str, data: bytes, sizes: Sequence[int] = ()) -> Got:
    """Feed the data in pieces, passing what was not consumed again, as a tailing reader does."""
    form = claimed(path, data)
    assert form is not None
    decoder = form.make_decoder(path)
    assert isinstance(decoder, TableDecoder)
    decoder.arrival = 1.7e9
    series: Dict[str, List[Tuple[int, float]]] = {}
    walls: Dict[str, List[float]] = {}
    faults: List[Tuple[str, int, int]] = []
    skipped: Dict[str, int] = {}
    at = end = turn = records = 0
    while end < len(data) or not turn:
        end = min(len(data), end + (sizes[turn % len(sizes)] if sizes else len(data)))
        turn += 1
        part = decoder.decode(data[at:end], at, at_end=end == len(data))
        for column in part.columns:
            for line, tag in enumerate(column.tags):
                series.setdefault(tag, []).extend(zip(column.steps.tolist(), column.values[line].tolist()))
                walls.setdefault(tag, []).extend(column.wall_times.tolist())
        faults.extend((fault.kind.value, fault.offset, fault.length) for fault in part.faults)
        for word, count in part.skipped_values.items():
            skipped[word] = skipped.get(word, 0) + count
        records += part.records
        at += part.consumed
    return Got(series, walls, faults, skipped, records, at)


def claimed(path: str, data: bytes) -> Optional[Format]:
    """The format that takes a file: the name proposes, the first bytes decide."""
    name = path.rsplit("/", 1)[-1]
    fitting = [form for form in FORMATS if form.claims_head(data[:4096])]
    return next((form for form in fitting if form.claims_name(name)), next(iter(fitting), None))


def sample(name: str) -> Got:
    """Read one sample file."""
    return read(f"/data/{name}", (SAMPLES / name).read_bytes())
