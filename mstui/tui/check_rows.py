"""One question of a guided check, or its outcome, as rows of a width. Pure: words in, rows out.

Code is never shortened, since it is there to be copied; lines that are too long go on below.
"""

from __future__ import annotations

from typing import List, Mapping, NamedTuple, Optional, Sequence, Tuple

from mstui.checks.session import Session
from mstui.checks.session_ask import AskKind
from mstui.checks.session_screen import Ending, Figure, Screen, SessionWords
from mstui.i18n import LANGUAGES, SOURCE_LANGUAGE, _, current_language, ngettext
from mstui.knowledge.bisect import Bisection
from mstui.knowledge.walk import NO, SKIP, UNSURE, YES
from mstui.knowledge.wrapping import wrap
from mstui.model.checks import ProbeState
from mstui.safe_text import safe, width
from mstui.tui.lines import Row, Span
from mstui.tui.wrapping import wrap_as_written

ANSWER_KEYS: Mapping[str, str] = {YES: "y", NO: "n", SKIP: "s", UNSURE: "u"}
"""answer to key; the answers of a state that has its own are numbered"""
LOOKS: Mapping[ProbeState, str] = {ProbeState.OK: "ok", ProbeState.BAD: "warning", ProbeState.UNKNOWN: "dim"}
"""how a check that answers itself is shown, beside its words"""
OUTCOME_LOOKS: Mapping[str, str] = {"found": "strong", "accuses": "warning", "report": "warning"}
INDENT = "  "
MARKED, UNMARKED = "> ", "  "
PLAIN_LIMIT = 2_000
"""characters of one paragraph; the longest of the knowledge has a few hundred"""
LEAST_FACTS = 2
"""facts that are shown though they make a question longer than the screen"""
LEAST_ANSWERED = 4
"""rows from which the answers so far are listed"""
NAMED_PLACES = 3
"""places at either end of a list that are named before the others are counted"""

Group = List[Row]
"""rows that belong together; groups are set apart by a blank row where there is room"""


class Style(NamedTuple):
    """What rows depend on apart from the words."""

    columns: int
    ascii_only: bool

    def plain(self, text: str) -> str:
        """A text fit for this terminal. English is drawn in ASCII; a person who reads Chinese has more characters."""
        ascii_only = self.ascii_only and current_language() == SOURCE_LANGUAGE
        return safe(text, PLAIN_LIMIT, ascii_only=ascii_only)

    def paragraph(self, text: str, look: str = "text", indent: str = "") -> Group:
        """Wrapped rows."""
        lines = wrap(self.plain(text), self.columns - width(indent)) if text else []
        return [((indent, "text"), (line, look)) for line in lines]

    def hanging(self, head: str, text: str, head_look: str = "dim", look: str = "text") -> Group:
        """A text behind a head, its further lines indented."""
        lines = wrap(f"{head} {self.plain(text)}", self.columns - len(INDENT))
        rows: Group = []
        for at, line in enumerate(lines):
            if at == 0 and line.startswith(head):
                rows.append(((head, head_look), (line[len(head) :], look)))
            else:
                rows.append(((INDENT, "text"), (line, look)))
        return rows

    def code(self, code: str) -> Group:
        """Lines to copy."""
        rows: Group = []
        for line in code.splitlines():
            shown = wrap_as_written(self.plain(line), self.columns - 2 * len(INDENT))
            rows += [((INDENT * 2, "text"), (piece, "info")) for piece in shown]
        return rows


def answer_key(choices: Sequence[str], word: str) -> str:
    """The key of an answer."""
    return ANSWER_KEYS.get(word) or str(list(choices).index(word) + 1)


def answer_of(choices: Sequence[str], key: str) -> str:
    """The answer that a key gives; empty for none."""
    return next((word for word in choices if answer_key(choices, word) == key), "")


def question_groups(
    session: Session, words: SessionWords, screen: Screen, style: Style, room: int, heading: str = ""
) -> List[Group]:
    """Everything of a question but its keys. Facts that `room` rows do not hold are counted: the causes list has them.

    `heading`: what stands above already.
    """
    label = words.label
    part = style.paragraph(screen.part, "dim") if screen.part not in heading else []
    groups: List[Group] = [part + style.paragraph(screen.ask, "strong")]
    own = [word for word in (choice.word for choice in screen.choices) if word not in ANSWER_KEYS]
    if own:
        groups.append(_options(screen, style))
    do = style.hanging(f"{label('do')}:", screen.do) if screen.do else []
    do += style.code(screen.code)
    if screen.reference:
        do += style.hanging(_("In the reference:"), "") + style.code(screen.reference)
    groups.append(do)
    about: Group = []
    for key, text in (("expected", screen.expect), ("why", screen.why)):
        about += style.hanging(f"{label(key)}:", text) if text else []
    groups.append(about)
    groups.append(_search(session, style))
    groups.append(_found(session, screen, style))
    groups.append(_wanted(session, screen.wants, style))
    groups.append(_evidence(screen.evidence, style, room - sum(len(group) for group in groups)))
    return [group for group in groups if group]


def answered_group(words: SessionWords, style: Style, room: int) -> Group:
    """What was said so far, newest first, as far as there is room; nothing where there is hardly any."""
    said = words.answered()
    rows: Group = [((_("Answered so far"), "strong"),)]
    for question, answer, who in reversed(said):
        rows += style.hanging("-", f"{question} {answer} ({who})" if who else f"{question} {answer}", look="dim")
    return rows[:room] if said and room >= LEAST_ANSWERED else []


def answer_row(screen: Screen, style: Style) -> Row:
    """`y yes  n no  s skip  u not sure`; what was found by itself is what enter gives."""
    words = [choice.word for choice in screen.choices]
    spans: List[Span] = []
    for choice in screen.choices:
        text = style.plain(choice.text) if choice.word in ANSWER_KEYS else ""
        keys = answer_key(words, choice.word)
        if choice.word == screen.offered:
            spans += [("/".join((keys, _("enter"))), "key"), (f" {text}  ", "strong")]
        else:
            spans += [(keys, "key"), (f" {text}  ", "text")]
    return tuple(spans)


def ending_groups(
    session: Session, words: SessionWords, ending: Ending, at: int, accepted: Sequence[str], style: Style
) -> List[Group]:
    """The outcome: what it is, and for each cause what to do. `at`: the cause that keys are about."""
    kind = session.outcome.kind if session.outcome is not None else ""
    groups: List[Group] = [style.paragraph(ending.title, OUTCOME_LOOKS.get(kind, "strong"))]
    groups[0] += style.paragraph(ending.said)
    titles = {line.id: line for line in ending.causes}
    for i, (cause, fix, code) in enumerate(ending.fixes):
        line = titles[cause]
        sure = _("accepted") if cause in accepted else line.word
        several = len(ending.fixes) > 1
        head = f"{MARKED if several and i == at else UNMARKED if several else ''}{style.plain(line.title)}"
        group: Group = [((head, "strong"), (f"  {cause}", "dim"), (f"  {sure}", "dim"))]
        group += style.hanging(f"{words.label('fix')}:", fix) + style.code(code)
        for points, said in line.reasons[:2]:
            group += style.paragraph(f"{points:+d} {said}", "dim", INDENT)
        groups.append(group)
    if ending.report:
        groups.append(style.paragraph(_("m also writes a draft for the framework's maintainers."), "warning"))
    if ending.sources:
        groups.append(style.hanging(f"{words.label('sources')}:", "; ".join(ending.sources), look="dim"))
    groups.append(style.paragraph(_("Questions answered: {n}").format(n=session.answered), "dim"))
    return [group for group in groups if group]


def stacked(groups: Sequence[Group], height: int) -> List[Row]:
    """The groups one below the other, with blank rows between them where everything fits with them."""
    rows = sum(len(group) for group in groups)
    gap: Group = [()] if rows + len(groups) - 1 <= height else []
    found: List[Row] = []
    for group in groups:
        found += (gap if found else []) + group
    return found


def other_language() -> str:
    """The language that is not spoken."""
    return next(code for code in LANGUAGES if code != current_language())


def _options(screen: Screen, style: Style) -> Group:
    """The answers of a state that has its own, one a row."""
    words = [choice.word for choice in screen.choices]
    rows: Group = []
    for choice in screen.choices:
        key = answer_key(words, choice.word)
        for i, line in enumerate(wrap(style.plain(choice.text), style.columns - 2 * len(INDENT))):
            rows.append(((INDENT, "text"), (key if i == 0 else " ", "key"), (f" {line}", "text")))
    return rows


def _found(session: Session, screen: Screen, style: Style) -> Group:
    """What was found without asking."""
    rows: Group = []
    if screen.found:
        probe = session.ask.probe if session.ask is not None else None
        look = LOOKS[probe.state] if probe is not None else "info"
        rows += style.paragraph(screen.found, look)
    if screen.offered:
        text = next(choice.text for choice in screen.choices if choice.word == screen.offered)
        rows += style.paragraph(_("enter confirms: {answer}").format(answer=text), "key")
    return rows


def _evidence(said: Sequence[str], style: Style, room: int) -> Group:
    """Facts about the causes in question, as many as there is room for, two at least."""
    facts = [style.hanging("-", each) for each in said]
    shown = len(facts)
    while shown > LEAST_FACTS and sum(map(len, facts[:shown])) + (shown < len(facts)) > room:
        shown -= 1
    rows = [row for fact in facts[:shown] for row in fact]
    if shown < len(facts):
        n = len(facts) - shown
        said_more = ngettext("{n} more fact stands with the causes: c", "{n} more facts stand with the causes: c", n)
        rows += style.paragraph(said_more.format(n=n), "dim")
    return rows


def _wanted(session: Session, wants: Sequence[Figure], style: Style) -> Group:
    """Figures that would help, as far as they are known."""
    rows: Group = []
    for figure in wants:
        value = _("not entered: v") if figure.value is None else f"{figure.value:g}"
        rows += style.hanging(f"{style.plain(figure.text)}:", value, look="dim" if figure.value is None else "strong")
    ask = session.ask
    if ask is not None and ask.assist and session.bisection is None:
        rows += style.paragraph(_("v names the places to halve: operators or blocks, in the order of computation."))
    return rows


def _search(session: Session, style: Style) -> Group:
    """The low and the high end of a search."""
    search, ask = session.bisection, session.ask
    if search is None or ask is None or ask.kind is not AskKind.PLACE:
        return []
    low, high = ends(search)
    rows = style.hanging(_("agrees up to:"), low or _("nothing yet"), look="ok" if low else "dim")
    rows += style.hanging(_("differs from:"), high or _("nothing yet"), look="warning" if high else "dim")
    left = search.steps_left
    said = ngettext("{n} places, one look at most", "{n} places, {left} looks at most", left)
    said = said.format(n=len(search.places), left=left)
    return rows + style.paragraph(said, "dim")


def ends(search: Bisection) -> Tuple[str, str]:
    """The last place known to agree and the first known to differ; empty while there is none."""
    low = search.places[search.good] if search.good >= 0 else ""
    high = search.places[search.bad] if search.bad is not None else ""
    return low, high


def places_text(names: Sequence[str]) -> str:
    """A few names of either end, and how many there are."""
    if len(names) <= 2 * NAMED_PLACES:
        return ", ".join(names)
    shown = [*names[:NAMED_PLACES], "...", *names[-NAMED_PLACES:]]
    return ", ".join(shown) + "  " + _("({n} places)").format(n=len(names))


def code_to_copy(screen: Optional[Screen], ending: Optional[Ending], at: int) -> str:
    """What `Y` takes along."""
    if screen is not None:
        return screen.code
    if ending is not None and ending.fixes:
        _cause, fix, code = ending.fixes[min(at, len(ending.fixes) - 1)]
        return code or fix
    return ""
