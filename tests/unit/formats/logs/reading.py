"""Read a log in one go, and give what it holds in a form that tests can compare."""

from __future__ import annotations

from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from mstui.formats.logs.decoder import TextLogDecoder
from mstui.formats.logs.own_patterns import OwnShape
from mstui.model.logs import LogEvent, LogLevel
from mstui.model.runs import Fact

SAMPLES = Path(__file__).parents[3] / "data" / "logs"

Series = List[Tuple[int, float]]


class Got(NamedTuple):
    """What a log gave."""

    series: Dict[str, Series]
    walls: Dict[str, List[float]]
    records: List[Tuple[int, LogLevel]]
    events: List[LogEvent]
    faults: List[Tuple[str, int, int]]
    skipped: Dict[str, int]
    consumed: int
    understood: int
    steps: List[Tuple[int, int]]
    """step, offset of the record that tells of it"""
    facts: Dict[str, Fact]
    ranks: Dict[int, Dict[str, Series]]
    """values of the ranks that a launcher's prefix names"""

    @property
    def told(self) -> List[Tuple[str, str, Optional[int], Optional[int]]]:
        """Kind, code, step and rank of each event."""
        return [(each.kind.value, each.code, each.step, each.rank_id) for each in self.events]


def read(data: bytes, sizes: Sequence[int] = (), own: Sequence[OwnShape] = (), *, arrival: float = 0.0) -> Got:
    """Feed the data in pieces, passing what was not consumed again, as a tailing reader does."""
    decoder = TextLogDecoder("a.log", own)
    decoder.arrival = arrival
    got = Got({}, {}, [], [], [], {}, 0, 0, [], {}, {})
    at, end, turn, understood = 0, 0, 0, 0
    while True:
        end = min(len(data), end + (sizes[turn % len(sizes)] if sizes else len(data)))
        turn += 1
        part = decoder.decode(data[at:end], at, at_end=end == len(data))
        for rank, columns in part.rank_columns.items():
            for column in columns:
                for line, tag in enumerate(column.tags):
                    series = got.ranks.setdefault(rank, {}).setdefault(tag, [])
                    series.extend(zip(column.steps.tolist(), column.values[line].tolist()))
        for column in part.columns:
            for line, tag in enumerate(column.tags):
                assert column.values[line].dtype == "float64"
                pairs = zip(column.steps.tolist(), column.values[line].tolist())
                got.series.setdefault(tag, []).extend(pairs)
                got.walls.setdefault(tag, []).extend(column.wall_times.tolist())
        assert part.log_records is not None
        assert part.records == len(part.log_records.offsets)
        levels = [LogLevel(level) for level in part.log_records.levels.tolist()]
        got.records.extend(zip(part.log_records.offsets.tolist(), levels))
        got.events.extend(part.log_events)
        got.faults.extend((fault.kind.value, fault.offset, fault.length) for fault in part.faults)
        for word, number in part.skipped_values.items():
            got.skipped[word] = got.skipped.get(word, 0) + number
        understood += part.log_understood
        got.facts.update(part.facts)
        if part.log_steps is not None:
            assert len(part.log_steps.steps) == len(part.log_steps.offsets) > 0
            got.steps.extend(zip(part.log_steps.steps.tolist(), part.log_steps.offsets.tolist()))
        at += part.consumed
        if end == len(data):
            return got._replace(consumed=at, understood=understood)


def sample(name: str) -> Got:
    """Read one sample file."""
    return read((SAMPLES / name).read_bytes())
