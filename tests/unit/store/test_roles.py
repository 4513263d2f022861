"""What a tag means: names of MindSpore, MindFormers, Megatron, msprobe, Keras, Lightning, Hugging Face, the corpus."""

from __future__ import annotations

import pytest

from mstui.model.records import BlobKind
from mstui.model.roles import Role
from mstui.monitor_api import TagInfo
from mstui.store.roles import LONGEST_TAG, Roles, choose_loss, classify

NAMES = {
    Role.LOSS: [
        "loss", "loss/auto", "Loss", "train/loss", "train_loss", "Train Loss", "training_loss", "total_loss",
        "loss/total", "loss/train", "losses/total_loss", "train/total_loss", "lm loss", "lm-loss", "train/loss_step",
        "train_loss_epoch", "epoch_loss", "batch_loss", "avg_loss", "loss/rank_3", "loss/loss", "train/train_loss",
        "running_loss", "metrics/loss", "mean_loss", "loss_avg",
    ],
    Role.EVAL_LOSS: [
        "loss/val", "val_loss", "val/loss", "eval/loss", "eval_loss", "validation/loss", "test_loss", "val_loss_epoch",
        "lm loss validation", "eval/eval_loss", "evaluation_loss_vs_iterations", "val/box_loss",
    ],
    Role.EVAL_METRIC: [
        "acc", "accuracy", "accuracy/train", "accuracy/val", "eval/accuracy", "val_acc", "val/acc_top1", "top1",
        "Top-5", "top_1_accuracy", "mAP", "map50", "metrics/mAP50-95(B)", "metrics/precision(B)", "bleu", "BLEU-4",
        "rouge-l", "f1", "f1_score", "eval_f1", "perplexity", "ppl", "lm loss validation ppl", "AUC", "mIoU", "psnr",
        "epoch_accuracy", "eval/mse", "val_rmse", "hmean", "train_acc", "Acc@1",
    ],
    Role.GRAD_NORM: [
        "grad_norm/global", "grad-norm", "grad_norm", "train/grad_norm", "global_norm", "grad norm", "global_grad_norm",
        "gradient_norm", "grad_2.0_norm_total", "total_grad_norm", "gnorm", "local_norm", "grad-norm/grad-norm",
        "optimizer/grad_norm", "grad_norm/auto", "grad_norm/rank_0",
    ],
    Role.UPDATE_RATIO: ["update_ratio", "update_ratio/global", "train/update_ratio"],
    Role.LOSS_SCALE: [
        "loss_scale", "loss-scale", "loss_scale/auto", "train/loss_scale", "scaling_sens", "loss scale", "amp/scale",
    ],
    Role.OVERFLOW: ["overflow", "overflow_cond", "is_overflow", "overflow/auto", "found_inf", "skipped_steps"],
    Role.LEARNING_RATE: [
        "learning_rate", "learning-rate", "learning_rate/auto", "lr", "train/lr", "train/learning_rate", "lr-AdamW",
        "lr-Adam/pg1", "lr/pg0", "lr/group_0", "x/lr0", "epoch_learning_rate", "learning-rate/learning-rate",
        "current_lr",
    ],
    Role.STEP_TIME: [
        "iteration-time", "step_time", "step_time/auto", "per_step_time", "iter_time", "batch_time", "time_per_step",
        "elapsed time per iteration (ms)", "train/step_time_ms", "seconds_per_step", "iteration-time/iteration-time",
    ],
    Role.THROUGHPUT: [
        "throughput", "model-flops-throughput-per-npu", "train/samples_per_second", "tokens_per_second", "tokens/sec",
        "B-samples-per-day", "TGS", "mfu", "images/s", "train/train_steps_per_second", "fps",
    ],
    Role.EPOCH: ["epoch", "train/epoch", "epoch_num", "current_epoch"],
    Role.PARTIAL_LOSS: [
        "box_loss", "train/box_loss", "cls_loss", "dfl_loss", "aux_loss", "mtp_loss", "mtp-loss", "load-balancing-loss",
        "indexer-loss", "loss/box", "loss_cls", "kl_loss", "nll_loss", "mtp_1 loss", "z_loss", "load_balancing_loss",
        "contrastive.loss", "kl_divergence", "rpn_bbox_loss",
    ],
    Role.OTHER: [
        "loss vs samples", "grad-norm vs samples", "learning-rate vs samples", "lm loss validation vs samples",
        "batch-size", "eval/runtime", "eval/samples_per_second", "world-size", "params-norm", "num-zeros", "data_time",
        "random/thing", "train/total_flos", "train/global_step", "input_data/auto", "lossy compression", "", "/",
        "///auto", "weight_norm",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("tag", "role"), [(tag, role) for role, tags in NAMES.items() for tag in tags])
def test_the_role_of_a_tag_is_found_from_its_name(tag: str, role: Role) -> None:
    assert classify(tag).role is role


@pytest.mark.parametrize(
    ("tag", "parameter", "statistic"),
    [
        ("grad_norm/fc1.weight", "fc1.weight", "grad_norm"),
        ("grad_norm/backbone.layer1/conv.weight", "backbone.layer1/conv.weight", "grad_norm"),
        ("grad_mean/P", "P", "grad_mean"),
        ("grad_max/P", "P", "grad_max"),
        ("grad_min/P", "P", "grad_min"),
        ("grad_zero_frac/P", "P", "grad_zero_frac"),
        ("weight_norm/P", "P", "weight_norm"),
        ("update_ratio/P", "P", "update_ratio"),
        ("act_zero_frac/A", "A", "act_zero_frac"),
        ("act_mean/relu1", "relu1", "act_mean"),
        ("act_std/A", "A", "act_std"),
        ("act_sat_frac/A", "A", "act_sat_frac"),
        ("local_norm/model.layers.0.wq.weight", "model.layers.0.wq.weight", "local_norm"),
        ("device_local_norm/p", "p", "device_local_norm"),
        ("adam_m_norm/p", "p", "adam_m_norm"),
        ("weight_stable_rank/p", "p", "weight_stable_rank"),
        ("expert_load/layer3", "layer3", "expert_load"),
        ("fc1.weight/grad_norm", "fc1.weight", "grad_norm"),
        ("optim/layer0/grad_norm", "layer0", "grad_norm"),
        ("0:layers.0.mlp.linear_fc1.weight/rank0/post_grad_norm", "layers.0.mlp.linear_fc1.weight", "post_grad_norm"),
        ("0:layers.0.mlp.linear_fc1.weight/rank0/post_grad", "layers.0.mlp.linear_fc1.weight", "post_grad"),
    ],
)
def test_a_statistic_of_a_parameter_tells_both(tag: str, parameter: str, statistic: str) -> None:
    meaning = classify(tag)
    assert (meaning.role, meaning.parameter, meaning.statistic) == (Role.PARAMETER, parameter, statistic)


@pytest.mark.parametrize(
    ("tag", "parameter", "statistic"),
    [
        ("fc1.weight/auto", "fc1.weight", "weight"),
        ("weight/fc1.weight", "fc1.weight", "weight"),
        ("gradient/fc1.weight", "fc1.weight", "gradient"),
        ("grad/fc1.weight", "fc1.weight", "gradient"),
        ("gradients/layer1/conv", "layer1/conv", "gradient"),
        ("fc1.weight/grad", "fc1.weight", "gradient"),
        ("fc1.weight.grad", "fc1.weight", "gradient"),
        ("activation/relu", "relu", "activation"),
        ("anything", "anything", "value"),
    ],
)
def test_a_histogram_is_of_a_parameter(tag: str, parameter: str, statistic: str) -> None:
    meaning = classify(tag, BlobKind.HISTOGRAM)
    assert (meaning.role, meaning.parameter, meaning.statistic) == (Role.PARAMETER, parameter, statistic)


def test_other_payloads_have_no_role() -> None:
    assert classify("loss", BlobKind.IMAGE).role is Role.OTHER


@pytest.mark.parametrize("piece", ["a_", "loss_", "total_", "grad_norm_", "/", "train/", "0:", "1.", " - "])
def test_a_hostile_name_is_only_looked_at_in_part(piece: str) -> None:
    # a pattern that backtracks without bound would not come back
    assert classify(piece * 100_000) == classify((piece * 100_000)[:LONGEST_TAG])


def info(tag: str, points: int = 10, seen: int = 0) -> TagInfo:
    meaning = classify(tag)
    return TagInfo(tag, None, meaning.role, meaning.parameter, meaning.statistic, points, 1, 1.0, seen)


@pytest.mark.parametrize(
    ("tags", "chosen"),
    [
        (["box_loss", "val_loss", "loss/auto", "total_loss"], "loss/auto"),
        (["lm-loss", "mtp-loss", "loss", "loss vs samples"], "loss"),
        (["train_loss", "loss_avg"], "train_loss"),
        (["cls_loss", "val/loss"], "cls_loss"),
        (["val/loss", "lr"], "val/loss"),
        (["lr", "accuracy"], None),
        ([], None),
    ],
)
def test_the_loss_is_one_curve(tags: list[str], chosen: str | None) -> None:
    assert choose_loss([info(tag, seen=i) for i, tag in enumerate(tags)]) == chosen


def test_of_equally_plain_losses_the_one_with_most_points_is_taken() -> None:
    assert choose_loss([info("epoch_loss", 5), info("batch_loss", 500)]) == "batch_loss"


def test_a_person_s_word_beats_the_rules_and_meanings_stay_the_same_objects() -> None:
    roles = Roles({"zeta": Role.LOSS})
    assert roles.meaning("zeta").role is Role.LOSS
    first = roles.meaning("loss")
    assert roles.meaning("loss") is first
    roles.set("loss", Role.OTHER)
    assert roles.meaning("loss").role is Role.OTHER
    assert roles.said == {"zeta": Role.LOSS, "loss": Role.OTHER}
    roles.set("grad_norm/fc", Role.GRAD_NORM)
    assert roles.meaning("grad_norm/fc").parameter == ""
