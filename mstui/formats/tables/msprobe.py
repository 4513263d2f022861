"""msprobe's training monitor: statistics of gradients, parameters, optimizer states and activations, a row a tensor.

Two layouts. The first has one kind of tensor a file, told by the file's name; the second tells it in the column
`scope`. The figures are what the person has configured. A row may stand for a micro step: each is a point of its step.
`nan` is a value, unless the row itself counts no NaN: then it stands for "not computed".
"""

from __future__ import annotations

import math
import re
from typing import Dict, List, Optional, Sequence, Tuple

from mstui.formats.tables.csv_decoder import LONGEST_NAME, Dialect, ReadRow, Row, figure, whole

SUBJECTS = {
    "actv": "act",
    "grad_reduced": "grad",
    "param_updated": "weight",
    "forward": "act",
    "backward": "actv_grad",
    "reduced": "grad",
    "unreduced": "grad_unreduced",
}
"""What the kinds of tensors are called in tags; kinds that are not here keep msprobe's word."""
FIGURES = ("min", "max", "mean", "norm", "zeros", "nans", "std", "sum", "rms", "var")
"""Columns that msprobe is known to write; any other numeric one is taken by its own name."""
_PLACES = frozenset(("vpp_stage", "name", "module_name", "scope", "step", "micro_step"))
_NO_FIGURES = frozenset(("id", "md5", "shape", "dtype"))
_V1_KINDS = (
    "actv", "actv_grad", "grad_unreduced", "grad_reduced", "exp_avg", "exp_avg_sq", "param_origin", "param_updated",
    "other", "attention_hook", "linear_hook",
)  # fmt: skip
_V1_NAME = re.compile(rf"(?P<kind>{'|'.join(_V1_KINDS)}|moe_router_\w{{1,60}}?)_\d{{1,15}}-\d{{1,15}}\.csv")
_V2_NAME = re.compile(r"(?P<kind>module|weight_grad|optimizer|param|cc)_step\d{1,15}-\d{1,15}\.csv")
_RANGE = re.compile(r"(?:_step)?_?\d+-\d+\.csv$|\.csv$")


def _tags(subject: str, stage: str, name: str, figures: Sequence[Tuple[str, int]]) -> Dict[str, int]:
    """The tags of a row and their columns. Names of a later pipeline chunk carry its number, as msprobe's own do."""
    place = name[:LONGEST_NAME] if stage in ("0", "") else f"{stage}:{name[:LONGEST_NAME]}"
    return {f"{subject}_{word}/{place}": column for word, column in figures}


def _reader(names: Sequence[str], name_column: str, subject: str) -> ReadRow:
    """How to read the rows; with an empty `subject` the row's scope says it."""
    column = {name: number for number, name in enumerate(names)}
    figures = [(name, number) for name, number in column.items() if name not in _PLACES and name not in _NO_FIGURES]
    at_stage, at_name, at_step, count = column["vpp_stage"], column[name_column], column["step"], len(names)
    at_scope, at_nans = column.get("scope"), column.get("nans")
    known: Dict[Tuple[str, str, str], Dict[str, int]] = {}

    def read(cells: Sequence[str]) -> Row:
        if len(cells) != count or not cells[at_name]:
            raise ValueError(len(cells))
        kind = subject or (cells[at_scope] if at_scope is not None else "")
        key = (kind, cells[at_stage], cells[at_name])
        tags = known.get(key)
        if tags is None:
            tags = known[key] = _tags(SUBJECTS.get(kind, kind), str(whole(key[1] or "0")), key[2], figures)
        values = {tag: figure(cells[number]) for tag, number in tags.items()}
        if at_nans is not None and figure(cells[at_nans]) == 0.0:
            values = {tag: None if value is None or math.isnan(value) else value for tag, value in values.items()}
        return Row(whole(cells[at_step]), None, values)

    return read


def _bind_v1(names: Sequence[str], path: str) -> Optional[ReadRow]:
    if not {"vpp_stage", "name", "step"}.issubset(names) or "scope" in names:
        return None
    name = path.rsplit("/", 1)[-1]
    found = _V1_NAME.fullmatch(name)
    return _reader(names, "name", found["kind"] if found is not None else _RANGE.sub("", name) or "other")


def _bind_v2(names: Sequence[str], _path: str) -> Optional[ReadRow]:
    if not {"vpp_stage", "module_name", "scope", "step"}.issubset(names):
        return None
    return _reader(names, "module_name", "")


def _known(*names: str) -> List[str]:
    return [*names, "vpp_stage", "step", "micro_step", *FIGURES, *_NO_FIGURES]


V1 = Dialect(
    "msprobe-monitor",
    lambda name: _V1_NAME.fullmatch(name) is not None,
    _bind_v1,
    frozenset(_known("name")),
)
V2 = Dialect(
    "msprobe-monitor-v2",
    lambda name: _V2_NAME.fullmatch(name) is not None,
    _bind_v2,
    frozenset(_known("module_name", "scope")),
)
