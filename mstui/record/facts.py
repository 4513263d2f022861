"""What a run is made of, as facts of its custom lineage: what a person declares, and what can be found by itself.

Every look at MindSpore's objects may fail in another release: then the fact is missing, and nothing else happens.
"""

from __future__ import annotations

import contextlib
import os
import platform
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from mstui.record.network import FROZEN, LEFT_OUT, Inventory
from mstui.record.wire import Fact

Declared = Mapping[str, Union[Fact, Sequence[str]]]
LONGEST = 1000
"""Characters of a fact."""
DECLARED = {
    "frozen_params": "names of parameters that are frozen on purpose",
    "objective": "descending, signed, adversarial, reward or unordered",
    "target_metric": "such as accuracy>=0.9",
    "planned_steps": "length of the training in steps",
    "num_classes": "number of classes",
}
"""Facts that mstui knows to use; others are kept and shown."""
_HYPER = (("momentum", "momentum"), ("weight_decay", "weight_decay"), ("loss_scale", "optimizer_loss_scale"))


def declared_facts(declared: Optional[Declared]) -> Dict[str, Fact]:
    """A person's words as facts: lists become texts."""
    facts: Dict[str, Fact] = {}
    for key, value in (declared or {}).items():
        if isinstance(value, (bool, str, int, float)):
            facts[key] = cut(value) if isinstance(value, str) else value
        else:
            facts[key] = joined(value)
    return facts


def joined(names: Iterable[str]) -> str:
    """Names as one text, cut behind a whole name."""
    text = ""
    for name in names:
        longer = f"{text},{name}" if text else str(name)
        if len(longer) > LONGEST:
            break
        text = longer
    return text


def cut(text: str) -> str:
    """At most what a reader keeps."""
    return text[:LONGEST]


def host_facts(mindspore: Any, rank: int, ranks: int, version: str) -> Dict[str, Fact]:
    """Versions, device and seed."""
    import numpy as np

    facts: Dict[str, Fact] = {
        "recorder": version,
        "mindspore": str(mindspore.__version__),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "rank_id": rank,
        "device_num": ranks,
    }
    with contextlib.suppress(Exception):  # another release
        facts["mode"] = "graph" if mindspore.get_context("mode") == mindspore.GRAPH_MODE else "pynative"
        facts["device_target"] = str(mindspore.get_context("device_target"))
    with contextlib.suppress(Exception):  # another release
        seed = mindspore.get_seed()
        if seed is not None:
            facts["seed"] = int(seed)
    return facts


def optimizer_facts(optimizer: Any) -> Dict[str, Fact]:
    """Class, learning rate and schedule, and the other numbers of an optimizer."""
    facts: Dict[str, Fact] = {}
    if optimizer is None:
        return facts
    facts["optimizer"] = type(optimizer).__name__
    with contextlib.suppress(Exception):  # another release
        facts.update(_rate_facts(optimizer))
    for attribute, name in _HYPER:
        value: Any = getattr(optimizer, attribute, None)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            facts[name] = float(value)
        elif hasattr(value, "asnumpy") and getattr(value, "size", 0) == 1:
            facts[name] = float(value.asnumpy())
    return facts


def _rate_facts(optimizer: Any) -> Dict[str, Fact]:
    groups = getattr(optimizer, "param_groups", None)
    rate = groups[0]["lr"] if groups else optimizer.learning_rate
    if isinstance(rate, (tuple, list)) or type(rate).__name__ in ("ParameterTuple", "CellList"):
        rate = rate[0]
    if isinstance(rate, (int, float)):
        return {"learning_rate": float(rate), "lr_schedule": "constant"}
    if hasattr(rate, "asnumpy"):
        values = rate.asnumpy().ravel()
        kind = "constant" if len(values) == 1 else f"list of {len(values)} steps"
        return {"learning_rate": float(values[0]), "lr_schedule": kind}
    name = type(rate).__name__
    table: Any = getattr(rate, "learning_rate", None)
    if hasattr(table, "asnumpy") and table.size > 1:
        # what a list of rates becomes inside of an optimizer
        values = table.asnumpy().ravel()
        return {"learning_rate": float(values[0]), "lr_schedule": f"list of {len(values)} steps"}
    return {"lr_schedule": name}


def network_facts(inventory: Inventory) -> Dict[str, Fact]:
    """The parameters: in network order with shapes, and which of them are not trained."""
    facts: Dict[str, Fact] = {
        "parameters_total": len(inventory.parameters),
        "parameters_elements": sum(int(parameter.size) for parameter in inventory.parameters),
    }
    for name, state in (("params_left_out", LEFT_OUT), ("params_frozen", FROZEN)):
        names = inventory.of_state(state)
        facts[f"{name}_count"] = len(names)
        if names:
            facts[name] = joined(names)
    with contextlib.suppress(Exception):  # another release
        precision = inventory.precision()
        if precision:
            facts["mixed_precision"] = precision
    for index, chunk in enumerate(inventory.listed(), 1):
        facts[f"parameters/{index}"] = chunk
    return facts


def model_facts(args: Mapping[str, Any]) -> Dict[str, Fact]:
    """What Model tells its callbacks."""
    facts: Dict[str, Fact] = {}
    for key, name in (("epoch_num", "epochs"), ("batch_num", "steps_per_epoch"), ("device_number", "device_num")):
        value = args.get(key)
        if isinstance(value, int) and value > 0:
            facts[name] = value
    if "epochs" in facts and "steps_per_epoch" in facts:
        facts["planned_steps"] = int(facts["epochs"]) * int(facts["steps_per_epoch"])
    if args.get("parallel_mode"):
        facts["parallel_mode"] = str(args["parallel_mode"])
    for key, name in (("loss_fn", "loss_function"), ("network", "network")):
        if args.get(key) is not None:
            facts[name] = type(args[key]).__name__
    with contextlib.suppress(Exception):  # a data set that cannot tell
        facts["batch_size"] = int(args["train_dataset"].get_batch_size())
    with contextlib.suppress(Exception):  # MindSpore's own wrappers only
        loss_cell = args["train_network"].network
        if "loss_function" not in facts:
            facts["loss_function"] = type(loss_cell._loss_fn).__name__  # noqa: SLF001 - it has no other name
            facts["network"] = type(loss_cell.backbone_network).__name__
    return facts


def scale_facts(step_cell: Any) -> Dict[str, Fact]:
    """How a train-one-step cell scales the loss."""
    facts: Dict[str, Fact] = {}
    if step_cell is None:
        return facts
    sense = getattr(step_cell, "scale_sense", None)
    manager = getattr(step_cell, "loss_scaling_manager", None)
    fixed = getattr(step_cell, "sens", None)
    with contextlib.suppress(Exception):  # another release
        if sense is not None and hasattr(sense, "asnumpy"):
            facts["loss_scale_kind"] = type(manager).__name__ if manager is not None else "fixed"
            facts["loss_scale"] = float(sense.asnumpy())
        elif isinstance(fixed, (int, float)) and fixed != 1:
            facts["loss_scale_kind"] = "fixed"
            facts["loss_scale"] = float(fixed)
        for name in ("scale_factor", "scale_window"):
            value = getattr(manager, name, None)
            if isinstance(value, (int, float)):
                facts[name] = value
    return facts


def rank_of() -> Tuple[int, int]:
    """(rank, number of ranks) of this process; (0, 1) when it is not distributed."""
    with contextlib.suppress(Exception):  # whatever MindSpore raises when nobody has called init()
        from mindspore.communication import get_group_size, get_rank

        if int(get_group_size()) > 1:
            return int(get_rank()), int(get_group_size())
    return rank_in(os.environ)


def rank_in(environment: Mapping[str, str]) -> Tuple[int, int]:
    """What the launcher says: MindSpore may not be initialised yet."""
    for rank_name, size_name in (("RANK_ID", "RANK_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")):
        rank, size = environment.get(rank_name, ""), environment.get(size_name, "")
        if rank.isdigit() and size.isdigit() and int(size) > 1:
            return int(rank), int(size)
    return 0, 1


def split(facts: Mapping[str, Fact], most: int) -> List[Dict[str, Fact]]:
    """Facts in pieces that one record may hold."""
    items = list(facts.items())
    return [dict(items[at : at + most]) for at in range(0, len(items), most)]
