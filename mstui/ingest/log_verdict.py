"""What a text log that can be read is worth: is anything in it understood, and does it hold a metric.

A log that nobody understands must not pass for a training in good order. It says nothing while too little is read.
"""

from __future__ import annotations

from typing import Tuple

from mstui.i18n import ngettext
from mstui.ingest.tally import Tally

ENOUGH_LINES = 20
"""from so many lines on it is said that none is understood: scripts print a dozen before their first step"""


def verdict(figures: Tally, *, quiet: bool) -> Tuple[bool, str]:
    """Is the log recognised, and what is to be said of it. `quiet`: its writer has been silent for a while."""
    if figures.understood or figures.measured:
        if figures.measured:
            return True, ""
        said = ngettext("{n} line read, no metric in it", "{n} lines read, no metric among them", figures.lines)
        return True, said.format(n=figures.lines)
    if not figures.lines or (figures.lines < ENOUGH_LINES and not quiet):
        return True, ""
    said = ngettext(
        "nothing understood in {n} line; a [[log_pattern]] in the configuration file, a regular expression with "
        "(?P<step>...) and (?P<loss>...), makes it readable",
        "nothing understood in {n} lines; a [[log_pattern]] in the configuration file, a regular expression with "
        "(?P<step>...) and (?P<loss>...), makes them readable",
        figures.lines,
    )
    return False, said.format(n=figures.lines)
