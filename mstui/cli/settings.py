"""The settings of a command, from files and options, and every mistake in them.

A file is right or wrong for all commands alike: what only the screen uses is checked for plain lines and checks, too.
What checks it is imported only where a setting asks for it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Tuple

from mstui.cli.surroundings import resolve, textual_environment
from mstui.config import Settings, Watched, load_settings, override, user_config_dir
from mstui.model.log_patterns import LogPattern

if TYPE_CHECKING:
    from mstui.formats.base import Format

FORMATS = "mstui.formats.decoders"
THEME_OPTION = "--theme"


def read_settings(watched: Watched, config: Optional[str], options: Mapping[str, Any]) -> Settings:
    """Settings from the files that count, options over them. Raises ConfigError for the first thing that is wrong."""
    settings = load_settings(watched, cwd=os.getcwd(), config_dir=user_config_dir(), explicit=config)
    settings = override(settings, **options)
    _check(settings)
    return settings


def formats_with(patterns: Sequence[LogPattern]) -> Optional[Tuple[Format, ...]]:
    """Every format, text logs with these patterns; None without any. Raises ConfigError for one that cannot be used."""
    if not patterns:
        return None
    from mstui.formats.base import Format
    from mstui.formats.logs import text_format
    from mstui.formats.logs.own_patterns import own_pattern
    from mstui.registry import collect

    own = [(own_pattern(each.name, each.pattern, each.where), each.files) for each in patterns]
    known = collect(FORMATS, "FORMAT", Format)
    others = (form for form in known if form.name != text_format.FORMAT.name)
    return (*others, text_format.with_patterns(own))  # any text is a log: the others come first


def _check(settings: Settings) -> None:
    """What only those who use a setting know to be wrong."""
    if settings.rules:
        from mstui.monitor.rulebook import make_rulebook

        make_rulebook(settings.rules, settings.objectives)
    formats_with(settings.log_pattern)
    if settings.keys:
        os.environ.update(textual_environment(resolve(settings, os.environ, None), os.environ))  # before it is imported
        from mstui.tui.keymap import effective_keys

        effective_keys(settings.keys, settings.origins)
    if settings.theme:
        from mstui.tui.theme import load_palette

        where = THEME_OPTION if "theme" in settings.given else settings.origins.get("theme", "")
        load_palette(settings.theme, user_config_dir(), asked_in=where)
