"""msprobe's grad_probe: one file a step."""

from __future__ import annotations

from mstui.formats.tables.csv_decoder import table_format
from mstui.formats.tables.grad_probe import DIALECT

FORMAT = table_format(DIALECT)
