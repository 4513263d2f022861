"""Evidence from weights: do they move, how far, where they started, how their size develops."""

from __future__ import annotations

import math
import re
from typing import Dict, Optional, Pattern, Tuple

import numpy as np

from mstui.checks.evidence_base import UNKNOWN, Family, no, told, yes
from mstui.checks.measures import (
    WEIGHT_NORMS,
    first_record,
    first_spreads,
    movement,
    root_mean_square,
    still_lately,
    sudden_growth,
    update_sizes,
)
from mstui.checks.view import View
from mstui.detect.robust import median
from mstui.i18n import _
from mstui.knowledge.ranking import Observation

LARGE_UPDATE = 0.1
LARGE_USUAL = 0.03
"""Median update that is too large when it goes on: healthy training is around 1e-3."""
SMALL_UPDATE = 1e-4
ENOUGH_STEPS, SHORT_WAY, SMALL_FOR_WAY = 50, 0.1, 1e-3
"""After so many steps, weights that went less than a tenth of their size in all have hardly left their start."""
GROWING, GROWING_LAYERS = 3.0, 3
"""Signals that grow threefold from layer to layer, in three layers or more, come from too large weights."""
EARLY_SHARE = 3
"""The first third of a run is where too long steps are taken: later a trained net may hold still."""
TOO_MANY = 0.5
"""Share of the parameters that must be so."""
GROWN, SHRUNK = 1.5, 2.0 / 3.0
SETTLED_SHARE = 10
"""After the first tenth of a run."""
NEAR_ZERO = 1e-6
TOO_LARGE, TOO_SMALL = 5.0, 0.2
"""Times the rule of fan-in."""
LEAST_ELEMENTS = 32
"""A matrix of fewer elements has no spread to speak of."""
MOST_OBLONG = 8.0
"""A matrix whose shape is not known is taken to be at most so oblong: its fan-in is then known within that factor."""
KAIMING = math.sqrt(2.0)
"""Standard deviation times root of fan-in, of initial values for ReLU; the widest of the usual ones."""
XAVIER_LEAST = 1.0 / math.sqrt(3.0)
"""The same for uniform values in +-1/sqrt(fan-in); the narrowest of the usual ones."""
NOT_BY_FAN_IN = re.compile(r"(?:embed|table|gamma|beta|bias|norm|(?:^|[._])bn|ln_|moving|running|position|token|cls)")
STARTS_AT_ZERO = re.compile(r"(?:bias|beta|norm|gate|(?:^|[._])bn|lora_b|zero|alpha|scale|residual)")
EMBEDDING = re.compile(r"(?:embed|table|lookup|wte|wpe)")
STATISTICS = re.compile(r"(?:moving_mean|moving_variance|moving_var|running_mean|running_var)")
STEADY = 3
EARLY_STEP = 10
"""SummaryCollector's first regular record."""
LEAST_MATRICES = 2
PLACES_A_MATRIX = 2


def _static_all(view: View) -> Observation:
    moved = still_lately(view)
    if not moved:
        return UNKNOWN
    return told(all(moved.values()), _("{n} of {total} weights are still"), n=sum(moved.values()), total=len(moved))


def _static_some(view: View) -> Observation:
    moved = movement(view)
    if len(moved) < 2:
        return UNKNOWN
    still = [name for name, moves in moved.items() if not moves]
    if not still:
        # Whole nets that stop together are another fact; weights that stop while others go on are this one.
        lately = still_lately(view)
        still = [name for name, rests in lately.items() if rests]
        if still and len(still) == len(lately):
            return UNKNOWN
    if not still:
        return no()
    if len(still) == len(moved):
        return UNKNOWN
    still.sort(key=lambda name: name not in view.layers)  # what the alert names goes first
    return yes(_("{layer} never moves; {n} of {total} such"), {"layer": still[0]}, n=len(still), total=len(moved))


def update_large(view: View) -> Observation:
    """Do single steps change weights by a tenth, early, or by percents all the time?"""
    sizes = {name: each for name, each in update_sizes(view).items() if not STARTS_AT_ZERO.search(name.lower())}
    if not sizes:
        grown = sudden_growth(view)
        sentence = _("a weight grew by {grown:.2g} of its size a step")
        return yes(sentence, grown=grown) if grown is not None and grown > LARGE_UPDATE else UNKNOWN
    early = [float(each[: max(2, len(each) // EARLY_SHARE)].max()) for each in sizes.values()]
    usual = [median(each[each > 0.0]) for each in sizes.values() if bool((each > 0.0).any())]
    most = median(np.array(early))
    often = median(np.array(usual)) if usual else 0.0
    large = float(np.mean(np.array(early) > LARGE_UPDATE)) >= TOO_MANY or often > LARGE_USUAL
    # Of all weights together: the one that an alert names moved more than the middle one.
    sentence = _(
        "half of the weights changed by {most:.2g} of their size or more in an early step, usually by {often:.2g}"
    )
    return told(large, sentence, most=most, often=often)


def update_small(view: View) -> Observation:
    """Do steps hardly change the weights, each or all together?"""
    sizes = update_sizes(view)
    usual = [median(each[each > 0.0]) for each in sizes.values() if bool((each > 0.0).any())]
    if not usual:
        return UNKNOWN
    size = median(np.array(usual))
    steps = view.span[1] - view.span[0] + 1 if view.span is not None else 0
    travelled = size * steps
    short = steps >= ENOUGH_STEPS and travelled < SHORT_WAY and size < SMALL_FOR_WAY
    return told(
        size < SMALL_UPDATE or short,
        _("a step changes a weight by {size:.2g} of its size, {steps} steps by {way:.2g} at most"),
        size=size,
        steps=steps,
        way=travelled,
    )


def _few_steps(view: View) -> Observation:
    """Steps of usual size, too few of them: weights have hardly left their start, and nothing more is coming."""
    usual = [median(each[each > 0.0]) for each in update_sizes(view).values() if bool((each > 0.0).any())]
    if not usual or view.span is None or view.process.running is not False:
        return UNKNOWN
    steps = view.span[1] - view.span[0] + 1
    way = median(np.array(usual)) * steps
    return told(
        steps < ENOUGH_STEPS and way < SHORT_WAY,
        _("{steps} steps, weights went {way:.2g} at most"),
        steps=steps,
        way=way,
    )


def _grows(view: View) -> Observation:
    growth = _growth(view)
    return (
        UNKNOWN if growth is None else told(growth >= GROWN, _("norm {growth:.3g} times the early one"), growth=growth)
    )


def _shrinks(view: View) -> Observation:
    growth = _growth(view)
    return (
        UNKNOWN if growth is None else told(growth <= SHRUNK, _("norm {growth:.3g} times the early one"), growth=growth)
    )


def _growth(view: View) -> Optional[float]:
    grown = [
        each.good[-1] / each.good[len(each.good) // SETTLED_SHARE]
        for each in view.of_statistic(*WEIGHT_NORMS)
        if len(each.good) > STEADY and each.good[len(each.good) // SETTLED_SHARE] > 0.0
    ]
    for several in view.histograms("weight").values():
        sizes = [root_mean_square(one) for one in several]
        if len(sizes) > STEADY and sizes[0] > 0.0 and not grown:
            grown.append(sizes[-1] / sizes[len(sizes) // SETTLED_SHARE])
    return median(np.array(grown)) if grown else None


def _near_zero(view: View) -> Observation:
    if view.onset is None:
        return UNKNOWN
    for layer in view.layers:
        for each in view.of_statistic("weight_abs_mean", *WEIGHT_NORMS):
            if each.parameter == layer:
                before = each.before(view.onset + 1, 1)
                if len(before):
                    return told(float(before[0]) < NEAR_ZERO, _("size {size:.2g} before"), size=float(before[0]))
        for one in view.histograms("weight").get(layer, ()):
            if one.stats.step <= view.onset:
                return told(one.stats.abs_max < NEAR_ZERO, _("size {size:.2g} before"), size=one.stats.abs_max)
    return UNKNOWN


def implied(name: str, spread: float, elements: int, view: View) -> Optional[Tuple[float, float]]:
    """How many times the widest, and the narrowest, of the usual initial spreads a matrix has.

    Fan-in is the listed shape's, else what a matrix of so many elements may have.
    """
    if NOT_BY_FAN_IN.search(name.lower()) or elements < LEAST_ELEMENTS:
        return None
    shape = view.declared.shape(name)
    if shape is not None:
        if len(shape) < 2:
            return None
        fan_in = int(np.prod(shape[1:]))
        least = most = float(fan_in)
    else:
        least, most = math.sqrt(elements / MOST_OBLONG), min(float(elements), math.sqrt(elements * MOST_OBLONG))
    return spread * math.sqrt(least) / KAIMING, spread * math.sqrt(most) / XAVIER_LEAST


def shows_start(view: View) -> bool:
    """Is the first record of the weights what they started from? A norm is taken before the step, a histogram after."""
    if view.span is None:
        return False
    norms = [each for each in view.of_statistic(*WEIGHT_NORMS) if len(each.good)]
    if norms:
        return first_record(view, norms[0])
    steps = [several[0].stats.step for several in view.histograms("weight").values() if several]
    first = [float(each.good[0]) for each in view.of_statistic("update_ratio") if len(each.good)]
    return bool(steps) and min(steps) <= EARLY_STEP and not (first and max(first) > LARGE_UPDATE)


def _initial(view: View, *, large: bool) -> Observation:
    if not shows_start(view):
        return UNKNOWN
    seen = False
    for name, spread, elements in first_spreads(view):
        times = implied(name, spread, elements, view)
        if times is None or not spread > 0.0:
            continue
        seen = True
        beyond = times[0] > TOO_LARGE if large else times[1] < TOO_SMALL
        if beyond:
            sentence = _("{layer} starts with a spread of {spread:.2g}")
            return yes(sentence, {"layer": name}, spread=spread, times=times[0] if large else times[1])
    return no() if seen else UNKNOWN


def initial_large(view: View) -> Observation:
    """Did weights start far too large, by their spread or by what they make of a signal?"""
    found = _initial(view, large=True)
    firsts = np.array(
        [float(each.good[0]) for each in view.of_statistic("act_std") if len(each.good) and first_record(view, each)]
    )
    if found.value or len(firsts) <= GROWING_LAYERS or not bool((firsts > 0.0).all()):
        return found
    growth = firsts[1:] / firsts[:-1]
    if int((growth > GROWING).sum()) >= GROWING_LAYERS:
        return yes(_("signals grow {times:.3g} times from layer to layer"), times=median(growth))
    return found


def _initial_small(view: View) -> Observation:
    return _initial(view, large=False)


def _initial_zero(view: View) -> Observation:
    seen = False
    for name, several in view.histograms("weight").items():
        if not several or NOT_BY_FAN_IN.search(name.lower()):
            continue
        seen = True
        if several[0].stats.abs_max == 0.0:
            return yes(_("{layer} is 0 at step {step}"), {"layer": name}, step=several[0].stats.step)
    for each in view.of_statistic(*WEIGHT_NORMS):
        shape = view.declared.shape(each.parameter)
        if not len(each.good) or NOT_BY_FAN_IN.search(each.parameter.lower()) or (shape and len(shape) < 2):
            continue
        seen = True
        if each.good[0] == 0.0:
            return yes(_("{layer} is 0 at step {step}"), {"layer": each.parameter}, step=int(each.good_steps[0]))
    return no() if seen else UNKNOWN


def _named(view: View, words: Pattern[str]) -> Observation:
    if not view.layers:
        return UNKNOWN
    return told(all(words.search(name.lower()) is not None for name in view.layers), "", {"layer": view.layers[0]})


def _zero_start_name(view: View) -> Observation:
    return _named(view, STARTS_AT_ZERO)


def _embedding_name(view: View) -> Observation:
    return _named(view, EMBEDDING)


def _bn_static(view: View) -> Observation:
    found = bn_movement(view)
    if not found:
        return UNKNOWN
    still = sum(not moves for moves in found.values())
    return told(still == len(found), _("{n} of {total} running statistics are still"), n=still, total=len(found))


def bn_movement(view: View) -> Dict[str, bool]:
    """Running statistic of a normalisation -> did it ever change."""
    found: Dict[str, bool] = {}
    for each in view.curves:
        if each.rank_id == view.rank and STATISTICS.search(each.parameter) and len(each.good) >= STEADY:
            found[each.parameter] = found.get(each.parameter, False) or bool((np.diff(each.good) != 0.0).any())
    for statistic in ("weight", "value"):
        for name, several in view.histograms(statistic).items():
            if STATISTICS.search(name) and len(several) >= STEADY:
                found[name] = len({(one.stats.minimum, one.stats.maximum, one.stats.mean) for one in several}) > 1
    return found


def _low_precision(view: View) -> Observation:
    said = view.declared.text("params_dtype", "param_init_type", "parameter_dtype", "weights_dtype").lower()
    if not said:
        return UNKNOWN
    return told(any(word in said for word in ("float16", "fp16", "bf16", "bfloat16")))


def _shared(view: View) -> Observation:
    """Twice as many places with an activation as matrices: a usual layer has one of each, so some are used again."""
    places = {each.parameter for each in view.of_statistic("act_std", "act_mean", "act_zero_frac")}
    matrices = {each.parameter for each in view.of_statistic(*WEIGHT_NORMS)}
    if len(matrices) < LEAST_MATRICES or not places:
        return UNKNOWN
    sentence = _("{places} layers with an activation, {matrices} weight matrices")
    return told(len(places) >= PLACES_A_MATRIX * len(matrices), sentence, places=len(places), matrices=len(matrices))


FAMILY = Family(
    "weight",
    {
        "weights-static-all": _static_all, "weights-static-some": _static_some, "update-large": update_large,
        "update-small": update_small, "weight-norm-grows": _grows, "few-steps": _few_steps,
        "weight-norm-shrinks": _shrinks,
        "weight-near-zero": _near_zero, "initial-large": initial_large, "initial-small": _initial_small,
        "initial-zero": _initial_zero, "zero-start-name": _zero_start_name, "bn-static": _bn_static,
        "low-precision-weights": _low_precision, "script-shared-cell": _shared, "embedding-name": _embedding_name,
    },
)  # fmt: skip
