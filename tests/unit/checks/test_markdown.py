"""The story of an incident as Markdown: complete, in either language, and plain text whatever it holds."""

from __future__ import annotations

from typing import Dict, Iterator, List, Tuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mstui import __version__, i18n
from mstui.checks.markdown import LINE_LIMIT, Report, code_block, escape, incident_markdown, maintainers_markdown
from mstui.checks.session import Case, Session, session
from mstui.checks.session_notes import Pen
from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import Observation
from mstui.knowledge.schema import CHINESE
from mstui.model.alerts import Evidence, Happening, Incident, Scope, Severity, Symptom
from mstui.model.checks import CLASSES
from mstui.safe_text import safe

BASE = knowledge()
ANN, BOB = Pen("i", 1.0, "ann@host"), Pen("i", 2.0, "bob|host")
HOSTILE = (
    "# not a heading\n* item <script>x</script> [a](http://evil) ![i](x) | cell | `code` ~~gone~~ \x1b[31m\u202e"
    " www.evil.org a@b.org &lt; $x$"
)
RENDERED = MarkdownIt("gfm-like")


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    before = i18n.current_language()
    i18n.set_language("en")
    yield
    i18n.set_language(before)


def rendered(text: str) -> Tuple[str, Dict[str, int]]:
    """The text that a reader sees, and how often each kind of markup is there."""
    seen: List[str] = []
    kinds: Dict[str, int] = {}
    for token in RENDERED.parse(text):
        kinds[token.type] = kinds.get(token.type, 0) + 1
        for child in token.children or ():
            kinds[child.type] = kinds.get(child.type, 0) + 1
            seen.append(child.content)
        seen.append("\n")
        if token.type in ("fence", "code_block"):
            seen.append(token.content)
    return "".join(seen), kinds


def incident(tag: str = "loss", words: str = "train.log") -> Incident:
    flat = Happening(
        Symptom.LOSS_FLAT,
        Severity.ERROR,
        Scope(0, tag),
        120,
        150,
        1.79e9,
        (Evidence("{n} records without a drop in {file}", {"n": 30, "file": words}),),
    )
    vanish = Happening(Symptom.GRAD_VANISH, Severity.WARN, Scope(3, "", "fc1.weight"), 160, 160, 1.79e9, (), 170, (), 2)
    return Incident(1, (flat, vanish))


def answered() -> Session:
    seen = {"overflow-all": Observation(value=True, sentence="All 50 steps overflowed.")}
    at = session(BASE, Case(("loss-flat", "grad-vanish"), observations=seen, version="2.3.1"), ())
    at = at.plus(at.answer(BOB, "no", note="50 of 50"))
    at = at.plus(at.judge(ANN, "no-shuffle", "no"))
    at = at.plus(at.declare(ANN, CLASSES, 10))
    return at.plus(at.answer(ANN, "yes"))


def report(at: Session, **more: object) -> Report:
    return Report(at, "/data/run", 1_790_000_000.0, **more)  # type: ignore[arg-type]


def test_the_story_holds_run_versions_timeline_causes_answers_outcome_fix_and_sources() -> None:
    text = incident_markdown(report(answered(), incident=incident(), versions={"CANN": "8.0.RC1"}), "en")
    seen, kinds = rendered(text)
    assert text.startswith("# Loss does not fall\n")
    for part in (
        "Run: /data/run", "CANN: 8.0.RC1", "MindSpore: 2.3.1", f"mstui: {__version__}", "2026-09-21",
        "step 120: Loss does not fall", "said at step 150", "30 records without a drop in train.log",
        "step 160: Gradients vanish", "rank 3", "layer fc1.weight", "cleared at step 170", "seen again 2 times",
        "Loss scale unsuited", "(loss-scale-bad)", "All 50 steps overflowed.", "+5",
        "no 50 of 50", "bob|host", "number of classes, or vocabulary size", "cause found",
        "Let the scale adjust itself.", "DynamicLossScaleManager", "mp.02",
    ):  # fmt: skip
        assert part in seen, part
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## What was seen", "## Causes, likeliest first", "## Answers", "## Outcome", "## Sources"]
    assert f"~~**{BASE.causes['no-shuffle'].title.en}** (no-shuffle)~~ ruled out" in text
    assert kinds["table_open"] == 1


def test_a_story_in_chinese_is_chinese_while_english_is_spoken() -> None:
    text = incident_markdown(report(answered(), incident=incident()), CHINESE)
    assert text.startswith("# loss 不下降\n")
    assert "找到原因" in text
    assert BASE.causes["loss-scale-bad"].fix.text.zh[:10] in rendered(text)[0]
    assert BASE.evidence["overflow-all"].yes.zh in rendered(text)[0]
    assert "All 50 steps overflowed" not in text
    assert BASE.symptoms["loss-flat"].sources
    assert i18n.current_language() == "en"


def test_an_unfinished_check_says_so() -> None:
    at = session(BASE, Case(("loss-flat",)), ())
    at = at.plus(at.answer(ANN, "yes"))
    assert "The checks are not finished: 1 question was answered." in rendered(incident_markdown(report(at), "en"))[0]


def test_hostile_names_and_notes_stay_plain_text() -> None:
    at = session(BASE, Case(("loss-flat",), version=HOSTILE), ())
    at = at.plus(at.answer(Pen("i", 1.0, HOSTILE), "yes", note=HOSTILE))
    at = at.plus(at.judge(ANN, "no-shuffle", "no", note=HOSTILE))
    plain = incident_markdown(report(answered(), incident=incident()), "en")
    told = incident(HOSTILE, HOSTILE)
    for build in (incident_markdown, maintainers_markdown):
        text = build(
            Report(at, HOSTILE, 0.0, told, {HOSTILE: HOSTILE}, [(HOSTILE, HOSTILE)], [(HOSTILE, [HOSTILE])]), "en"
        )
        seen, kinds = rendered(text)
        for kind in ("link_open", "image", "html_inline", "html_block", "code_inline"):
            assert kind not in kinds, kind
        assert kinds.get("s_open", 0) <= len(at.ranked)
        assert all(char == "\n" or char.isprintable() for char in text)
        assert "# not a heading<0a>* item <script>x</script> [a](http://evil)" in seen
    assert rendered(plain)[1]["table_open"] == 1


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=80), st.from_regex(r"\A[A-Za-z.0-9_/ -]{1,40}\.[A-Za-z]{2,4}[^ ]{0,3}\Z")))
@example("A.AL")
@example("see train.py and net.in")
def test_escaped_text_reads_as_itself_and_is_one_paragraph(text: str) -> None:
    source = f"- {escape(text)} |"
    seen, kinds = rendered(source)
    assert set(kinds) <= {
        "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "paragraph_open",
        "paragraph_close", "inline", "text", "text_special",
    }  # fmt: skip
    assert seen.strip() == f"{safe(text, LINE_LIMIT).strip()} |".strip()


@pytest.mark.parametrize("begin", ["1. x", "12) x", "- x", "+ x", "= x", "# x", "> x", "    x", "***", "---", "```"])
def test_escaped_text_at_the_start_of_a_line_begins_nothing(begin: str) -> None:
    _seen, kinds = rendered(escape(begin))
    assert set(kinds) <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}


def test_a_code_block_cannot_be_closed_from_inside() -> None:
    block = list(code_block(["a", "```", "`````", "# b", "\x1b[2J"]))
    assert block[0] == block[-1] == "``````"
    seen, kinds = rendered("\n".join(block))
    assert kinds == {"fence": 1}
    assert "<1b>[2J" in seen


def test_the_draft_for_the_maintainers_has_versions_statistics_curves_and_what_bisecting_found() -> None:
    at = session(BASE, Case(flow="check1#C1.2", version="2.3.1"), ())
    at = at.plus(at.name_places(ANN, ["conv1", "attention"]))
    for word in ("no", "yes", "no", "no", "no"):
        at = at.plus(at.answer(ANN, word))
    assert at.outcome is not None
    assert at.outcome.kind == "report"
    text = maintainers_markdown(
        report(at, statistics=[("loss, step 1", "7.31")], curves=[("loss", ["7 |*", "0 | *"])]), "en"
    )
    seen, _kinds = rendered(text)
    for part in (
        "Draft for the framework's maintainers: Check 1: first forward loss", "MindSpore: 2.3.1", "[fill in]",
        "Report the forward precision of this operator.", "The first place that differs is attention.",
        "loss, step 1: 7.31", "7 |*",
    ):  # fmt: skip
        assert part in seen, part
    chinese = maintainers_markdown(report(at), CHINESE)
    assert "反馈该算子的正向精度问题" in chinese


def test_a_checklist_is_titled_by_its_flow_and_lists_every_answer() -> None:
    at = session(BASE, Case(flow="checklist"), ())
    while at.ask is not None:
        at = at.plus(at.answer(ANN, "no" if at.ask.subject == "checklist:hp.02" else "yes"))
    seen, _kinds = rendered(incident_markdown(report(at), "en"))
    assert seen.lstrip().startswith("Checklist before training")
    assert "trouble points to" in seen
    assert BASE.causes["epochs-few"].title.en in seen
    assert seen.count("ann@host") == at.answered
