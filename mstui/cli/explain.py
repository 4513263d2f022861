"""Runs `explain`: prints pages of the offline manual. It needs no run and no terminal, and writes no colour."""

from __future__ import annotations

import difflib
from typing import List

import click

from mstui.errors import ConfigError
from mstui.i18n import _, current_language
from mstui.knowledge.loader import knowledge
from mstui.knowledge.manual import STEP_PREFIX, Manual
from mstui.knowledge.schema import Knowledge
from mstui.safe_text import safe

WIDEST = 100
"""Cells of a line at most where nobody asked for more: longer lines are hard to read"""
NAMES_SHOWN = 8
"""Ids proposed for an unknown one"""


def explain(word: str, *, columns: int, version: str = "") -> int:
    """Print the pages of an id, or every id with its title. Raises ConfigError for an unknown id."""
    base = knowledge()
    manual = Manual(base, current_language(), columns, version)
    lines = manual.page(word) if word else manual.listing()
    if not lines:
        raise ConfigError(_('no page "{word}"').format(word=safe(word)), "", _remedy(base, word))
    click.echo("\n".join(lines))
    return 0


def near(base: Knowledge, word: str) -> List[str]:
    """Ids that contain the word, whose titles do, or that are spelt much like it; the best first."""
    titles = {
        **{key: topic.title for key, topic in base.topics.items()},
        **{key: flow.title for key, flow in base.flows.items()},
        **{key: step.ask for key, step in base.steps.items()},
        **{key: cause.title for key, cause in base.causes.items()},
        **{key: symptom.title for key, symptom in base.symptoms.items()},
    }
    wanted = word.lower().strip()
    spelt = difflib.get_close_matches(wanted, [key.replace(STEP_PREFIX, "", 1) for key in titles], NAMES_SHOWN, 0.7)
    found = [STEP_PREFIX + key if STEP_PREFIX + key in titles else key for key in spelt]
    if wanted:
        found += [key for key in titles if wanted in key]
        found += [key for key, title in titles.items() if wanted in title.en.lower() or wanted in title.zh.lower()]
    return list(dict.fromkeys(found))[:NAMES_SHOWN]


def _remedy(base: Knowledge, word: str) -> str:
    names = near(base, word)
    if not names:
        return _("`mstui explain --list` names every page.")
    return _("Did you mean one of these? {names}").format(names=", ".join(names))
