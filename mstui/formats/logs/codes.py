"""CANN error codes: how to find one, what kind of event it is, and what the documentation says of it (codes.toml)."""

from __future__ import annotations

import importlib
import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Dict, NamedTuple, Optional

from mstui.model.logs import EventKind

CODE = re.compile(r"(?<![0-9A-Za-z_])(?:E[1-9ABEFHIJKLMNOPZ]\d{4}|ERR\d{5})(?![0-9A-Za-z])")

_KINDS = {
    **dict.fromkeys(("EI0002", "EI0006", "EI0015"), EventKind.HCCL_TIMEOUT),
    **dict.fromkeys(("EI0012", "EI0013", "EI0018", "EJ0001"), EventKind.DEVICE_LINK),
    **dict.fromkeys(("EL0004", "EI0007", "EI0011"), EventKind.OUT_OF_MEMORY),
    "EE1002": EventKind.TASK_FAILED,
}
_TABLE = Path(__file__).parent / "codes.toml"
_INNER_FROM = 9000
"""Codes 0000 to 8999 are for users, with cause and solution; from 9000 on they are inner errors."""
PASSED_ON = frozenset(("EE9999", "EH9999"))
"""The runtime and ACL report with these what another module has failed at."""


class Meaning(NamedTuple):
    """What a code stands for, in English and Chinese; empty where only the family is known."""

    family: str
    english: str
    chinese: str


def kind_of(code: str) -> EventKind:
    """The event that a code is."""
    return _KINDS.get(code, EventKind.ASCEND_CODE)


def is_inner(code: str) -> bool:
    """An inner error, which often only follows from another."""
    return not code.startswith("ERR") and int(code[2:]) >= _INNER_FROM


def meaning(code: str) -> Optional[Meaning]:
    """What is documented of a code; None for what is no CANN code."""
    if CODE.fullmatch(code) is None:
        return None
    data = _table()
    known = data["codes"].get(code, {})
    family = data["families"].get("ERR" if code.startswith("ERR") else code[:2], {})
    return Meaning(family.get("en", ""), known.get("en", ""), known.get("zh", ""))


@lru_cache(maxsize=1)
def _table() -> Dict[str, Dict[str, Dict[str, str]]]:
    parser = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    table: Dict[str, Dict[str, Dict[str, str]]] = parser.loads(_TABLE.read_text("utf-8"))
    return table
