"""Alarms on thirteen families of loss curves of healthy trainings, made of noise (tests/unit/detect/benign.py).

    python bench/benign.py [--seeds 20] [--points 2000] [--first-seed 7000]

Counts alarms (warn and above) a family. The GAN-like family is told apart: undeclared, it is known to ring.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Dict

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.unit.detect.benign import FAMILIES, TAGS, alarms

FIRST_SEED = 7_000


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
