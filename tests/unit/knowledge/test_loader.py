"""Mistakes in a knowledge file are named with file and key."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Tuple

import pytest

from mstui.errors import ConfigError
from mstui.knowledge.loader import FOLDER, load

NAN = "entries/loss-nan.toml"
CAUSE = "causes/init-zero.toml"
STEP = "steps/st.lr.toml"
CHECK1 = "flows/check1.toml"


def copy_of_ours(target: Path) -> Path:
    shutil.copytree(FOLDER, target, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the knowledge that a test may break."""
    return copy_of_ours(tmp_path / "knowledge")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One copy for all tests that put back what they change."""
    return copy_of_ours(tmp_path_factory.mktemp("shared") / "knowledge")


def edit(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text("utf-8")
    assert old in text, (name, old)
    path.write_text(text.replace(old, new, 1), "utf-8")


MISTAKES = [
    (CAUSE, 'group = "algorithm"', 'group = "algorythm"', 'key "group" names unknown "algorythm"', 'mean "algorithm"'),
    (CAUSE, 'group = "algorithm"', "", 'key "group" is missing', ""),
    (CAUSE, 'group = "algorithm"', 'group = "algorithm"\nprioriti = 3', 'unknown key "prioriti"', ""),
    (
        CAUSE,
        'group = "algorithm"',
        'group = "algorithm"\nexplains = "yes"',
        'key "explains" cannot be',
        "true or false",
    ),
    (CAUSE, 'zh = "权重初始值全为 0"', 'zh = " "', 'key "title.zh" cannot be', "a text"),
    (CAUSE, ', zh = "权重初始值全为 0"', "", 'key "title.zh" is missing', ""),
    (
        CAUSE,
        'topics = ["init-rules"]',
        'topics = ["init-ruls"]',
        'key "topics" names unknown "init-ruls"',
        "init-rules",
    ),
    (CAUSE, 'topics = ["init-rules"]', 'topics = "init-rules"', 'key "topics" cannot be', "a list of texts"),
    (CAUSE, 'doc = "tuning"', 'doc = "tunning"', 'key "sources[1].doc" names unknown "tunning"', "tuning"),
    (CAUSE, "[fix]", '[fix]\nfoo = "x"', 'unknown key "fix.foo"', ""),
    (CAUSE, "[fix]", "[fixes]", 'key "fix" is missing', ""),
    (NAN, "prior = 4", 'prior = "4"', 'key "cause[1].prior" cannot be', "a whole number"),
    (NAN, "prior = 4", "prior = true", 'key "cause[1].prior" cannot be', "a whole number"),
    (NAN, 'id = "fp16-overflow"', 'id = "fp16-overflw"', 'key "cause[1].id" names unknown', "fp16-overflow"),
    (NAN, "overflow-before = 4", "overflow-befor = 4", 'key "cause[1].raises" names unknown', "overflow-before"),
    (NAN, "overflow-before = 4", "overflow-before = 0", 'key "cause[1].raises.overflow-before" cannot be', "above 0"),
    (NAN, "overflow-before = 4", "overflow-before = -4", "cannot be -4", "above 0"),
    (NAN, "overflow-before = 4", '"!pre-shuffled" = 4', '"pre-shuffled" is false, which has no sentence', ""),
    (NAN, 'step = "st.overflow"', 'step = "st.overflows"', 'key "check[1].step" names unknown', "st.overflow"),
    (NAN, "[then]", "[then]\nwhere = 1", 'unknown key "then.where"', ""),
    (NAN, 'to = "flow:check1#C1.2"', 'to = "flow:check1#C9"', 'key "then.to" names unknown "C9"', ""),
    (NAN, 'to = "flow:check1#C1.2"', 'to = "nowhere"', 'key "then.to" names unknown "nowhere"', ""),
    (NAN, 'family = "loss"', 'family = "losses"', 'key "family" names unknown "losses"', "loss"),
    (STEP, 'probe = "lr-range"', 'probe = "lr-rang"', 'key "probe" names unknown "lr-rang"', "lr-range"),
    (STEP, 'needs = "both"', 'needs = "all"', 'key "needs" names unknown "all"', ""),
    (
        "steps/st.dropout.toml",
        'mindspore = "<2.0"',
        'mindspore = "old"',
        'key "do.when[1].mindspore" cannot be',
        ">=2.0",
    ),
    ("steps/st.dropout.toml", 'mindspore = "<2.0"', "", 'key "do.when[1].mindspore" is missing', ""),
    (CHECK1, 'yes = "C1.loss"', 'yes = "C1.los"', 'key "state.C1.pre.yes" names unknown "C1.los"', "C1.loss"),
    (CHECK1, 'yes = "C1.loss"\n', "", 'key "state[1].yes" is missing', ""),
    (CHECK1, 'gate = "prepared"', 'gate = "preprared"', 'key "state.C1.pre.gate" names unknown', "prepared"),
    (CHECK1, 'start = "C1.pre"', 'start = "C1"', 'key "start" names unknown "C1"', ""),
    (CHECK1, 'outcome = "found"', 'outcome = "solved"', 'names unknown "solved"', ""),
    (CHECK1, 'id = "C1.loss"', 'id = "C1.pre"', '"C1.pre" is there twice', ""),
    (CHECK1, 'assist = "bisect-forward"', 'assist = "bisect"', 'key "state.C1.2.assist" names unknown "bisect"', ""),
    ("evidence/loss.toml", 'from = ["scalars"]', 'from = ["scalar"]', 'names unknown "scalar"', "scalars"),
    ("evidence/loss.toml", 'from = ["scalars"]', "", 'key "onset-from-start.from" is missing', ""),
    ("evidence/metric.toml", "[gap-growing]", "[onset-early]", '"onset-early" is there twice', ""),
    ("topics/rules.toml", 'kind = "rule"', 'kind = "law"', 'key "lr-ranges.kind" names unknown "law"', ""),
    ("topics/rules.toml", '"lr-too-large"', '"lr-too-larg"', 'key "lr-ranges.see" names unknown', "lr-too-large"),
    ("labels.toml", "[symptoms]", "word = 1\n[symptoms]", 'key "word" cannot be 1', "a table"),
]


@pytest.mark.parametrize(
    ("name", "old", "new", "what", "remedy"), MISTAKES, ids=[f"{m[0]}:{m[2][:40]}" for m in MISTAKES]
)
def test_a_mistake_is_named_with_file_and_key(
    shared: Path, name: str, old: str, new: str, what: str, remedy: str
) -> None:
    edit(shared, name, old, new)
    try:
        with pytest.raises(ConfigError) as caught:
            load(str(shared))
    finally:
        shutil.copy(Path(FOLDER) / name, shared / name)
    assert what in caught.value.what
    assert remedy in caught.value.remedy
    where = name if not name.startswith("topics/") or "see" not in what else "topics"
    assert Path(where).name in caught.value.where


@pytest.mark.parametrize("broken", [("labels.toml", "not = [valid"), ("causes/init-zero.toml", "[[[")])
def test_a_file_that_is_no_toml_is_named(folder: Path, broken: Tuple[str, str]) -> None:
    name, text = broken
    (folder / name).write_text(text, "utf-8")
    with pytest.raises(ConfigError, match="not valid TOML") as caught:
        load(str(folder))
    assert caught.value.where.endswith(name)


def test_a_missing_folder_is_named(folder: Path) -> None:
    shutil.rmtree(folder / "steps")
    with pytest.raises(ConfigError) as caught:
        load(str(folder))
    assert caught.value.where.endswith("steps")


def test_the_fix_has_its_own_sources_or_those_of_the_cause(folder: Path) -> None:
    before = load(str(folder)).causes["init-zero"]
    assert before.fix_sources == before.sources
    edit(folder, CAUSE, "[fix]", '[fix]\nsources = [{ doc = "locating", section = "x" }]')
    after = load(str(folder)).causes["init-zero"]
    assert [source.section for source in after.fix_sources] == ["x"]


def test_a_dropped_in_entry_is_there_without_any_list_to_edit(folder: Path) -> None:
    shutil.copy(folder / NAN, folder / "entries" / "another.toml")
    assert "another" in load(str(folder)).symptoms
