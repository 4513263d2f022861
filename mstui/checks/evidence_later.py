"""Evidence that is declared and that nothing which mstui reads today can tell, each with the reason.

A person's answers to the checks stand in for all of it: they re-rank the causes at once.
"""

from __future__ import annotations

from typing import Mapping

SCRIPT = "needs the training script"
SAMPLE = "needs a sample of the data"
ASKED = "only a person knows"
REFERENCE = "needs a reference run"
BEFORE = "needs the settings of the run before"
NOT_LOGGED = "no log that is read says so"

LATER: Mapping[str, str] = {
    **dict.fromkeys(
        (
            *("script-bn-momentum", "script-dropout", "script-no-train-mode", "script-no-eval-mode"),
            *("script-batch-stats", "script-unguarded", "script-bce", "script-plain-list"),
            *("script-clip-order", "script-penalty", "script-amp-conflict", "script-scale-pair", "script-keywords"),
            *("script-axis", "script-defaults", "script-zero-init"),
            *("no-reducer", "pipelines-differ"),
        ),
        SCRIPT,
    ),
    **dict.fromkeys(("sample-label-range", "sample-one-class", "sample-token-range", "sample-shared-shards"), SAMPLE),
    **dict.fromkeys(
        (
            *("pre-shuffled", "mix-confirmed", "copy-differs", "loss-scales-with-batch", "rerun-same"),
            *("older-checkpoint", "new-data-file"),
        ),
        ASKED,
    ),
    "loss-offset-reference": REFERENCE,
    "global-batch-grew": BEFORE,
    "load-warnings": NOT_LOGGED,
}
"""evidence id -> why it is not computed"""
