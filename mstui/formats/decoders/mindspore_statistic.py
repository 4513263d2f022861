"""MindSpore's dump of statistics."""

from __future__ import annotations

from mstui.formats.tables.csv_decoder import table_format
from mstui.formats.tables.mindspore_dump import DIALECT

FORMAT = table_format(DIALECT)
