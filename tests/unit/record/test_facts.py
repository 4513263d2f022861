"""Facts of a run: what a person declares, and what can be found without MindSpore's help."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, List, Tuple

from mstui.record import facts
from mstui.record.network import LONGEST_CHUNK, Inventory
from mstui.record.page import page


class Parameter:
    def __init__(self, name: str, shape: Tuple[int, ...], requires_grad: bool = True) -> None:
        self.name, self.shape, self.requires_grad = name, shape, requires_grad
        self.size = 1
        for length in shape:
            self.size *= length


class Holder:
    def __init__(self, parameters: List[Parameter], given: Any = None, precision: str = "NOTSET") -> None:
        self._held, self._precision = parameters, precision
        self.parameters = given if given is not None else []

    def get_parameters(self) -> List[Parameter]:
        return self._held

    def cells_and_names(self) -> List[Tuple[str, Any]]:
        return [("", self)]

    def get_mixed_precision_type(self) -> SimpleNamespace:
        return SimpleNamespace(name=self._precision)


def test_parameters_are_listed_in_network_order_with_what_becomes_of_them() -> None:
    weight, bias = Parameter("fc.weight", (3, 4)), Parameter("fc.bias", (3,))
    frozen, mean = (
        Parameter("stem.weight", (2, 2), requires_grad=False),
        Parameter("bn.moving_mean", (4,), requires_grad=False),
    )
    moment = Parameter("moments.fc.weight", (3, 4))
    network = Holder([frozen, mean, weight, bias])
    inventory = Inventory(network, Holder([weight, moment], given=[weight]))
    (chunk,) = inventory.listed()
    assert json.loads(chunk) == [
        ["stem.weight", [2, 2], "frozen"],
        ["bn.moving_mean", [4], "statistics"],
        ["fc.weight", [3, 4], "trained"],
        ["fc.bias", [3], "left_out"],
    ]
    assert inventory.names == ("stem.weight", "fc.weight", "fc.bias")
    known = facts.network_facts(inventory)
    assert known["params_left_out"] == "fc.bias"
    assert known["params_left_out_count"] == 1


class Optimizer(Holder):
    """What a step cell holds when nobody has said which optimizer is meant."""

    __module__ = "mindspore.nn.optim.optimizer"


class Step(Holder):
    def __init__(self, network: Holder, *optimizers: Optimizer) -> None:
        super().__init__([*network.get_parameters(), *(p for each in optimizers for p in each.get_parameters())])
        self._cells = [("network", network), *((f"optimizer{at}", each) for at, each in enumerate(optimizers))]

    def cells_and_names(self) -> List[Tuple[str, Any]]:
        return [("", self), *self._cells]


def test_of_several_optimizers_each_ones_own_state_is_no_weight_and_what_none_updates_is_left_out() -> None:
    one, other, forgotten = (Parameter(name, (3,)) for name in ("a.weight", "b.weight", "c.weight"))
    steps = [Parameter("global_step", (1,)), Parameter("global_step", (1,))]
    optimizers = [Optimizer([weight, step], given=[weight]) for weight, step in zip((one, other), steps)]
    inventory = Inventory(Step(Holder([one, other, forgotten]), *optimizers), None)
    assert inventory.names == ("a.weight", "b.weight", "c.weight")
    assert facts.network_facts(inventory)["params_left_out"] == "c.weight"


def test_without_an_optimizer_nothing_is_called_left_out() -> None:
    known = facts.network_facts(Inventory(Holder([Parameter("a.weight", (3,))]), None))
    assert known["params_left_out_count"] == 0


def test_cells_in_half_precision_are_counted_and_their_absence_is_no_fact() -> None:
    weight = Parameter("fc.weight", (3, 4))
    assert facts.network_facts(Inventory(Holder([weight], precision="FP16"), None))["mixed_precision"] == (
        "float16 in 1 of 1 cells"
    )
    assert "mixed_precision" not in facts.network_facts(Inventory(Holder([weight]), None))


def test_a_long_list_comes_in_pieces_that_readers_keep_whole() -> None:
    inventory = Inventory(Holder([Parameter(f"layer{index}.weight", (64, 64)) for index in range(200)]), None)
    chunks = inventory.listed()
    assert len(chunks) > 1
    assert all(len(chunk) <= LONGEST_CHUNK for chunk in chunks)
    assert sum(len(json.loads(chunk)) for chunk in chunks) == 200


def test_declared_lists_become_texts() -> None:
    assert facts.declared_facts({"frozen_params": ["a", "b"], "num_classes": 10, "objective": "reward"}) == {
        "frozen_params": "a,b",
        "num_classes": 10,
        "objective": "reward",
    }


def test_the_launcher_tells_the_rank_when_mindspore_does_not() -> None:
    assert facts.rank_in({"RANK_ID": "3", "RANK_SIZE": "8"}) == (3, 8)
    assert facts.rank_in({"RANK_ID": "3"}) == (0, 1)
    assert facts.rank_in({}) == (0, 1)


def test_the_page_is_there_in_both_languages_with_every_tag() -> None:
    for language in ("en", "zh_CN"):
        text = page(language)
        for tag in (
            "grad_zero_frac/P",
            "update_ratio/P",
            "act_sat_frac/A",
            "loss_scale",
            "learning_rate/1",
            "loss/val",
        ):
            assert f"`{tag}`" in text
    assert page("zh_CN") != page("en") == page("xx")


def test_the_page_is_reached_from_the_documentation() -> None:
    docs = Path(__file__).parents[3] / "docs"
    assert "page.en.md" in (docs / "record.md").read_text("utf-8")
    assert "page.zh_CN.md" in (docs / "record.zh_CN.md").read_text("utf-8")
