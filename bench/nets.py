"""Small nets trained in numpy, healthy and faulty: trainings that no rule was tuned on, recorded as the corpus records.

    python bench/nets.py [--runs 200] [--first-seed 1] [-v]

Every set-up (data, classes, depth, activation, optimiser, schedule, length) is drawn at random. A healthy run counts
when it trained (at least 60 % of the way from guessing to perfect, and 40 % of the loss gone; a net that was trained
before must have come to know something before) and when its trace shows no trouble on the way, by zoo.py's `ailments`:
some of these set-ups blow up, die or over-fit and still end well enough. Says how many healthy ones ring, and how many
of each fault are flagged.
"""

from __future__ import annotations

import argparse
import collections
import sys
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Tuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import zoo

from mstui.detect.base import Process, Subject
from mstui.detect.engine import Engine, load_rules
from mstui.model.alerts import Detection, Phase, Severity
from mstui.store.roles import classify

FAULTS = (
    *("lr-too-large", "lr-too-small", "labels-shuffled", "init-zero", "init-huge", "init-tiny", "frozen-layer"),
    *("nan-in-data", "lr-jump", "lr-zero"),
)


class Setup(NamedTuple):
    kind: str  # classes or regression
    classes: int
    features: int
    samples: int
    depth: int
    width: int
    activation: str
    optimiser: str
    lr: float
    schedule: str
    batch: int
    steps: int
    epochs: int
    every: int
    dropout: float
    pretrain: int
    seed: int


def draw(rng: np.random.Generator) -> Setup:
    kind = "regression" if rng.random() < 0.2 else "classes"
    optimiser = str(rng.choice(["sgd", "momentum", "adam"]))
    steps = int(rng.integers(60, 300))
    lr = {"sgd": 0.25, "momentum": 0.05, "adam": 0.004}[optimiser] * float(np.exp(rng.normal(0, 0.5)))
    return Setup(
        kind, int(rng.choice([2, 3, 5, 10, 20])), int(rng.choice([8, 20, 64])), int(rng.choice([300, 1000, 3000])),
        int(rng.integers(1, 5)), int(rng.choice([16, 32, 64])), str(rng.choice(["relu", "tanh", "relu", "sigmoid"])),
        optimiser, lr, str(rng.choice(["constant", "cosine", "warmup", "step", "cyclic"])),
        int(rng.choice([8, 32, 64, 128])), steps, int(rng.integers(3, 8)), int(rng.choice([1, 5, 5, 10])),
        float(rng.choice([0.0, 0.0, 0.2])), int(rng.choice([0, 0, 0, 0, 300])), int(rng.integers(1 << 30)),
    )  # fmt: skip


ACT = {
    "relu": (lambda z: np.maximum(z, 0), lambda z, _a: (z > 0).astype(float)),
    "tanh": (np.tanh, lambda _z, a: 1 - a * a),
    "sigmoid": (lambda z: 1 / (1 + np.exp(-np.clip(z, -500, 500))), lambda _z, a: a * (1 - a)),
}


def rate(setup: Setup, step: int, steps: int) -> float:
    x = step / steps
    if setup.schedule == "cosine":
        return setup.lr * 0.5 * (1 + np.cos(np.pi * x))
    if setup.schedule == "warmup":
        return setup.lr * min(1.0, (step + 1) / (0.1 * steps)) * 0.5 * (1 + np.cos(np.pi * x))
    if setup.schedule == "step":
        return setup.lr * (1.0 if x < 0.5 else 0.1 if x < 0.8 else 0.01)
    if setup.schedule == "cyclic":
        return setup.lr * (0.2 + 0.8 * abs(1 - (8 * x) % 2))
    return setup.lr


def train(setup: Setup, fault: str = "") -> Tuple[Dict[str, Tuple[Any, Any, Any]], float, float]:
    """Series by tag, and how far it got: accuracy (or explained share), loss now over loss first."""
    rng = np.random.default_rng(setup.seed)
    centres = rng.normal(0, 1, (setup.classes, setup.features))
    labels = rng.integers(0, setup.classes, setup.samples * 2)
    inputs = centres[labels] + rng.normal(0, float(rng.uniform(0.6, 1.4)), (setup.samples * 2, setup.features))
    inputs /= inputs.std()
    target = np.tanh(inputs @ rng.normal(0, 1, (setup.features, 1)) / np.sqrt(setup.features)) + rng.normal(
        0, 0.1, (len(inputs), 1)
    )
    target = (target - target.mean()) / target.std()
    out = setup.classes if setup.kind == "classes" else 1
    sizes = [setup.features, *[setup.width] * setup.depth, out]
    gain = {"relu": 2.0, "tanh": 1.0, "sigmoid": 1.0}[setup.activation]
    scale = {"init-huge": 30.0, "init-tiny": 0.02, "init-zero": 0.0}.get(fault, 1.0)
    weights = [rng.normal(0, np.sqrt(gain / a), (a, b)) * scale for a, b in zip(sizes, sizes[1:])]
    if fault not in ("init-huge", "init-tiny", "init-zero"):
        weights[-1] *= 0.5
    biases = [np.zeros(b) for b in sizes[1:]]
    shown = labels[: setup.samples].copy()
    if fault == "labels-shuffled":
        rng.shuffle(shown)
        target[: setup.samples] = target[: setup.samples][rng.permutation(setup.samples)]
    act, slope = ACT[setup.activation]
    moments = [
        [np.zeros_like(w), np.zeros_like(w), np.zeros_like(b), np.zeros_like(b)] for w, b in zip(weights, biases)
    ]
    record: Dict[str, List[Tuple[int, float, float]]] = collections.defaultdict(list)
    wall = 1.7e9

    def forward(x: Any, drop: float = 0.0) -> Any:
        zs, acts, a = [], [x], x
        for k, (w, b) in enumerate(zip(weights, biases)):
            z = a @ w + b
            zs.append(z)
            a = z if k == len(weights) - 1 else act(z)
            if drop and k < len(weights) - 1:
                a = a * (rng.random(a.shape) >= drop) / (1 - drop)
            acts.append(a)
        return zs, acts

    def loss_of(logits: Any, index: Any) -> Tuple[float, Any, float]:
        if setup.kind == "classes":
            y = labels[index] if index[0] >= setup.samples else shown[index]
            top = logits - logits.max(axis=1, keepdims=True)
            p = np.exp(top)
            p /= p.sum(axis=1, keepdims=True)
            value = float(-np.log(np.maximum(p[np.arange(len(y)), y], 1e-300)).mean())
            grad = p.copy()
            grad[np.arange(len(y)), y] -= 1
            return value, grad / len(y), float((logits.argmax(axis=1) == y).mean())
        miss = logits - target[index]
        return float((miss**2).mean()), 2 * miss / miss.size, 0.0

    total = setup.steps + setup.pretrain
    per_epoch = max(1, setup.steps // setup.epochs)
    first = now = float("nan")
    frozen = len(weights) // 2 if fault == "frozen-layer" else -1
    onset = setup.steps // 3
    hits: List[float] = []
    reached = 0.0
    held = np.arange(setup.samples, setup.samples + min(300, setup.samples))
    with np.errstate(all="ignore"):
        for t in range(total):
            step = t - setup.pretrain + 1
            index = rng.integers(0, setup.samples, setup.batch)
            x = inputs[index]
            if fault == "nan-in-data" and step == onset:
                x = x.copy()
                x[0, 0] = np.nan
            lr = rate(setup, max(0, step - 1), setup.steps)
            if step > 0 and setup.pretrain and not fault:
                lr *= 0.1
            lr *= {"lr-too-large": 300.0, "lr-too-small": 1e-3}.get(fault, 1.0)
            lr = (
                lr * 100
                if fault == "lr-jump" and step > onset
                else 0.0
                if fault == "lr-zero" and step > onset // 3
                else lr
            )
            zs, acts = forward(x, setup.dropout)
            value, grad, share = loss_of(acts[-1], index)
            hits.append(share)
            gw, gb = [None] * len(weights), [None] * len(weights)
            g = grad
            for k in range(len(weights) - 1, -1, -1):
                gw[k], gb[k] = acts[k].T @ g, g.sum(axis=0)
                if k:
                    g = (g @ weights[k].T) * slope(zs[k - 1], acts[k])
            norms = [float(np.sqrt((each**2).sum())) for each in gw]
            if step > 0:
                wall += float(rng.gamma(20.0, 0.05 / 20))
                record["loss"].append((step, wall, value))
                record["learning_rate"].append((step, wall, lr))
                record["grad_norm/global"].append((step, wall, float(np.sqrt(sum(n * n for n in norms)))))
                first = value if np.isnan(first) else first
            before = [w.copy() for w in weights]
            for k in range(len(weights)):
                if k == frozen:
                    continue
                for p, gr, m in ((weights[k], gw[k], moments[k][:2]), (biases[k], gb[k], moments[k][2:])):
                    if setup.optimiser == "adam":
                        m[0] *= 0.9
                        m[0] += 0.1 * gr
                        m[1] *= 0.999
                        m[1] += 0.001 * gr * gr
                        p -= lr * (m[0] / (1 - 0.9 ** (t + 1))) / (np.sqrt(m[1] / (1 - 0.999 ** (t + 1))) + 1e-8)
                    elif setup.optimiser == "momentum":
                        m[0] *= 0.9
                        m[0] += gr
                        p -= lr * m[0]
                    else:
                        p -= lr * gr
            if step > 0 and (step == 1 or step % setup.every == 0):
                for k, w in enumerate(weights):
                    name = f"fc{k}.weight"
                    size = float(np.sqrt((before[k] ** 2).sum()))
                    if k != frozen:
                        record[f"grad_norm/{name}"].append((step, wall, norms[k]))
                        record[f"grad_zero_frac/{name}"].append((step, wall, float((gw[k] == 0).mean())))
                    record[f"weight_norm/{name}"].append((step, wall, float(np.float32(size))))
                    change = float(np.sqrt(((w - before[k]) ** 2).sum())) / (size + 1e-12)
                    record[f"update_ratio/{name}"].append((step, wall, change))
                    if k < len(weights) - 1:
                        a = act(zs[k])
                        if setup.activation == "relu":
                            record[f"act_zero_frac/act{k}"].append((step, wall, float((a <= 0).mean())))
                        else:
                            sat = np.abs(a) > 0.99 if setup.activation == "tanh" else (a < 0.01) | (a > 0.99)
                            record[f"act_sat_frac/act{k}"].append((step, wall, float(sat.mean())))
            if step > 0 and step % per_epoch == 0:
                value, _grad, share = loss_of(forward(inputs[held])[1][-1], held)
                record["loss/val"].append((step, wall, value))
                if setup.kind == "classes":
                    record["accuracy/val"].append((step, wall, share))
                    record["accuracy/train"].append((step, wall, float(np.mean(hits[-per_epoch:]))))
                reached, now = share, value
    series = {tag: tuple(np.array(each) for each in zip(*rows)) for tag, rows in record.items()}
    return series, reached, now / first if first else float("inf")  # type: ignore[return-value]


def judge(series: Dict[str, Tuple[Any, Any, Any]]) -> List[Detection]:
    engine = Engine(load_rules())
    for tag, (steps, walls, values) in series.items():
        engine.feed(0, tag, Subject(*classify(tag)), steps.astype(np.int64), walls, values)
    found = [*engine.advance(), *engine.end(), *engine.clock(2e9, Process(running=False, exit_code=0))]
    return [each for each in found if each.severity >= Severity.WARN and each.phase is not Phase.CLEARED]


def troubles(setup: Setup, series: Dict[str, Tuple[Any, Any, Any]]) -> List[str]:
    """What the trace of a training that ended well shows to be wrong all the same."""
    nothing = np.full(len(series["loss/val"][2]), np.nan)
    accuracy = series["accuracy/val"][2] if "accuracy/val" in series else nothing
    trained = series["accuracy/train"][2] if "accuracy/train" in series else nothing
    records = max(2, zoo.LASTS // setup.every)
    worst = {
        f"ratio {tag}" if tag.startswith("update_ratio") else tag: zoo.lasting(each[2], records)
        for tag, each in series.items()
        if tag.startswith(("update_ratio", "act_"))
    }
    kind = "trained-before" if setup.pretrain else setup.kind
    trace = zoo.Trace(
        [], [series["loss"][2]], [np.stack((series["loss/val"][2], accuracy), axis=1)], [trained[-1:]], worst,
        float(np.log(setup.classes)) if setup.kind == "classes" else 1.0,
    )  # fmt: skip
    found = zoo.ailments(zoo.draw(0, None)._replace(kind=kind, curriculum=False, per_epoch=1), trace)
    if setup.pretrain and setup.kind == "classes" and accuracy[0] < 0.3 + 0.7 / setup.classes:
        found.append("was not trained before")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("-v", action="store_true")
    arguments = parser.parse_args()
    healthy = rings = 0
    by_symptom: Dict[str, int] = collections.Counter()
    troubled: Dict[str, int] = collections.Counter()
    flagged: Dict[str, List[int]] = {fault: [0, 0] for fault in FAULTS}
    seen: Dict[str, Dict[str, int]] = {fault: collections.Counter() for fault in FAULTS}
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.runs):
        setup = draw(np.random.default_rng(seed))
        series, reached, left = train(setup)
        chance = 1.0 / setup.classes
        good = left < 0.6 and (setup.kind == "regression" or (reached - chance) / (1 - chance) > 0.6)
        if not (good or (setup.pretrain and reached > 0.5)):
            continue
        wrong = troubles(setup, series)
        if wrong:
            troubled.update(wrong)
            if arguments.v:
                print("troubled", seed, wrong, sorted({each.symptom.value for each in judge(series)}))
            continue
        healthy += 1
        found = judge(series)
        if found:
            rings += 1
            by_symptom.update({each.symptom.value for each in found})
            if arguments.v:
                print("healthy", seed, setup)
                for each in found:
                    print("    ", each.symptom.value, each.severity.name, each.step, each.detected_step, each.scope.tag,
                          [evidence.say() for evidence in each.evidence])  # fmt: skip
        fault = FAULTS[seed % len(FAULTS)]
        if setup.pretrain:
            continue
        series, worse, left_now = train(setup, fault)
        harmed = (
            not np.isfinite(left_now)
            or left_now > 1.5 * left + 0.05
            or worse < reached - 0.1
            or fault == "frozen-layer"
        )
        if harmed:
            found = judge(series)
            flagged[fault][0] += 1
            flagged[fault][1] += bool(found)
            seen[fault].update({each.symptom.value for each in found})
            if not found and arguments.v:
                print("unseen", fault, seed, setup, f"{reached:.2f} -> {worse:.2f}, {left:.2f} -> {left_now:.2f}")
    print(f"healthy: {rings} of {healthy} ring: {dict(by_symptom)}; others were troubled: {dict(troubled)}")
    for fault, (count, hit) in flagged.items():
        print(f"{fault:16s} {hit}/{count}  {dict(seen[fault])}")


if __name__ == "__main__":
    main()
