"""msprobe's grad_probe of older releases: one file a step, a row a parameter. The step stands in the file's name.

Of the shares of elements in intervals only that of zeros is taken.
"""

from __future__ import annotations

import re
from typing import Dict, Optional, Sequence

from mstui.formats.tables.csv_decoder import LONGEST_NAME, Dialect, ReadRow, Row, figure

_NAME = re.compile(r"grad_summary_(?P<step>\d{1,15})(?:_\w{1,40})?\.csv")
_FIGURES = {"max": "max", "min": "min", "norm": "norm", "mean": "mean", "=0": "zero_ratio"}
_OTHERS = ("param_name", "shape", "md5")


def _bind(names: Sequence[str], path: str) -> Optional[ReadRow]:
    if not {"param_name", "max", "min", "norm"}.issubset(names):
        return None
    found = _NAME.fullmatch(path.rsplit("/", 1)[-1])
    step = int(found["step"]) if found is not None else 0
    column = {name: number for number, name in enumerate(names)}
    figures = [(word, column[name]) for name, word in _FIGURES.items() if name in column]
    at_name, count = column["param_name"], len(names)
    known: Dict[str, Dict[str, int]] = {}

    def read(cells: Sequence[str]) -> Row:
        if len(cells) != count or not cells[at_name]:
            raise ValueError(len(cells))
        name = cells[at_name]
        tags = known.get(name)
        if tags is None:
            tags = known[name] = {f"grad_{word}/{name[:LONGEST_NAME]}": number for word, number in figures}
        return Row(step, None, {tag: figure(cells[number]) for tag, number in tags.items()})

    return read


DIALECT = Dialect(
    "msprobe-grad-probe",
    lambda name: _NAME.fullmatch(name) is not None,
    _bind,
    frozenset((*_FIGURES, *_OTHERS)),
)
