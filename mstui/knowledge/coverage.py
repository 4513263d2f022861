"""Reads the table that says what carries each row of the two original documents, and finds rows without a carrier."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Collection, Iterator, Tuple

from mstui.config import read_toml
from mstui.knowledge.loader import FOLDER
from mstui.knowledge.reading import Table
from mstui.knowledge.schema import Knowledge

FILE = os.path.join(FOLDER, "coverage.toml")


@dataclass(frozen=True)
class Row:
    """One statement of the original documents."""

    id: str
    number: int
    carried_by: Tuple[str, ...]
    """ "kind:id" of everything that carries it"""


def rows(path: str = FILE) -> Tuple[Row, ...]:
    """The table in the order of the file. Raises ConfigError naming file and key."""
    found = []
    tables = Table(read_toml(path), path)
    for key in tables.names():
        table = tables.table(key)
        found.append(Row(key, table.integer("row"), table.strings("carried_by")))
        table.done()
    return tuple(found)


def uncarried(
    base: Knowledge, table: Collection[Row], rules: Collection[str], probes: Collection[str]
) -> Iterator[str]:
    """A sentence for each row that nothing carries and each carrier that does not exist.

    `rules` and `probes` are the ids of the detectors and probes that there are: they live outside the knowledge.
    """
    for row in table:
        if not row.carried_by:
            yield f"{row.id}: carried by nothing"
        for carrier in row.carried_by:
            kind, _colon, key = carrier.partition(":")
            if not _exists(base, kind, key, rules, probes):
                yield f"{row.id}: no {carrier}"


def _exists(base: Knowledge, kind: str, key: str, rules: Collection[str], probes: Collection[str]) -> bool:
    plain = {
        "symptom": base.symptoms, "cause": base.causes, "step": base.steps, "topic": base.topics, "flow": base.flows,
        "assist": base.assists, "rule": rules, "probe": probes,
    }  # fmt: skip
    if kind in plain:
        return key in plain[kind]
    flow, _hash, rest = key.partition("#")
    state, _slash, answer = rest.partition("/")
    if flow not in base.flows or state not in base.flows[flow].states:
        return False
    return kind == "state" or (kind == "branch" and answer in base.flows[flow].states[state].answers)
