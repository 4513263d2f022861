"""Prints, as JSON, what MindInsight's own readers find in the directories named; runs in MindInsight's interpreter.

It needs mindinsight and nothing else: nothing of mstui. What is not finite stands as NaN or Infinity, as Python's json
writes it. Names and shapes are MindInsight's own.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Dict, List

LINEAGE_PARTS = ("hyper_parameters", "train_dataset", "algorithm", "model", "valid_dataset", "metric", "dataset_graph")


def tags(events: Any, plugin: str) -> List[str]:
    """Those of one kind; MindInsight raises where there is none."""
    found: List[str] = events.list_tags_by_plugin(plugin) if plugin in events._tags_by_plugin else []
    return found


def curves(events: Any) -> Dict[str, List[List[Any]]]:
    """tag -> [step, wall_time, value], ...; a tag's name without MindInsight's ending."""
    return {
        tag[: -len("/scalar")]: [[sample.step, sample.wall_time, sample.value] for sample in events.tensors(tag)]
        for tag in tags(events, "scalar")
    }


def histogram(step: int, wall_time: float, container: Any) -> List[Any]:
    container.buckets()  # those that its page draws; raises where it cannot make them
    stored = [list(bucket.as_tuple()) for bucket in container.histogram._original_buckets]
    return [step, wall_time, container.min, container.max, container.count, stored]


def histograms(events: Any) -> Dict[str, List[List[Any]]]:
    """tag -> [step, wall_time, min, max, finite elements, [left, width, count]...], ..."""
    return {
        tag[: -len("/histogram")]: [
            histogram(sample.step, sample.wall_time, sample.value) for sample in events.tensors(tag)
        ]
        for tag in tags(events, "histogram")
    }


def lineage(folder: str) -> Dict[str, Any]:
    """What its lineage page shows (None: nothing), and the custom lineage, which it can read even then."""
    parser = import_module("mindinsight.lineagemgr.lineage_parser").LineageParser(Path(folder).name, folder)
    analyzer = import_module("mindinsight.lineagemgr.summary.lineage_summary_analyzer").LineageSummaryAnalyzer
    custom: Dict[str, Any] = {}
    for path in sorted(Path(folder).glob("*_lineage")):
        for part in analyzer.get_user_defined_info(str(path)):
            custom.update(part)
    found = parser.super_lineage_obj
    if found is None:
        return {"custom": custom, "shown": None}
    shown = {name: getattr(found.lineage_obj, name) for name in (*LINEAGE_PARTS, "user_defined")}
    return {"custom": custom, "shown": shown}


def reading(folder: str) -> Dict[str, Any]:
    loader = import_module("mindinsight.datavisual.data_transform.ms_data_loader").MSDataLoader(folder)
    loader.load(None)
    events = loader.get_events_data()
    return {
        "whole": loader.is_integrity,
        "plugins": sorted(events._tags_by_plugin),
        "scalars": curves(events),
        "histograms": histograms(events),
        "lineage": lineage(folder),
    }


if __name__ == "__main__":  # its workers import this file
    print(json.dumps({folder: reading(folder) for folder in sys.argv[1:]}))
