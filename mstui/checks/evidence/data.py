"""Evidence of the data: the data set graph, sizes, figures of the input that a script records."""

from __future__ import annotations

import re
from typing import Optional

from mstui.checks.evidence_base import UNKNOWN, Family, told, yes
from mstui.checks.view import View
from mstui.i18n import _
from mstui.knowledge.ranking import Observation
from mstui.model.runs import Fact

FEW_SAMPLES = 1000
PARAMETERS_A_SAMPLE = 100.0
NORMALISES = ("rescale", "normalize", "normalise", "totensor", "standardize")
IMAGES = re.compile(
    r"(?:image|mnist|cifar|cocodataset|celeba|vocdataset|voc|decode|crop|resize|hwc2chw|flip|vision)", re.IGNORECASE
)
OWN_SOURCES = ("generatordataset", "numpyslicesdataset")
"""Sources whose samples may be in any order and of any kind: the graph does not say."""
CENTRED = 0.2
WIDE = 3.0
MEANS, SPREADS = ("input_mean", "inputs_mean"), ("input_std", "inputs_std")
MISSING = ("input_nan", "inputs_nan", "input_nan_count", "inputs_nan_count", "input_non_finite", "input_nonfinite")
EMPTY_RECORDS = 2
TOKENS = re.compile(r"(?:embed|wte|tok)")
NORM_FIRST = re.compile(r"(?:^|[._])(?:bn|batchnorm|norm|ln|layernorm|instancenorm|input_norm)\d*(?:[._]|$)")


def shuffles(view: View) -> Optional[bool]:
    """Does the pipeline shuffle, as far as its graph says; None without a graph or when it cannot tell."""
    if not view.pipeline:
        return None
    told_of: Optional[bool] = None
    for each in view.pipeline:
        name = each.op_type.lower()
        if "shuffle" in name or ("random" in name and "sampler" in name):
            return True
        for key, value in each.parameters.items():
            if key.lower() in ("shuffle", "shuffle_level") and _on(value) is not None:
                if _on(value):
                    return True
                told_of = False
            if "sampler" in key.lower():
                words = str(value).lower()
                if "random" in words:
                    return True
                told_of = False if "sequential" in words else told_of
    own = any(each.op_type.lower() in OWN_SOURCES for each in view.pipeline)
    if told_of is False:
        return False
    # A generator may give its samples in random order itself, and its own sampler is not recorded.
    return None if own else False


def _on(value: Fact) -> Optional[bool]:
    if isinstance(value, bool):
        return value
    words = str(value).strip().lower()
    if words in ("true", "1", "global", "files", "infile", "shuffle.global", "shuffle.files"):
        return True
    return False if words in ("false", "0", "none") else None


def normalises(view: View) -> Optional[bool]:
    """Does a pipeline of images normalise them; None where the graph does not say that there are images."""
    words = " ".join(
        f"{each.op_type} {' '.join(f'{key} {value}' for key, value in each.parameters.items())}"
        for each in view.pipeline
    ).lower()
    if not words:
        return None
    if any(word in words for word in NORMALISES):
        return True
    return False if IMAGES.search(words) else None


def _no_shuffle(view: View) -> Observation:
    found = shuffles(view)
    return UNKNOWN if found is None else told(not found)


def _no_normalise(view: View) -> Observation:
    found = normalises(view)
    return UNKNOWN if found is None else told(not found)


def _few(view: View) -> Observation:
    samples, elements = view.declared.samples, view.declared.elements
    if samples is None:
        return UNKNOWN
    sentence = _("{samples:.0f} samples")
    if samples < FEW_SAMPLES:
        return yes(sentence, samples=samples)
    if elements is None:
        return UNKNOWN
    each = elements / samples
    return told(
        each >= PARAMETERS_A_SAMPLE,
        _("{samples:.0f} samples, {each:.3g} parameters for each"),
        samples=samples,
        each=each,
    )


def _not_finite(view: View) -> Observation:
    curves = view.of_statistic(*MISSING)
    if not curves:
        return UNKNOWN
    return told(any(each.bad_step is not None or bool((each.good > 0.0).any()) for each in curves))


def _not_centred(view: View) -> Observation:
    means, spreads = view.of_statistic(*MEANS), view.of_statistic(*SPREADS)
    if not means or not len(means[0].good):
        return UNKNOWN
    spread = float(spreads[0].good[0]) if spreads and len(spreads[0].good) else 1.0
    mean = abs(means[0].middle)
    return told(
        mean > CENTRED * max(1.0, spread) or spread > WIDE,
        _("mean of the input {mean:.3g}, spread {spread:.3g}"),
        mean=mean,
        spread=spread,
    )


def _ids_or_norm(view: View) -> Observation:
    """By the name of the first parameter: a table of tokens, or a normalisation."""
    names = view.graph_parameters or view.parameters
    first = next((name for name in names if "." in name and not name.startswith("inputs")), None)
    if first is None:
        return UNKNOWN
    return told(TOKENS.search(first.lower()) is not None or NORM_FIRST.search(first.lower()) is not None)


def _mask_empty(view: View) -> Observation:
    """A loss of exactly 0 from the first record on has nothing to count; nothing that is learnt begins there."""
    loss = view.loss
    if loss is None or len(loss.values) < EMPTY_RECORDS:
        return UNKNOWN
    return told(bool((loss.values[:EMPTY_RECORDS] == 0.0).all()), "", first=float(loss.values[0]))


def _imbalance_handled(view: View) -> Observation:
    words = view.declared.text("loss_weights", "class_weights", "sampler", "class_weight").strip().lower()
    if words and words not in ("none", "false", "0", "uniform"):
        return yes()
    sampled = any("weightedrandomsampler" in f"{each.op_type} {each.parameters}".lower() for each in view.pipeline)
    return yes() if sampled else UNKNOWN


def _imbalanced(view: View) -> Observation:
    ratio = view.declared.positive("imbalance_ratio", "class_imbalance")
    return (
        UNKNOWN
        if ratio is None
        else told(max(ratio, 1.0 / ratio) > 10.0, _("largest over smallest class {ratio:.3g}"), ratio=ratio)
    )


FAMILY = Family(
    "data",
    {
        "pipeline-no-shuffle": _no_shuffle, "pipeline-no-normalise": _no_normalise, "few-samples": _few,
        "sample-not-finite": _not_finite, "sample-not-centred": _not_centred, "ids-or-norm-first": _ids_or_norm,
        "mask-empty": _mask_empty, "imbalance-handled": _imbalance_handled, "sample-imbalanced": _imbalanced,
    },
)  # fmt: skip
