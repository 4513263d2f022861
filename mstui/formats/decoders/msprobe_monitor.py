"""msprobe's monitor, first layout: one kind of tensor a file."""

from __future__ import annotations

from mstui.formats.tables.csv_decoder import table_format
from mstui.formats.tables.msprobe import V1

FORMAT = table_format(V1)
