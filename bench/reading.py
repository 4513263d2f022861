"""Reading and storing everything below a path, with no monitor around it: what others are held against."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Sequence

from mstui.formats.base import Format
from mstui.ingest.ingestor import Ingestor
from mstui.registry import collect
from mstui.store.run_store import Store


def decoders() -> Sequence[Format]:
    """Every format that mstui reads."""
    return collect("mstui.formats.decoders", "FORMAT", Format)


def read_whole(folder: Path, formats: Sequence[Format]) -> Store:
    """All runs below a folder, as a store holds them."""
    ingestor, store, now = Ingestor(str(folder), formats), Store(), time.time()
    while not ingestor.scan(now, 1.0).complete:
        pass
    for run in ingestor.runs():
        ingestor.load(run.key)
    done = False
    while not done:
        turn = ingestor.turn(now, 0.1, everything=True)
        done = turn.done
        for batch in turn.batches:
            store.apply(batch)
    return store
