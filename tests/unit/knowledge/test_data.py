"""The knowledge that comes with mstui: complete, consistent, in both languages, and of its own wording."""

from __future__ import annotations

import ast
import dataclasses
import re
from types import SimpleNamespace
from typing import Dict, Iterator, List, Set, Tuple

import pytest

from mstui.knowledge import loader
from mstui.knowledge.coverage import rows, uncarried
from mstui.knowledge.loader import knowledge
from mstui.knowledge.schema import CHINESE, Pair, Passage, Variant
from mstui.knowledge.wrapping import wrap
from mstui.safe_text import width

BASE = knowledge()

SYMPTOMS = [
    "loss-nan", "loss-inf", "loss-huge", "loss-zero", "loss-flat", "loss-slow", "loss-oscillate", "loss-spike",
    "loss-diverge", "loss-shift", "plateau", "metric-low", "metric-chance", "overfit", "underfit", "grad-vanish",
    "grad-explode", "grad-zero", "weight-static", "weight-change-small", "weight-change-large", "init-all-zero",
    "rank-differs", "act-saturated", "dead-relu", "overflow-streak", "scale-collapse", "scale-stuck",
    "data-missing-s", "data-imbalance-s", "data-scale-s", "data-order-s", "lr-anomaly", "stall", "slow-down", "crash",
]  # fmt: skip

CAUSES = [
    "lr-too-large", "lr-too-small", "lr-schedule-wrong", "loss-scale-bad", "init-unreasonable", "epochs-few",
    "epochs-many", "batch-too-large", "weight-decay-mismatch", "clip-missing", "clip-before-unscale",
    "grad-penalty-scaled", "data-missing", "data-outlier", "label-wrong", "class-imbalance", "too-few-samples",
    "data-copy-differs", "not-normalised", "infer-differs", "no-shuffle", "padding-wrong", "shard-wrong",
    "token-id-range", "dropout-inverted", "bn-momentum-inverted", "api-default-differs", "div-by-zero",
    "construct-constraint", "loss-fn-wrong", "bce-logits-mixup", "double-softmax", "op-misuse",
    "weight-sharing-wrong", "frozen-by-mistake", "unfrozen-by-mistake", "not-registered", "node-disconnected",
    "train-mode-missing", "eval-mode-missing", "bn-batch-stats-forced", "optimizer-wrong", "init-zero",
    "pretrained-wrong", "activation-mismatch", "fp16-overflow", "loss-in-fp16", "amp-conflict",
    "fixed-scale-mismatch", "op-precision", "precision-mismatch", "rank-init-differs", "no-grad-reduce",
    "not-parallel", "global-batch-changed", "silent-corruption", "bad-resume", "data-slow", "slow-rank", "slow-link",
    "collective-timeout", "compile-or-ckpt-pause",
]  # fmt: skip

EXPLANATIONS = [
    "skip-mode", "expected", "grad-vanish", "batch-too-small", "lr-cyclic", "mix-switch", "converged", "capacity",
    "sparse-embedding", "zero-start", "process-gone", "process-crash", "recompile", "logging",
]  # fmt: skip

STEPS = [
    "obj", "first-bad", "overflow", "scale", "input", "label", "batch", "lr", "lr-shape", "gnorm", "clip", "guard",
    "lossfn", "loss0", "moves", "inopt", "frozen", "graph", "act", "init", "ranks", "par", "norm", "shuf", "bal",
    "look", "tmode", "dropout", "dtype", "scalecfg", "emode", "epipe", "gap", "late", "ref", "rerun", "resume",
    "time", "alive", "code", "depth",
]  # fmt: skip

ROWS = 154
SCREEN_ROWS, SCREEN_COLUMNS = 16, 74
"""Room of one question on an 80x24 screen beside frame, header, evidence and keys"""
CODE_COLUMNS = 76
"""Longest line of code to copy; longer ones are split by hand"""


def pairs(value: object, path: str = "") -> Iterator[Tuple[str, Pair]]:
    """Every text in both languages of a value, with the way to it."""
    if isinstance(value, Pair):
        yield path, value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from pairs(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from pairs(item, f"{path}.{key}")
    elif isinstance(value, tuple):
        for at, item in enumerate(value):
            yield from pairs(item, f"{path}[{at}]")


def passages(value: object, path: str = "") -> Iterator[Tuple[str, Passage]]:
    if isinstance(value, Passage):
        yield path, value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from passages(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from passages(item, f"{path}.{key}")


def shared_step_states(path: str) -> bool:
    """States that show a shared check's texts have none of their own."""
    found = re.match(r"\.flows\.([^.]+(?:\.[^.]+)?)\.states\.(.+)\.ask\Z", path)
    return found is not None and bool(BASE.flows[found.group(1)].states[found.group(2)].step)


ALL_PAIRS = [(path, pair) for path, pair in pairs(BASE) if not shared_step_states(path)]


def test_the_documented_symptoms_are_there() -> None:
    assert sorted(BASE.symptoms) == sorted(SYMPTOMS)
    assert len(SYMPTOMS) == 35 + 1, "the documented ones, and the crash"


def test_the_documented_causes_are_there() -> None:
    assert sorted(key for key, cause in BASE.causes.items() if not cause.explains) == sorted(CAUSES)
    assert sorted(key for key, cause in BASE.causes.items() if cause.explains) == sorted(EXPLANATIONS)
    assert len(CAUSES) == 62


def test_the_documented_checks_are_there() -> None:
    assert sorted(BASE.steps) == sorted(f"st.{name}" for name in STEPS)
    assert len(STEPS) == 41


def test_every_row_of_the_documents_is_carried() -> None:
    table = rows()
    assert [row.number for row in table] == list(range(1, ROWS + 1))
    assert list(uncarried(BASE, table, rules=BASE.symptoms, probes=BASE.probes)) == []


def test_a_row_without_a_carrier_is_found() -> None:
    table = rows()
    broken = [dataclasses.replace(table[0], carried_by=()), dataclasses.replace(table[1], carried_by=("cause:none",))]
    said = list(uncarried(BASE, broken, rules=(), probes=()))
    assert said == [f"{table[0].id}: carried by nothing", f"{table[1].id}: no cause:none"]
    assert any("rule:" in line for line in uncarried(BASE, table, rules=(), probes=BASE.probes))
    assert any("probe:" in line for line in uncarried(BASE, table, rules=BASE.symptoms, probes=()))


def test_no_text_is_missing_in_either_language() -> None:
    missing = [path for path, pair in ALL_PAIRS if not pair.en.strip() or not pair.zh.strip()]
    assert missing == []
    assert len(ALL_PAIRS) > 1500, "the walk over the values finds the texts"


def test_english_is_english_and_chinese_is_chinese() -> None:
    own = [(path, pair) for path, pair in ALL_PAIRS if not path.startswith(".documents")]
    assert [path for path, pair in own if re.search(r"[\u4e00-\u9fff]", pair.en)] == []
    without = [pair.zh for path, pair in own if not re.search(r"[\u4e00-\u9fff]", pair.zh)]
    assert set(without) <= {
        "DivNoNan",
        "MindSpore",
        "is_skip: [True]",
        "drop_overflow_update=False",
        "use_batch_statistics=True",
    }


def test_full_width_marks_are_used_in_chinese() -> None:
    """A half-width comma or question mark between Chinese characters is a slip of the keyboard."""
    slips = [path for path, pair in ALL_PAIRS if re.search(r"[\u4e00-\u9fff][,;?!]|[,;?!][\u4e00-\u9fff]", pair.zh)]
    assert slips == []


@pytest.mark.parametrize("key", sorted(BASE.causes))
def test_every_cause_can_be_reached(key: str) -> None:
    suspected = any(s.cause == key for symptom in BASE.symptoms.values() for s in symptom.suspects)
    accused = any(key in state.accuses for flow in BASE.flows.values() for state in flow.states.values())
    assert suspected or accused


@pytest.mark.parametrize("key", CAUSES)
def test_every_fault_is_suspected_by_a_symptom_and_examined_somewhere(key: str) -> None:
    """Ranking alone must be able to name it, and some question must be able to decide it."""
    suspected = any(s.cause == key for symptom in BASE.symptoms.values() for s in symptom.suspects)
    asked = any(key in (q.accuses, *q.also) for symptom in BASE.symptoms.values() for q in symptom.questions)
    walked = any(key in state.accuses for flow in BASE.flows.values() for state in flow.states.values())
    assert suspected
    assert asked or walked


@pytest.mark.parametrize("key", sorted(BASE.steps))
def test_every_check_is_asked_and_changes_something(key: str) -> None:
    accused: Set[str] = set()
    for symptom in BASE.symptoms.values():
        suspects = {suspect.cause for suspect in symptom.suspects}
        accused |= {q.accuses for q in symptom.questions if q.step == key} & suspects
    walked = any(state.step == key and state.accuses for flow in BASE.flows.values() for state in flow.states.values())
    assert accused or walked


def test_what_a_check_accuses_its_symptom_suspects() -> None:
    """An accusation of a cause that is not in the list would change nothing that is shown."""
    outside = []
    for key, symptom in BASE.symptoms.items():
        suspects = {suspect.cause for suspect in symptom.suspects}
        outside += [(key, q.step, q.accuses) for q in symptom.questions if q.accuses not in suspects]
        outside += [(key, q.step, cause) for q in symptom.questions for cause in q.also if cause not in suspects]
    assert outside == []


def test_suspects_and_checks_are_named_once_a_symptom() -> None:
    for key, symptom in BASE.symptoms.items():
        causes = [suspect.cause for suspect in symptom.suspects]
        steps = [question.step for question in symptom.questions]
        assert len(set(causes)) == len(causes), key
        assert len(set(steps)) == len(steps), key
        assert steps, key


def test_every_evidence_is_weighed_somewhere() -> None:
    used = {w.evidence for symptom in BASE.symptoms.values() for s in symptom.suspects for w in s.weights}
    assert sorted(set(BASE.evidence) - used) == []


def test_a_fact_does_not_raise_and_lower_the_same_cause_in_the_same_way() -> None:
    for key, symptom in BASE.symptoms.items():
        for suspect in symptom.suspects:
            seen = [(weight.evidence, weight.when) for weight in suspect.weights]
            assert len(set(seen)) == len(seen), (key, suspect.cause)


def test_every_probe_is_used() -> None:
    used = {step.probe for step in BASE.steps.values()}
    used |= {state.probe for flow in BASE.flows.values() for state in flow.states.values()}
    used |= {carrier[len("probe:") :] for row in rows() for carrier in row.carried_by if carrier.startswith("probe:")}
    assert sorted(set(BASE.probes) - used) == []


def test_every_topic_is_linked_from_somewhere() -> None:
    linked = {topic for cause in BASE.causes.values() for topic in cause.topics}
    linked |= {topic for step in BASE.steps.values() for topic in step.topics}
    linked |= {see for topic in BASE.topics.values() for see in topic.see}
    linked |= {carrier[len("topic:") :] for row in rows() for carrier in row.carried_by if carrier.startswith("topic:")}
    unlinked = sorted(set(BASE.topics) - linked)
    assert unlinked == ["early-stop-fact", "nan-guards", "recording-limits"], "reached by the list only"


def test_every_document_is_cited() -> None:
    cited: Set[str] = set()
    kinds: List[Dict[str, object]] = [dict(BASE.causes), dict(BASE.steps), dict(BASE.symptoms), dict(BASE.topics)]
    for kind in kinds:
        for entry in kind.values():
            cited |= {source.document for source in entry.sources}  # type: ignore[attr-defined]
    cited |= {source.document for flow in BASE.flows.values() for source in flow.sources}
    assert sorted(set(BASE.documents) - cited) == []


ALL_PASSAGES = list(passages(BASE))


def test_version_variants_do_not_overlap_and_say_something_else() -> None:
    for path, passage in ALL_PASSAGES:
        for version in ("1.3.0", "1.8.1", "1.9.0", "2.0.0", "2.3.0", "2.6.0", "2.10.0"):
            fitting = [variant for variant in passage.variants if variant.condition.holds(version)]
            assert len(fitting) <= 1, (path, version)
        for variant in passage.variants:
            assert isinstance(variant, Variant)
            assert variant.text != passage.text or variant.code != passage.code, path


def test_dropout_says_what_each_version_takes() -> None:
    for passage in (
        BASE.causes["dropout-inverted"].fix,
        BASE.topics["dropout-argument"].body,
        BASE.steps["st.dropout"].do,
    ):
        old, new, unknown = passage.at("1.9.0"), passage.at("2.3.0"), passage.at("")
        assert "keep_prob=0.9" in old.code
        assert "p=0.1" in new.code
        assert "keep_prob" in unknown.text.en
        assert re.search(r"\bp\b", unknown.text.en)


def test_loss_scale_managers_have_the_name_of_the_version() -> None:
    fix = BASE.causes["loss-scale-bad"].fix
    assert "ms.amp.DynamicLossScaleManager" in fix.at("2.2.0").code
    assert "ms.DynamicLossScaleManager" in fix.at("1.9.0").code


def test_undoing_a_freeze_leaves_running_statistics_alone() -> None:
    """The code is run as it stands, on what has MindSpore's names and defaults of a BatchNorm."""

    class Net:
        def __init__(self) -> None:
            frozen = ("mid.weight", "mid.bias", "bn.moving_mean", "bn.moving_variance")
            names = (*frozen, "bn.gamma", "head.weight")
            self.parameters = [SimpleNamespace(name=name, requires_grad=name not in frozen) for name in names]

        def get_parameters(self) -> List[SimpleNamespace]:
            return self.parameters

        def trainable_params(self) -> List[SimpleNamespace]:
            return [each for each in self.parameters if each.requires_grad]

    def momentum(parameters: List[SimpleNamespace], **_settings: float) -> SimpleNamespace:
        return SimpleNamespace(parameters=parameters)

    words = {"net": Net(), "nn": SimpleNamespace(Momentum=momentum), "print": lambda _names: None}
    exec(BASE.causes["frozen-by-mistake"].fix.code, words)
    given = [each.name for each in words["opt"].parameters]  # type: ignore[attr-defined]
    assert given == ["mid.weight", "mid.bias", "bn.gamma", "head.weight"]


def test_code_in_python_is_python() -> None:
    shell = re.compile(r"^(?:grep|find|md5sum|ls|tail|npu-smi|hccn_tool|export|mstui|python) ", re.MULTILINE)
    for path, passage in ALL_PASSAGES:
        for code in (passage.code, *(variant.code for variant in passage.variants)):
            if not shell.search(code) and code != "npu-smi info":
                ast.parse(code), path


def test_code_fits_a_screen() -> None:
    wide = []
    for path, passage in ALL_PASSAGES:
        for code in (passage.code, *(variant.code for variant in passage.variants)):
            wide += [(path, line) for line in code.splitlines() if width(line) > CODE_COLUMNS]
    assert wide == []


@pytest.mark.parametrize("language", ["en", CHINESE])
def test_a_question_fits_a_small_screen(language: str) -> None:
    """One question, one screen: question, what to do, code, what is expected, why."""
    tall = []
    shown = [(key, step.ask, step.do, step.expect, step.why) for key, step in BASE.steps.items()]
    shown += [
        (f"{flow.id}#{state.id}", state.ask, state.do or Passage(Pair("", "")), state.expect or Pair("", ""),
         state.why or Pair("", ""))
        for flow in BASE.flows.values() for state in flow.states.values() if not state.step
    ]  # fmt: skip
    for key, ask, do, expect, why in shown:
        texts = [ask.text(language), do.text.text(language), expect.text(language), why.text(language)]
        needed = sum(len(wrap(text, SCREEN_COLUMNS)) for text in texts if text)
        needed += sum(len(wrap(line, SCREEN_COLUMNS)) for line in do.code.splitlines())
        if needed > SCREEN_ROWS:
            tall.append((key, needed))
    assert tall == []


def test_loading_reads_each_file_once_and_gives_the_same_object() -> None:
    assert loader.knowledge() is BASE


SHELL = ("grep ", "find ", "npu-smi", "tail ", "ls ", "md5sum ", "export ", "hccn_tool ", "mstui ", "python ")


def test_code_to_copy_is_python_or_a_shell_command() -> None:
    broken = []
    for path, passage in ALL_PASSAGES:
        for code in filter(None, (passage.code, *(variant.code for variant in passage.variants))):
            if not code.startswith(SHELL):
                try:
                    ast.parse(code)
                except SyntaxError as error:
                    broken.append((path, code, error))
    assert broken == []
