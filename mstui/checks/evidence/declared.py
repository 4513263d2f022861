"""Evidence from what was declared of the run, and from what follows from it."""

from __future__ import annotations

from typing import Tuple

from mstui.checks.declared import BUILT_IN_OPTIMIZERS
from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.measures import movement
from mstui.checks.view import View
from mstui.detect.naming import Objective, objective_of
from mstui.i18n import _
from mstui.knowledge.ranking import Observation

HIGH_MOMENTUM = 0.95
OFF = 0.01
"""Of the declared number of parameters: rounding to "1.3B"."""
NOT_FALLING = ("adversarial", "reward", "unordered", "auxiliary")
TRANSFORMER = frozenset(("attention", "attn", "transformer", "encoder", "decoder", "layernorm"))
NOISE = (
    "augmentation",
    "augment",
    "mixup",
    "cutmix",
    "auto_augment",
    "randaugment",
    "dropout",
    "drop_rate",
    "drop_path_rate",
)


def _frozen(view: View) -> Observation:
    """About the weights that never move (or that the incident names)."""
    if not view.declared.frozen:
        return UNKNOWN
    still = [name for name, moves in movement(view).items() if not moves] or list(view.layers)
    if not still:
        return UNKNOWN
    return told(
        all(view.declared.is_frozen(name) for name in still),
        _("{layer} and {n} more"),
        {"layer": still[0]},
        n=len(still) - 1,
    )


def _frozen_moves(view: View) -> Observation:
    held = {name: moves for name, moves in movement(view).items() if view.declared.is_frozen(name)}
    if not held:
        return UNKNOWN
    moving = [name for name, moves in held.items() if moves]
    return told(
        bool(moving), _("{layer} moves") if moving else "", {"layer": moving[0]} if moving else None, n=len(moving)
    )


def untrained(view: View) -> Tuple[str, ...]:
    """Parameters that a recorder found frozen or left out, and that nobody declared so; those of the alert first."""
    declared = view.declared
    names = [name for name in (*declared.not_trained, *declared.left_out) if not declared.is_frozen(name)]
    return tuple(sorted(dict.fromkeys(names), key=lambda name: name not in view.layers))


def _script_freezes(view: View) -> Observation:
    """What a recorder saw of the script's work: which parameters do not require a gradient.

    That the optimizer was not given one is told by its missing gradient, and not told twice.
    """
    declared, names = view.declared, untrained(view)
    if not names:
        known = declared.parameters or declared.number("params_frozen_count") is not None
        return no() if known and not declared.not_trained and not declared.left_out else UNKNOWN
    if view.layers and names[0] not in view.layers:
        return UNKNOWN  # something is frozen, and the alert is about something else
    if names[0] in declared.left_out:
        return UNKNOWN
    return yes(_("{layer} has requires_grad=False; {n} such"), {"layer": names[0]}, n=len(names))


def _not_falling(view: View) -> Observation:
    said = view.declared.text("objective").strip().lower()
    if said:
        return told(said in NOT_FALLING)
    if view.loss is None:
        return UNKNOWN
    objective = objective_of(view.loss.tag)
    return UNKNOWN if objective is Objective.DESCENDING else told(objective is not Objective.SIGNED)


def _custom(view: View) -> Observation:
    name = view.declared.optimizer
    if not name:
        return UNKNOWN
    known = name.replace("_", "").replace("-", "") in BUILT_IN_OPTIMIZERS
    return told(not known, "{optimizer}", {"optimizer": name})


def _plain_sgd(view: View) -> Observation:
    name, momentum = view.declared.optimizer, view.declared.number("momentum")
    if not name:
        return UNKNOWN
    plain = name == "sgd" and (momentum is None or momentum == 0.0)
    transformer = name in ("sgd", "momentum") and bool(view.moving_words & TRANSFORMER)
    return told(plain or transformer)


def _momentum(view: View) -> Observation:
    momentum = view.declared.number("momentum")
    return (
        UNKNOWN if momentum is None else told(momentum > HIGH_MOMENTUM, _("momentum {momentum:g}"), momentum=momentum)
    )


def _stochastic(view: View) -> Observation:
    said = view.declared.text(*NOISE).strip().lower()
    if said:
        return told(said not in ("0", "0.0", "none", "false", "off", "no"))
    if not view.pipeline:
        return UNKNOWN
    random = any(
        "random" in f"{each.op_type} {each.parameters.get('operations', '')}".lower()
        and "sampler" not in each.op_type.lower()
        for each in view.pipeline
    )
    return yes() if random else UNKNOWN


def _count_off(view: View) -> Observation:
    planned, found = (
        view.declared.positive("planned_parameters", "num_parameters"),
        view.declared.positive("parameters_elements"),
    )
    if planned is None or found is None:
        return UNKNOWN
    return told(
        abs(planned - found) > OFF * planned,
        _("{found:.0f} parameters, planned {planned:.0f}"),
        found=found,
        planned=planned,
    )


FAMILY = Family(
    "declared",
    {
        "declared-frozen": _frozen, "declared-frozen-moves": _frozen_moves, "objective-not-falling": _not_falling,
        "script-freeze": _script_freezes, "optimizer-custom": _custom, "optimizer-plain-sgd": _plain_sgd,
        "momentum-high": _momentum, "augmentation-stochastic": _stochastic, "parameter-count-off": _count_off,
    },
)  # fmt: skip
