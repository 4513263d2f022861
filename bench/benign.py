"""Thirteen families of loss curves of healthy trainings, made of noise: what rules must be silent on.

    python bench/benign.py [--seeds 20] [--points 2000]

Counts alarms (warn and above) a family. The GAN-like family is told apart: undeclared, it is known to ring.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Callable, Dict, List

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mstui.detect.base import Subject
from mstui.detect.engine import Engine, load_rules
from mstui.model.alerts import Detection, Phase, Severity
from mstui.model.records import FloatArray
from mstui.model.roles import Role

Family = Callable[[np.random.Generator, int], FloatArray]
FIRST_SEED = 7_000


def _noise(rng: np.random.Generator, n: int, scale: float) -> FloatArray:
    return rng.normal(0.0, scale, n)


def _cnn(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    return (2.3 * np.exp(-t / (0.18 * n)) + 0.12) * np.exp(_noise(rng, n, 0.09))


def _llm(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(1, n + 1)
    return 2.1 + 8.6 * t ** (-0.42) + 0.05 * rng.standard_t(5, n)


def _llm_warm(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    warm = np.minimum(1.0, t / (0.03 * n))
    seen = np.cumsum(warm)
    return 2.2 + 8.7 * (1.0 + seen / 6.0) ** (-0.55) + _noise(rng, n, 0.04)


def _lr_steps(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    level = 2.0 * np.exp(-t / (0.1 * n)) + np.where(t < 0.4 * n, 0.55, np.where(t < 0.75 * n, 0.32, 0.26))
    return level * np.exp(_noise(rng, n, 0.08))


def _gan(rng: np.random.Generator, n: int) -> FloatArray:
    x = np.zeros(n)
    for i in range(1, n):
        x[i] = 0.97 * x[i - 1] + rng.normal(0.0, 0.07)
    bursts = np.where(rng.random(n) < 0.004, rng.exponential(1.2, n), 0.0)
    return 0.9 * np.exp(x) + bursts


def _elbo(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    return 170.0 * np.exp(-t / (0.2 * n)) - 120.0 + _noise(rng, n, 4.0)


def _contrastive(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    return 5.5 - 2.6 * (1.0 - np.exp(-t / (0.25 * n))) + _noise(rng, n, 0.13)


def _fine_tune(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    return (0.22 - 0.05 * t / n) * np.exp(_noise(rng, n, 0.35))


def _near_zero(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    return (0.8 * np.exp(-t / (0.05 * n)) + 0.004) * np.exp(_noise(rng, n, 0.8))


def _reinforcement(rng: np.random.Generator, n: int) -> FloatArray:
    return 0.02 * rng.standard_t(3, n)


def _small_batch(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    return (1.9 * np.exp(-t / (0.3 * n)) + 0.35) * np.exp(_noise(rng, n, 0.5))


def _saw(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    epoch = (t % 100) / 100.0
    return (1.6 * np.exp(-t / (0.3 * n)) + 0.3) * (1.0 - 0.08 * (epoch - 0.5)) * np.exp(_noise(rng, n, 0.06))


def _cyclic(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    return (
        (1.8 * np.exp(-t / (0.25 * n)) + 0.4)
        * (1.0 + 0.1 * np.sin(2 * np.pi * t / 180.0))
        * np.exp(_noise(rng, n, 0.06))
    )


FAMILIES: Dict[str, Family] = {
    "cnn-decay": _cnn, "llm-power-law": _llm, "llm-warm-up": _llm_warm, "lr-steps": _lr_steps, "gan": _gan, "elbo": _elbo,
    "contrastive": _contrastive, "fine-tune": _fine_tune, "near-zero": _near_zero, "reinforcement": _reinforcement,
    "small-batch": _small_batch, "epoch-saw": _saw, "cyclic-lr": _cyclic,
}  # fmt: skip
TAGS = {"gan": "gan/d_loss"}


def alarms(values: FloatArray, tag: str = "loss") -> List[Detection]:
    """Everything at warn or above that the rules say of one loss curve alone, its end included."""
    engine = Engine(load_rules())
    n = len(values)
    engine.feed(0, tag, Subject(Role.LOSS), np.arange(1, n + 1), 1.7e9 + 0.5 * np.arange(n), values)
    found = [*engine.advance(), *engine.end()]
    return [each for each in found if each.severity >= Severity.WARN and each.phase is not Phase.CLEARED]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    arguments = parser.parse_args()
    total = 0
    begun = time.process_time()
    for name, family in FAMILIES.items():
        counts: Dict[str, int] = {}
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            values = family(np.random.default_rng(seed), arguments.points)
            for found in alarms(values):
                counts[found.symptom.value] = counts.get(found.symptom.value, 0) + 1
        count = sum(counts.values())
        if name != "gan":
            total += count
        declared = ""
        if name == "gan":
            quiet = sum(
                len(alarms(family(np.random.default_rng(seed), arguments.points), TAGS["gan"]))
                for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds)
            )
            declared = f"   ({quiet} once its tag says so)"
        print(f"{name:16s} {count:4d} {counts}{declared}")
    points = (len(FAMILIES) - 1) * arguments.seeds * arguments.points
    print(f"outside the GAN-like family: {total} alarms in {points} points; {time.process_time() - begun:.1f} s CPU")


if __name__ == "__main__":
    main()
