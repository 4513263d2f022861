"""The learning rates that a step uses, by group: asked before it, told with what it has found."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

MOST_RATES = 8
"""Learning rates of groups that are recorded."""


class Rates:
    """Of one training."""

    def __init__(self) -> None:
        self._places: Optional[List[int]] = None

    def ask(self, optimizer: Any) -> List[Any]:
        """The rates of the coming update, numbers or on the device.

        Asked before the update, or an optimizer would tell the next one's; and while nothing runs on the device: on a
        CPU an operator beside a running graph makes that several times slower.
        """
        if optimizer is None:
            return []
        groups = getattr(optimizer, "param_groups", None)
        rates: Any = [group["lr"] for group in groups] if groups else optimizer.learning_rate
        if type(rates).__name__ not in ("tuple", "list", "ParameterTuple", "CellList"):
            rates = [rates]
        # an optimizer with groups holds one rate a parameter
        rates = list({id(rate): rate for rate in rates}.values())[:MOST_RATES]
        if not groups and optimizer.dynamic_lr:
            # get_lr() would do the same, and in older releases move the schedule on by a step
            rates = [rate(optimizer.global_step).reshape(()) if callable(rate) else rate for rate in rates]
            self._places = list(range(len(rates)))
        return [as_it_is(rate) for rate in rates]

    def by_tag(self, rates: Sequence[float]) -> Dict[str, float]:
        """Groups whose rates were equal at first, and follow no schedule, are one."""
        if self._places is None and rates:
            self._places = [place for place, rate in enumerate(rates) if rate not in rates[:place]]
        tags = ["learning_rate", *(f"learning_rate/{index}" for index in range(1, MOST_RATES))]
        return {tag: rates[place] for tag, place in zip(tags, self._places or ()) if place < len(rates)}


def as_it_is(value: Any) -> Any:
    """The value at this moment: a parameter changes under the hand that holds it."""
    if type(value).__name__ != "Parameter":
        return value
    from mstui.record import probes

    # on the device: to read it would wait for what runs there
    return probes.copied(value)
