"""Errors that a person can act on. Everything else is a bug or a value.

MstuiError
|-- StartError      cannot begin: no such directory, nothing readable, not a terminal
|-- ConfigError     the configuration file, a theme or a key map is wrong
`-- FilterError     a filter expression cannot be understood
"""

from __future__ import annotations

from mstui.i18n import headed


class MstuiError(Exception):
    """Says what is wrong, where, and what to do. The command line prints it and exits with 2."""

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        """file and key, or path"""
        self.remedy = remedy
        """what the person can do now"""

    def __str__(self) -> str:
        head = headed(self.where, self.what) if self.where else self.what
        return f"{head}\n  {self.remedy}" if self.remedy else head


class StartError(MstuiError):
    """The command cannot begin."""


class ConfigError(MstuiError):
    """A setting, theme or key map cannot be used."""


class FilterError(MstuiError):
    """A filter expression cannot be understood."""
