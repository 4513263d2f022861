"""Every id that knowledge mentions must be there. It looks at loaded values only and says which file is wrong."""

from __future__ import annotations

import os
from typing import Collection, Iterator, Tuple

from mstui.config import nearest
from mstui.errors import ConfigError
from mstui.i18n import _
from mstui.knowledge.schema import Flow, Knowledge, State, Symptom

END = "end"
SYMPTOM, FLOW = "symptom:", "flow:"


def check(base: Knowledge, folder: str) -> None:
    """Raise ConfigError naming file and key for the first id that does not resolve."""
    for key, cause in base.causes.items():
        path = os.path.join(folder, "causes", f"{key}.toml")
        _all(path, "topics", cause.topics, base.topics)
        if cause.opens:
            _one(path, "opens", cause.opens, base.symptoms)
    for key, step in base.steps.items():
        path = os.path.join(folder, "steps", f"{key}.toml")
        _all(path, "topics", step.topics, base.topics)
        if step.probe:
            _one(path, "probe", step.probe, base.probes)
    named = {**base.topics, **base.causes, **base.steps, **base.symptoms, **base.flows}
    for key, topic in base.topics.items():
        _all(os.path.join(folder, "topics"), f"{key}.see", topic.see, named)
    for key, symptom in base.symptoms.items():
        _symptom(base, symptom, os.path.join(folder, "entries", f"{key}.toml"))
    for key, flow in base.flows.items():
        _flow(base, flow, os.path.join(folder, "flows", f"{key}.toml"))


def _symptom(base: Knowledge, symptom: Symptom, path: str) -> None:
    for at, suspect in enumerate(symptom.suspects, 1):
        _one(path, f"cause[{at}].id", suspect.cause, base.causes)
        for weight in suspect.weights:
            where = f"cause[{at}].{'raises' if weight.points > 0 else 'lowers'}"
            _one(path, where, weight.evidence, base.evidence)
            if not weight.when and base.evidence[weight.evidence].no is None:
                what = _('key "{key}" uses that "{value}" is false, which has no sentence')
                raise ConfigError(what.format(key=where, value=weight.evidence), path)
    for at, question in enumerate(symptom.questions, 1):
        _one(path, f"check[{at}].step", question.step, base.steps)
        _one(path, f"check[{at}].accuses", question.accuses, base.causes)
        _all(path, f"check[{at}].also", question.also, base.causes)
    if symptom.then.to != END:
        _target(base, None, symptom.then.to, path, "then.to")


def _flow(base: Knowledge, flow: Flow, path: str) -> None:
    proofs = {state.passes for each in base.flows.values() for state in each.states.values() if state.passes}
    for key, state in flow.states.items():
        for name, (value, known) in _references(base, flow, state, proofs):
            if value:
                _one(path, f"state.{key}.{name}", value, known)
        _all(path, f"state.{key}.accuses", state.accuses, base.causes)
        for answer, target in state.answers.items():
            _target(base, flow, target, path, f"state.{key}.{answer}")


def _references(
    base: Knowledge, flow: Flow, state: State, proofs: Collection[str]
) -> Iterator[Tuple[str, Tuple[str, Collection[str]]]]:
    yield "step", (state.step, base.steps)
    yield "probe", (state.probe, base.probes)
    yield "gate", (state.gate, proofs)
    yield "assist", (state.assist, base.assists)
    yield "without_reference", (state.without_reference, flow.states)


def _target(base: Knowledge, flow: object, target: str, path: str, key: str) -> None:
    if target.startswith(SYMPTOM):
        _one(path, key, target[len(SYMPTOM) :], base.symptoms)
    elif target.startswith(FLOW):
        name, _hash, state = target[len(FLOW) :].partition("#")
        _one(path, key, name, base.flows)
        if state:
            _one(path, key, state, base.flows[name].states)
    elif isinstance(flow, Flow):
        _one(path, key, target, flow.states)
    else:
        raise ConfigError(_('key "{key}" names unknown "{value}"').format(key=key, value=target), path)


def _all(path: str, key: str, values: Collection[str], known: Collection[str]) -> None:
    for value in values:
        _one(path, key, value, known)


def _one(path: str, key: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        what = _('key "{key}" names unknown "{value}"').format(key=key, value=value)
        raise ConfigError(what, path, nearest(value, known))
