"""The rules behind mstui.store.roles, as data: which names the frameworks give to what.

Patterns match the whole of a form: lower case, blanks and hyphens as underscores. The first rule that matches counts.
A rule also has parts of which every form that it matches contains one: to look for them is cheap, to compile an
expression costs a tenth of a millisecond, and the few names of a run come near few of the rules.
Sources: MindSpore's SummaryCollector, MindFormers, MindSpeed and Megatron, msprobe, Keras, Lightning, Hugging Face,
MindYOLO, MindOCR, MindCV and fairseq.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Tuple

from mstui.model.roles import Role

ANYTHING = ("",)
"""for a rule that has no such parts"""


class Rule(NamedTuple):
    """Names that mean a role."""

    role: Role
    parts: Tuple[str, ...]
    """one of these is in every form that the pattern matches"""
    pattern: str

    def matches(self, form: str) -> bool:
        """Is it one of the names? `re` keeps what it has compiled."""
        return any(part in form for part in self.parts) and re.fullmatch(self.pattern, form) is not None


NEUTRAL_SEGMENTS = frozenset(
    (
        *("train", "training", "trainer", "step", "epoch", "batch", "iter", "iteration", "global_step", "main"),
        *("metric", "metrics", "scalar", "scalars", "summary", "losses", "optim", "optimizer", "model", "default"),
        *("monitor", "perf", "performance", "timing", "time", "stats", "logs", "hparams", "learning_curve"),
    )
)
"""Path segments that say nothing of what is measured."""

WHOLE_NETWORK = frozenset(("global", "total", "all", "model", "overall", "network", "net", "train"))
"""What stands in a parameter's place when a statistic is of the whole network."""

EVALUATION = r"(?:val|valid|validation|eval|evaluation|test|testing|dev|predict)"
EVALUATION_PARTS = ("val", "test", "dev", "predict")
"""One of these is in every match."""

SUBJECT = (
    r"(?:grads?|gradients?|weights?|w|params?|parameters?|updates?|acts?|actv|activations?|adam_[mv]|exp_avg(?:_sq)?"
    r"|momentum|outputs?|inputs?|bias|(?:device_|micro_)?local|(?:pre|post|unreduced|reduced|actv)_grad"
    r"|grad_(?:unreduced|reduced)|param_(?:origin|updated))"
)
FIGURE = (
    r"(?:norm|l2|l2_?norm|mean|avg|median|max|min|abs_?max|abs_?mean|std|var|rms|ratio|zero_(?:frac|ratio|share)|zeros?"
    r"|(?:sat|dead)_frac|(?:nan|inf)(?:s|_count)?|non_?finite|sparsity|stable_rank|eigenvalue|numel)"
)
STATISTIC = rf"{SUBJECT}_{FIGURE}|expert_load|update_to_weight|max_attention_logit"
"""One figure of one parameter or layer."""

MSPROBE = rf"\d+:(?P<parameter>[^/]+)/rank\d+/(?P<statistic>{SUBJECT}(?:_{FIGURE})?)"
"""TrainerMon of releases that wrote TensorBoard files."""

_METRIC = (
    r"(?:acc|accuracy|acc@?\d+|(?:sparse_|binary_|categorical_|sparse_categorical_|token_)accuracy"
    r"|top_?[15](?:_?acc(?:uracy)?)?|acc(?:uracy)?_?top_?[15]|mean_ap|(?:map|ap|ar)(?:_?\d+(?:[_.:]\d+)*|@[\d.:]+)?"
    r"|m?iou|mean_iou|dice|(?:sacre)?bleu(?:_?\d)?|rouge(?:_?(?:\d|l|lsum))?|meteor|cider"
    r"|f1|f1_?score|f_?score|(?:macro|micro|weighted)_f1|(?:precision|recall|map50(?:_95)?)(?:\(b\))?"
    r"|auc|roc_?auc|perplexity|ppl|psnr|ssim|fid|lpips|wer|cer|em|exact_match|mcc|matthews_correlation|pearsonr?"
    r"|spearmanr?|r2|r2_score|hmean|hit_?rate(?:@\d+)?|ndcg(?:@\d+)?|mrr|score|reward)"
)
_ERROR = r"(?:mae|mse|rmse|mape|smape|err|error|top_?[15]_err(?:or)?|mean_(?:absolute|squared)_error)"
_MEAN = r"(?:total|train|training|overall|avg|average|mean|running|smooth|smoothed|global|sum|final|net|raw|reduced)"
_GRADIENT_NORM = r"(?:grads?|gradients?|g)_?(?:2\.0_|l2_)?norm"
_OPTIMIZER = r"(?:adamw?|adamax|adagrad|adafactor|sgd|momentum|lamb|lars|lion|muon|rmsprop|came)"
_UNIT_OF_WORK = r"(?:samples?|tokens?|images?|imgs?|steps?|frames?|examples?|iters?|sentences?|words?)"

NOT_BY_STEP = Rule(Role.OTHER, ("_vs_",), r".*_vs_(?:samples|tokens|time|steps)")
"""Megatron's and MindFormers' second copy of a curve, whose "step" is a number of samples."""

# parts that several rules share
_SCALE, _NORM, _RATE, _LOSS = ("scal",), ("norm",), ("lr", "learning"), ("loss",)

TRAINING_RULES: Tuple[Rule, ...] = (
    NOT_BY_STEP,
    Rule(Role.LOSS_SCALE, _SCALE, r"(?:.*_)?loss_?scal(?:e|ing|er)(?:_?(?:factor|value|sens))?"),
    Rule(Role.LOSS_SCALE, _SCALE, r"scal(?:e|ing)_sens(?:e)?|(?:amp|grad|scaler)[_/]scaler?"),
    Rule(Role.LOSS_SCALE, _SCALE, r"scaler?|scal(?:e|ing)_factor"),
    Rule(
        Role.OVERFLOW,
        ("overflow", "found_inf"),
        r"(?:is_|has_|num_|grad_|n_)?overflows?(?:_?(?:cond|count|flag|num|steps?|rate))?|found_infs?",
    ),
    Rule(Role.OVERFLOW, ("skipped", "nan"), r"(?:number_of_|num_)?(?:skipped|nan)_?(?:iterations?|steps?|iters?)?"),
    Rule(
        Role.UPDATE_RATIO,
        ("update",),
        r"update_(?:to_weight_)?ratio(?:[_/](?:global|total|all|mean|max))?|update_to_weight",
    ),
    Rule(Role.UPDATE_RATIO, ("update",), r"(?:global|mean|total)_update_ratio"),
    Rule(Role.GRAD_NORM, _NORM, rf"(?:(?:un)?clipped_|global_|total_|local_)?{_GRADIENT_NORM}"),
    Rule(
        Role.GRAD_NORM,
        _NORM,
        rf"{_GRADIENT_NORM}[_/]?(?:global|total|all|model|overall|network|net|train|sum|l2|2)",
    ),
    Rule(
        Role.GRAD_NORM,
        ("norm", "_l2"),
        rf"{_GRADIENT_NORM}_(?:before|after)_clip|(?:global|local)_norm|grad(?:ient)?s?_l2",
    ),
    Rule(Role.GRAD_NORM, _NORM, r"norm[/_](?:global_)?grads?"),
    Rule(Role.LEARNING_RATE, _RATE, r"(?:.+/)?(?:current_|base_|cur_|init_|max_)?(?:lr\d?|learning_?rate)"),
    Rule(Role.LEARNING_RATE, _RATE, r"(?:lr|learning_?rate)[_/](?:group_?|pg_?|param_group_?)?\d+"),
    Rule(Role.LEARNING_RATE, _RATE, rf"(?:lr|learning_?rate)[_/]?{_OPTIMIZER}(?:[_/](?:pg|group)?_?\d+)?"),
    Rule(
        Role.STEP_TIME,
        ("time", "duration", "cost"),
        r"(?:avg_|mean_|train_|time_)?(?:iteration|iter|step|batch)s?_?(?:time|duration|cost)",
    ),
    Rule(Role.STEP_TIME, ("time",), r"(?:train_)?(?:iteration|iter|step|batch)_?time_(?:ms|s|sec|seconds)"),
    Rule(
        Role.STEP_TIME,
        ("per_step", "time"),
        r"per_step(?:_time)?(?:_(?:ms|s|sec|seconds))?|time[_/](?:per_)?(?:step|iteration|iter|batch)",
    ),
    Rule(Role.STEP_TIME, ("step", "iter"), r"(?:ms|s|secs?|seconds)(?:_per_|/)(?:step|iter|iteration)"),
    Rule(Role.STEP_TIME, ("elapsed",), r"elapsed_time_per_iteration(?:_\(ms\))?"),
    Rule(
        Role.THROUGHPUT,
        ("throughput", "flops", "tgs", "fps", "ips", "mfu", "hfu", "wps", "ups"),
        r"(?:.*[_/])?throughput(?:[_/].*)?|t?flops(?:[_/].*)?|tgs|fps|ips|mfu|hfu|wps|ups",
    ),
    Rule(Role.THROUGHPUT, ("_per_", "/"), rf"(?:.*_)?{_UNIT_OF_WORK}(?:_per_|/)(?:s|sec|second|day)(?:[_/].*)?"),
    Rule(
        Role.EPOCH, ("epoch",), r"(?:current_|cur_|train_)?epochs?(?:_?(?:num|number|id|idx|no|index|float|progress))?"
    ),
    Rule(Role.LOSS, _LOSS, rf"(?:{_MEAN}_)*loss(?:es)?(?:[_/]{_MEAN})*"),
    Rule(Role.LOSS, _LOSS, r"(?:language_model|lm)_loss"),
    Rule(Role.LOSS, _LOSS, r"train_loss_\d+"),  # MindCV's, with the rank that wrote it
    Rule(Role.PARTIAL_LOSS, _LOSS, r".+[_/.]loss(?:es)?|loss(?:es)?[_/.].+|[a-z0-9]+loss"),
    Rule(
        Role.PARTIAL_LOSS,
        ("cross_entropy", "nll", "kl", "bce", "mlm", "ce", "z_loss"),
        r"(?:.*[_/])?(?:cross_entropy|nll|kl(?:_?div(?:ergence)?)?|bce|mlm|ce|z_loss)",
    ),
    Rule(Role.EVAL_METRIC, ANYTHING, rf"{_METRIC}(?:[_/](?:train|training|mean|avg|best|max|epoch|step))?"),
)

EVALUATION_RULES: Tuple[Rule, ...] = (
    NOT_BY_STEP,
    Rule(Role.EVAL_METRIC, ANYTHING, rf"(?:.*[_/])?{_METRIC}"),
    Rule(Role.EVAL_LOSS, _LOSS, r"(?:.*[_/])?loss(?:es)?(?:[_/].*)?"),
    Rule(Role.EVAL_METRIC, ANYTHING, rf"(?:.*[_/])?(?:{_METRIC}|{_ERROR})(?:[_/].*)?"),
)
"""For what is left of a tag that was measured on held-out data. Its speed and its step counter are no vital signs."""

BEST_LOSS_NAMES = (
    *("loss", "train_loss", "training_loss", "total_loss", "loss_total", "loss/train", "loss/total", "lm_loss"),
)
"""Forms of the tag that "the loss" means, best first."""
