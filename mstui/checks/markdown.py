"""What came of an incident as Markdown in either language: its whole story, and a draft for the maintainers.

Whatever comes from files and persons is plain text in it: no control characters, no markup, no links. It opens nothing;
who calls it writes the file.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Iterator, List, Mapping, Optional, Sequence, Tuple

from mstui import __version__
from mstui.checks.session import Session
from mstui.checks.session_screen import CauseLine, Ending, SessionWords
from mstui.checks.words import Speaker
from mstui.i18n import mark
from mstui.knowledge.schema import Source
from mstui.model.alerts import TITLES, Happening, Incident, Severity
from mstui.safe_text import safe

RUN, WRITTEN = mark("Run"), mark("Written")
SEEN, TIMELINE_STEP, DETECTED = mark("What was seen"), mark("step {step}"), mark("said at step {step}")
CLEARED_AT = mark("cleared at step {step}")
RANK, LAYER, TAG = mark("rank {rank}"), mark("layer {layer}"), mark("tag {tag}")
CAUSES, NO_CAUSE = mark("Causes, likeliest first"), mark("No cause is suspected.")
ANSWERS, QUESTION, ANSWER, BY = mark("Answers"), mark("Question"), mark("Answer"), mark("By")
OUTCOME = mark("Outcome")
DRAFT = mark("Draft for the framework's maintainers")
DRAFT_HELP = mark("Fill in what stands in brackets, then send it to the issue tracker of MindSpore.")
ENVIRONMENT, WHAT_HAPPENS = mark("Environment"), mark("What happens")
TO_REPRODUCE, STATISTICS, CURVES = mark("To reproduce"), mark("Statistics"), mark("Curves")
MISSING = mark("[fill in]")
NEEDED: Tuple[str, ...] = (
    mark("operator or optimizer, with its arguments"),
    mark("inputs, or the seed and shape that make them"),
    mark("result here, and result of the reference"),
    mark("hardware, driver and CANN version"),
)
"""What a maintainer asks for and mstui cannot know"""
SEVERITIES: Mapping[Severity, str] = {
    Severity.INFO: mark("info"),
    Severity.WATCH: mark("watch"),
    Severity.WARN: mark("warning"),
    Severity.ERROR: mark("error"),
    Severity.CRITICAL: mark("critical"),
}
LINE_LIMIT = 400
"""Characters of one line of a curve or of one sentence"""
MOST_LINES = 200
"""Lines of one text curve; a screen has fewer"""

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~&#!$@])")
_LINKS = re.compile(r"(?i)(:?//|www\.|mailto:|xmpp:)")
_DOMAIN = re.compile(
    r"(?i)\.(?=(?:[a-z]{2}|biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop|рф|xn--[a-z0-9-]+)"
    r"(?![a-z0-9]))"
)
"""The dot of what some readers of Markdown take for the address of a site: `train.py`, `net.in`."""
_LIST_START = re.compile(r"^(\d{1,9})([.)])|^([-+=])")
_FENCE = re.compile(r"`{3,}")


@dataclass(frozen=True)
class Report:
    """What is written about."""

    session: Session
    run: str
    """path or name of the run"""
    written_at: float
    """Unix seconds"""
    incident: Optional[Incident] = None
    versions: Mapping[str, str] = field(default_factory=dict)
    """name to version, as they are known: MindSpore, CANN, Python ..."""
    statistics: Sequence[Tuple[str, str]] = ()
    """name and figure"""
    curves: Sequence[Tuple[str, Sequence[str]]] = ()
    """title and lines of a picture made of text"""


def escape(text: str, limit: int = LINE_LIMIT) -> str:
    """The text as plain Markdown on one line: every character reads as itself, nothing becomes a link or a list."""
    plain = _SPECIAL.sub(r"\\\1", safe(text, limit)).strip()
    plain = _LINKS.sub(lambda found: _broken(found.group(1)), plain)
    plain = _DOMAIN.sub(r"\\.", plain)
    return _LIST_START.sub(lambda found: f"{found.group(1) or ''}\\{found.group(2) or found.group(3)}", plain)


def code_block(lines: Sequence[str], language: str = "") -> Iterator[str]:
    """A fenced block that its own lines cannot close."""
    shown = [_code_line(line) for line in lines[:MOST_LINES]]
    longest = max((len(run) for line in shown for run in _FENCE.findall(line)), default=2)
    fence = "`" * max(longest + 1, 3)
    yield fence + language
    yield from shown
    yield fence


def incident_markdown(report: Report, language: str) -> str:
    """The whole story of an incident, or of a checklist."""
    return "\n".join(_Writer(report, language).story()) + "\n"


def maintainers_markdown(report: Report, language: str) -> str:
    """A draft that a person completes and sends to the framework's maintainers."""
    return "\n".join(_Writer(report, language).draft()) + "\n"


class _Writer:
    """One report in one language."""

    def __init__(self, report: Report, language: str) -> None:
        self._report = report
        self._session = report.session
        self._language = language
        self._say = Speaker(language)
        self._words = SessionWords(report.session, language)

    def story(self) -> Iterator[str]:
        yield f"# {self._title()}"
        yield ""
        yield from self._head()
        if self._report.incident is not None:
            yield from self._section(SEEN)
            for happening in self._report.incident.happenings:
                yield from self._happening(happening)
        yield from self._section(CAUSES)
        yield from self._causes()
        yield from self._answers()
        yield from self._outcome()
        yield from self._curves()
        yield from self._sources()

    def draft(self) -> Iterator[str]:
        ending = self._words.ending()
        yield f"# {self._say(DRAFT)}: {self._title()}"
        yield ""
        yield f"> {self._say(DRAFT_HELP)}"
        yield from self._section(ENVIRONMENT)
        yield from self._head()
        yield from self._section(WHAT_HAPPENS)
        yield from self._said(ending)
        for each in self._report.incident.happenings if self._report.incident is not None else ():
            yield from self._happening(each)
        yield from self._section(TO_REPRODUCE)
        for needed in NEEDED:
            yield f"- {self._say(needed)}: {escape(self._say(MISSING))}"
        for assist, search in self._searches():
            yield f"- {escape(assist)}: {escape(search)}"
        yield from self._answers()
        if self._report.statistics:
            yield from self._section(STATISTICS)
            yield from self._rows(self._report.statistics)
        yield from self._curves()

    # --- sections

    def _section(self, title: str) -> Iterator[str]:
        yield from ("", f"## {escape(self._say(title))}", "")

    def _title(self) -> str:
        base, case = self._session.base, self._session.case
        flow = case.flow.partition("#")[0]
        if case.symptoms and self._session.symptoms:
            return escape(base.symptoms[self._session.symptoms[0]].title.text(self._language))
        return escape(base.flows[flow].title.text(self._language) if flow in base.flows else self._report.run)

    def _head(self) -> Iterator[str]:
        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(self._report.written_at))
        versions = dict(self._report.versions)
        if self._session.case.version:
            versions.setdefault("MindSpore", self._session.case.version)
        rows = [(self._say(RUN), self._report.run), *versions.items()]
        rows += [("mstui", __version__), (self._say(WRITTEN), when)]
        yield from self._rows(rows)

    @staticmethod
    def _rows(rows: Sequence[Tuple[str, str]]) -> Iterator[str]:
        for name, value in rows:
            yield f"- {escape(name)}: {escape(value)}"

    def _happening(self, happening: Happening) -> Iterator[str]:
        scope = happening.scope
        details = [self._say(SEVERITIES[happening.severity])]
        if happening.detected_step != happening.step:
            details.append(self._say(DETECTED, step=happening.detected_step))
        details.append(self._say(RANK, rank=scope.rank_id))
        details += [self._say(TAG, tag=scope.tag)] if scope.tag else []
        details += [self._say(LAYER, layer=scope.layer)] if scope.layer else []
        if happening.cleared_step is not None:
            details.append(self._say(CLEARED_AT, step=happening.cleared_step))
        if happening.repeats:
            details.append(self._say.ngettext("seen again once", "seen again {n} times", happening.repeats))
        title = self._say(TITLES[happening.symptom])
        step = self._say(TIMELINE_STEP, step=happening.step)
        yield f"- **{escape(step)}: {escape(title)}** ({escape(', '.join(details))})"
        for evidence in happening.evidence:
            yield f"  - {escape(self._say(evidence.message, **evidence.numbers))}"

    def _causes(self) -> Iterator[str]:
        lines = self._words.causes()
        if not lines:
            yield self._say(NO_CAUSE)
        for at, line in enumerate(lines, 1):
            yield f"{at}. {self._cause(line)}"
            for points, said in line.reasons:
                yield f"   - {points:+d}: {escape(said)}"

    @staticmethod
    def _cause(line: CauseLine) -> str:
        name = f"**{escape(line.title)}** ({escape(line.id)})"
        if line.refuted:
            return f"~~{name}~~ {escape(line.word)}"
        return f"{name} {escape(line.word)}, {line.score:+d}" if line.word else name

    def _answers(self) -> Iterator[str]:
        rows = self._words.answered()
        if not rows:
            return
        yield from self._section(ANSWERS)
        yield f"| {self._say(QUESTION)} | {self._say(ANSWER)} | {self._say(BY)} |"
        yield "| --- | --- | --- |"
        for question, answer, who in rows:
            yield f"| {escape(question)} | {escape(answer)} | {escape(who)} |"

    def _outcome(self) -> Iterator[str]:
        ending = self._words.ending()
        yield from self._section(OUTCOME)
        yield from self._said(ending)
        if ending is None:
            return
        titles = {line.id: line for line in ending.causes}
        for cause, fix, code in ending.fixes:
            yield ""
            yield f"### {self._cause(titles[cause])}"
            yield ""
            yield escape(fix, 2 * LINE_LIMIT)
            if code:
                yield ""
                yield from code_block(code.splitlines(), "python")

    def _said(self, ending: Optional[Ending]) -> Iterator[str]:
        """The outcome in words, or that there is none yet."""
        if ending is None:
            undecided = self._say.ngettext(
                "The checks are not finished: {n} question was answered.",
                "The checks are not finished: {n} questions were answered.",
                self._session.answered,
            )
            yield escape(undecided)
            return
        yield f"**{escape(ending.title)}**"
        if ending.said:
            yield ""
            yield escape(ending.said)

    def _searches(self) -> List[Tuple[str, str]]:
        """What bisecting found."""
        return [(title, found) for title, found in self._words.searches() if found]

    def _curves(self) -> Iterator[str]:
        if self._report.curves:
            yield from self._section(CURVES)
        for title, lines in self._report.curves:
            yield escape(title)
            yield ""
            yield from code_block(lines)
            yield ""

    def _sources(self) -> Iterator[str]:
        """Where the statements about symptoms and shown causes come from."""
        base = self._session.base
        sources: List[Source] = []
        for symptom in self._session.symptoms:
            sources += base.symptoms[symptom].sources
        for walk in self._session.walks:
            sources += base.flows[walk.place.flow].sources
        for line in self._words.causes():
            sources += base.causes[line.id].sources if not line.refuted else ()
        yield from ("", f"## {escape(self._words.label('sources'))}", "")
        for said in self._words.sources(sources):
            yield f"- {escape(said)}"


def _broken(link: str) -> str:
    """A piece that would begin a link, as plain text."""
    return link[:-1] + "\\" + link[-1] if link[-1] in ".:" else "\\" + link


def _code_line(line: str) -> str:
    """One line of code or of a picture: its spaces stay, what is harmful does not."""
    return safe(line, LINE_LIMIT)
