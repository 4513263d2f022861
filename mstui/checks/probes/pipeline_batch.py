"""pipeline-batch: how large is the batch, of all devices together?"""

from __future__ import annotations

from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

USUAL = (16.0, 256.0)
LARGE = 1024.0
FEW_STEPS = 20.0


def look(view: View) -> ProbeResult:
    """By the data set graph, lineage or declaration; between usual and large it depends on the learning rate."""
    batch = view.declared.batch
    if batch is None:
        return unknown(mark("the batch size is not recorded"))
    devices = view.declared.devices or float(len(view.ranks) or 1)
    whole, epoch = batch * devices, view.steps_per_epoch
    if whole > LARGE:
        return bad(mark("{batch:.0f} samples on {devices:.0f} devices together"), batch=whole, devices=devices)
    if epoch is not None and epoch < FEW_STEPS:
        return bad(mark("{batch:.0f} samples, {steps:.0f} steps an epoch"), batch=whole, steps=epoch)
    if USUAL[0] <= whole <= USUAL[1]:
        return ok(mark("{batch:.0f} samples on {devices:.0f} devices together"), batch=whole, devices=devices)
    return unknown(mark("{batch:.0f} samples: whether the learning rate suits it, only its plan tells"), batch=whole)


PROBE = Probe("pipeline-batch", look)
