"""Judges the labelled corpus with the engine alone: files by the decoders, no ingest, no store, no monitor.

    python bench/judge_corpus.py [--split DIR] [--labels FILE] [--out FILE] [-v] [--run HASH]

Writes predictions in the shape that the corpus's score.py wants, scores them with it, and prints tables by symptom and
scenario. `--half 0|1` scores one half of the nets only, for tuning on the other.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import sys
import tarfile
import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mstui.detect.base import Process, Subject
from mstui.detect.engine import Engine, load_rules
from mstui.detect.incidents import Incidents
from mstui.formats.decoders.mindspore_summary import FORMAT
from mstui.formats.histogram_wire import histogram
from mstui.formats.logs.decoder import TextLogDecoder
from mstui.model.alerts import Severity
from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.monitor.facts import LINEAGE_KINDS, RunFacts
from mstui.store.roles import classify

CORPUS = Path("/work/shared/corpus")
LAB = Path("/tmp/lab/corpus")
TO_LABEL = {"critical": "critical", "error": "critical", "warn": "warning", "watch": "info", "info": "info"}

Columns = Dict[str, Tuple[Any, Any, Any]]


def gather(parts: List[Any]) -> Columns:
    found: Dict[str, List[Tuple[Any, Any, Any]]] = {}
    for columns in parts:
        for tag, values in zip(columns.tags, columns.values):
            found.setdefault(tag, []).append((columns.steps, columns.wall_times, values.astype(np.float64)))
    return {tag: tuple(np.concatenate(each) for each in zip(*rows)) for tag, rows in found.items()}  # type: ignore[misc]


def kind_of(tag: str) -> Tuple[Any, ...]:
    meaning = classify(tag)
    return (meaning.role, meaning.parameter, meaning.statistic, "acc" in tag, "train" in tag)


def merge(summary: Columns, log: Columns) -> Columns:
    """One curve by step of what both hold; the summary wins."""
    known = {kind_of(tag): tag for tag in summary}
    merged = dict(summary)
    for tag, (steps, walls, values) in log.items():
        same = known.get(kind_of(tag))
        if same is None:
            merged[tag] = (steps, walls, values)
        elif classify(tag).role is Role.LOSS:
            old_steps, old_walls, old_values = summary[same]
            new = ~np.isin(steps, old_steps)
            all_steps = np.concatenate((old_steps, steps[new]))
            order = np.argsort(all_steps, kind="stable")
            merged[same] = (
                all_steps[order],
                np.concatenate((old_walls, walls[new]))[order],
                np.concatenate((old_values, values[new]))[order],
            )
    return merged


def load_run(directory: Path) -> List[Dict[str, Any]]:
    ranks = []
    for root in sorted(directory.glob("rank_*")) or [directory]:
        facts, events, histograms, columns, logged = RunFacts(), [], [], [], []
        for path in sorted((root / "summary").glob("*")):
            data = path.read_bytes()
            decoded = FORMAT.make_decoder(str(path)).decode(data, 0, at_end=True)
            columns.extend(decoded.columns)
            for blobs in decoded.blobs:
                for step, wall, at, size in zip(blobs.steps, blobs.wall_times, blobs.offsets, blobs.lengths):
                    payload = data[at : at + size]
                    if blobs.kind is BlobKind.HISTOGRAM:
                        histograms.append((blobs.tag, histogram(payload, "mindspore", int(step), float(wall))))
                    elif blobs.kind in LINEAGE_KINDS:
                        facts.take(blobs.kind, payload, float(wall))
        log = root / "train.log"
        if log.exists():
            decoded = TextLogDecoder(str(log)).decode(log.read_bytes(), 0, at_end=True)
            logged.extend(decoded.columns)
            events.extend(decoded.log_events)
        histograms.sort(key=lambda each: (each[1].stats.step, each[0]))
        ranks.append(
            {"columns": merge(gather(columns), gather(logged)), "events": events, "histograms": histograms,
             "facts": dict(facts.merged)}
        )  # fmt: skip
    return ranks


def judge(ranks: List[Dict[str, Any]], observed: Dict[str, Any], step_by_step: int = 0) -> Tuple[Incidents, Engine]:
    engine, incidents = Engine(load_rules()), Incidents()
    for rank in ranks:
        # Lineage that MindSpore writes at the end is not known while the training runs.
        engine.declare({key: value for key, value in rank["facts"].items() if key.startswith("custom/")})
    last = max((int(each[0][-1]) for rank in ranks for each in rank["columns"].values() if len(each[0])), default=0)
    cuts = list(range(step_by_step, last, step_by_step)) if step_by_step else []
    before = -(2**60)
    for upto in (*cuts, 2**60):
        for rank_id, rank in enumerate(ranks):
            for tag, (steps, walls, values) in rank["columns"].items():
                meaning = classify(tag)
                keep = (steps > before) & (steps <= upto)
                engine.feed(rank_id, tag, Subject(*meaning), steps[keep], walls[keep], values[keep])
            for tag, each in rank["histograms"]:
                if before < each.stats.step <= upto:
                    engine.feed_histogram(rank_id, tag, Subject(*classify(tag, BlobKind.HISTOGRAM)), each)
        incidents.take(engine.advance())
        before = upto
    for rank_id, rank in enumerate(ranks):
        for event in rank["events"]:
            engine.tell(rank_id, event)
    running = observed["process"] == "running"
    if running:
        incidents.take(engine.advance(all_come=True))
    else:
        incidents.take(engine.end())
    incidents.take(engine.clock(observed["observed_at"], Process(running, observed.get("exit_code"))))
    return incidents, engine


def predictions_of(incidents: Incidents, symptoms: Dict[str, str]) -> List[Dict[str, Any]]:
    found = []
    for incident in incidents.all:
        for each in incident.happenings:
            word = each.severity.name.lower()
            found.append(
                {"symptom": symptoms.get(each.symptom.value, each.symptom.value), "step": each.detected_step,
                 "severity": TO_LABEL[word], "causes": []}
            )  # fmt: skip
    return found


def module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def asked_for(doc: str, out: str, *, ill_only: bool = False) -> Tuple[argparse.Namespace, Dict[str, Any]]:
    """The arguments, and the labels of the runs that they choose; the corpus is unpacked where it is not yet."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", type=Path, default=LAB / "dev")
    parser.add_argument("--labels", type=Path, default=CORPUS / "dev.labels.json")
    parser.add_argument("--out", type=Path, default=LAB / out)
    parser.add_argument("--run", help="one run, with everything that is known of it")
    parser.add_argument("--half", type=int, help="only this half of the nets")
    parser.add_argument("-v", action="store_true")
    arguments = parser.parse_args()
    if not arguments.split.exists():
        LAB.mkdir(parents=True, exist_ok=True)
        with tarfile.open(CORPUS / "dev.tar.gz") as archive:
            archive.extractall(LAB)
    labels = json.loads(arguments.labels.read_text())["runs"]
    if ill_only:
        labels = {name: label for name, label in labels.items() if not label["healthy"]}
    if arguments.run:
        labels = {name: label for name, label in labels.items() if arguments.run in name}
    if arguments.half is not None:
        nets = sorted({label["arch"] for label in labels.values()})
        labels = {name: label for name, label in labels.items() if nets.index(label["arch"]) % 2 == arguments.half}
    return arguments, labels


def main() -> None:
    arguments, labels = asked_for(__doc__, "predictions.json")
    symptoms = module(CORPUS / "predict.py").SYMPTOM
    predictions, cost, events = {}, 0.0, 0
    for name, label in sorted(labels.items()):
        directory = arguments.split / name
        ranks = load_run(directory)
        observed = json.loads((directory / "observe.json").read_text())
        begun = time.process_time()
        incidents, engine = judge(ranks, observed)
        cost += time.process_time() - begun
        events += sum(len(each[0]) for rank in ranks for each in rank["columns"].values())
        predictions[name] = predictions_of(incidents, symptoms)
        if arguments.run:
            print(
                name,
                label["scenario"],
                label["arch"],
                label["record"],
                "expected",
                label["expected"],
                "ok",
                label["acceptable"],
            )
            for incident in incidents.all:
                print(f"#{incident.number} {incident.severity.name}")
                for each in incident.happenings:
                    said = [evidence.say() for evidence in each.evidence]
                    steps = f"{each.step} -> {each.detected_step} ({each.cleared_step})"
                    print("  ", each.symptom.value, each.severity.name, steps, each.scope, f"+{len(each.others)}", said)
            verdict = engine.verdict()
            print("judged", verdict.judged)
            for missing in verdict.not_judged:
                print("not judged", missing.rule, "because", missing.because.say(), "needs", missing.needs.say())
    if arguments.run:
        return
    arguments.out.write_text(json.dumps(predictions, indent=1))
    scoring = module(CORPUS / "score.py")
    result = scoring.score(labels, predictions)
    scoring.show(result, arguments.v)
    scoring.bars(result)
    spurious: Dict[str, List[str]] = collections.defaultdict(list)
    unfound: Dict[str, List[str]] = collections.defaultdict(list)
    for name, label in labels.items():
        got = {each["symptom"] for each in predictions[name] if each["severity"] != "info"}
        for symptom in got - set(label["expected"]) - set(label["acceptable"]):
            spurious[symptom].append(f"{name[4:]} {label['scenario']} {label['arch']}")
        for symptom in set(label["expected"]) - got:
            unfound[symptom].append(
                f"{name[4:]} {label['scenario']} {label['arch']} {label['record']}@{label['expected'][symptom]}"
            )
    if arguments.v:
        for title, table in (("spurious", spurious), ("not found", unfound)):
            for symptom, rows in sorted(table.items()):
                print(title, symptom, len(rows), "|", "; ".join(rows))
    print(f"engine: {cost:.2f} s CPU for {events} points; {Severity.WARN.name} and above count")


if __name__ == "__main__":
    main()
