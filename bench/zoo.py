"""Healthy trainings of many kinds, in numpy: traits that a rule may take for an illness.

    python bench/zoo.py [--runs 200] [--first-seed 1] [-v] [--kind KIND] [--ill]

Kinds: classifiers (with dropout, batch norm, label smoothing, rare classes, data so few that they are memorised),
regression by likelihood (losses below zero), autoencoders, recurrent and attention language models, contrastive pairs,
and nets that were trained before. Around them at random: optimiser, schedule, weight decay, clipping, accumulation of
gradients, a dynamic loss scale that overflows now and then, folds that begin anew, a curriculum, evaluations never, at
the end only or each epoch, records each step or each tenth, 30 steps or 600.

Whether a training was healthy is told by its whole trace, every step of it, not by the rules: see `ailments`. What was
ill is counted and not judged; `--ill` shows what the rules say of it.
"""

from __future__ import annotations

import argparse
import collections
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from tape import Node, backward, stack

from mstui.detect.base import Process, Subject
from mstui.detect.engine import Engine, load_rules
from mstui.model.alerts import Detection, Phase, Severity
from mstui.store.roles import classify

KINDS = ("classes", "batch-norm", "few", "rare", "trained-before", "likelihood", "autoencoder", "recurrent",
         "attention", "contrastive", "many-labels")  # fmt: skip
TEXT = Path(collections.__file__).read_text()


class Setup(NamedTuple):
    kind: str
    optimiser: str
    lr: float
    schedule: str
    decay: float
    clip: float
    accumulate: int
    half: bool
    folds: int
    curriculum: bool
    evaluations: str
    every: int
    steps: int
    per_epoch: int
    batch: int
    dropout: float
    smoothing: float
    activation: str
    depth: int
    record: str
    seed: int


def draw(seed: int, kind: Optional[str]) -> Setup:
    rng = np.random.default_rng([seed, 77])
    pick = lambda *options: options[int(rng.integers(len(options)))]  # noqa: E731
    kind = kind or pick(*KINDS)
    optimiser = pick("sgd", "momentum", "adam", "adam", "rmsprop", "adagrad")
    lr = {"sgd": 0.2, "momentum": 0.03, "adam": 0.004, "rmsprop": 0.002, "adagrad": 0.05}[optimiser]
    if kind in ("recurrent", "attention") and optimiser in ("sgd", "momentum"):
        lr *= 3.0
    steps = pick(30, 60, 100, 150, 200, 300, 600)
    return Setup(
        kind, optimiser, lr * float(np.exp(rng.normal(0, 0.4))),
        pick("constant", "constant", "cosine", "warm", "step", "cyclic", "one-cycle", "linear"),
        pick(0.0, 0.0, 1e-4, 1e-2), pick(0.0, 0.0, 1.0), pick(1, 1, 1, 1, 4), bool(rng.random() < 0.15),
        pick(1, 1, 1, 1, 1, 3), bool(rng.random() < 0.1), pick("epoch", "epoch", "epoch", "end", "none"),
        pick(1, 5, 5, 10), steps, max(5, int(steps / pick(2, 3, 5, 8))), pick(4, 16, 32, 128), pick(0.0, 0.0, 0.1, 0.3),
        pick(0.0, 0.0, 0.1), pick("relu", "relu", "tanh", "sigmoid"), pick(1, 2, 3),
        pick("full", "full", "full", "loss", "log"), seed,
    )  # fmt: skip


def rate(setup: Setup, step: int) -> float:
    x = step / setup.steps
    half = 0.5 * (1 + np.cos(np.pi * x))
    shape = {
        "cosine": half,
        "warm": min(1.0, (step + 1) / (0.1 * setup.steps)) * half,
        "step": 1.0 if x < 0.5 else 0.1 if x < 0.8 else 0.01,
        "cyclic": 0.2 + 0.8 * abs(1 - (6 * x) % 2),
        "one-cycle": x / 0.3 if x < 0.3 else (1 - x) / 0.7,
        "linear": 1 - x,
    }.get(setup.schedule, 1.0)
    return setup.lr * max(1e-4, float(shape))


class Program:
    """A net, its data, and how well it may be expected to do."""

    def __init__(self, setup: Setup, rng: np.random.Generator) -> None:
        self.setup, self.rng = setup, rng
        self.parameters: Dict[str, Node] = {}
        self.activations: Dict[str, Any] = {}
        self.moving: Dict[str, Any] = {}
        getattr(self, "_" + setup.kind.replace("-", "_"))()

    def dense(self, name: str, inputs: int, outputs: int, gain: float = 1.0) -> None:
        scale = np.sqrt((2.0 if self.setup.activation == "relu" else 1.0) / inputs) * gain
        self.parameters[f"{name}.weight"] = Node(self.rng.normal(0, scale, (inputs, outputs)))
        self.parameters[f"{name}.bias"] = Node(np.zeros(outputs))

    def layer(self, name: str, x: Node) -> Node:
        return x @ self.parameters[f"{name}.weight"] + self.parameters[f"{name}.bias"]

    def act(self, name: str, x: Node, *, train: bool) -> Node:
        y: Node = getattr(x, self.setup.activation)()
        self.activations[name] = y.data
        if train and self.setup.dropout:
            keep = self.rng.random(y.data.shape) >= self.setup.dropout
            y = y * (keep / (1 - self.setup.dropout))
        return y

    def norm(self, name: str, x: Node, *, train: bool) -> Node:
        if train:
            mean = x.mean(axis=0, keep=True)
            spread = ((x - mean) * (x - mean)).mean(axis=0, keep=True)
            old = self.moving.get(name, (0.0, 1.0))
            self.moving[name] = (0.9 * old[0] + 0.1 * mean.data, 0.9 * old[1] + 0.1 * spread.data)
            return (x - mean) * (spread + 1e-5).power(-0.5)
        mean_data, spread_data = self.moving.get(name, (0.0, 1.0))
        return (x + -mean_data) * ((spread_data + 1e-5) ** -0.5)

    def stack_of(self, sizes: List[int], last_gain: float = 0.5) -> None:
        self.sizes = sizes
        for k, (a, b) in enumerate(zip(sizes, sizes[1:])):
            self.dense(f"fc{k}", a, b, last_gain if k == len(sizes) - 2 else 1.0)

    def through(self, x: Any, *, train: bool, norm: bool = False) -> Node:
        y = x if isinstance(x, Node) else Node(x)
        for k in range(len(self.sizes) - 1):
            y = self.layer(f"fc{k}", y)
            if k < len(self.sizes) - 2:
                y = self.norm(f"bn{k}", y, train=train) if norm else y
                y = self.act(f"act{k}", y, train=train)
        return y

    # classifiers

    def _clusters(self, classes: int, features: int, samples: int, noise: float, shares: Any = None) -> None:
        rng = self.rng
        centres = rng.normal(0, 1, (classes, features))
        self.y = rng.choice(classes, samples + 400, p=shares)
        self.x = centres[self.y] + rng.normal(0, noise, (samples + 400, features))
        self.x /= self.x.std()
        self.samples, self.classes = samples, classes
        self.hardness = np.argsort(np.linalg.norm(self.x[:samples] - centres[self.y[:samples]], axis=1))
        self.forward = lambda x, train: self.through(x, train=train, norm=self.setup.kind == "batch-norm")
        self.batch = self._class_batch
        self.held = self._class_held
        self.uninformed = float(np.log(classes))

    def _pick(self, step: int, size: int) -> Any:
        if self.setup.curriculum:
            share = min(1.0, 0.3 + 0.35 * (step // self.setup.per_epoch))
            return self.rng.choice(self.hardness[: max(8, int(share * self.samples))], size)
        return self.rng.integers(0, self.samples, size)

    def _class_batch(self, step: int, size: int) -> Tuple[Node, float]:
        index = self._pick(step, size)
        logits = self.forward(self.x[index], True)  # noqa: FBT003
        hit = float((logits.data.argmax(axis=-1) == self.y[index]).mean())
        return logits.cross_entropy(self.y[index], self.setup.smoothing), hit

    def _class_held(self) -> Tuple[float, float]:
        logits = self.forward(self.x[self.samples :], False)  # noqa: FBT003
        y = self.y[self.samples :]
        return float(logits.cross_entropy(y).data), float((logits.data.argmax(axis=-1) == y).mean())

    def _classes(self) -> None:
        rng = self.rng
        self._clusters(int(rng.choice([2, 3, 5, 10, 20])), int(rng.choice([8, 20, 64])), 3000,
                       float(rng.uniform(0.5, 1.2)))  # fmt: skip
        self.stack_of([self.x.shape[1], *[int(rng.choice([16, 32, 64]))] * self.setup.depth, self.classes])

    _batch_norm = _classes
    _trained_before = _classes

    def _few(self) -> None:
        self._clusters(int(self.rng.choice([2, 5])), 20, int(self.rng.choice([16, 40])), 0.5)
        self.stack_of([20, *[32] * self.setup.depth, self.classes])

    def _rare(self) -> None:
        self._clusters(3, 20, 3000, 0.7, [0.85, 0.1, 0.05])
        self.stack_of([20, *[32] * self.setup.depth, 3])

    def _many_labels(self) -> None:
        rng = self.rng
        self.x = rng.normal(0, 1, (3400, 20))
        self.y = (self.x @ rng.normal(0, 1, (20, 6)) + rng.normal(0, 0.5, (3400, 6)) > 0).astype(float)
        self.samples, self.hardness = 3000, np.arange(3000)
        self.stack_of([20, *[32] * self.setup.depth, 6])

        def loss(index: Any, *, train: bool) -> Node:
            p = self.through(self.x[index], train=train).sigmoid()
            q = p.data.clip(1e-9, 1 - 1e-9)
            y = self.y[index]
            value = -(y * np.log(q) + (1 - y) * np.log(1 - q)).mean()
            return Node(value, ((p, lambda g: g * (q - y) / (q * (1 - q)) / q.size),))

        self.batch = lambda step, size: (loss(self._pick(step, size), train=True), 0.0)
        self.held = lambda: (float(loss(np.arange(3000, 3400), train=False).data), float("nan"))
        self.uninformed = float(np.log(2))

    # regression

    def _likelihood(self) -> None:
        rng = self.rng
        self.x = rng.normal(0, 1, (3400, 12))
        self.target = np.tanh(self.x @ rng.normal(0, 0.4, (12, 1))) + rng.normal(0, 0.03, (3400, 1))
        self.samples, self.hardness = 3000, np.arange(3000)
        self.sizes = [12, *[32] * self.setup.depth, 32]
        self.stack_of(self.sizes, 1.0)
        self.dense("mean", 32, 1, 0.3)
        self.dense("log_scale", 32, 1, 0.1)

        def loss(index: Any, *, train: bool) -> Node:
            body = self.act("body", self.through(self.x[index], train=train), train=False)
            mean, log_scale = self.layer("mean", body), self.layer("log_scale", body).tanh() * 4.0
            miss = mean - self.target[index]
            return (log_scale + miss * miss * (log_scale * -2.0).exp() * 0.5).mean()

        self.batch = lambda step, size: (loss(self._pick(step, size), train=True), 0.0)
        self.held = lambda: (float(loss(np.arange(3000, 3400), train=False).data), float("nan"))
        self.uninformed = float(np.log(self.target.std()) + 0.5)

    def _autoencoder(self) -> None:
        rng = self.rng
        self.x = np.tanh(rng.normal(0, 1, (3400, 4)) @ rng.normal(0, 0.7, (4, 24))) + rng.normal(0, 0.1, (3400, 24))
        self.samples, self.hardness = 3000, np.arange(3000)
        self.stack_of([24, 32, 4, 32, 24], 1.0)

        def loss(index: Any, *, train: bool) -> Node:
            miss = self.through(self.x[index], train=train) - self.x[index]
            return (miss * miss).mean()

        self.batch = lambda step, size: (loss(self._pick(step, size), train=True), 0.0)
        self.held = lambda: (float(loss(np.arange(3000, 3400), train=False).data), float("nan"))
        self.uninformed = float((self.x**2).mean())

    # language

    def _letters(self) -> None:
        known = sorted({*TEXT})
        self.letters = np.array([known.index(each) for each in TEXT])
        self.vocabulary = len(known)
        self.uninformed = float(np.log(self.vocabulary))
        cut = int(0.9 * len(self.letters))

        def lines(begin: int, end: int, size: int) -> Any:
            at = self.rng.integers(begin, end - 17, size)
            return self.letters[at[:, None] + np.arange(17)]

        def loss(block: Any, *, train: bool) -> Tuple[Node, float]:
            logits = self.forward(block[:, :-1], train)
            hit = float((logits.data.argmax(axis=-1) == block[:, 1:]).mean())
            return logits.cross_entropy(block[:, 1:]), hit

        def held() -> Tuple[float, float]:
            value, hit = loss(lines(cut, len(self.letters), 60), train=False)
            return float(value.data), hit

        self.batch = lambda _step, size: loss(lines(0, cut, min(size, 32)), train=True)
        self.held = held

    def _recurrent(self) -> None:
        self._letters()
        self.parameters["embedding.table"] = Node(self.rng.normal(0, 0.3, (self.vocabulary, 24)))
        self.dense("in", 24, 48)
        self.dense("cell", 48, 48, 0.7)
        self.dense("out", 48, self.vocabulary, 0.5)

        def forward(block: Any, train: bool) -> Node:
            state, states = Node(np.zeros((len(block), 48))), []
            seen = self.parameters["embedding.table"].rows(block)
            for t in range(block.shape[1]):
                now = Node(seen.data[:, t], ((seen, lambda g, t=t: _place(g, seen.data.shape, t)),))  # type: ignore[misc]
                state = (self.layer("in", now) + self.layer("cell", state)).tanh()
                states.append(state)
            self.activations["state"] = state.data
            del train
            return self.layer("out", stack(states))

        self.forward = forward

    def _attention(self) -> None:
        self._letters()
        self.parameters["embedding.table"] = Node(self.rng.normal(0, 0.3, (self.vocabulary, 32)))
        self.parameters["position.table"] = Node(self.rng.normal(0, 0.1, (16, 32)))
        for name in ("query", "key", "value", "merge"):
            self.dense(name, 32, 32, 0.7)
        self.dense("up", 32, 64)
        self.dense("down", 64, 32, 0.5)
        self.dense("out", 32, self.vocabulary, 0.5)
        mask = np.triu(np.full((16, 16), -1e9), 1)

        def forward(block: Any, train: bool) -> Node:
            x = self.parameters["embedding.table"].rows(block) + self.parameters["position.table"]
            q, k, v = (self.layer(name, x) for name in ("query", "key", "value"))
            weights = ((q @ k.turned()) * (1 / np.sqrt(32)) + mask).softmax()
            x = x + self.layer("merge", weights @ v)
            x = x + self.layer("down", self.act("up", self.layer("up", x), train=train))
            return self.layer("out", x)

        self.forward = forward

    def _contrastive(self) -> None:
        rng = self.rng
        mix = rng.normal(0, 1, (6, 24))
        self.samples = 3000
        self.stack_of([24, *[32] * self.setup.depth, 16], 1.0)
        size_of = lambda size: max(16, size)  # noqa: E731

        def unit(x: Node) -> Node:
            return x * (((x * x).mean(axis=-1, keep=True) * 16.0 + 1e-6).power(-0.5))

        def loss(size: int, *, train: bool) -> Tuple[Node, float]:
            hidden = rng.normal(0, 1, (size, 6))
            views = [hidden @ mix * 0.4 + rng.normal(0, 0.5, (size, 24)) for _ in range(2)]
            a, b = (unit(self.through(each, train=train)) for each in views)
            logits = (a @ b.turned()) * 5.0
            return logits.cross_entropy(np.arange(size)), 0.0

        self.batch = lambda _step, size: loss(size_of(size), train=True)
        self.held = lambda: (float(loss(size_of(self.setup.batch), train=False)[0].data), float("nan"))
        self.uninformed = float(np.log(size_of(self.setup.batch)))


def _place(g: Any, shape: Tuple[int, ...], t: int) -> Any:
    out = np.zeros(shape)
    out[:, t] = g
    return out


class Optimiser:
    def __init__(self, setup: Setup, parameters: Dict[str, Node]) -> None:
        self.setup, self.parameters, self.count = setup, parameters, 0
        self.moments = {name: [np.zeros_like(p.data), np.zeros_like(p.data)] for name, p in parameters.items()}

    def step(self, gradients: Dict[str, Any], lr: float) -> None:
        self.count += 1
        t, kind = self.count, self.setup.optimiser
        for name, p in self.parameters.items():
            g, m = gradients[name], self.moments[name]
            if self.setup.decay and name.endswith("weight"):
                g = g + self.setup.decay * p.data
            if kind == "adam":
                m[0] = 0.9 * m[0] + 0.1 * g
                m[1] = 0.999 * m[1] + 0.001 * g * g
                change = (m[0] / (1 - 0.9**t)) / (np.sqrt(m[1] / (1 - 0.999**t)) + 1e-8)
            elif kind == "rmsprop":
                m[1] = 0.95 * m[1] + 0.05 * g * g
                change = g / (np.sqrt(m[1]) + 1e-3)
            elif kind == "adagrad":
                m[1] = m[1] + g * g
                change = g / (np.sqrt(m[1]) + 1e-3)
            elif kind == "momentum":
                m[0] = 0.9 * m[0] + g
                change = m[0]
            else:
                change = g
            p.data = p.data - lr * change


Rows = Dict[str, List[Tuple[int, float, float]]]


class Trace(NamedTuple):
    pieces: List[Rows]
    """one a fold"""
    losses: List[Any]
    """every loss, by fold"""
    held: List[Any]
    """(loss, accuracy) at every epoch's end, recorded or not, by fold"""
    hits: List[Any]
    worst: Dict[str, float]
    """largest lasting share of zeros, of saturated outputs; largest lasting ratio of update to weight"""
    uninformed: float


def train(setup: Setup) -> Trace:
    rng = np.random.default_rng(setup.seed)
    pieces, losses, held, hits = [], [], [], []
    worst: Dict[str, List[float]] = collections.defaultdict(list)
    wall, uninformed = 1.7e9, 0.0
    for _fold in range(setup.folds):
        program = Program(setup, rng)
        uninformed = program.uninformed
        optimiser = Optimiser(setup, program.parameters)
        if setup.kind == "trained-before":
            _before(program, setup)
        rows: Rows = collections.defaultdict(list)
        seen: List[float] = []
        right: List[float] = []
        evaluated: List[Tuple[float, float]] = []
        scale, fine = (float(2 ** int(rng.integers(13, 17))), 0) if setup.half else (1.0, 0)
        total: Dict[str, Any] = {}
        for step in range(1, setup.steps + 1):
            lr = rate(setup, step - 1) * (0.2 if setup.kind == "trained-before" else 1.0)
            loss, hit = program.batch(step, setup.batch)
            found = dict(zip(program.parameters, backward(loss, list(program.parameters.values()))))
            norm = float(np.sqrt(sum(float((g * g).sum()) for g in found.values())))
            wall += float(rng.gamma(20.0, 0.05 / 20))
            value = float(loss.data)
            seen.append(value)
            right.append(hit)
            shown = round(value, 3) if setup.record == "log" else value
            rows["loss"].append((step, wall, shown))
            over = False
            if setup.record != "log":
                rows["learning_rate"].append((step, wall, lr))
            if setup.half:
                top = max(float(np.abs(g).max()) for g in found.values())
                over = top * scale * float(np.exp(rng.normal(0, 0.3))) > 65504.0
                if setup.record != "log":
                    rows["loss_scale"].append((step, wall, scale))
                    rows["overflow"].append((step, wall, float(over)))
            before = {name: p.data for name, p in program.parameters.items()}
            if setup.half:
                scale, fine = (scale / 2, 0) if over else (scale, fine + 1)
                if fine >= 40:
                    scale, fine = scale * 2, 0
            if not over:
                for name, g in found.items():
                    total[name] = total.get(name, 0.0) + g / setup.accumulate
                if step % setup.accumulate == 0:
                    size = float(np.sqrt(sum(float((g * g).sum()) for g in total.values())))
                    factor = min(1.0, setup.clip / size) if setup.clip and size > 0 else 1.0
                    optimiser.step({name: g * factor for name, g in total.items()}, lr)
                    total = {}
            _figures(rows, setup, program, found, before, norm, over, step, wall, worst)
            if step % setup.per_epoch == 0 or step == setup.steps:
                now = program.held()
                evaluated.append(now)
                if setup.evaluations == "epoch" or (setup.evaluations == "end" and step == setup.steps):
                    rows["loss/val"].append((step, wall, now[0]))
                    if np.isfinite(now[1]) and setup.kind not in ("recurrent", "attention"):
                        rows["accuracy/val"].append((step, wall, now[1]))
                        rows["accuracy/train"].append((step, wall, float(np.mean(right[-setup.per_epoch :]))))
        pieces.append(rows)
        losses.append(np.array(seen))
        held.append(np.array(evaluated))
        hits.append(np.array(right))
    largest = {name: lasting(values) for name, values in worst.items()}
    return Trace(pieces, losses, held, hits, largest, uninformed)


def _before(program: Program, setup: Setup) -> None:
    quick = Optimiser(setup._replace(optimiser="adam", decay=0.0), program.parameters)
    for step in range(1, 400):
        loss, _hit = program.batch(10**6, 64)
        quick.step(dict(zip(program.parameters, backward(loss, list(program.parameters.values())))), 0.004)
        if step % 20 == 0 and program.held()[1] > 0.9:
            break


def _figures(
    rows: Rows, setup: Setup, program: Program, found: Dict[str, Any], before: Dict[str, Any], norm: float, over: bool,
    step: int, wall: float, worst: Dict[str, List[float]],
) -> None:  # fmt: skip
    ratios = {}
    for name, p in program.parameters.items():
        if p.data.ndim > 1:
            size = float(np.sqrt((before[name] ** 2).sum()))
            ratios[name] = (size, float(np.sqrt(((p.data - before[name]) ** 2).sum())) / (size + 1e-12))
            worst[f"ratio {name}"].append(ratios[name][1])
    shares = {}
    for name, a in program.activations.items():
        if setup.activation == "relu" and name != "state":
            shares[f"act_zero_frac/{name}"] = float((a <= 0).mean())
        elif setup.activation == "tanh" or name == "state":
            shares[f"act_sat_frac/{name}"] = float((np.abs(a) > 0.99).mean())
        else:
            shares[f"act_sat_frac/{name}"] = float(((a < 0.01) | (a > 0.99)).mean())
    for tag, share in shares.items():
        worst[tag].append(share)
    if setup.record != "full":
        return
    rows["grad_norm/global"].append((step, wall, float("inf") if over else norm))
    if step == 1 or step % setup.every == 0:
        for name, (size, ratio) in ratios.items():
            g = found[name]
            rows[f"grad_norm/{name}"].append((step, wall, float("inf") if over else float(np.sqrt((g * g).sum()))))
            rows[f"grad_zero_frac/{name}"].append((step, wall, float((g == 0).mean())))
            rows[f"weight_norm/{name}"].append((step, wall, float(np.float32(size))))
            rows[f"update_ratio/{name}"].append((step, wall, ratio))
        for tag, share in shares.items():
            rows[tag].append((step, wall, share))


LASTS = 10
"""Steps over which a figure must stay to be a trait of the net."""


def lasting(values: Any, records: int = LASTS) -> float:
    """The largest level that is kept over so many records."""
    array = np.array(values)
    if len(array) <= records:
        return float(array.min())
    return float(np.lib.stride_tricks.sliding_window_view(array, records).min(axis=1).max())


def ailments(setup: Setup, trace: Trace) -> List[str]:
    """What the whole trace shows to be wrong, by figures that no rule uses."""
    found = []
    for values, evaluated, hits in zip(trace.losses, trace.held, trace.hits):
        if not np.isfinite(values).all() or not np.isfinite(evaluated[:, 0]).all():
            return ["not finite"]
        width = max(7, len(values) // 25)
        levels = np.array([np.median(values[i : i + width]) for i in range(len(values) - width + 1)])
        began = min(trace.uninformed, values[:3].mean()) if setup.kind == "likelihood" else values[:3].mean()
        scatter = float(np.median(np.abs(np.diff(values)))) + 1e-12
        last, best, held = levels[-1], levels.min(), evaluated[:, 0]
        won = began - best
        if setup.kind != "trained-before" and began - last < max(0.4 * abs(trace.uninformed), 2 * scatter):
            needed = {"recurrent": 0.25, "attention": 0.25, "contrastive": 0.3}.get(setup.kind, 0.4)
            if began - last < max(needed * abs(trace.uninformed), 2 * scatter):
                found.append("learnt little")
        peak = np.maximum.accumulate(levels[::-1])[::-1] - np.minimum.accumulate(levels)
        if peak.max() > max(0.3 * won, 4 * scatter) and not setup.curriculum:
            found.append("climbed")
        if values[5:].max(initial=0.0) > 3.0 * max(abs(began), abs(trace.uninformed)):
            found.append("spiked")
        if np.isfinite(evaluated).all() and setup.kind in ("classes", "batch-norm", "few", "trained-before"):
            chance = np.exp(-trace.uninformed)
            if (evaluated[-1, 1] - chance) / (1 - chance) < 0.6:
                found.append("low accuracy")
            if np.mean(hits[-setup.per_epoch :]) - evaluated[-1, 1] > 0.15:
                found.append("gap")
            if evaluated[:, 1].max() - evaluated[-1, 1] > 0.1:
                found.append("accuracy lost")
        material = 0.05 * abs(trace.uninformed)
        if len(held) > 2 and held[-1] > held.min() + max(0.1 * abs(held.min()), material):
            found.append("held-out loss rose")
        if held[-1] > 1.2 * abs(trace.uninformed) and setup.kind != "likelihood":
            found.append("held-out loss bad")
    if any(value > 0.88 for tag, value in trace.worst.items() if tag.startswith("act_zero")):
        found.append("dead units")
    if any(value > 0.65 for tag, value in trace.worst.items() if tag.startswith("act_sat")):
        found.append("saturated")
    if any(value > 0.4 for tag, value in trace.worst.items() if tag.startswith("ratio")):
        found.append("large updates")
    return sorted({*found})


def judge(setup: Setup, trace: Trace) -> List[Detection]:
    engine = Engine(load_rules())
    if setup.accumulate > 1:
        engine.declare({"custom/gradient_accumulation_steps": setup.accumulate})
    found: List[Detection] = []
    for rows in trace.pieces:
        for tag, points in rows.items():
            steps, walls, values = (np.array(each) for each in zip(*points))
            engine.feed(0, tag, Subject(*classify(tag)), steps.astype(np.int64), walls, values)
        found += engine.advance()
    found += [*engine.end(), *engine.clock(2e9, Process(running=False, exit_code=0))]
    return [each for each in found if each.severity >= Severity.WARN and each.phase is not Phase.CLEARED]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--ill", action="store_true")
    parser.add_argument("-v", action="store_true")
    arguments = parser.parse_args()
    healthy = rings = 0
    symptoms: Dict[str, int] = collections.Counter()
    ills: Dict[str, int] = collections.Counter()
    by_kind: Dict[str, List[int]] = {kind: [0, 0, 0] for kind in KINDS}
    say: Callable[[Detection], str] = lambda each: (  # noqa: E731
        f"     {each.symptom.value} {each.severity.name} {each.step}->{each.detected_step} "
        f"{each.scope.tag} {[evidence.say() for evidence in each.evidence]}"
    )
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.runs):
        setup = draw(seed, arguments.kind)
        with np.errstate(all="ignore"):
            trace = train(setup)
        wrong = ailments(setup, trace)
        if wrong:
            by_kind[setup.kind][2] += 1
            ills.update(wrong)
            if arguments.ill:
                print("ill", seed, wrong, setup, *map(say, judge(setup, trace)), sep="\n  ")
            continue
        found = judge(setup, trace)
        healthy += 1
        by_kind[setup.kind][0] += 1
        if found:
            rings += 1
            by_kind[setup.kind][1] += 1
            symptoms.update({each.symptom.value for each in found})
            if arguments.v:
                print("healthy", seed, setup)
                print(*map(say, found), sep="\n", flush=True)
    print(
        f"{rings} of {healthy} healthy trainings ring: {dict(symptoms)}; "
        f"{arguments.runs - healthy} were not: {dict(ills)}"
    )
    for kind, (count, rung, ill) in by_kind.items():
        print(f"  {kind:15s} {rung} of {count} ring; {ill} ill")


if __name__ == "__main__":
    main()
