"""Ranks the causes of the labelled corpus's incidents from evidence, and walks the checks with answers from the labels.

    python bench/rank_corpus.py [--split DIR] [--labels FILE] [--out FILE] [-v] [--run HASH] [--half 0|1]

A run is read by ingestor and store, judged by the engine as bench/judge_corpus.py does, and its incidents' causes are
ranked. Cause first and cause in three are counted as the corpus's score.py counts them. A check is answered from the
label: with trouble where the true cause is among those that it is about, with "as expected" elsewhere.
"""

from __future__ import annotations

import collections
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from judge_corpus import CORPUS, TO_LABEL, asked_for, judge, load_run, module

from mstui.checks.causes import causes, symptoms_of
from mstui.checks.evidence_base import observe
from mstui.checks.view import View, gather
from mstui.detect.base import Process
from mstui.formats.base import Format
from mstui.formats.histogram_wire import histogram
from mstui.ingest.ingestor import Ingestor
from mstui.knowledge.loader import knowledge
from mstui.knowledge.ranking import Observation, Verdict, next_step, questions, rank
from mstui.model.alerts import Incident
from mstui.model.histogram import Histogram
from mstui.model.records import BlobKind
from mstui.model.series import SeriesKey
from mstui.monitor.facts import RunFacts, take_lineage
from mstui.registry import collect
from mstui.store.run_store import Store

MOST_TURNS = 100
UNREACHED = 99


def opened(directory: Path, process: Process, now: float) -> View:
    """Everything of a run, read by the ingestor into a store."""
    ingestor, store, facts = (
        Ingestor(str(directory), collect("mstui.formats.decoders", "FORMAT", Format)),
        Store(),
        RunFacts(),
    )
    while not ingestor.scan(now, 1.0).complete:
        pass
    everything = True
    run_key = ingestor.runs()[0].key
    ingestor.load(run_key)
    for turn in range(MOST_TURNS):
        batches, _files, done = ingestor.turn(now + turn, 1.0, frozenset(), everything)
        for batch in batches:
            store.apply(batch)
            take_lineage(facts, batch, ingestor.read_range)
            if batch.facts:
                facts.declare(batch.facts)
        if done and not ingestor.progress.history_left:
            break

    def payload(key: SeriesKey, kind: BlobKind) -> Optional[bytes]:
        places = store.blobs(key, kind)
        return None if places is None else read(places, -1)

    def histograms(key: SeriesKey, at_places: Sequence[int]) -> List[Optional[Histogram]]:
        places = store.blobs(key, BlobKind.HISTOGRAM)
        found: List[Optional[Histogram]] = []
        for at in at_places:
            data = read(places, at)
            found.append(
                None
                if data is None
                else histogram(data, "mindspore", int(places.steps[at]), float(places.wall_times[at]))
            )
        return found

    def read(places: Any, at: int) -> Optional[bytes]:
        return ingestor.read_range(
            places.paths[int(places.files[at])], int(places.offsets[at]), int(places.lengths[at])
        )

    return gather(store, run_key, facts=facts.merged, process=process, now=now, histograms=histograms, payload=payload)


def walk(symptoms: Sequence[str], seen: Dict[str, Observation], true: Set[str]) -> Tuple[int, List[str]]:
    """Questions until the first cause is a true one that a check has accused; and the steps that were asked."""
    base, verdicts = knowledge(), {}  # type: ignore[var-annotated]
    asked: List[str] = []
    while True:
        ranked = rank(base, symptoms, seen, verdicts)
        if ranked and ranked[0].cause in true and Verdict.BAD in verdicts.values():
            return len(asked), asked
        step = next_step(base, symptoms, ranked, verdicts)
        if step is None:
            return UNREACHED, asked
        about = {each for q in questions(base, symptoms) if q.step == step for each in (q.accuses, *q.also)}
        verdicts[step] = Verdict.BAD if about & true else Verdict.OK
        asked.append(step)


def main() -> None:
    arguments, labels = asked_for(__doc__, "ranked.json", ill_only=True)
    predict, scoring = module(CORPUS / "predict.py"), module(CORPUS / "score.py")
    predictions: Dict[str, List[Dict[str, Any]]] = {}
    walks: Dict[str, int] = {}
    cost = 0.0
    for name, label in sorted(labels.items()):
        directory = arguments.split / name
        observed = json.loads((directory / "observe.json").read_text())
        incidents, _engine = judge(load_run(directory), observed)
        process = Process(observed["process"] == "running", observed.get("exit_code"))
        whole = opened(directory, process, observed["observed_at"])
        labelled = [each for each in [label.get("cause"), *label.get("acceptable_causes", [])] if each]
        true = {ours for each in labelled[:1] for ours in predict.CAUSE.get(each, [each])}
        rows: List[Dict[str, Any]] = []
        for incident in incidents.all:
            begun = time.process_time()
            view = whole.about(incident)
            seen = dict(observe(view))
            ranked = causes(view, observations=seen)
            cost += time.process_time() - begun
            said = predict.translate([each.cause for each in ranked], labelled)
            rows += rows_of(incident, said, predict.SYMPTOM)
            if arguments.run:
                say(incident, seen, ranked, true)
            hit = any(predict.SYMPTOM.get(each, each) in label["expected"] for each in symptoms_of(incident))
            if hit and name not in walks:
                walks[name], asked = walk(symptoms_of(incident), seen, true)
                if arguments.run:
                    print("  asked", walks[name], asked)
        predictions[name] = rows
    arguments.out.write_text(json.dumps(predictions, indent=1))
    report(labels, predictions, walks, scoring, arguments.v)
    print(f"evidence and ranking: {cost:.2f} s CPU for {len(labels)} runs")


def rows_of(incident: Incident, said: List[str], symptoms: Dict[str, str]) -> List[Dict[str, Any]]:
    return [
        {"symptom": symptoms.get(each.symptom.value, each.symptom.value), "step": each.detected_step,
         "severity": TO_LABEL[each.severity.name.lower()], "causes": said}
        for each in incident.happenings
    ]  # fmt: skip


def say(incident: Incident, seen: Dict[str, Observation], ranked: Any, true: Set[str]) -> None:
    print(f"#{incident.number} {symptoms_of(incident)} true {sorted(true)}")
    print("  yes", {key: (each.sentence or True) for key, each in sorted(seen.items()) if each.value})
    print("  no ", sorted(key for key, each in seen.items() if each.value is False))
    for place, each in enumerate(ranked):
        if place < 5 or each.cause in true:
            mark = "*" if each.cause in true else " "
            print(f"  {mark}{place + 1} {each.cause} {each.score}", [(one.id, one.points) for one in each.reasons])


def report(labels: Any, predictions: Any, walks: Dict[str, int], scoring: Any, verbose: bool) -> None:
    result = scoring.score(labels, predictions)
    scoring.show(result)
    order = {"critical": 0, "warning": 1}
    per_cause: Dict[str, List[int]] = collections.defaultdict(list)
    wrong = []
    for name, label in sorted(labels.items()):
        hits = [
            each for each in predictions[name] if each["severity"] != "info" and each["symptom"] in label["expected"]
        ]
        if not hits:
            wrong.append((label["cause"], name, label["scenario"], label["arch"], label["record"], "not detected"))
            per_cause[label["cause"]].append(-1)
            continue
        hits.sort(key=lambda each: (order.get(each["severity"], 1), each["step"]))
        said = next((each["causes"] for each in hits if each["causes"]), [])
        place = said.index(label["cause"]) + 1 if label["cause"] in said else UNREACHED
        per_cause[label["cause"]].append(place)
        if place > 1:
            wrong.append((label["cause"], name, label["scenario"], label["arch"], label["record"], place, said[:3]))
    found = sum(place >= 0 for places in per_cause.values() for place in places)
    first = sum(place == 1 for places in per_cause.values() for place in places)
    three = sum(1 <= place <= 3 for places in per_cause.values() for place in places)
    print(f"of detected faulty runs ({found}): cause first {first / found:.1%}, among three {three / found:.1%}")
    print(
        f"questions to the cause: median {statistics.median(walks.values()):g}, {collections.Counter(walks.values())}"
    )
    print(f"{'cause':24s} runs detected first three places")
    for cause, places in sorted(per_cause.items()):
        seen = [place for place in places if place >= 0]
        print(
            f"{cause:24s} {len(places):4d} {len(seen):8d} {sum(p == 1 for p in seen):5d}",
            f"{sum(1 <= p <= 3 for p in seen):5d} {seen}",
        )
    if verbose:
        for row in sorted(wrong, key=str):
            print(*row, "questions", walks.get(row[1]))


if __name__ == "__main__":
    main()
