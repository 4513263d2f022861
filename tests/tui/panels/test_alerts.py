from __future__ import annotations

from dataclasses import replace
from typing import List

import pytest

from mstui.journal.who import user_at_host
from mstui.model.alert_view import JournalHealth
from mstui.model.alerts import Scope, Severity, Symptom
from mstui.model.journal import FOR_EVER, AlertState, EntryKind, Standing, Until, UntilKind
from mstui.model.runs import RunStatus
from mstui.tui.alert_window import AlertWindow
from mstui.tui.app import MstuiApp
from mstui.tui.ask import AskPrompt
from mstui.tui.overlay import TextOverlay
from mstui.tui.panels.alerts import DETAIL_FROM, AlertsPanel
from mstui.tui.panels.log import LogPanel
from tests.tui.alert_scene import alert, alerts_scene, happening, nan_alert, put_alerts, some_alerts
from tests.tui.fakes import FakeMonitor
from tests.tui.log_scene import logs_scene
from tests.tui.scene import NOW, RUN, make_app, scene, screen_rows, screen_text

SIZE = (80, 24)
SIZES = [(80, 24), (120, 40), (200, 60)]


def panel_of(app: MstuiApp) -> AlertsPanel:
    panel = app.watch_screen.panels["alerts"]
    assert isinstance(panel, AlertsPanel)
    return panel


def panel_text(app: MstuiApp) -> str:
    return "\n".join("".join(text for text, _look in row).rstrip() for row in panel_of(app).rows)


def fake(app: MstuiApp) -> FakeMonitor:
    assert isinstance(app.monitor, FakeMonitor)
    return app.monitor


def prompt_is_open(app: MstuiApp) -> bool:
    return isinstance(app.focused, AskPrompt)


def noted(app: MstuiApp) -> List[tuple[str, EntryKind, str, Until]]:
    assert all(run == RUN and each.at == NOW and each.who == user_at_host() for run, each in fake(app).noted)
    return [(each.incident[-1:], each.kind, each.comment, each.until) for _run, each in fake(app).noted]


@pytest.mark.parametrize("size", SIZES)
async def test_3_lists_what_is_active_first_with_everything_about_it(size: tuple[int, int]) -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=size) as pilot:
        await pilot.press("3")
        text = panel_text(app)
        assert app.focused is panel_of(app)
        assert "3 active, 1 snoozed, 1 acked, 1 intended, 1 cleared" in text
        words = (
            "critical Overflow streak",
            "error    Over-fitting",
            "warning  Gradients vanish",
            "warning  Throughput",
        )
        places = [text.index(word) for word in words]
        assert places == sorted(places)
        assert "judged 7 of 11 rules; not judged: overfit (no evaluation loss)" in text
        assert "active, raised 13m ago" in text
        assert "the loss is nan at step 600" in text


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("view", "1245678")
async def test_the_worst_is_on_every_view(view: str, size: tuple[int, int]) -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=size) as pilot:
        await pilot.press(view)
        await pilot.pause()
        text = screen_text(app)
        assert "Overflow streak" in text
        assert "‼ critical 1" in text.split("\n")[0]


async def test_where_nothing_is_raised_the_strip_says_what_was_judged() -> None:
    monitor = scene()
    put_alerts(monitor, [])
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "judged 7 of 11 rules: no open trouble" in screen_rows(app)[22]


async def test_a_run_that_has_failed_is_not_called_free_of_trouble_before_that_is_judged() -> None:
    monitor = scene()
    put_alerts(monitor, [])
    monitor.run_list[0] = replace(monitor.run_list[0], status=RunStatus.FAILED)
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "its failure is not judged yet" in screen_rows(app)[22]
        await pilot.press("3")
        assert "its failure is not judged yet" in panel_text(app)
        assert "not judged yet" in panel_text(app).split("its failure is not judged yet")[1]
        assert "nothing has been raised" not in panel_text(app)


async def test_a_run_that_is_being_read_is_not_called_healthy() -> None:
    app = make_app(scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert "reading history: nothing is judged yet" in screen_rows(app)[22]
        await pilot.press("3")
        assert "reading history" in panel_text(app)
        assert "nothing has been raised" in panel_text(app)


async def test_raising_an_alert_moves_nothing_on_the_screen() -> None:
    monitor = scene()
    put_alerts(monitor, [])
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        before = screen_rows(app)
        put_alerts(monitor, [nan_alert()])
        app.watch_screen._flush()
        await pilot.pause()
        after = screen_rows(app)
        assert "3 open" not in after[22]
        assert (
            after[22].startswith(" ‼ critical: Overflow streak at step 600, then Loss is NaN") or "rank 0" in after[22]
        )
        assert [y for y in range(24) if before[y] != after[y]] == [0, 21, 22], "header, the axis with its mark, strip"


async def test_what_followed_is_folded_at_80x24_and_f_shows_it() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        assert "Overflow streak +2" in panel_text(app)
        assert "Loss is NaN" not in panel_text(app)
        await pilot.press("f")
        assert "    ‼  critical Loss is NaN" in panel_text(app)
        await pilot.press("j", "j", "f")
        assert "Loss is NaN" not in panel_text(app)
        line = panel_of(app).current()
        assert line is not None
        assert (line.alert.incident.number, line.at) == (1, 0), "the selection goes to what was folded"


async def test_where_there_is_room_what_followed_is_shown_at_once() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("3")
        assert "Loss is NaN" in panel_text(app)


# ---- what a person says


async def test_a_and_enter_acknowledge_for_ever_without_a_word() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "a")
        asked = screen_rows(app)[-1].split("  ")
        assert asked[:2] == [" acknowledge:", "comment until 30m, step 500, restart, worse, ever"]
        await pilot.press("enter")
        assert noted(app) == [("1", EntryKind.ACKNOWLEDGED, "", FOR_EVER)]
        assert "acknowledged: Overflow streak, for ever" in screen_rows(app)[-1]
        assert app.focused is panel_of(app)


@pytest.mark.parametrize(
    ("columns", "asked", "hint"),
    [
        (120, "acknowledge Overflow streak:", "comment until 30m, step 500, restart, worse, ever"),
        (60, "acknowledge:", "comment until 30m, step 500, ..."),
        (44, "acknowledge:", "comment"),
    ],
)
async def test_a_question_is_asked_in_as_many_words_as_fit_and_none_of_them_is_cut(
    columns: int, asked: str, hint: str
) -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=(columns, 24)) as pilot:
        await pilot.press("3", "a")
        parts = [part.strip() for part in screen_rows(app)[-1].split("  ") if part.strip()]
        assert parts == [asked, hint, "for ever"]
        await pilot.press(*"until", "space", *"monday")
        assert not {"\u2026", "~"} & set(screen_rows(app)[-1])


@pytest.mark.parametrize(
    ("typed", "comment", "until"),
    [
        ("bad shard", "bad shard", FOR_EVER),
        ("bad shard until step 20k", "bad shard", Until(UntilKind.STEP, 20_000)),
        ("until 30m", "", Until(UntilKind.TIME, NOW + 1800)),
        ("until restart", "", Until(UntilKind.RESTART)),
        ("until worse", "", Until(UntilKind.WORSE)),
    ],
)
async def test_a_comment_and_an_end_can_be_typed(typed: str, comment: str, until: Until) -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "a", *("space" if c == " " else c for c in typed), "enter")
        assert noted(app) == [("1", EntryKind.ACKNOWLEDGED, comment, until)]


async def test_an_end_that_cannot_be_understood_is_asked_for_again_and_escape_says_nothing() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "a", *"until", "space", *"monday", "enter")
        assert prompt_is_open(app)
        assert "until what?" in screen_rows(app)[-1]
        assert fake(app).noted == []
        await pilot.press("escape")
        assert fake(app).noted == []
        assert app.focused is panel_of(app)


async def test_capital_a_acknowledges_every_active_alert() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "A")
        assert "acknowledge 3 alerts:" in screen_rows(app)[-1]
        await pilot.press(*"seen", "enter")
        assert noted(app) == [(i, EntryKind.ACKNOWLEDGED, "seen", FOR_EVER) for i in "127"]


async def test_z_snoozes_for_half_an_hour_unless_told_otherwise() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "z", "enter", "j", "z", "ctrl+u", *"step", "space", *"2k", "space", *"later", "enter")
        assert noted(app) == [
            ("1", EntryKind.SNOOZED, "", Until(UntilKind.TIME, NOW + 1800)),
            ("7", EntryKind.SNOOZED, "later", Until(UntilKind.STEP, 2000)),
        ]


async def test_capital_i_says_that_it_is_intended() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "I")
        assert "Overflow streak (loss_scale) is intended:" in screen_rows(app)[-1]
        await pilot.press(*"a", "space", *"test", "enter")
        assert noted(app) == [("1", EntryKind.INTENDED, "a test", FOR_EVER)]


async def test_u_takes_back_what_holds_and_says_so_where_nothing_does() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "u")
        assert fake(app).noted == []
        assert "nobody has said anything of it that holds" in screen_rows(app)[-1]
        for number in (4, 3, 6):  # snoozed, acknowledged, intended
            panel_of(app).select((f"{number:08x}", 0))
            await pilot.press("u")
        assert [(i, kind) for i, kind, _comment, _until in noted(app)] == [(i, EntryKind.UNACKNOWLEDGED) for i in "436"]


async def test_intended_is_taken_back_where_it_was_said() -> None:
    monitor = scene()
    first = some_alerts()[5]
    again = replace(first, id="0000000a")
    put_alerts(monitor, [again])
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "u")
        assert [each.incident for _run, each in monitor.noted] == [first.id]


async def test_keys_without_an_alert_say_that_there_is_none() -> None:
    monitor = scene()
    put_alerts(monitor, [])
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        for key in "auzIgfJ":
            await pilot.press(key)
            assert "nothing has been raised" in screen_rows(app)[-1], key
        await pilot.press("A")
        assert "no alert is active" in screen_rows(app)[-1]
        assert monitor.noted == []


async def test_a_journal_that_cannot_be_kept_is_told_in_the_panel_and_with_every_answer() -> None:
    monitor = alerts_scene()
    monitor.health = JournalHealth(ok=False, detail="/state: read-only", unsaved=1)
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        assert "! acknowledgements cannot be kept: /state: read-only, 1 not stored yet" in panel_text(app)
        await pilot.press("a", "enter")
        assert "cannot be kept" in screen_rows(app)[-1]


async def test_what_a_newer_mstui_has_noted_is_counted_in_the_panel() -> None:
    monitor = alerts_scene()
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        assert "newer mstui" not in panel_text(app)
        monitor.health = JournalHealth(ok=True, foreign=3)
        panel_of(app).redraw()
        await pilot.pause()
        assert "3 entries of a newer mstui are not shown" in panel_text(app)


# ---- windows and jumps


async def test_the_evidence_shows_every_symptom_and_what_was_noted() -> None:
    monitor = alerts_scene()
    app = make_app(monitor)
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("3")
        panel_of(app).select(("00000003", 0))
        await pilot.press("enter")
        assert isinstance(app.focused, AlertWindow)
        text = screen_text(app)
        for part in (
            *("! warning  Loss spike  00000003", "acknowledged by li@node7 until step 20000: known bad shard"),
            *("began at step 200, seen at step 202", "the loss is nan at step 200", "seen again 2 times", "History"),
        ):
            assert part in text, part
        await pilot.press("escape", "home", "enter")
        text = screen_text(app)
        for part in (
            *("> ✗ error  Overflow streak", "✗ error  Loss scale at its floor", "cleared at step 700"),
            *("‼ critical  Loss is NaN", "rank 3 loss", "also in 2 places: rank 0 loss, rank 1 loss"),
        ):
            assert part in text, part


async def test_of_one_place_and_one_time_the_evidence_tells_in_the_singular() -> None:
    monitor = scene()
    once = happening(Symptom.LOSS_SPIKE, Severity.WARN, 200, Scope(0, "loss"), others=(Scope(1, "loss"),), repeats=1)
    put_alerts(monitor, [alert(1, once)])
    app = make_app(monitor)
    async with app.run_test(size=(120, 60)) as pilot:
        await pilot.press("3", "enter")
        text = screen_text(app)
        assert "also in 1 place: " in text
        assert "seen again once" in text


async def test_from_the_evidence_one_key_puts_the_cursor_where_the_marked_symptom_began() -> None:
    app = make_app(alerts_scene(), filter="lr")
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "enter", "n", "n", "J")
        await pilot.pause()
        cursor, view = app.watch_screen.view.cursor, app.watch_screen.view
        assert cursor is not None
        assert (cursor.tag, cursor.index) == ("loss", 70), "step 700, ten steps a point, though the filter hid the tag"
        assert view.tag_filter == ""
        assert app.focused is not None
        assert app.focused.id == "curves"


async def test_what_is_about_the_whole_run_leads_to_the_loss() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        panel_of(app).select(("00000004", 0))
        await pilot.press("J")
        await pilot.pause()
        cursor = app.watch_screen.view.cursor
        assert cursor is not None
        assert (cursor.tag, cursor.index) == ("loss", 10)


async def test_from_the_evidence_one_key_leads_to_the_log() -> None:
    monitor = logs_scene()
    put_alerts(monitor, [alert(1, happening(Symptom.LOSS_SPIKE, Severity.WARN, 120, Scope(1, "loss")))])
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "enter", "l")
        await app.workers.wait_for_complete()
        await pilot.pause()
        panel = app.watch_screen.panels["log"]
        assert isinstance(panel, LogPanel)
        assert app.focused is panel
        row = panel.window.current()
        assert row is not None
        assert (row.rank_id, row.step) == (1, 120)


async def test_without_a_log_it_says_so() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "enter", "l")
        await pilot.pause()
        assert "No log of this rank tells of this step." in screen_rows(app)[-1]


@pytest.mark.parametrize(("key", "label"), [("a", "acknowledge"), ("z", "snooze"), ("I", "is intended")])
async def test_an_alert_can_be_answered_from_its_evidence(key: str, label: str) -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "enter", key)
        await pilot.pause()
        assert prompt_is_open(app)
        assert label in screen_rows(app)[-1]
        await pilot.press("enter")
        assert len(fake(app).noted) == 1
        assert app.focused is panel_of(app)


async def test_an_alert_that_goes_while_its_window_is_open_is_said_to_be_gone() -> None:
    monitor = alerts_scene()
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "enter")
        put_alerts(monitor, [])
        app.watch_screen._flush()
        await pilot.pause()
        assert "This alert is no longer there." in screen_text(app)
        await pilot.press("J", "escape")


async def test_v_lists_what_was_judged_and_what_each_other_rule_needs() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("3", "V")
        assert isinstance(app.focused, TextOverlay)
        text = screen_text(app)
        for part in ("judged 7 of 11 rules", "overfit  Over-fitting", "needs: a loss of evaluations"):
            assert part in text


async def test_a_small_panel_has_alerts_instead_of_a_detail() -> None:
    app = make_app(alerts_scene())
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press("3")
        assert "Gradients vanish" in panel_text(app)
        assert "Throughput dropped" in panel_text(app)
    app = make_app(alerts_scene())
    async with app.run_test(size=(80, 18)) as pilot:
        await pilot.press("3")
        assert panel_of(app).size.height < DETAIL_FROM
        assert "raised 13m ago" not in panel_text(app)


# ---- time and bytes


async def test_ages_grow_with_the_clock_and_nothing_else_is_painted() -> None:
    monitor = alerts_scene()
    app = make_app(monitor)
    now = [NOW]
    app.watch_screen._clock = lambda: now[0]
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        before = screen_rows(app)
        app.watch_screen._last_flush = 0.0
        app.watch_screen._tick()
        await pilot.pause()
        assert screen_rows(app) == before
        now[0] += 600
        app.watch_screen._last_flush = 0.0
        app.watch_screen._tick()
        await pilot.pause()
        changed = [y for y, row in enumerate(screen_rows(app)) if row != before[y]]
        assert "23m active" in screen_text(app)
        assert set(changed) <= {0, *range(4, 14)}


async def test_a_new_alert_shows_at_once_though_lists_are_drawn_seldom() -> None:
    monitor = alerts_scene()
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3")
        for number in range(20, 23):
            more = alert(number, happening(Symptom.LOSS_INF, Severity.CRITICAL, 900, Scope(0, "loss")))
            put_alerts(monitor, (*monitor.alert_lists[RUN], more))
            app.watch_screen._flush()
            assert f"{number - 16} active" in panel_text(app)


async def test_ascii_only_draws_with_ascii() -> None:
    app = make_app(alerts_scene(), ascii=True)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("3", "f")
        assert panel_text(app).isascii()
        assert "!! critical" in panel_text(app)
        await pilot.press("enter")
        assert screen_text(app).isascii()


async def test_an_acknowledged_alert_leaves_badge_and_strip() -> None:
    monitor = alerts_scene()
    app = make_app(monitor)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        held = Standing(AlertState.ACKNOWLEDGED, NOW)
        put_alerts(monitor, [replace(each, standing=held) for each in some_alerts()])
        app.watch_screen._flush()
        await pilot.pause()
        assert "critical" not in screen_rows(app)[0]
        assert "judged 7 of 11 rules: known trouble only" in screen_rows(app)[22]
