"""The shapes of knowledge: frozen values that the loader fills and everybody reads. No file is opened here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping, Optional, Tuple

from mstui.knowledge.versions import Condition

CHINESE = "zh_CN"

GROUPS = ("hyper-parameters", "data", "structure", "algorithm", "precision", "parallel", "system")
"""Classes of causes, in the order in which they are listed"""
FAMILIES = ("loss", "metric", "gradient", "weight", "activation", "precision", "data", "learning-rate", "system")
"""Families of symptoms, in the order in which they are listed"""
NEEDS = ("static", "dynamic", "both")
"""What a check looks at: the script and its settings before anything runs, what the training records, or both"""
ORIGINS = (
    "scalars", "histograms", "logs", "lineage", "graph", "pipeline", "declared", "ranks", "files",
    "sample", "script", "checkpoint", "answers",
)  # fmt: skip
"""Where evidence comes from"""
OUTCOMES = ("found", "clean", "report", "wait", "healthy")
"""How a flow ends: cause found, all ruled out, report to the maintainers, not enough run yet, nothing wrong"""


@dataclass(frozen=True)
class Pair:
    """One text in both languages."""

    en: str
    zh: str

    def text(self, language: str) -> str:
        """The text in a language; English where the language is not known."""
        return self.zh if language == CHINESE else self.en


@dataclass(frozen=True)
class Variant:
    """What a passage says instead, for some MindSpore versions."""

    condition: Condition
    text: Optional[Pair]
    """None: the text is as always, only the code differs"""
    code: str


@dataclass(frozen=True)
class Passage:
    """A text with code to copy, exact for a framework version. The plain one holds when no version is known."""

    text: Pair
    code: str = ""
    variants: Tuple[Variant, ...] = ()

    def at(self, version: str = "") -> Passage:
        """The passage for one MindSpore version, without variants; the plain one where none fits."""
        for variant in self.variants:
            if variant.condition.holds(version):
                return Passage(variant.text or self.text, variant.code)
        return Passage(self.text, self.code)


@dataclass(frozen=True)
class Document:
    """Something that was read: where a statement comes from."""

    id: str
    title: Pair


@dataclass(frozen=True)
class Source:
    """A place in a document."""

    document: str
    section: str


@dataclass(frozen=True)
class Topic:
    """A page of the manual that is no symptom, cause or check: a class, a rule of thumb, an exact API fact, an idea."""

    id: str
    kind: str
    title: Pair
    body: Passage
    see: Tuple[str, ...]
    """ids of causes, checks, symptoms and topics"""
    sources: Tuple[Source, ...]


@dataclass(frozen=True)
class Cause:
    """Why a training can be ill."""

    id: str
    group: str
    explains: bool
    """True for what explains a symptom without being a fault: by design, terminal, or another symptom"""
    title: Pair
    about: Pair
    fix: Passage
    fix_sources: Tuple[Source, ...]
    topics: Tuple[str, ...]
    opens: str
    """id of a symptom to go on with; empty for most"""
    sources: Tuple[Source, ...]


@dataclass(frozen=True)
class Step:
    """One check. "Yes" always means that all is as expected, "no" that trouble is found."""

    id: str
    ask: Pair
    do: Passage
    expect: Pair
    why: Pair
    needs: str
    probe: str
    """id of the probe that may answer it; empty: only a person can"""
    topics: Tuple[str, ...]
    sources: Tuple[Source, ...]


@dataclass(frozen=True)
class Probe:
    """The name of a check that answers itself; the code is elsewhere."""

    id: str
    title: Pair


@dataclass(frozen=True)
class Evidence:
    """A fact that moves causes: true, false or unknown."""

    id: str
    origins: Tuple[str, ...]
    how: Pair
    """what is computed, with its thresholds"""
    yes: Pair
    """sentence when it is true"""
    no: Optional[Pair]
    """sentence when it is false; None where false says nothing"""


@dataclass(frozen=True)
class Weight:
    """What one fact does to one cause's score."""

    evidence: str
    when: bool
    points: int
    """above 0 raises, below 0 lowers"""


@dataclass(frozen=True)
class Suspect:
    """A cause as a symptom sees it."""

    cause: str
    prior: int
    why: Pair
    """the reason for its place"""
    weights: Tuple[Weight, ...]


@dataclass(frozen=True)
class Question:
    """A check as a symptom asks it, and whom trouble accuses."""

    step: str
    accuses: str
    also: Tuple[str, ...] = ()
    """causes that trouble makes more likely as well"""


@dataclass(frozen=True)
class Then:
    """Where a symptom's checks go on when all are answered."""

    to: str
    """"end", "symptom:ID" or "flow:ID" or "flow:ID#STATE" """
    say: Optional[Pair] = None


@dataclass(frozen=True)
class Symptom:
    """What can be seen, its suspects in documented order, and the order of its checks."""

    id: str
    family: str
    title: Pair
    summary: Pair
    seen: Pair
    """how it is recognised"""
    suspects: Tuple[Suspect, ...]
    questions: Tuple[Question, ...]
    then: Then
    sources: Tuple[Source, ...]


@dataclass(frozen=True)
class State:
    """One screen of a flow: a question, or an end."""

    id: str
    ask: Pair
    do: Optional[Passage]
    expect: Optional[Pair]
    why: Optional[Pair]
    probe: str
    step: str
    """id of the shared check whose texts it shows; empty when it has its own"""
    answers: Mapping[str, str]
    """answer to target: a state of this flow, "flow:ID", "flow:ID#STATE" or "symptom:ID". Empty for an end."""
    options: Mapping[str, Pair]
    """texts of the answers where they are not yes, no, skip and unsure"""
    accuses: Tuple[str, ...]
    """causes that "no" accuses, or that an end names"""
    assist: str
    passes: str
    """id of what "yes" proves ("check-1"); empty for nothing"""
    gate: str
    """id of what must be proved before: then it answers itself with yes; else no"""
    asks_reference: bool
    """its answer says whether there is a reference implementation"""
    without_reference: str
    """state to go to instead when there is no reference; empty: it needs none"""
    outcome: str
    """one of OUTCOMES for an end; empty for a question"""
    sources: Tuple[Source, ...]

    @property
    def is_end(self) -> bool:
        """Whether the flow ends here."""
        return bool(self.outcome)


@dataclass(frozen=True)
class Assist:
    """A help beside a question: what to put into the script, and into the reference, at a named place."""

    id: str
    title: Pair
    about: Pair
    here: Passage
    """its code holds {place} where the name goes"""
    reference: Passage
    sources: Tuple[Source, ...]


@dataclass(frozen=True)
class Flow:
    """A walk of questions; its states by id, in documented order."""

    id: str
    title: Pair
    about: Pair
    start: str
    states: Mapping[str, State]
    sources: Tuple[Source, ...]


@dataclass(frozen=True)
class Knowledge:
    """Everything, by id. Every id in it resolves; the loader saw to it."""

    documents: Mapping[str, Document]
    topics: Mapping[str, Topic]
    causes: Mapping[str, Cause]
    steps: Mapping[str, Step]
    probes: Mapping[str, Probe]
    evidence: Mapping[str, Evidence]
    symptoms: Mapping[str, Symptom]
    flows: Mapping[str, Flow]
    assists: Mapping[str, Assist]
    labels: Mapping[str, Pair] = field(default_factory=dict)
    """words of the manual's own: headings and answers"""
