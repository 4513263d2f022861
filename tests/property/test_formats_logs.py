"""Logs give the same wherever the bytes are cut and however many lines are read at once, and no bytes break them."""

from __future__ import annotations

import random
import re
import time
from typing import Callable, List, Optional, Tuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mstui.formats.logs import decoder as decoder_module
from mstui.formats.logs.matcher import Matcher, PatternError
from mstui.formats.logs.rules import RULES
from mstui.formats.logs.templates import MOST_KEPT, Template, Templates, digit_blind
from tests.unit.formats.logs.reading import SAMPLES, Got, read

FILES = sorted(
    path
    for path in SAMPLES.rglob("*")
    if path.is_file() and "npu_smi" not in path.parts and path.suffix not in (".csv", ".json")
)
SNIPPETS: List[bytes] = sorted({line for path in FILES for line in path.read_bytes().split(b"\n")})


def comparable(got: Got) -> str:
    """Everything, in a form in which NaN equals NaN."""
    series = {tag: [(step, repr(value)) for step, value in points] for tag, points in sorted(got.series.items())}
    ranks = {rank: repr(sorted(series.items())) for rank, series in sorted(got.ranks.items())}
    rest = (sorted(got.walls.items()), got.records, got.events, got.faults, sorted(got.skipped.items()))
    return repr((series, rest, got.consumed, got.understood, got.steps, sorted(got.facts.items()), ranks))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_a_sample_gives_the_same_however_it_is_cut(path: object) -> None:
    assert hasattr(path, "read_bytes")
    data = path.read_bytes()
    whole = comparable(read(data))
    for sizes in ([1], [7], [40, 3], [200], [1000, 1]):
        assert comparable(read(data, sizes)) == whole


prefixes = st.sampled_from([b"[1,0]<stdout>:", b"[1,1]<stdout>:", b"[rank2]: ", b"worker-1: "])
pieces = st.one_of(
    st.sampled_from(SNIPPETS),
    st.tuples(prefixes, st.sampled_from(SNIPPETS)).map(b"".join),
    st.binary(max_size=40),
    st.sampled_from([b"", b"\r", b"\0", b"\x1b[31m", b"Traceback (most recent call last):", b'  File "a.py", line 1']),
)
ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\r\r\n", b""])
logs = st.lists(st.tuples(pieces, ends).map(b"".join), max_size=30).map(b"".join)


@given(data=logs, sizes=st.lists(st.integers(1, 120), min_size=1, max_size=6))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_mixture_of_lines_gives_the_same_however_it_is_cut(data: bytes, sizes: List[int]) -> None:
    assert comparable(read(data, sizes)) == comparable(read(data))


@given(data=st.one_of(st.binary(max_size=400), logs))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_bytes_break_it(data: bytes) -> None:
    got = read(data)
    assert 0 <= got.consumed <= len(data)
    offsets = [offset for offset, _level in got.records]
    assert offsets == sorted(set(offsets))
    assert got.understood <= len(offsets)
    for event in got.events:
        assert 0 <= event.offset < event.offset + event.length <= got.consumed
    for tag, points in got.series.items():
        assert len(got.walls[tag]) == len(points)
    told = [offset for _step, offset in got.steps]
    assert told == sorted(told)
    assert set(told) <= set(offsets)


def mindformers_line(rng: random.Random, k: int, *, bar: bool) -> str:
    head = rng.choice(["- mindformers./output/log[a/b.py:529] - INFO - ", "[a/b.py:529] print_output_info: "])
    level = "" if head.startswith("-") else "[INFO] "
    day = "2026-05-06 10" if rng.random() < 0.99 else rng.choice(["2026-13-06 10", "2026-05-06 1:", "2026-05-06 99"])
    begin = f"{level}{day}:{k // 60 % 60:02d}:{k % 60:02d},{rng.randrange(1000):03d} {head}"
    loss = rng.choice(["10.189131", "0.000000", "  nan", "0.001", "inf", "1.2.3", "0.9"])
    parts = rng.choice(["", "", ", lm_loss: 9.5, mtp_loss: nan", ", mtp_loss: 3.2"])
    text = (
        f"{begin}{{ Epoch:[  {k // 50 + rng.choice([1, 1, 1, 0])}/ 99], step:[ {k % 50 + 1:4d}/   50]"
        f", loss: {loss}{parts}"
        f", per_step_time: {rng.randrange(9999)}ms, lr: {rng.choice(['1e-06', '[1.e-05]', 'None', '0.0'])}"
        f", overflow cond: {rng.choice(['False', 'False', '[ True]', 'True'])}"
        f", loss_scale: {rng.choice(['1.0', '65536.0', '[1.]'])}"
        f"{rng.choice(['', ', global_norm: [nan]', ', global_norm: [1.5]'])}"
        f"{rng.choice(['', ', train_throughput_per_npu: 61.6T'])}\n"
    )
    if bar:
        middle = rng.choice(["█" * 10 + " " * 40, " " * 50, "a\n", "\x1b[0m", "\0"]) if rng.random() < 0.1 else " " * 50
        text += f"{begin}   0.{k % 10}% |{middle}| 4.64576 samples/s/p  6:13:02 }}\n"
    return text


def plain_line(rng: random.Random, k: int) -> str:
    epoch, step = k // 40 + 1, k % 40 + rng.choice([1, 1, 1, 0])
    return f"epoch: {epoch} step: {step}, loss is {rng.choice(['2.3051', 'nan', '0.0', '1.5e-05', '-0.25', 'inf'])}\n"


def steady(rng: random.Random, kind: int, odd: int = -1) -> Callable[[int], str]:
    """Lines of one shape, with values that the fast way can read; the one numbered `odd` has an impossible time."""
    parts = rng.choice(["", ", lm_loss: 9.5"])
    losses = rng.choice([["10.189131", "9.5"], ["0.000000"], ["10.1", "0.000000", "  nan"], ["0.5", "0.001"]])
    scales = rng.choice([["1.0"], ["65536.0"], ["1.0", "2.0"]])

    def line(k: int) -> str:
        if kind:
            return f"epoch: {k // 30 + 1} step: {k % 30 + 1}, loss is {rng.choice(['2.3051', 'nan', '1.5e-05'])}\n"
        minute = "1:" if k == odd else f"{k // 60 % 60:02d}"
        begin = f"2026-05-06 10:{minute}:{k % 60:02d},123 - mindformers[a/b.py:529] - INFO - "
        return (
            f"{begin}{{ Epoch:[  {k // 30 + 1}/ 99], step:[ {k % 30 + 1:4d}/   30], loss: {rng.choice(losses)}{parts}, "
            f"per_step_time: 1754ms, lr: 1e-06, overflow cond: {rng.choice(['False', '[ True]'])}, loss_scale: "
            f"{rng.choice(scales)}, global_norm: [{rng.choice(['1.5', 'inf'])}]\n"
            f"{begin}   0.0% |{' ' * 50}| 4.64576 samples/s/p  6:13:02 }}\n"
        )

    return line


@given(seed=st.integers(0, 2**32), arrival=st.sampled_from([0.0, 1.7e9]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_reading_many_lines_at_once_gives_what_reading_one_by_one_gives(seed: int, arrival: float) -> None:
    rng = random.Random(seed)
    text: List[str] = []
    for _block in range(rng.randrange(1, 4)):
        make: Optional[Callable[[int], str]] = (
            steady(rng, rng.randrange(2), rng.randrange(400)) if rng.random() < 0.8 else None
        )
        for k in range(rng.randrange(5, 120)):
            if make is not None:
                text.append(make(k))
            else:
                text.append(
                    mindformers_line(rng, k, bar=rng.random() < 0.8) if rng.random() < 0.5 else plain_line(rng, k)
                )
            if rng.random() < 0.01:
                text.append(rng.choice(SNIPPETS).decode("utf-8", "replace") + "\n")
    data = "".join(text).encode()
    fast = comparable(read(data, arrival=arrival))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder_module, "LEAST_RUN", 10**9)
        patch.setattr(Templates, "get", no_template)
        assert comparable(read(data, arrival=arrival)) == fast


def no_template(_self: Templates, _raw: bytes) -> None:
    """Every line is looked at."""


def other_digits(rng: random.Random, line: bytes) -> bytes:
    return bytes(rng.choice(b"0123456789") if chr(byte).isdigit() and byte < 128 else byte for byte in line)


def without_templates(data: bytes) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Templates, "get", no_template)
        return comparable(read(data, arrival=1.7e9))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SAMPLES)))
def test_a_sample_with_other_digits_gives_the_same_with_and_without_templates(path: object) -> None:
    assert hasattr(path, "read_bytes")
    rng = random.Random(7)
    lines = path.read_bytes().split(b"\n")
    data = b"\n".join([*lines, *(other_digits(rng, line) for _turn in range(3) for line in lines), *lines])
    assert comparable(read(data, arrival=1.7e9)) == without_templates(data)


@given(lines=st.lists(st.tuples(pieces, ends), min_size=1, max_size=12), seed=st.integers(0, 2**32))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_lines_that_differ_in_digits_are_read_as_each_alone(lines: List[Tuple[bytes, bytes]], seed: int) -> None:
    rng = random.Random(seed)
    data = b"".join(other_digits(rng, line) + end for _turn in range(4) for line, end in rng.sample(lines, len(lines)))
    assert comparable(read(data, arrival=1.7e9)) == without_templates(data)


def test_most_lines_of_a_log_are_read_by_templates() -> None:
    heads = (b"[WARNING] ME(1:2,M):2026-05-06-10:00:%02d.100.000 [a.py:1] no rule knows %d", b"batch %d of %d")
    data = b"".join(line % (k % 60, k) + b"\n" for k in range(1000) for line in heads)
    read(data)
    read(data)  # an outline is learnt when it comes again
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder_module._Work, "_frame", lambda *_given: pytest.fail("a line was looked at"))
        assert len(read(data).records) == 1000  # a print behind a record with a header belongs to it


def test_what_was_not_needed_lately_is_forgotten() -> None:
    memory = Templates()
    for number in range(3 * MOST_KEPT):
        memory.learn(b"%s x" % ("abcdefghij"[number % 10] * (number // 10 + 1)).encode(), TEMPLATE)
    assert len(memory._new) + len(memory._old) <= 2 * MOST_KEPT
    assert memory.get(b"a x") is None


TEMPLATE = Template(0, None, 0, None, (), False, False)  # noqa: FBT003


def test_every_guard_is_the_same_whatever_the_digits_are() -> None:
    assert all(digit_blind(word) for rule in RULES for word in rule.guards)
    assert all(digit_blind(word) for shape in decoder_module._known_with(()).search.shapes for word in shape.words)
    assert not digit_blind("is valid only on rank 0")
    assert not digit_blind("[1-9]")
    assert digit_blind(r"(?P<rank2>\d{1,9}) x{,3} {2}")


def test_the_fast_way_is_really_taken() -> None:
    line = steady(random.Random(1), 0)
    data = "".join(map(line, range(100))).encode()
    calls = []
    original = decoder_module._Work._frame

    def counted(self: decoder_module._Work, begin: int, end: int) -> None:
        calls.append(begin)
        original(self, begin, end)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoder_module._Work, "_frame", counted)
        got = read(data)
    assert len(got.records) == 200
    assert calls == []


atoms = st.sampled_from(["a", "b", ".", r"\d", "[ab]", "[^a]", r"\w", "1", " "])
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda each: f"(?:{each[0]}|{each[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{1,3}", "*?", "+?"])).map(
            lambda each: f"(?:{each[0]}){each[1]}"
        ),
        inner.map(lambda each: f"({each})"),
    ),
    max_leaves=6,
)


@given(pattern=patterns, text=st.text("ab1 ", max_size=12))
@settings(max_examples=400, deadline=None)
def test_own_patterns_find_what_python_finds(pattern: str, text: str) -> None:
    named = f"(?P<g>{pattern})"
    expected = re.search(named, text)
    if expected is None:
        assert Matcher(named).find(text) == []
    elif expected.group():
        found = Matcher(named).find(text)[0]
        assert (found.span, found.groups["g"]) == (expected.span(), expected["g"])


@given(pattern=st.text("ab()[]{}|*+?.\\^$:<>P=-0123,dws", max_size=30))
@settings(max_examples=300, deadline=None)
def test_an_own_pattern_is_understood_or_refused(pattern: str) -> None:
    try:
        matcher = Matcher(pattern)
    except PatternError:
        return
    matcher.find("ab12 abab 0,1 ^$")


@pytest.mark.parametrize(
    "pattern", [r"(?P<a>(a+)+)$", r"(a*)*b(?P<a>c)", r"(?P<a>a|aa)+$", r"(.*)*(.*)*(?P<a>x)y", "(?P<a>a?){100}a{100}"]
)
def test_patterns_that_explode_elsewhere_take_no_time(pattern: str) -> None:
    matcher = Matcher(pattern)
    begin = time.process_time()
    for _turn in range(3):
        matcher.find("a" * 4000 + "!")
    assert time.process_time() - begin < 10.0


@pytest.mark.parametrize(
    "line",
    [
        b"epoch: " + b"1" * 8000,
        b"epoch:" + b" " * 8000 + b"loss is",
        b"loss is " * 1000,
        b"Epoch:[" * 1200 + b"overflow cond:",
        b"{'loss': " + b"1" * 8000,
        b"%|" * 4000,
        b"iteration " + b"1 | a: " * 1100,
        b"[2026-05-06 10:00:00] " * 350,
        b"[" + b"9," * 4000,
        b" " * 8000 + b"a.py:1",
        b"[2026-05-06 10:00:00] INFO " + b"  " * 4000,
        b"Validation " + b"a: 1.0, " * 1000,
        b"E12345" * 1300,
        b"step: 1, loss is Tensor(shape=[" + b"1, " * 2600,
        b"Current global norm " + b"[ " * 4000,
        b"a." * 4000 + b"Error: ",
        b"A" * 8000 + b"Error",
    ],
)
def test_hostile_lines_cost_no_more_than_their_length(line: bytes) -> None:
    begin = time.process_time()
    for _turn in range(5):
        read(line + b"\n")
    assert time.process_time() - begin < 5.0
