from __future__ import annotations

from dataclasses import replace

from rich.cells import cell_len

from mstui.model.log_view import Weight
from mstui.model.logs import EventKind
from mstui.tui.process_words import (
    EVENT_WORDS,
    badge,
    fact_lines,
    failure,
    fatal,
    pinned_row,
    reasons,
    serious,
    word_of,
)
from tests.tui.log_scene import crash, logs_scene
from tests.tui.scene import RUN


def test_every_kind_of_event_has_words() -> None:
    assert set(EVENT_WORDS) == set(EventKind)


def test_the_badge_names_the_cause_and_its_rank_not_what_follows_from_it() -> None:
    facts = logs_scene().facts[RUN]
    assert badge(facts, ascii_only=False) == ("✗ crashed rank 1", "critical")
    assert badge(facts[::-1], ascii_only=True) == ("X crashed rank 1", "critical")


def test_several_ranks_are_one_badge() -> None:
    facts = [replace(crash(1), rank_id=rank) for rank in (3, 1, 2, None)]
    told = badge(facts, ascii_only=True)
    assert told is not None
    assert told.text == "X crashed ranks 1-3"


def test_trouble_is_a_warning_and_news_is_no_badge() -> None:
    slow = replace(crash(1), kind=EventKind.HCCL_TIMEOUT, weight=Weight.TROUBLE)
    assert badge([slow], ascii_only=False) == ("! HCCL time-out rank 1", "warning")
    assert badge([replace(slow, weight=Weight.NEWS)], ascii_only=False) is None
    assert badge([], ascii_only=False) is None


def test_a_worker_that_a_signal_ended_was_killed() -> None:
    killed = replace(crash(1), kind=EventKind.WORKER_EXIT, code="-9")
    assert word_of(killed) == "killed"
    assert word_of(replace(killed, code="1")) == "crashed"


def test_the_pinned_row_tells_which_of_how_many_and_how_often() -> None:
    facts = [replace(crash(1), count=3), *logs_scene().facts[RUN][1:]]
    text = "".join(part for part, _look in pinned_row(facts, 0, "p", ascii_only=True))
    assert text == "X p 1/2 rank 1 crashed: x3 ValueError: bad shard 7"
    assert "p 2/2 rank 0 lost a peer" in "".join(part for part, _ in pinned_row(facts, 3, "p", ascii_only=True))


def test_the_reason_of_a_rank_and_of_the_run() -> None:
    facts = logs_scene().facts[RUN]
    assert reasons(facts, ascii_only=True)[1] == "crashed: ValueError: bad shard 7"
    assert failure(facts, ascii_only=True) == "rank 1 crashed: ValueError: bad shard 7"
    two = [*facts, replace(facts[0], rank_id=4)]
    assert failure(two, ascii_only=True).endswith("; 1 more")
    assert failure([replace(facts[0], weight=Weight.TROUBLE)], ascii_only=True) == ""
    assert fatal([]) is None


def test_causes_come_before_what_follows_and_before_trouble() -> None:
    cause, follows = logs_scene().facts[RUN]
    trouble = replace(cause, weight=Weight.TROUBLE)
    assert serious([follows, trouble, cause]) == [cause, trouble, follows]


def test_every_fact_is_listed_with_its_meaning_and_fits() -> None:
    hostile = replace(crash(1), text="\x1b]0;x\x07" + "全" * 500, meaning="\u202e" + "word " * 60, code="\x1b[1m")
    lines = ["".join(part for part, _look in row) for row in fact_lines([hostile] * 60, 50, ascii_only=False)]
    assert all(line.isprintable() for line in lines)
    assert max(map(cell_len, lines[1:5])) <= 50
    assert lines[-1] == "20 more"
