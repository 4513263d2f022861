"""MindSpore's dump with saved_data "statistic": a row for each input and output of each operator that ran.

The step is the folder that the file lies in (`.../<graph>/<iteration>/statistic.csv`). Which statistics there are is
configured; checksums are none. The names of the counts mislead: "Negative Zero Count" counts elements below zero.
"""

from __future__ import annotations

from typing import Dict, Optional, Sequence, Tuple

from mstui.formats.tables.csv_decoder import LONGEST_NAME, Dialect, ReadRow, Row, figure

_FIGURES = {
    "max value": "max",
    "min value": "min",
    "avg value": "mean",
    "l2norm value": "norm",
    "nan count": "nan_count",
    "zero count": "zeros",
    "count": "numel",
    "negative inf count": "negative_inf_count",
    "positive inf count": "positive_inf_count",
    "negative zero count": "negative_count",
    "positive zero count": "positive_count",
}
_PLACES = (
    "op type", "op name", "task id", "stream id", "timestamp", "io", "slot", "data size", "data type", "shape", "md5",
)  # fmt: skip
_REQUIRED = frozenset(("op type", "op name", "io", "slot", "timestamp"))
_MICROSECOND = 1e-6
_EARLIEST_S = 1e9
"""A stamp before 2001 is a counter of the device, not a time."""
_LATEST_S = 1e10


def _step_of(path: str) -> int:
    folder = path.rsplit("/", 2)[-2] if path.count("/") else ""
    return int(folder) if folder.isdecimal() and len(folder) < 16 else 0


def _bind(names: Sequence[str], path: str) -> Optional[ReadRow]:
    column = {name: number for number, name in enumerate(names)}
    if not _REQUIRED.issubset(column):
        return None
    step = _step_of(path)
    figures = [(word, column[name]) for name, word in _FIGURES.items() if name in column]
    at_name, at_io, at_slot, at_time = (column[name] for name in ("op name", "io", "slot", "timestamp"))
    count = len(names)
    known: Dict[Tuple[str, str, str], Dict[str, int]] = {}

    def read(cells: Sequence[str]) -> Row:
        if len(cells) != count or cells[at_io] not in ("input", "output"):
            raise ValueError(len(cells))
        key = (cells[at_io], cells[at_name], cells[at_slot])
        tags = known.get(key)
        if tags is None:
            place = key[1][:LONGEST_NAME] if key[2] == "0" else f"{key[1][:LONGEST_NAME]}:{key[2][:8]}"
            tags = known[key] = {f"{key[0]}_{word}/{place}": number for word, number in figures}
        wall = float(cells[at_time]) * _MICROSECOND
        values = {tag: figure(cells[number]) for tag, number in tags.items()}
        return Row(step, wall if _EARLIEST_S < wall < _LATEST_S else None, values)

    return read


DIALECT = Dialect(
    "mindspore-statistic",
    lambda name: name == "statistic.csv",
    _bind,
    frozenset((*_FIGURES, *_PLACES)),
)
