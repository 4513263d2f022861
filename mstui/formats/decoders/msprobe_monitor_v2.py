"""msprobe's monitor, second layout: the column `scope` says the kind of tensor."""

from __future__ import annotations

from mstui.formats.tables.csv_decoder import table_format
from mstui.formats.tables.msprobe import V2

FORMAT = table_format(V2)
