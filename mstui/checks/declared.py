"""What was said of a run, by what it means: facts of lineage, of a recorder, of logs, and what a person has entered.

Several writers have several names for one thing; the names are tried in order. A fact that is not understood is None.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import List, Mapping, NamedTuple, Optional, Tuple

from mstui.model.checks import CLASSES, FIRST_LOSS, TARGET
from mstui.model.runs import Fact

CUSTOM = "custom/"
BYTES_A_PARAMETER = 4
"""of a checkpoint in float32, which is what model_size is of"""
BUILT_IN_OPTIMIZERS = frozenset(
    (
        *("adam", "adamweightdecay", "adamoffload", "adamax", "adagrad", "adasumbycellwrap", "adafactor", "asgd"),
        *("ftrl", "lamb", "lars", "lazyadam", "momentum", "proximaladagrad", "rmsprop", "rprop", "sgd", "thor"),
        *("adamw", "nadam", "radam", "fusedadam", "fusedadamw", "came", "adadelta", "sophia", "lion", "muon"),
        *("adamdeltazero", "pmaadamw", "fusedcastadamweightdecay", "adamwhostparallel"),
    )
)
"""Lower-case names of optimizers that MindSpore and MindFormers bring."""
ADAPTIVE = ("adam", "lamb", "rmsprop", "adagrad", "adafactor", "came", "lion", "adadelta", "adamax")
"""Parts of names of optimizers whose step does not grow with the gradient."""


class ParameterFact(NamedTuple):
    """One parameter as a recorder listed it."""

    name: str
    shape: Tuple[int, ...]
    state: str
    """trained, frozen, left_out or statistics"""


@dataclass(frozen=True)
class Declared:
    """Facts under one roof."""

    facts: Mapping[str, Fact]
    said: Mapping[str, float]

    def fact(self, *names: str) -> Optional[Fact]:
        """The first of these that is there, as custom lineage or plain."""
        for name in names:
            for key in (CUSTOM + name, name):
                if key in self.facts:
                    return self.facts[key]
        return None

    def text(self, *names: str) -> str:
        """A fact as text; empty without one."""
        found = self.fact(*names)
        return "" if found is None else str(found)

    def number(self, *names: str) -> Optional[float]:
        """A fact as a finite number; a text that is one counts."""
        found = self.fact(*names)
        if found is None or isinstance(found, bool):
            return None
        try:
            number = float(found)
        except ValueError:
            return None
        return number if math.isfinite(number) else None

    def positive(self, *names: str) -> Optional[float]:
        """A number above 0."""
        found = self.number(*names)
        return found if found is not None and found > 0.0 else None

    def flag(self, *names: str) -> Optional[bool]:
        """A fact as yes or no."""
        found = self.fact(*names)
        if found is None:
            return None
        if isinstance(found, str):
            word = found.strip().lower()
            return (
                True if word in ("true", "yes", "on", "1") else False if word in ("false", "no", "off", "0") else None
            )
        return bool(found)

    @cached_property
    def classes(self) -> Optional[float]:
        """Number of classes, or vocabulary size."""
        said = self.said.get(CLASSES)
        found = (
            said
            if said is not None
            else self.positive("num_classes", "classes", "n_classes", "vocab_size", "num_class")
        )
        return found if found is not None and found > 1.0 else None

    @cached_property
    def first_loss(self) -> Optional[float]:
        """First loss of a reference."""
        return self.said.get(FIRST_LOSS, self.number("reference_first_loss"))

    @cached_property
    def target(self) -> Optional[float]:
        """Metric that is to be reached; a text such as "accuracy>=0.9" gives its number."""
        said = self.said.get(TARGET)
        if said is not None:
            return said
        found = self.fact("target_metric", "target")
        if isinstance(found, str):
            found = found.rsplit("=", 1)[-1].rsplit(">", 1)[-1].rsplit("<", 1)[-1].strip()
        if found is None or isinstance(found, bool):
            return None
        try:
            return float(found)
        except ValueError:
            return None

    @cached_property
    def optimizer(self) -> str:
        """Lower-case class of the optimizer; empty where nobody tells."""
        return self.text("optimizer").strip().lower()

    @cached_property
    def adaptive(self) -> Optional[bool]:
        """Does the optimizer's step keep its size whatever the gradient's? None where the optimizer is not known."""
        return any(part in self.optimizer for part in ADAPTIVE) if self.optimizer else None

    @cached_property
    def batch(self) -> Optional[float]:
        """Samples a step on one device."""
        return self.positive("batch_size")

    @cached_property
    def devices(self) -> Optional[float]:
        """Devices of the job."""
        return self.positive("device_num", "device_number", "rank_size")

    @cached_property
    def samples(self) -> Optional[float]:
        """Samples of the training set."""
        found = self.positive("train_dataset_size", "num_samples", "train_samples")
        if found is not None:
            return found
        per_epoch, batch = self.positive("steps_per_epoch"), self.batch
        return per_epoch * batch * (self.devices or 1.0) if per_epoch is not None and batch is not None else None

    @cached_property
    def elements(self) -> Optional[float]:
        """Elements of all parameters."""
        found = self.positive("parameters_elements", "num_parameters", "parameter_count")
        if found is not None:
            return found
        size = self.positive("model_size")
        return size / BYTES_A_PARAMETER if size is not None else None

    @cached_property
    def steps_per_epoch(self) -> Optional[float]:
        """Declared, or samples over batch."""
        found = self.positive("steps_per_epoch")
        if found is not None:
            return found
        size = self.positive("train_dataset_size")
        return size / self.batch if size is not None and self.batch is not None else None

    @cached_property
    def planned_steps(self) -> Optional[int]:
        """Length of the training."""
        found = self.positive("planned_steps", "total_steps", "max_steps", "train_steps")
        return int(found) if found is not None else None

    @cached_property
    def frozen(self) -> Tuple[str, ...]:
        """Names of what was declared frozen on purpose, or patterns with *."""
        said = self.text("frozen_params", "frozen")
        return tuple(part for part in said.replace(";", ",").replace(" ", ",").split(",") if part)

    def is_frozen(self, parameter: str) -> bool:
        """Was this parameter declared frozen on purpose, by its name, by what holds it, or by a pattern?"""
        return any(
            parameter == name or parameter.startswith((f"{name}.", f"{name}/")) or fnmatchcase(parameter, name)
            for name in self.frozen
        )

    @cached_property
    def parameters(self) -> Tuple[ParameterFact, ...]:
        """The recorder's list, in network order; empty without one."""
        found: List[ParameterFact] = []
        number = 1
        while True:
            chunk = self.fact(f"parameters/{number}")
            if not isinstance(chunk, str):
                return tuple(found)
            found.extend(_parameters(chunk))
            number += 1

    def shape(self, parameter: str) -> Optional[Tuple[int, ...]]:
        """Shape of a parameter, where it was listed."""
        return next((each.shape for each in self.parameters if each.name == parameter), None)

    @cached_property
    def left_out(self) -> Tuple[str, ...]:
        """Parameters that want a gradient and that the optimizer was not given."""
        listed = tuple(each.name for each in self.parameters if each.state == "left_out")
        return listed or tuple(part for part in self.text("params_left_out").split(",") if part)

    @cached_property
    def not_trained(self) -> Tuple[str, ...]:
        """Parameters that need no gradient, by the recorder's look at them."""
        listed = tuple(each.name for each in self.parameters if each.state == "frozen")
        return listed or tuple(part for part in self.text("params_frozen").split(",") if part)

    @cached_property
    def half(self) -> Optional[bool]:
        """Is anything computed in FP16? BF16 has the range of FP32 and counts as no; None where nobody tells."""
        words = " ".join(
            self.text(name).lower() for name in ("mixed_precision", "amp_level", "compute_dtype", "precision", "dtype")
        ).strip()
        if not words:
            return None
        if any(word in words for word in ("float16", "fp16", "o2", "o3", "half")) and "bfloat16" not in words:
            return True
        if "float16 in" in words.replace("bfloat16 in", ""):
            return True
        return False if any(word in words for word in ("float32", "fp32", "bf16", "bfloat16", "o0")) else None


def _parameters(chunk: str) -> List[ParameterFact]:
    try:
        entries = json.loads(chunk)
    except (ValueError, RecursionError):
        return []
    if not isinstance(entries, list):
        return []
    found = []
    for entry in entries:
        if isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str) and isinstance(entry[1], list):
            shape = tuple(each for each in entry[1] if isinstance(each, int))
            found.append(ParameterFact(entry[0], shape, str(entry[2])))
    return found
