"""The rules behind mstui.store.roles, as data: which names the frameworks give to what.

Patterns match the whole of a form: lower case, blanks and hyphens as underscores. The first rule that matches counts.
Sources: MindSpore's SummaryCollector, MindFormers, MindSpeed and Megatron, msprobe, Keras, Lightning, Hugging Face,
MindYOLO, MindOCR, MindCV and fairseq.
"""

from __future__ import annotations

from typing import Tuple

from mstui.model.roles import Role

Rule = Tuple[Role, str]

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

NOT_BY_STEP: Rule = (Role.OTHER, r".*_vs_(?:samples|tokens|time|steps)")
"""Megatron's and MindFormers' second copy of a curve, whose "step" is a number of samples."""

TRAINING_RULES: Tuple[Rule, ...] = (
    NOT_BY_STEP,
    (Role.LOSS_SCALE, r"(?:.*_)?loss_?scal(?:e|ing|er)(?:_?(?:factor|value|sens))?"),
    (Role.LOSS_SCALE, r"scal(?:e|ing)_sens(?:e)?|(?:amp|grad|scaler)[_/]scaler?"),
    (Role.LOSS_SCALE, r"scaler?|scal(?:e|ing)_factor"),
    (Role.OVERFLOW, r"(?:is_|has_|num_|grad_|n_)?overflows?(?:_?(?:cond|count|flag|num|steps?|rate))?|found_infs?"),
    (Role.OVERFLOW, r"(?:number_of_|num_)?(?:skipped|nan)_?(?:iterations?|steps?|iters?)?"),
    (Role.UPDATE_RATIO, r"update_(?:to_weight_)?ratio(?:[_/](?:global|total|all|mean|max))?|update_to_weight"),
    (Role.UPDATE_RATIO, r"(?:global|mean|total)_update_ratio"),
    (Role.GRAD_NORM, rf"(?:(?:un)?clipped_|global_|total_|local_)?{_GRADIENT_NORM}"),
    (Role.GRAD_NORM, rf"{_GRADIENT_NORM}[_/]?(?:global|total|all|model|overall|network|net|train|sum|l2|2)"),
    (Role.GRAD_NORM, rf"{_GRADIENT_NORM}_(?:before|after)_clip|(?:global|local)_norm|grad(?:ient)?s?_l2"),
    (Role.GRAD_NORM, r"norm[/_](?:global_)?grads?"),
    (Role.LEARNING_RATE, r"(?:.+/)?(?:current_|base_|cur_|init_|max_)?(?:lr\d?|learning_?rate)"),
    (Role.LEARNING_RATE, r"(?:lr|learning_?rate)[_/](?:group_?|pg_?|param_group_?)?\d+"),
    (Role.LEARNING_RATE, rf"(?:lr|learning_?rate)[_/]?{_OPTIMIZER}(?:[_/](?:pg|group)?_?\d+)?"),
    (Role.STEP_TIME, r"(?:avg_|mean_|train_|time_)?(?:iteration|iter|step|batch)s?_?(?:time|duration|cost)"),
    (Role.STEP_TIME, r"(?:train_)?(?:iteration|iter|step|batch)_?time_(?:ms|s|sec|seconds)"),
    (Role.STEP_TIME, r"per_step(?:_time)?(?:_(?:ms|s|sec|seconds))?|time[_/](?:per_)?(?:step|iteration|iter|batch)"),
    (Role.STEP_TIME, r"(?:ms|s|secs?|seconds)(?:_per_|/)(?:step|iter|iteration)"),
    (Role.STEP_TIME, r"elapsed_time_per_iteration(?:_\(ms\))?"),
    (Role.THROUGHPUT, r"(?:.*[_/])?throughput(?:[_/].*)?|t?flops(?:[_/].*)?|tgs|fps|ips|mfu|hfu|wps|ups"),
    (Role.THROUGHPUT, rf"(?:.*_)?{_UNIT_OF_WORK}(?:_per_|/)(?:s|sec|second|day)(?:[_/].*)?"),
    (Role.EPOCH, r"(?:current_|cur_|train_)?epochs?(?:_?(?:num|number|id|idx|no|index|float|progress))?"),
    (Role.LOSS, rf"(?:{_MEAN}_)*loss(?:es)?(?:[_/]{_MEAN})*"),
    (Role.LOSS, r"(?:language_model|lm)_loss"),
    (Role.PARTIAL_LOSS, r".+[_/.]loss(?:es)?|loss(?:es)?[_/.].+|[a-z0-9]+loss"),
    (Role.PARTIAL_LOSS, r"(?:.*[_/])?(?:cross_entropy|nll|kl(?:_?div(?:ergence)?)?|bce|mlm|ce|z_loss)"),
    (Role.EVAL_METRIC, rf"{_METRIC}(?:[_/](?:train|training|mean|avg|best|max|epoch|step))?"),
)

EVALUATION_RULES: Tuple[Rule, ...] = (
    NOT_BY_STEP,
    (Role.EVAL_METRIC, rf"(?:.*[_/])?{_METRIC}"),
    (Role.EVAL_LOSS, r"(?:.*[_/])?loss(?:es)?(?:[_/].*)?"),
    (Role.EVAL_METRIC, rf"(?:.*[_/])?(?:{_METRIC}|{_ERROR})(?:[_/].*)?"),
)
"""For what is left of a tag that was measured on held-out data. Its speed and its step counter are no vital signs."""

BEST_LOSS_NAMES = (
    *("loss", "train_loss", "training_loss", "total_loss", "loss_total", "loss/train", "loss/total", "lm_loss"),
)
"""Forms of the tag that "the loss" means, best first."""
