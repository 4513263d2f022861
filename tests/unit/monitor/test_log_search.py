"""Search in logs finds what is there, the newest first, and can be stopped."""

from __future__ import annotations

from typing import List

import pytest

from mstui.errors import FilterError
from mstui.model.log_view import LogHits, LogQuery
from mstui.model.logs import LogLevel
from mstui.monitor import log_search
from tests.unit.monitor.log_runs import RUN, LogRun, sample
from tests.unit.monitor.test_process_facts import stamped, step

ALL = LogQuery(RUN)


def go_on(_hits: LogHits) -> bool:
    return True


def found(run: LogRun, words: str, query: LogQuery = ALL) -> List[str]:
    """Texts of the records found, in their order."""
    hits = run.logs.hits(query, words, go_on)
    assert hits.complete
    assert hits.count == len(hits.places)
    return [run.logs.text(place, 10_000) for place in hits.places]


@pytest.mark.parametrize("name", ["msrun_worker_exception", "mindformers_layout", "odd"])
@pytest.mark.parametrize(
    "words", ["loss is", "LOSS iS", "boom", "rank id: 1", "id: rank 1 node", "step", "loss neverthere"]
)
def test_every_record_that_holds_all_the_words_is_found(name: str, words: str) -> None:
    run = sample(name)
    rows = run.logs.page(ALL, None, 1900, 0).rows
    whole = [run.logs.text(row.place, 100_000).lower() for row in rows]
    expected = [text for text in whole if all(word in text for word in words.lower().split())]
    assert sorted(text.lower() for text in found(run, words)) == sorted(expected)


@pytest.mark.parametrize(
    ("words", "number"),
    [("/^RuntimeError: bo+m/", 2), ("/error code: -?\\d+\\.$/", 1), ("/neverthere|b{2}/", 0), ("  ", 0), ("//", 0)],
)
def test_a_regular_expression_is_looked_for_line_by_line(words: str, number: int) -> None:
    assert len(found(sample("msrun_worker_exception"), words)) == number


def test_hits_stand_in_the_order_of_the_rows() -> None:
    run = sample("msrun_worker_exception", only="worker|scheduler")
    rows = [row.place for row in run.logs.page(ALL, None, 1900, 0).rows]
    places = run.logs.hits(ALL, "warning", go_on).places
    assert len(places) > 20
    assert [place for place in rows if place in set(places)] == list(places)


@pytest.mark.parametrize("block", [64, 500, 1 << 20])
@pytest.mark.parametrize("words", ["needle", "/ne+dle/", "needle text"])
def test_blocks_lose_nothing_and_count_nothing_twice(block: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_search._Words, "block_bytes", block)
    monkeypatch.setattr(log_search._Regular, "block_bytes", block)
    run = LogRun()
    lines = [stamped("10:00:00", f"{n} {'needle' if n % 7 == 0 else 'hay'} text {'x' * (n % 90)}") for n in range(500)]
    run.put("train.log", b"".join(lines))
    texts = found(run, words)
    assert [int(text.split("log: ")[1].split()[0]) for text in texts] == [n for n in range(500) if n % 7 == 0]


def test_words_in_a_huge_record_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_search._Words, "block_bytes", 256)
    run = LogRun()
    body = b"".join(b"  line %d needle\n" % number for number in range(200))
    run.put("train.log", stamped("10:00:00", "dump") + body + stamped("10:00:01", "after"))
    assert len(found(run, "needle")) == 1


def test_chinese_words_are_found_in_both_encodings() -> None:
    run = LogRun()
    run.put("rank_0/train.log", stamped("10:00:00", "开始训练") + stamped("10:00:01", "x"))
    run.put("rank_1/train.log", stamped("10:00:02", "y") + "2026-05-06 开始训练\n".encode("gbk"))
    assert len(found(run, "训练")) == 2


def test_a_level_and_a_rank_bound_the_search() -> None:
    run = LogRun()
    for rank in range(3):
        run.put(f"worker_{rank}.log", stamped("10:00:00", "word", "ERROR") + stamped("10:00:01", "word") + step(1))
    assert len(found(run, "word")) == 6
    assert len(found(run, "word", LogQuery(RUN, least_level=LogLevel.ERROR))) == 3
    assert len(found(run, "word", LogQuery(RUN, rank_id=1))) == 2


def test_the_newest_come_first_and_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_search, "MOST_HITS", 10)
    monkeypatch.setattr(log_search._Words, "block_bytes", 100)
    run = LogRun()
    run.put("train.log", b"".join(step(number) for number in range(1, 101)))
    hits = run.logs.hits(ALL, "loss", go_on)
    assert hits.count == 100
    assert [run.logs.step(place) for place in hits.places] == list(range(91, 101))


def test_a_search_tells_how_far_it_is_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_search._Words, "block_bytes", 200)
    monkeypatch.setattr(log_search._Words, "tell_bytes", 400)
    run = LogRun()
    run.put("train.log", b"".join(step(number) for number in range(1, 1000)))
    told: List[LogHits] = []

    def tell(hits: LogHits) -> bool:
        told.append(hits)
        return len(told) < 5

    hits = run.logs.hits(ALL, "loss", tell)
    assert not hits.complete
    assert [each.searched for each in told] == sorted(each.searched for each in told)
    assert told[-1] == hits
    assert hits.places[-1] == told[0].places[-1], "the newest is known from the first word on"


@pytest.mark.parametrize("words", ["/(/", "/[/", "/a{999}/"])
def test_a_regular_expression_that_is_none_is_said(words: str) -> None:
    with pytest.raises(FilterError):
        LogRun().logs.hits(ALL, words, go_on)
