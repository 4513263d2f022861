"""The catalogue as an offline manual: plain lines of text in either language, for a given width in cells.

It knows no terminal, no colour and no run; code lines are never broken, so that they can be copied.
"""

from __future__ import annotations

from typing import Callable, Iterator, List, Mapping, Sequence, Tuple

from mstui.knowledge.resolve import END, FLOW, SYMPTOM
from mstui.knowledge.schema import (
    FAMILIES,
    GROUPS,
    Cause,
    Flow,
    Knowledge,
    Passage,
    Source,
    State,
    Step,
    Symptom,
    Topic,
)
from mstui.knowledge.wrapping import wrap
from mstui.safe_text import pad, width

STEP_PREFIX = "st."
INDENT = "  "
CODE_INDENT = "    "
ID_CELLS = 24
"""Room for an id in a list; longer ones push their title to the right"""
RULE = "-"


class Manual:
    """Pages of one language and one width."""

    def __init__(self, base: Knowledge, language: str, columns: int = 80, version: str = "") -> None:
        self._base = base
        self._language = language
        self._columns = max(columns, 20)
        self._version = version

    def find(self, word: str) -> Tuple[str, ...]:
        """Kinds that have an entry of this id ("symptom", "cause", ...); a check may be named without its "st."."""
        return tuple(kind for kind, entries, _page in self._kinds() if self._key(word, entries))

    def page(self, word: str) -> Tuple[str, ...]:
        """Every entry of this id, one after the other. Empty when there is none."""
        lines: List[str] = []
        for _kind, entries, page in self._kinds():
            key = self._key(word, entries)
            if key:
                if lines:
                    lines.append("")
                lines.extend(page(key))
        return tuple(lines)

    def listing(self) -> Tuple[str, ...]:
        """Every id with its title, by kind and family."""
        base = self._base
        lines: List[str] = []
        lines += self._section(
            "symptoms",
            [(f"family-{name}", [s for s in base.symptoms.values() if s.family == name]) for name in FAMILIES],
        )
        faults = [cause for cause in base.causes.values() if not cause.explains]
        lines += self._section("causes", [(f"group-{name}", [c for c in faults if c.group == name]) for name in GROUPS])
        lines += self._section("explanations", [("", [cause for cause in base.causes.values() if cause.explains])])
        lines += [self._label("checks"), RULE * width(self._label("checks"))]
        lines += [self._row(step.id, step.ask.text(self._language)) for step in base.steps.values()] + [""]
        lines += self._section("flows", [("", list(base.flows.values()))])
        lines += self._section("topics", [("", list(base.topics.values()))])
        return tuple(lines[:-1])

    # --- pages

    def _kinds(self) -> Tuple[Tuple[str, Mapping[str, object], Callable[[str], Iterator[str]]], ...]:
        base = self._base
        return (
            ("symptom", base.symptoms, lambda key: self._symptom(base.symptoms[key])),
            ("cause", base.causes, lambda key: self._cause(base.causes[key])),
            ("check", base.steps, lambda key: self._step(base.steps[key])),
            ("flow", base.flows, lambda key: self._flow(base.flows[key])),
            ("topic", base.topics, lambda key: self._topic(base.topics[key])),
        )

    @staticmethod
    def _key(word: str, entries: Mapping[str, object]) -> str:
        for candidate in (word, STEP_PREFIX + word):
            if candidate in entries:
                return candidate
        return ""

    def _symptom(self, symptom: Symptom) -> Iterator[str]:
        yield from self._head("symptom", symptom.id, symptom.title.text(self._language))
        yield from self._text(symptom.summary.text(self._language))
        yield from self._labelled("seen", symptom.seen.text(self._language))
        yield from ("", self._label("likely-causes"))
        for at, suspect in enumerate(symptom.suspects, 1):
            title = self._base.causes[suspect.cause].title.text(self._language)
            yield from self._hanging(f"{at:>2} ", f"{suspect.cause}: {title} ({self._label('prior')} {suspect.prior})")
            yield from self._text(suspect.why.text(self._language), "     ")
            for weight in suspect.weights:
                fact = self._base.evidence[weight.evidence]
                said = (fact.yes if weight.when else fact.no or fact.yes).text(self._language)
                yield from self._hanging(f"     {weight.points:+d} ", said)
        yield from ("", self._label("checks-in-order"))
        for at, question in enumerate(symptom.questions, 1):
            ask = self._base.steps[question.step].ask.text(self._language)
            accused = f"{self._label('no')} -> {question.accuses}"
            yield from self._hanging(f"{at:>2} ", f"{question.step}: {ask} ({accused})")
        yield ""
        yield from self._hanging(f"{self._label('then')}: ", self._target(symptom.then.to))
        if symptom.then.say is not None:
            yield from self._text(symptom.then.say.text(self._language))
        yield from self._sources(symptom.sources)

    def _cause(self, cause: Cause) -> Iterator[str]:
        kind = "explanation" if cause.explains else "cause"
        yield from self._head(kind, cause.id, cause.title.text(self._language))
        yield f"[{self._label(f'group-{cause.group}')}]"
        yield from self._text(cause.about.text(self._language))
        yield from ("", self._label("fix"))
        yield from self._passage(cause.fix)
        yield ""
        yield from self._ids("suspected-by", self.suspected_by(cause.id))
        yield from self._ids("examined-by", self.examined_by(cause.id))
        yield from self._ids("see", (*cause.topics, *filter(None, [cause.opens])))
        yield from self._sources((*cause.sources, *(s for s in cause.fix_sources if s not in cause.sources)))

    def _step(self, step: Step) -> Iterator[str]:
        yield from self._head("check", step.id, step.ask.text(self._language))
        yield f"[{self._label(step.needs)}]"
        yield from ("", self._label("do"))
        yield from self._passage(step.do)
        yield from self._labelled("expected", step.expect.text(self._language))
        yield from self._labelled("why", step.why.text(self._language))
        if step.probe:
            yield from self._labelled("answers-itself", self._base.probes[step.probe].title.text(self._language))
        yield ""
        asked = tuple(key for key, s in self._base.symptoms.items() if any(q.step == step.id for q in s.questions))
        accused = {q.accuses: None for s in self._base.symptoms.values() for q in s.questions if q.step == step.id}
        yield from self._ids("asked-by", asked)
        yield from self._ids("accuses", tuple(accused))
        yield from self._ids("see", step.topics)
        yield from self._sources(step.sources)

    def _topic(self, topic: Topic) -> Iterator[str]:
        yield from self._head("topic", topic.id, topic.title.text(self._language))
        yield from self._passage(topic.body)
        yield ""
        yield from self._ids("see", topic.see)
        yield from self._sources(topic.sources)

    def _flow(self, flow: Flow) -> Iterator[str]:
        yield from self._head("flow", flow.id, flow.title.text(self._language))
        yield from self._text(flow.about.text(self._language))
        for state in flow.states.values():
            yield ""
            yield from self._state(state)
        yield from self._sources(flow.sources)

    def _state(self, state: State) -> Iterator[str]:
        step = self._base.steps.get(state.step)
        ask = step.ask if step is not None else state.ask
        name = f"{state.id} " + (f"({self._label(state.outcome)}) " if state.is_end else "")
        yield from self._hanging(name, ask.text(self._language))
        do = step.do if step is not None else state.do
        if do is not None:
            yield from self._text(do.at(self._version).text.text(self._language), CODE_INDENT)
        for answer, target in state.answers.items():
            word = state.options[answer].text(self._language) if answer in state.options else self._label(answer)
            yield from self._hanging(
                f"{CODE_INDENT}{answer if answer in state.options else word} -> ",
                self._target(target) + (f"  {word}" if answer in state.options else ""),
            )
        yield from self._ids("accuses", state.accuses, CODE_INDENT)

    # --- what belongs together

    def suspected_by(self, cause: str) -> Tuple[str, ...]:
        """Symptoms that suspect a cause."""
        found = self._base.symptoms.items()
        return tuple(key for key, symptom in found if any(s.cause == cause for s in symptom.suspects))

    def examined_by(self, cause: str) -> Tuple[str, ...]:
        """Checks that accuse a cause somewhere."""
        asked = [question for symptom in self._base.symptoms.values() for question in symptom.questions]
        return tuple(dict.fromkeys(q.step for q in asked if cause in (q.accuses, *q.also)))

    # --- lines

    def _label(self, key: str) -> str:
        return self._base.labels[key].text(self._language)

    def _head(self, kind: str, key: str, title: str) -> Iterator[str]:
        yield from wrap(f"{self._label(kind)} {key}", self._columns)
        lines = wrap(title, self._columns)
        yield from lines
        yield RULE * max(width(line) for line in lines)

    def _text(self, text: str, indent: str = INDENT) -> Iterator[str]:
        for line in wrap(text, self._columns - len(indent)):
            yield indent + line

    def _hanging(self, head: str, text: str) -> Iterator[str]:
        """The text behind a head, its further lines below its beginning."""
        room = width(head)
        for at, line in enumerate(wrap(text, self._columns - room)):
            yield (head if at == 0 else " " * room) + line

    def _labelled(self, key: str, text: str) -> Iterator[str]:
        yield from ("", self._label(key))
        yield from self._text(text)

    def _passage(self, passage: Passage) -> Iterator[str]:
        if self._version:
            yield from self._said(passage.at(self._version))
            return
        yield from self._said(passage)
        for variant in passage.variants:
            yield f"{INDENT}[{self._label('mindspore')} {variant.condition.text}]"
            yield from self._said(Passage(variant.text, variant.code) if variant.text else Passage(passage.text, ""))
            if variant.text is None:
                yield from _code(variant.code)

    def _said(self, passage: Passage) -> Iterator[str]:
        yield from self._text(passage.text.text(self._language))
        yield from _code(passage.code)

    def _ids(self, label: str, ids: Sequence[str], indent: str = "") -> Iterator[str]:
        if ids:
            yield from self._hanging(f"{indent}{self._label(label)}: ", ", ".join(ids))

    def _sources(self, sources: Sequence[Source]) -> Iterator[str]:
        yield from ("", self._label("sources"))
        for source in sources:
            title = self._base.documents[source.document].title.text(self._language)
            yield from self._hanging(f"{INDENT}- ", f"{title}: {source.section}")

    def _target(self, target: str) -> str:
        if target == END:
            return self._label("end")
        if target.startswith(SYMPTOM):
            return f"{self._label('to-symptom')} {target[len(SYMPTOM) :]}"
        if target.startswith(FLOW):
            return f"{self._label('to-flow')} {target[len(FLOW) :]}"
        return target

    def _row(self, key: str, title: str) -> str:
        return f"{INDENT}{pad(key, max(ID_CELLS, width(key)))} {title}"

    def _section(self, label: str, groups: Sequence[Tuple[str, Sequence[object]]]) -> List[str]:
        """One kind of entries: heading, then each group with ids and titles."""
        lines = [self._label(label), RULE * width(self._label(label))]
        for group, entries in groups:
            if group and entries:
                lines.append(f"[{self._label(group)}]")
            for entry in entries:
                assert isinstance(entry, (Symptom, Cause, Flow, Topic))
                lines.append(self._row(entry.id, entry.title.text(self._language)))
        return [*lines, ""]


def _code(code: str) -> Iterator[str]:
    for line in code.splitlines():
        yield CODE_INDENT + line
