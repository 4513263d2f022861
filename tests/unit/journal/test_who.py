from __future__ import annotations

import getpass
import os
import platform

import pytest

from mstui.journal.who import user_at_host


def test_it_is_the_account_and_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "li")
    monkeypatch.setattr(platform, "node", lambda: "node7")
    assert user_at_host() == "li@node7"


def test_an_account_without_a_name_is_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", nobody)
    monkeypatch.setattr(platform, "node", lambda: "")
    assert user_at_host() == f"{os.getuid()}@localhost"
