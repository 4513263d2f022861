"""Who says something to the journal: the name that others who watch the run will read. It asks for no network."""

from __future__ import annotations

import getpass
import os
import platform


def user_at_host() -> str:
    """`li@node7`: the account and this machine's own name; an account without a name is its number."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container may run under a number that no table lists
        user = str(os.getuid())
    return f"{user}@{platform.node() or 'localhost'}"
