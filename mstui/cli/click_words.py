"""What click itself says, named here so that our catalogue translates it; and click is pointed to that catalogue.

click takes its texts from gettext's default domain. Those of every version that pyproject.toml allows are named; what
it says to programmers only, or of kinds of options that mstui has not got, is not.
"""

from __future__ import annotations

import gettext
import os
from typing import Tuple

from mstui.i18n import DOMAIN, LOCALE_DIR, SOURCE_LANGUAGE, current_language, mark, mark_forms

MESSAGES: Tuple[str, ...] = (
    mark("Usage:"),
    mark("Options"),
    mark("Commands"),
    mark("Arguments"),
    mark("Positional arguments"),
    mark("default: {default}"),
    mark("required"),
    mark("Show this message and exit."),
    mark("Show the version and exit."),
    mark("Error: {message}"),
    mark("Try '{command} {option}' for help."),
    mark("Missing argument"),
    mark("Missing option"),
    mark("Missing command."),
    mark("No such command {name!r}."),
    mark("No such option: {name}"),
    mark("No such option {name!r}."),
    mark("Invalid value: {message}"),
    mark("Invalid value for {param_hint}: {message}"),
    mark("{value!r} is not a valid {number_type}."),
    mark("{value} is not in the range {range}."),
    mark("Option {name!r} does not take a value."),
)
FORMS: Tuple[Tuple[str, str], ...] = (
    mark_forms("Did you mean {possibility}?", "Did you mean {possibility}?"),
    mark_forms("Got unexpected extra argument ({args})", "Got unexpected extra arguments ({args})"),
    mark_forms("Option {name!r} requires an argument.", "Option {name!r} requires an argument."),
    mark_forms("{value!r} is not {choice}.", "{value!r} is not {choice}."),
)
"""Messages with a number. gettext finds them by the first form; where click's second one names other values than the
first, the first stands here twice: no language of ours but English has two forms."""


def teach_click() -> None:
    """Have click speak the current language."""
    if current_language() != SOURCE_LANGUAGE:
        os.environ["LANGUAGE"] = current_language()
        gettext.bindtextdomain(DOMAIN, LOCALE_DIR)
        gettext.textdomain(DOMAIN)
