"""The samples of msrun and MindFormers that hold one process each, and: no sample is without its expected records."""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

import pytest

from mstui.model.logs import EventKind
from tests.unit.formats.logs.reading import SAMPLES, Series, sample
from tests.unit.formats.logs.test_samples import EVENTS, QUIET, SERIES, mindformers, plain, steps

Told = Tuple[str, str, Optional[int], Optional[int]]


def worker(losses: Sequence[float], epoch_ms: float, step_ms: float) -> Dict[str, Series]:
    """Three steps of LossMonitor and the line of TimeMonitor behind them."""
    return {
        "loss": steps(losses),
        "epoch": steps([1.0] * len(losses)),
        "epoch_time_ms": [(len(losses), epoch_ms)],
        "step_time_ms": [(len(losses), step_ms)],
    }


def twice(one: Dict[str, Series], other: Dict[str, Series]) -> Dict[str, Series]:
    return {tag: one[tag] + other[tag] for tag in one}


OUTPUT = "mindformers_layout/output"
COLD = 103328.0
"""milliseconds of the first step, compilation included; printed by every rank"""
WORKERS: Dict[str, Dict[str, Series]] = {
    "msrun_ok/worker_1.log": twice(
        worker([0.32830578088760376, 0.5086237192153931, 0.18379268050193787], 996.205, 332.068),
        worker([0.18231935799121857, 0.20625747740268707, 0.2345699667930603], 351.215, 117.072),
    ),
    "msrun_worker_exception/worker_0.log": worker(
        [0.1617927849292755, 0.25007545948028564, 0.05432350933551788], 2742.012, 914.004
    ),
    "msrun_worker_exception/worker_1.log": worker(
        [0.19267843663692474, 0.35545021295547485, 0.3362686038017273], 1851.287, 617.096
    ),
    "msrun_worker_sigkill/worker_0.log": worker(
        [0.562446653842926, 0.3513326346874237, 0.4091610014438629], 1174.513, 391.504
    ),
    "msrun_worker_sigsegv/worker_0.log": worker(
        [0.2981359362602234, 0.0853007584810257, 0.3287756145000458], 1202.453, 400.818
    ),
    "msrun_worker_sigsegv/worker_1.log": worker(
        [2.2337253093719482, 1.7199993133544922, 1.3501964807510376], 3295.022, 1098.341
    ),
    f"{OUTPUT}/log/rank_0/info.log": mindformers(
        [10.276870, 9.889885, 9.610775, 9.372988], [COLD, 1703.0, 1777.0, 1744.0],
        [1.039902, 1.677205, 1.032374, 1.924425], [0.07742, 4.69759, 4.50197, 4.58716], [2.849, 61.321, 62.652, 62.640],
    ),
    f"{OUTPUT}/log/rank_7/info.log": mindformers(
        [10.140185, 9.933627, 9.643495, 9.363820], [COLD, 1722.0, 1792.0, 1792.0],
        [1.266243, 1.039183, 0.904100, 1.936156], [0.07742, 4.64576, 4.46429, 4.46429], [2.849, 58.471, 58.167, 56.271],
    ),
    f"{OUTPUT}/msrun_log/worker_0.log": mindformers(
        [10.189131, 9.836697, 9.713376, 9.414138], [COLD, 1726.0, 1700.0, 1710.0],
        [1.064555, 1.036047, 1.532315, 1.759572], [0.07742, 4.63499, 4.70588, 4.67836], [2.849, 58.861, 58.836, 61.677],
    ),
    f"{OUTPUT}/msrun_log/worker_7.log": mindformers(
        [10.314827, 9.909491, 9.681629, 9.314725], [COLD, 1783.0, 1784.0, 1702.0],
        [0.833059, 1.358425, 1.976367, 1.457943], [0.07742, 4.48682, 4.48430, 4.70035], [2.849, 56.169, 62.500, 55.114],
    ),
}  # fmt: skip

MAP_01: List[Told] = [("rank-map", "", None, 0), ("rank-map", "", None, 1), ("startup", "", None, None)]
MAP_10: List[Told] = [MAP_01[1], MAP_01[0], MAP_01[2]]
LOST_BOTH: List[Told] = [("node-timeout", "0", None, None), ("node-timeout", "1", None, None)]
FAILED: List[Told] = [("traceback", "", None, None)]
OTHERS: Dict[str, List[Told]] = {
    "msrun_worker_exception/scheduler.log": [*MAP_01, ("node-timeout", "1", None, None), *FAILED],
    "msrun_worker_sigkill/scheduler.log": [*MAP_01, *LOST_BOTH, *FAILED],
    "msrun_worker_sigsegv/scheduler.log": [*MAP_10, *LOST_BOTH, *FAILED],  # rank 1 came first
    "msrun_worker_sigsegv/worker_1.log": [("startup", "", None, None), ("rank-map", "", None, 1)],  # and then nothing
    f"{OUTPUT}/msrun_log/scheduler.log": [],
    f"{OUTPUT}/log/rank_0/error.log": [],
}
IN_WORDS = ("mindformers/mf_overflow_streak_scale_to_1.log", "odd/console_8_workers_interleaved.log")
"""Samples that tests of their own look at."""


@pytest.mark.parametrize("name", sorted(WORKERS))
def test_the_curves_of_a_process_are_those_in_its_log(name: str) -> None:
    assert plain(sample(name).series) == plain(WORKERS[name])


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_the_events_of_a_process_are_those_in_its_log(name: str) -> None:
    assert sample(name).told == OTHERS[name]


def test_a_scheduler_that_only_counts_gives_no_step_and_no_value() -> None:
    got = sample(f"{OUTPUT}/msrun_log/scheduler.log")
    assert (got.series, got.steps, len(got.records)) == ({}, [], 2)


def test_no_sample_is_without_its_expected_records() -> None:
    known = {*SERIES, *EVENTS, *QUIET, *WORKERS, *OTHERS, *IN_WORDS}
    files = (path for path in SAMPLES.rglob("*") if path.is_file() and path.suffix not in (".csv", ".json"))
    left = {str(path.relative_to(SAMPLES)) for path in files if "npu_smi" not in path.parts} - known
    assert left == set()


def test_the_scheduler_blames_whom_it_wants_and_the_events_say_only_what_it_says() -> None:
    events = sample("msrun_worker_sigkill/scheduler.log").events
    assert [each.code for each in events if each.kind is EventKind.NODE_TIMEOUT] == ["0", "1"]
    assert (SAMPLES / "msrun_worker_sigkill/scheduler.log").read_text().count("alive nodes") == 7
