from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import List, Optional

import pytest
from textual import events

from mstui.checks.session import Case
from mstui.checks.session_notes import Given, Pen, entry
from mstui.export import Exported
from mstui.i18n import set_language
from mstui.journal.who import user_at_host
from mstui.model.alert_view import JournalHealth, LikelyCause
from mstui.model.checks import ProbeResult, ProbeState
from mstui.model.journal import AlertState, Entry, EntryKind, Standing
from mstui.tui.app import MstuiApp
from tests.tui.check_scene import FLAT, PROBES, check_scene, flat_case, opened, press, settled, window
from tests.tui.fakes import START, FakeMonitor
from tests.tui.scene import RUN, make_app, screen_rows, screen_text

SMALL, WIDE = (80, 24), (120, 40)
OTHER = "li@node7"


def answers(monitor: FakeMonitor) -> List[str]:
    """`subject: comment` of what was noted."""
    return [f"{said.subject}: {said.comment}" for _run, said in monitor.noted if said.kind is EntryKind.ANSWER]


def asked(app: MstuiApp) -> str:
    session = window(app).standing.session
    assert session is not None
    assert session.ask is not None
    return session.ask.subject


def by_other(subject: str, word: str) -> Entry:
    return entry(Pen(FLAT, START + 5, OTHER), Given(subject, word))


async def test_answers_that_a_newer_mstui_has_noted_are_counted_above_the_keys() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        assert "newer mstui" not in screen_text(app)
        monitor.health = JournalHealth(ok=True, foreign=2)
        monitor.entries[RUN, FLAT] = [Entry(FLAT, EntryKind.ANSWER, START, OTHER, "yes =1:2", "st.lr")]
        window(app).data_changed()
        await settled(pilot, app)
        assert "3 entries of a newer mstui are not shown" in screen_text(app)


async def test_one_question_with_all_that_belongs_to_it_fits_the_smallest_screen() -> None:
    app = make_app(check_scene())
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        text = screen_text(app)
    assert "Loss does not fall  step 300   question 1 of at most" in text
    assert "j k:" not in text, "it scrolls"
    for wanted in (
        "Do: ",
        "Expected: ",
        "Why: ",
        "y yes",
        "n/enter no",
        "s skip",
        "u not sure",
        "b undo",
        "m Markdown",
    ):
        assert wanted in text, wanted


@pytest.mark.parametrize(("key", "word"), [("y", "yes"), ("n", "no"), ("s", "skip"), ("u", "unsure")])
async def test_each_answer_is_noted_at_once_and_leads_on(key: str, word: str) -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        first = asked(app)
        await press(pilot, app, (key,))
        assert answers(monitor) == [f"{first}: {word}"]
        assert monitor.noted[0][1].who == user_at_host()
        assert asked(app) != first
        assert "question 2 of" in screen_text(app)


async def test_what_was_found_by_itself_is_offered_and_enter_confirms_it() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        while asked(app) != "st.lr":
            await press(pilot, app, ("s",))
        text = screen_text(app)
        assert "answered by itself: trouble found. the learning rate is 1e-09 at step 10" in text
        assert "enter confirms: no" in text
        assert "n/enter no" in text
        await press(pilot, app, ("enter",))
    assert answers(monitor)[-1] == "st.lr: no"


async def test_enter_gives_no_answer_where_nothing_was_found() -> None:
    monitor = check_scene(flat_case(probes={}))
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        await press(pilot, app, ("enter",))
        assert not monitor.noted
        assert "answer with a letter" in screen_text(app)


async def test_a_walk_to_the_cause_its_fix_and_its_story(tmp_path: Path) -> None:
    monitor = check_scene()
    app = make_app(monitor, state_dir=str(tmp_path / "state"))
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        while asked(app) != "cause:lr-too-small":
            await press(pilot, app, ("n" if asked(app) == "st.lr" else "y",))
        assert "Is it this: Learning rate too small?" in screen_text(app)
        await press(pilot, app, ("y",))
        text = screen_text(app)
        assert "cause found" in text
        assert "Learning rate too small  lr-too-small  accepted" in text
        assert "What to do: Raise the learning rate." in text
        outcomes = [(said.comment, said.subject) for _run, said in monitor.noted if said.kind is EntryKind.OUTCOME]
        assert outcomes == [("found", "lr-too-small")]
        await press(pilot, app, ("Y",))
        assert "copied, and written to" in screen_text(app)
        await press(pilot, app, ("m",))
        assert "check-loss-flat-en.md" in screen_text(app)
        await press(pilot, app, ("M",))
        assert "check-loss-flat-zh_CN.md" in screen_text(app)
        assert "y it is this" not in screen_text(app), "it was accepted already"
    written = (tmp_path / "state/exports/check-loss-flat-en.md").read_text(encoding="utf-8")
    assert "**cause found**" in written
    assert "| Is the learning rate sane now? | no |" in written
    assert "loss" in written.partition("## Curves")[2]
    assert "找到原因" in (tmp_path / "state/exports/check-loss-flat-zh_CN.md").read_text(encoding="utf-8")
    copies = list((tmp_path / "state/copies").iterdir())
    assert "train_some_steps" in copies[0].read_text(encoding="utf-8")


async def test_b_takes_back_the_last_word_and_the_outcome_with_it() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        first = asked(app)
        await press(pilot, app, ("b",))
        assert "Nothing was answered yet." in screen_text(app)
        await press(pilot, app, ("n",))
        await press(pilot, app, ("b",))
        assert asked(app) == first
        assert "Taken back:" in screen_text(app)
        await press(pilot, app, ("c", "y", "b"))
    outcomes = [said.comment for _run, said in monitor.noted if said.kind is EntryKind.OUTCOME]
    assert outcomes == ["found", "open"]


async def test_what_another_person_said_is_taken_back_only_when_asked_twice() -> None:
    monitor = check_scene()
    monitor.entries[RUN, FLAT] = [by_other("st.overflow", "yes")]
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        await press(pilot, app, ("b",))
        assert not monitor.noted
        assert "The last answer is from li@node7: b again takes it back." in screen_text(app)
        await press(pilot, app, ("b",))
        assert answers(monitor) == [f"st.overflow: undo {OTHER}"]


async def test_leaving_in_the_middle_loses_nothing() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        await press(pilot, app, ("y", "s"))
        where = asked(app)
        await press(pilot, app, ("escape",))
        assert app.watch_screen.overlay is None
        await press(pilot, app, ("g",))
        assert asked(app) == where
    again = make_app(monitor)
    async with again.run_test(size=SMALL) as pilot:
        await opened(pilot, again)
        assert asked(again) == where
        assert "question 3 of" in screen_text(again)


async def test_an_answer_of_somebody_else_appears_and_is_said() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        before = asked(app)
        monitor.entries[RUN, FLAT] = [by_other(before, "yes")]
        monitor.bump()
        await pilot.pause(0.15)
        await settled(pilot, app)
        assert asked(app) != before
        assert f"{OTHER} answered meanwhile:" in screen_text(app)


async def test_new_evidence_moves_the_causes_but_not_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mstui.tui.check_life.LOOK_EVERY_S", 0.0)
    monitor = check_scene(flat_case(observations={}, probes={}))
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        before = asked(app)
        assert window(app).standing.session is not None
        monitor.cases[RUN, FLAT] = flat_case(probes={"lr-range": PROBES["lr-range"]})
        monitor.bump()
        await pilot.pause(0.15)
        await settled(pilot, app)
        assert asked(app) == before
        session = window(app).standing.session
        assert session is not None
        assert session.ranked[0].cause == "lr-too-small"
        await press(pilot, app, ("s",))
        assert asked(app) == "cause:lr-too-small" or asked(app).startswith("st."), "the newest evidence leads on"


async def test_the_evidence_is_read_at_most_every_few_seconds() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        monitor.calls.clear()
        for _ in range(3):
            monitor.bump()
            await pilot.pause(0.12)
        assert not [call for call in monitor.calls if call.startswith("fetch_session")]


async def test_an_alert_that_clears_meanwhile_says_so() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        alert = monitor.alert_lists[RUN][0]
        monitor.alert_lists[RUN] = (replace(alert, standing=Standing(AlertState.CLEARED, START)),)
        monitor.bump()
        await pilot.pause(0.15)
        assert "This alert has cleared meanwhile" in screen_text(app)


async def test_an_alert_that_is_gone_says_so() -> None:
    monitor = check_scene()
    del monitor.cases[RUN, FLAT]
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        assert "This alert is no longer there." in screen_text(app)
        await press(pilot, app, ("escape",))
        assert app.watch_screen.overlay is None


async def test_figures_that_only_a_person_knows_are_entered() -> None:
    monitor = check_scene(Case(("loss-flat",), observations={}, probes={}))
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        while asked(app) != "st.label":
            await press(pilot, app, ("s",))
        assert "number of classes, or vocabulary size: not entered: v" in screen_text(app)
        await press(pilot, app, ("v", *"ten", "enter"))
        assert "a number, such as 10" in screen_text(app)
        await press(pilot, app, ("ctrl+u", "1", "0", "enter"))
        assert answers(monitor)[-1] == "fact:classes: set =10.0"
        assert asked(app) == "st.label", "the question stays"
        assert "number of classes, or vocabulary size: 10" in screen_text(app)
        await press(pilot, app, ("v", "escape"))
        assert answers(monitor)[-1] == "fact:classes: set =10.0"


async def test_causes_are_a_list_of_their_own_where_there_is_no_room_beside() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        assert "Causes, likeliest first" not in screen_text(app)
        await press(pilot, app, ("c",))
        text = screen_text(app)
        assert "Causes, likeliest first" in text
        assert "likely" in text
        assert "+4 the learning rate is 1e-09" in text
        await press(pilot, app, ("j", "n"))
        session = window(app).standing.session
        assert session is not None
        assert [each.refuted for each in session.ranked].count(True) >= 1
        assert answers(monitor)[-1].startswith("cause:")
        assert answers(monitor)[-1].endswith(": no")


async def test_d_opens_the_manual_and_escape_comes_back_to_the_question() -> None:
    app = make_app(check_scene())
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        where = asked(app)
        await press(pilot, app, ("d",))
        assert f"Check {where}" in screen_text(app)
        await press(pilot, app, ("tab", "enter"))
        assert "backspace back" in screen_text(app)
        await press(pilot, app, ("escape",))
        assert asked(app) == where
        assert "question 1 of" in screen_text(app)


async def test_places_are_named_halved_and_found() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        await app.watch_screen._open_check("", "check1#C1.2")
        await settled(pilot, app)
        assert "v names the places to halve" in screen_text(app)
        await press(pilot, app, ("v",))
        assert "tab takes 2 layers of this run" in screen_text(app)
        window(app).post_message(events.Paste("stem\nblock1\nblock2\nblock3"))
        await settled(pilot, app)
        await press(pilot, app, (*"head", "enter", "enter"))
        seen = []
        while asked(app).startswith("place:"):
            place = asked(app).rpartition(":")[2]
            seen.append(place)
            assert f"Does {place} agree with the reference?" in screen_text(app)
            await press(pilot, app, ("y" if place in ("stem", "block1") else "n",))
        assert seen[0] == "head"
        assert len(seen) <= 4
        text = screen_text(app)
        assert "The first place that differs is block2." in text
        assert "enter confirms: no" in text


async def test_the_low_and_the_high_end_are_shown_and_both_snippets_can_be_copied(tmp_path: Path) -> None:
    app = make_app(check_scene(), state_dir=str(tmp_path))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        await app.watch_screen._open_check("", "check1#C1.2")
        await settled(pilot, app)
        await press(pilot, app, ("v", *"one two three four", "enter", "enter", "n"))
        text = screen_text(app)
        assert "agrees up to: nothing yet" in text
        assert "differs from: four" in text
        assert "In the reference:" in text
        await press(pilot, app, ("Y",))
        await press(pilot, app, ("R",))
    assert len(list((tmp_path / "copies").iterdir())) == 2


async def test_a_checklist_is_walked_without_an_alert() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        await press(pilot, app, ("C",))
        assert "Checklist before training" in screen_text(app)
        await press(pilot, app, (*"before training", "down"))
        await press(pilot, app, ("ctrl+u", *"Checklist before", "enter"))
        assert "Checklist before training   question 1 of at most 24" in screen_text(app)
        await press(pilot, app, ("y",))
        assert monitor.noted[0][1].incident == "checklist"
        assert monitor.noted[0][1].subject.startswith("checklist:")


async def test_answers_of_a_state_that_has_its_own_are_numbered() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        await app.watch_screen._open_check("", "scenes#M2")
        await settled(pilot, app)
        assert "2 It converges, but unlike the baseline" in screen_text(app)
        await press(pilot, app, ("2",))
        assert answers(monitor) == ["scenes:M2: 2"]


async def test_a_report_is_due_and_m_writes_the_draft_too(tmp_path: Path) -> None:
    monitor = check_scene()
    app = make_app(monitor, state_dir=str(tmp_path))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        await app.watch_screen._open_check("", "check2#C2.3")
        await settled(pilot, app)
        while window(app).standing.session.ask is not None:  # type: ignore[union-attr]
            await press(pilot, app, ("n",))
        text = screen_text(app)
        assert "report to the maintainers" in text
        assert "m also writes a draft" in text
        await press(pilot, app, ("m",))
    draft = (tmp_path / "exports/report-check2-en.md").read_text(encoding="utf-8")
    assert "Draft for the framework's maintainers" in draft
    assert "points" in draft.partition("## Statistics")[2]


async def test_a_cause_of_the_outcome_can_be_accepted_there() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        await app.watch_screen._open_check("", "checklist")
        await settled(pilot, app)
        session = window(app).standing.session
        assert session is not None
        await press(pilot, app, ("n",))
        while window(app).standing.session.ask is not None:  # type: ignore[union-attr]
            await pilot.press("y")
            await settled(pilot, app)
        assert "y it is this" in screen_text(app)
        before = window(app).standing.session.outcome  # type: ignore[union-attr]
        assert before is not None
        await press(pilot, app, ("y",))
        after = window(app).standing.session.outcome  # type: ignore[union-attr]
        assert after is not None
        assert after.kind == "found"
        assert after.causes == (before.causes[0],)


async def test_what_files_and_persons_wrote_is_harmless() -> None:
    hostile = "\x1b[31mred\u202e [bold]x"
    probes = {
        "overflow-rate": ProbeResult(ProbeState.BAD, "{n} of {total} in {log}", {"n": 1, "total": 2, "log": hostile})
    }
    monitor = check_scene(flat_case(probes=probes))
    monitor.entries[RUN, FLAT] = [
        entry(Pen(FLAT, START, hostile), Given("st.obj", "yes", note=hostile)),
    ]
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        text = screen_text(app)
        await press(pilot, app, ("b",))
        text += screen_text(app)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "<1b>[31mred" in text


@pytest.mark.parametrize("keys", [(), ("c",), ("d",), ("s", "n")])
async def test_ascii_terminals_get_ascii(keys: tuple[str, ...]) -> None:
    app = make_app(check_scene(), ascii=True)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        await press(pilot, app, keys)
        rows = screen_rows(app)[1:]
    assert all(row.isascii() for row in rows), [row for row in rows if not row.isascii()]


async def test_a_wide_character_is_not_lost_where_panels_end_below_the_window() -> None:
    set_language("zh_CN")
    try:
        app = make_app(check_scene())
        async with app.run_test(size=WIDE) as pilot:
            over = await opened(pilot, app)
            await press(pilot, app, ("c", "j", "j", "k"))
            drawn = ["".join(text for text, _look in row) for row in over.rows]
            assert screen_rows(app)[1:] == drawn
    finally:
        set_language("en")


async def test_while_nothing_changes_nothing_is_painted() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        over = await opened(pilot, app)
        painted: List[Optional[object]] = []
        over.refresh = lambda *regions, **more: painted.append(regions)  # type: ignore[assignment,method-assign]
        for _ in range(3):
            monitor.bump()
            await pilot.pause(0.12)
        await settled(pilot, app)
        assert painted == []


async def test_a_smaller_and_a_larger_terminal_keep_the_check() -> None:
    app = make_app(check_scene())
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        where = asked(app)
        for size in ((80, 24), (200, 60), (40, 10), (30, 5)):
            await pilot.resize_terminal(*size)
            await settled(pilot, app)
            assert asked(app) == where
            assert len(screen_rows(app)) == size[1]


async def test_the_evidence_window_names_likely_causes_and_leads_to_check_and_manual() -> None:
    monitor = check_scene()
    monitor.causes[RUN, FLAT] = (LikelyCause("lr-too-small", "Learning rate too small", 11.0, "likely"),)
    app = make_app(monitor)
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause()
        await press(pilot, app, ("3", "enter"))
        assert "Learning rate too small: likely" in screen_text(app)
        await press(pilot, app, ("g",))
        assert asked(app) == "st.lr"
        await press(pilot, app, ("escape", "enter", "E"))
        assert "Symptom loss-flat" in screen_text(app)
        await press(pilot, app, ("escape", "E"))
        assert "Symptom loss-flat" in screen_text(app), "of the selected line too"


async def test_a_note_goes_with_the_answer() -> None:
    monitor = check_scene()
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        await press(pilot, app, ("a", *"0.1 is", "enter"))
        assert "with the answer: 0.1 is" in screen_text(app)
        await press(pilot, app, ("a", *" ok", "enter", "y"))
        assert answers(monitor) == ["st.lr: yes 0.1 is ok"]
        await press(pilot, app, ("a", "x", "escape", "s"))
        assert answers(monitor)[-1].endswith(": skip"), "a note that was left is none"


async def test_a_question_mark_tells_every_key() -> None:
    app = make_app(check_scene())
    async with app.run_test(size=SMALL) as pilot:
        await opened(pilot, app)
        await press(pilot, app, ("question_mark",))
        assert "enter confirms what was found" in screen_text(app)
        assert "esc leaves" in screen_text(app)


async def test_a_checklist_can_be_walked_before_there_is_any_run() -> None:
    monitor = FakeMonitor()
    app = make_app(monitor)
    async with app.run_test(size=SMALL) as pilot:
        await pilot.pause()
        await app.watch_screen._open_check("", "checklist")
        await settled(pilot, app)
        await press(pilot, app, ("y",))
        text = screen_text(app)
        assert "question 2 of" in text
        assert "No run is chosen: the answers are not kept." in text
        assert not monitor.noted


async def test_a_story_that_is_written_after_leaving_is_told_in_the_footer(monkeypatch: pytest.MonkeyPatch) -> None:
    left = Event()

    def slow(*_asked: object, **_more: object) -> List[Exported]:
        assert left.wait(30)
        return [Exported("/state/exports/check-loss-flat-en.md")]

    monkeypatch.setattr("mstui.tui.check_export.written", slow)
    app = make_app(check_scene(), state_dir="/state")
    async with app.run_test(size=(200, 60)) as pilot:
        await opened(pilot, app)
        await pilot.press("m", "escape")
        assert app.watch_screen.overlay is None
        left.set()
        await settled(pilot, app)
        assert "check-loss-flat-en.md" in app.watch_screen.footer.message
