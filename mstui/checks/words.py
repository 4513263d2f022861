"""Our own sentences in a language that need not be the one spoken: for what is written into files.

It reads a catalogue and knows no text itself.
"""

from __future__ import annotations

import gettext
from functools import lru_cache

from mstui.i18n import DOMAIN, LOCALE_DIR, SOURCE_LANGUAGE, current_language
from mstui.model.alerts import Number
from mstui.safe_text import safe


@lru_cache(maxsize=4)
def _catalogue(language: str) -> gettext.NullTranslations:
    """The catalogue of a language; one that says everything in English where there is none."""
    if language == SOURCE_LANGUAGE:
        return gettext.NullTranslations()
    return gettext.translation(DOMAIN, LOCALE_DIR, [language], fallback=True)


class Speaker:
    """Says messages in one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.spoken = language == current_language()
        """whether it is the language that everything else is said in"""
        self._catalogue = _catalogue(language)

    def __call__(self, message: str, **numbers: Number) -> str:
        """A message id with its numbers; texts among them are made safe to show."""
        text = self._catalogue.gettext(message) if message else ""
        if not numbers:
            return text
        shown = {key: safe(value) if isinstance(value, str) else value for key, value in numbers.items()}
        return text.format(**shown)

    def ngettext(self, one: str, many: str, n: int) -> str:
        """The form that goes with a number, the number in it. Its name is gettext's, by which messages are found."""
        return self._catalogue.ngettext(one, many, n).format(n=n)
