"""Importing the recorder is cheap: MindSpore comes when a Recorder is made."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_importing_the_recorder_imports_no_mindspore_and_nothing_else_of_mstui() -> None:
    code = "import mstui.record, sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert "mindspore" not in loaded
    assert not {"textual", "google.protobuf"} & loaded
    ours = {name.split(".")[1] for name in loaded if name.startswith("mstui.")}
    assert ours <= {"record", "i18n", "errors", "locale"}
