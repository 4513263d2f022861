"""Write the key table of README.md from mstui's own table of actions.

python scripts/keys_table.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import List

from mstui.tui.actions import ACTIONS, groups
from mstui.tui.help import keys_text

README = Path(__file__).resolve().parents[1] / "README.md"
BEGIN, END = "<!-- keys: made by scripts/keys_table.py -->\n", "<!-- end of keys -->"


def table() -> str:
    """Markdown: keys, what they do, and the id under which the configuration rebinds them."""
    keys = {action.id: action.keys for action in ACTIONS}
    rows: List[str] = ["| keys | where | what | id |", "| --- | --- | --- | --- |"]
    for _heading, actions in groups():
        for action in actions:
            shown = keys_text(action, keys).replace("|", "\\|")
            where = "" if action.scope == "app" else action.scope
            rows.append(f"| `{shown}` | {where} | {action.tooltip} | `{action.id}` |")
    return "\n".join(rows) + "\n"


def with_table(readme: str) -> str:
    """README with the table in its place."""
    head, rest = readme.split(BEGIN)
    return head + BEGIN + table() + END + rest.split(END, 1)[1]


def main() -> int:
    """Rewrite README.md."""
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
