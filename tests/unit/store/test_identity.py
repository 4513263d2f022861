"""Which tag of a summary a log's tag stands for, and where it is left open."""

from __future__ import annotations

import pytest

from mstui.store.identity import Identity


@pytest.mark.parametrize(
    ("printed", "exact"),
    [
        ("loss", "loss/auto"),
        ("loss", "train/loss"),
        ("loss", "train_loss"),
        ("loss", "total_loss"),
        ("learning_rate", "learning-rate"),
        ("learning_rate", "lr"),
        ("learning_rate", "train/lr"),
        ("loss_scale", "loss-scale"),
        ("loss_scale", "scale"),
        ("grad_norm/global", "grad-norm"),
        ("grad_norm/global", "global_norm"),
        ("lm_loss", "lm-loss"),
        ("load_balancing_loss", "load-balancing-loss"),
        ("overflow", "overflow_cond"),
        ("epoch", "current_epoch"),
        ("eval/accuracy", "val_acc"),
        ("eval/loss", "val/loss"),
        ("eval/top_1_accuracy", "val_Top_1_Accuracy"),
    ],
)
def test_one_meaning_under_two_names_is_one_curve(printed: str, exact: str) -> None:
    identity = Identity([exact, "epoch_mean_loss", "x"], [printed, "other"])
    assert identity.names(printed, 0) == (exact, printed)
    assert identity.names(exact, 0) == (exact, printed)
    assert not identity.is_listed(printed)
    assert identity.is_listed(exact)
    assert identity.is_listed("other")
    assert identity.names("other", 0) == ("other", "other")


@pytest.mark.parametrize(
    ("printed", "exact"),
    [
        ("loss", ["lm_loss"]),
        ("loss", ["epoch_loss"]),
        ("loss", ["box_loss", "cls_loss"]),
        ("loss", ["train_loss", "loss/auto"]),
        ("loss", ["val_loss"]),
        ("loss", ["loss_scale"]),
        ("learning_rate", ["lr_0", "lr_1"]),
        ("learning_rate", ["base_lr"]),
        ("grad_norm/global", ["local_norm"]),
        ("step_time_ms", ["iteration-time"]),
        ("eval/accuracy", ["val_loss", "accuracy"]),
        ("made_up", ["loss"]),
        ("loss", []),
    ],
)
def test_in_doubt_there_are_two_curves(printed: str, exact: list[str]) -> None:
    identity = Identity(exact, [printed])
    assert not identity
    assert identity.names(printed, 0) == (printed, printed)
    assert all(identity.is_listed(tag) for tag in (printed, *exact))


def test_a_tag_with_the_same_name_in_both_needs_no_other() -> None:
    assert not Identity(["loss", "loss/auto"], ["loss"])


def test_two_tags_of_a_log_are_never_one_of_the_summary() -> None:
    identity = Identity(["Learning-Rate"], ["learning_rate", "learning rate"])
    assert identity.names("learning_rate", 0) == ("Learning-Rate", "learning_rate")
    assert identity.names("learning rate", 0) == ("learning rate", "learning rate")


def test_a_name_that_ends_with_its_rank_is_the_same_curve_on_every_rank() -> None:
    identity = Identity(["train_loss_1", "train_loss_0", "val_accuracy_0"], ["loss", "eval/accuracy"])
    assert identity.names("loss", 1) == ("train_loss_1", "loss")
    assert identity.names("train_loss_0", 1) == ("train_loss_1", "loss")
    assert identity.names("train_loss_0", 0) == ("train_loss_0", "loss")
    assert identity.names("train_loss_0", 7) == ("train_loss_0", "loss")
    assert identity.names("eval/accuracy", 0) == ("val_accuracy_0", "eval/accuracy")
    assert [tag for tag in ("train_loss_0", "train_loss_1", "loss") if identity.is_listed(tag)] == ["train_loss_0"]
