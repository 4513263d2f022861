"""One read at a time for a panel, the newest wish next."""

from __future__ import annotations

import threading
from typing import List

from textual.app import App, ComposeResult
from textual.widget import Widget

from mstui.tui.fetching import Answer, Fetching
from mstui.tui.messages import Fetched


class Asker(Widget):
    def __init__(self) -> None:
        super().__init__()
        self.fetching = Fetching(self)
        self.got: List[Answer] = []

    def on_fetched(self, message: Fetched) -> None:
        answer = self.fetching.take(message)
        if answer is not None:
            self.got.append(answer)


class AskerApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Asker()


async def test_the_call_runs_off_the_ui_thread_and_its_answer_comes_with_the_request() -> None:
    async with AskerApp().run_test() as pilot:
        asker = pilot.app.query_one(Asker)
        asker.fetching.ask("what", threading.get_ident)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        (answer,) = asker.got
        assert answer.request == "what"
        assert answer.value != threading.get_ident()
        assert not asker.fetching.busy


async def test_of_all_that_is_asked_meanwhile_only_the_newest_runs() -> None:
    gate = threading.Event()
    ran: List[str] = []

    def work(name: str) -> str:
        ran.append(name)
        assert gate.wait(10)
        return name

    async with AskerApp().run_test() as pilot:
        asker = pilot.app.query_one(Asker)
        asker.fetching.ask("first", lambda: work("first"))
        for name in ("second", "third", "fourth"):
            asker.fetching.ask(name, lambda name=name: work(name))  # type: ignore[misc]
        assert asker.fetching.busy
        gate.set()
        while len(asker.got) < 2:
            await pilot.pause()
        assert ran == ["first", "fourth"]
        assert [answer.value for answer in asker.got] == ["first", "fourth"]


async def test_asking_again_for_what_runs_drops_what_waits() -> None:
    gate = threading.Event()

    def work() -> bool:
        return gate.wait(10)

    async with AskerApp().run_test() as pilot:
        asker = pilot.app.query_one(Asker)
        asker.fetching.ask("first", work)
        asker.fetching.ask("second", work)
        asker.fetching.ask("first", work)
        gate.set()
        while asker.fetching.busy:
            await pilot.pause()
        assert [answer.request for answer in asker.got] == ["first"]


async def test_a_message_that_was_not_asked_for_is_ignored() -> None:
    async with AskerApp().run_test() as pilot:
        asker = pilot.app.query_one(Asker)
        asker.post_message(Fetched(Answer("other", 1)))
        asker.post_message(Fetched("no answer"))
        await pilot.pause()
        assert asker.got == []
