"""Thirteen families of loss curves of healthy trainings, made of noise, and what rings on them."""

from __future__ import annotations

from typing import Callable, Dict, List

import numpy as np

from mstui.detect.base import Subject
from mstui.detect.engine import Engine, load_rules
from mstui.model.alerts import Detection, Phase, Severity
from mstui.model.records import FloatArray
from mstui.model.roles import Role

Family = Callable[[np.random.Generator, int], FloatArray]


def _noise(rng: np.random.Generator, n: int, scale: float) -> FloatArray:
    return rng.normal(0.0, scale, n)


def _cnn(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    curve: FloatArray = (2.3 * np.exp(-t / (0.18 * n)) + 0.12) * np.exp(_noise(rng, n, 0.09))
    return curve


def _llm(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(1, n + 1)
    curve: FloatArray = 2.1 + 8.6 * t ** (-0.42) + 0.05 * rng.standard_t(5, n)
    return curve


def _llm_warm(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    warm = np.minimum(1.0, t / (0.03 * n))
    seen = np.cumsum(warm)
    curve: FloatArray = 2.2 + 8.7 * (1.0 + seen / 6.0) ** (-0.55) + _noise(rng, n, 0.04)
    return curve


def _lr_steps(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    level = 2.0 * np.exp(-t / (0.1 * n)) + np.where(t < 0.4 * n, 0.55, np.where(t < 0.75 * n, 0.32, 0.26))
    curve: FloatArray = level * np.exp(_noise(rng, n, 0.08))
    return curve


def _gan(rng: np.random.Generator, n: int) -> FloatArray:
    x = np.zeros(n)
    for i in range(1, n):
        x[i] = 0.97 * x[i - 1] + rng.normal(0.0, 0.07)
    bursts = np.where(rng.random(n) < 0.004, rng.exponential(1.2, n), 0.0)
    curve: FloatArray = 0.9 * np.exp(x) + bursts
    return curve


def _elbo(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    curve: FloatArray = 170.0 * np.exp(-t / (0.2 * n)) - 120.0 + _noise(rng, n, 4.0)
    return curve


def _contrastive(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    curve: FloatArray = 5.5 - 2.6 * (1.0 - np.exp(-t / (0.25 * n))) + _noise(rng, n, 0.13)
    return curve


def _fine_tune(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    curve: FloatArray = (0.22 - 0.05 * t / n) * np.exp(_noise(rng, n, 0.35))
    return curve


def _near_zero(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    curve: FloatArray = (0.8 * np.exp(-t / (0.05 * n)) + 0.004) * np.exp(_noise(rng, n, 0.8))
    return curve


def _reinforcement(rng: np.random.Generator, n: int) -> FloatArray:
    curve: FloatArray = 0.02 * rng.standard_t(3, n)
    return curve


def _small_batch(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    curve: FloatArray = (1.9 * np.exp(-t / (0.3 * n)) + 0.35) * np.exp(_noise(rng, n, 0.5))
    return curve


def _saw(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    tooth = 1.0 - 0.08 * ((t % 100) / 100.0 - 0.5)
    curve: FloatArray = (1.6 * np.exp(-t / (0.3 * n)) + 0.3) * tooth * np.exp(_noise(rng, n, 0.06))
    return curve


def _cyclic(rng: np.random.Generator, n: int) -> FloatArray:
    t = np.arange(n)
    level = (1.8 * np.exp(-t / (0.25 * n)) + 0.4) * (1.0 + 0.1 * np.sin(2 * np.pi * t / 180.0))
    curve: FloatArray = level * np.exp(_noise(rng, n, 0.06))
    return curve


FAMILIES: Dict[str, Family] = {
    "cnn-decay": _cnn,
    "llm-power-law": _llm,
    "llm-warm-up": _llm_warm,
    "lr-steps": _lr_steps,
    "gan": _gan,
    "elbo": _elbo,
    "contrastive": _contrastive,
    "fine-tune": _fine_tune,
    "near-zero": _near_zero,
    "reinforcement": _reinforcement,
    "small-batch": _small_batch,
    "epoch-saw": _saw,
    "cyclic-lr": _cyclic,
}
TAGS = {"gan": "gan/d_loss"}


def alarms(values: FloatArray, tag: str = "loss") -> List[Detection]:
    """Everything at warn or above that the rules say of one loss curve alone, its end included."""
    engine = Engine(load_rules())
    n = len(values)
    engine.feed(0, tag, Subject(Role.LOSS), np.arange(1, n + 1), 1.7e9 + 0.5 * np.arange(n), values)
    found = [*engine.advance(), *engine.end()]
    return [each for each in found if each.severity >= Severity.WARN and each.phase is not Phase.CLEARED]
