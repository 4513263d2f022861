"""What the commands share: arguments and options as click sees them."""

from __future__ import annotations

from typing import Any, Callable, Optional

import click

from mstui.i18n import LANGUAGES, _, normalize

Command = Callable[..., Any]


def language(_context: click.Context, _parameter: click.Parameter, value: Optional[str]) -> Optional[str]:
    """The catalogue's name of a language, however it is usually written: zh, zh-cn, zh_CN.UTF-8."""
    code = None if value is None else normalize(value)
    if value is not None and code is None:
        raise click.BadParameter(_("{value} is not one of {choices}").format(value=value, choices=", ".join(LANGUAGES)))
    return code


def language_option(function: Command) -> Command:
    """--lang, which is read before anything is parsed."""
    shown = "|".join(LANGUAGES)
    option = click.option("--lang", metavar=shown, callback=language, help=_("Language (chosen by the locale)."))
    return option(function)


def config_option(function: Command) -> Command:
    """--config."""
    kind = click.Path(readable=False)
    return click.option("--config", type=kind, metavar="FILE", help=_("Settings that win over all others."))(function)


def state_dir_option(function: Command) -> Command:
    """--state-dir."""
    words = _("Where views, copies, replays and the journal are kept.")
    return click.option("--state-dir", type=click.Path(readable=False), metavar="DIR", help=words)(function)


def run_option(function: Command) -> Command:
    """--run."""
    words = _("This run (its path below PATH) instead of the newest.")
    return click.option("--run", metavar="KEY", help=words)(function)


def json_option(function: Command) -> Command:
    """--json."""
    return click.option("--json", "as_data", is_flag=True, help=_("Print JSON."))(function)


def path_argument(function: Command) -> Command:
    """PATH. Whether it can be read is said by startup.check_path, in the person's language and with a remedy."""
    return click.argument("path", type=click.Path(readable=False))(function)


def examples(*lines: str) -> str:
    """An epilog that click does not re-wrap."""
    return "\b\n" + "\n".join((_("Examples:"), *lines))
