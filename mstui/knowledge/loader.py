"""Knowledge from its folder of TOML files: one file an entry, its name is the id. It checks every reference.

Every mistake is a ConfigError naming file and key. Nothing else is opened, and nothing is guessed or left out.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Callable, Dict, List, Mapping, Sequence, Tuple, TypeVar

from mstui.config import read_toml
from mstui.errors import ConfigError
from mstui.i18n import _
from mstui.knowledge import resolve
from mstui.knowledge.reading import Table
from mstui.knowledge.schema import (
    FAMILIES,
    GROUPS,
    NEEDS,
    ORIGINS,
    OUTCOMES,
    Assist,
    Cause,
    Document,
    Evidence,
    Flow,
    Knowledge,
    Pair,
    Probe,
    Question,
    State,
    Step,
    Suspect,
    Symptom,
    Then,
    Topic,
    Weight,
)

FOLDER = os.path.dirname(os.path.abspath(__file__))
FALSE = "!"
"""Before an evidence id: its weight counts when the fact is false"""
EVERYDAY_ANSWERS = ("yes", "no", "skip", "unsure")
TOPIC_KINDS = ("class", "idea", "rule", "fact", "guide")

T = TypeVar("T")


@lru_cache(maxsize=1)
def knowledge() -> Knowledge:
    """What comes with mstui, read once."""
    return load(FOLDER)


def load(folder: str) -> Knowledge:
    """Everything in a folder that is laid out as ours. Raises ConfigError."""
    documents = _whole(os.path.join(folder, "documents.toml"), lambda key, table: Document(key, table.pair("title")))
    known = tuple(documents)
    everything = Knowledge(
        documents=documents,
        topics=_families(os.path.join(folder, "topics"), lambda key, table: _topic(key, table, known)),
        causes=_entries(os.path.join(folder, "causes"), lambda key, table: _cause(key, table, known)),
        steps=_entries(os.path.join(folder, "steps"), lambda key, table: _step(key, table, known)),
        probes=_whole(os.path.join(folder, "probes.toml"), lambda key, table: Probe(key, table.pair("title"))),
        evidence=_families(os.path.join(folder, "evidence"), _evidence),
        symptoms=_entries(os.path.join(folder, "entries"), lambda key, table: _symptom(key, table, known)),
        flows=_entries(os.path.join(folder, "flows"), lambda key, table: _flow(key, table, known)),
        assists=_entries(os.path.join(folder, "assists"), lambda key, table: _assist(key, table, known)),
        labels=_whole(os.path.join(folder, "labels.toml"), lambda _key, table: table.pair("text")),
    )
    resolve.check(everything, folder)
    return everything


def _files(folder: str) -> List[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".toml"))
    except OSError as error:
        raise ConfigError(error.strerror or str(error), folder, _("Install mstui again.")) from error
    return [os.path.join(folder, name) for name in names]


def _entries(folder: str, build: Callable[[str, Table], T]) -> Dict[str, T]:
    """One entry a file."""
    found: Dict[str, T] = {}
    for path in _files(folder):
        table = Table(read_toml(path), path)
        key = os.path.basename(path)[: -len(".toml")]
        found[key] = build(key, table)
        table.done()
    return found


def _whole(path: str, build: Callable[[str, Table], T]) -> Dict[str, T]:
    """One entry a table of one file."""
    found: Dict[str, T] = {}
    tables = Table(read_toml(path), path)
    for key in tables.names():
        table = tables.table(key)
        found[key] = build(key, table)
        table.done()
    return found


def _families(folder: str, build: Callable[[str, Table], T]) -> Dict[str, T]:
    """One entry a table, several files."""
    found: Dict[str, T] = {}
    for path in _files(folder):
        for key, value in _whole(path, build).items():
            if key in found:
                raise ConfigError(_('"{id}" is there twice').format(id=key), path)
            found[key] = value
    return found


def _topic(key: str, table: Table, documents: Sequence[str]) -> Topic:
    return Topic(
        id=key,
        kind=table.one_of("kind", TOPIC_KINDS),
        title=table.pair("title"),
        body=table.passage("body"),
        see=table.strings("see"),
        sources=table.sources(documents),
    )


def _cause(key: str, table: Table, documents: Sequence[str]) -> Cause:
    sources = table.sources(documents)
    fix = table.passage("fix", "sources")
    return Cause(
        id=key,
        group=table.one_of("group", GROUPS),
        explains=table.flag("explains"),
        title=table.pair("title"),
        about=table.pair("about"),
        fix=fix,
        fix_sources=table.table("fix").sources(documents, needed=False) or sources,
        topics=table.strings("topics"),
        opens=table.string("opens", ""),
        sources=sources,
    )


def _step(key: str, table: Table, documents: Sequence[str]) -> Step:
    return Step(
        id=key,
        ask=table.pair("ask"),
        do=table.passage("do"),
        expect=table.pair("expect"),
        why=table.pair("why"),
        needs=table.one_of("needs", NEEDS),
        probe=table.string("probe", ""),
        topics=table.strings("topics"),
        sources=table.sources(documents),
    )


def _evidence(key: str, table: Table) -> Evidence:
    origins = table.strings("from")
    for origin in origins:
        if origin not in ORIGINS:
            table.fail(
                _('key "{key}" names unknown "{value}"').format(key=table.name("from"), value=origin),
                _("Known names: {names}").format(names=", ".join(ORIGINS)),
            )
    if not origins:
        table.fail(_('key "{key}" is missing').format(key=table.name("from")))
    return Evidence(key, origins, table.pair("how"), table.pair("yes"), table.maybe_pair("no"))


def _symptom(key: str, table: Table, documents: Sequence[str]) -> Symptom:
    then = table.table("then")
    symptom = Symptom(
        id=key,
        family=table.one_of("family", FAMILIES),
        title=table.pair("title"),
        summary=table.pair("summary"),
        seen=table.pair("seen"),
        suspects=tuple(_suspect(each) for each in table.tables("cause")),
        questions=tuple(_question(each) for each in table.tables("check")),
        then=Then(then.string("to"), then.maybe_pair("say")),
        sources=table.sources(documents),
    )
    then.done()
    return symptom


def _suspect(table: Table) -> Suspect:
    weights = _weights(table.table("raises"), 1) + _weights(table.table("lowers"), -1)
    suspect = Suspect(table.string("id"), table.integer("prior"), table.pair("why"), weights)
    table.done()
    return suspect


def _weights(table: Table, sign: int) -> Tuple[Weight, ...]:
    found = []
    for key in table.names():
        points = table.integer(key)
        if points <= 0:
            table.fail(
                _('key "{key}" cannot be {value!r}').format(key=table.name(key), value=points),
                _("Expected: {expected}").format(expected=_("a whole number above 0")),
            )
        found.append(Weight(key.lstrip(FALSE), not key.startswith(FALSE), sign * points))
    return tuple(found)


def _question(table: Table) -> Question:
    question = Question(table.string("step"), table.string("accuses"), table.strings("also"))
    table.done()
    return question


def _assist(key: str, table: Table, documents: Sequence[str]) -> Assist:
    return Assist(
        id=key,
        title=table.pair("title"),
        about=table.pair("about"),
        here=table.passage("here"),
        reference=table.passage("reference"),
        sources=table.sources(documents),
    )


def _flow(key: str, table: Table, documents: Sequence[str]) -> Flow:
    states: Dict[str, State] = {}
    for each in table.tables("state"):
        state = _state(each, documents)
        if state.id in states:
            each.fail(_('"{id}" is there twice').format(id=state.id))
        states[state.id] = state
    return Flow(
        id=key,
        title=table.pair("title"),
        about=table.pair("about"),
        start=table.one_of("start", states),
        states=states,
        sources=table.sources(documents),
    )


def _state(table: Table, documents: Sequence[str]) -> State:
    step = table.string("step", "")
    outcome = table.one_of("outcome", OUTCOMES, "")
    ask = table.maybe_pair("ask")
    if ask is None and not step:
        table.fail(_('key "{key}" is missing').format(key=table.name("ask")))
    options = table.table("options")
    texts = {key: options.pair(key) for key in options.names()}
    state = State(
        id=table.string("id"),
        ask=ask or Pair("", ""),
        do=table.maybe_passage("do"),
        expect=table.maybe_pair("expect"),
        why=table.maybe_pair("why"),
        probe=table.string("probe", ""),
        step=step,
        answers=_answers(table, texts, outcome),
        options=texts,
        accuses=table.strings("accuses"),
        assist=table.string("assist", ""),
        passes=table.string("passes", ""),
        gate=table.string("gate", ""),
        asks_reference=table.flag("asks_reference"),
        without_reference=table.string("without_reference", ""),
        outcome=outcome,
        sources=table.sources(documents, needed=False),
    )
    table.done()
    return state


def _answers(table: Table, options: Mapping[str, Pair], outcome: str) -> Dict[str, str]:
    """Answer to target. "skip" goes where "yes" goes and "unsure" where "skip" goes, unless they say otherwise."""
    if options:
        targets = table.table("to")
        return {key: targets.string(key) for key in options}
    if outcome:
        return {}
    yes, no = table.string("yes"), table.string("no")
    skip = table.string("skip", yes)
    return dict(zip(EVERYDAY_ANSWERS, (yes, no, skip, table.string("unsure", skip))))
