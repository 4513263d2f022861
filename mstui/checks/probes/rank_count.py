"""rank-count: do as many ranks write as the job has? Whether gradients are averaged is for the script to tell."""

from __future__ import annotations

from mstui.checks.evidence.parallel import EQUAL, spreads
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult


def look(view: View) -> ProbeResult:
    """Ranks on record against the declared number; equal weights at the end prove the averaging."""
    ranks, devices = len(view.ranks), view.declared.devices
    mode = view.declared.text("parallel_mode").lower()
    if ranks > 1 and (devices == 1.0 or "stand" in mode):
        return bad(mark("{ranks} ranks write, yet each says that it is alone"), ranks=ranks)
    if devices is not None and devices > 1 and ranks == 1:
        return unknown(mark("{devices:.0f} devices, one of which is recorded here"), devices=devices)
    if devices is not None and ranks > 1 and ranks != int(devices):
        return bad(mark("{ranks} ranks write, {devices:.0f} are planned"), ranks=ranks, devices=devices)
    if ranks < 2:
        return unknown(mark("one rank is recorded, and no number of devices"))
    found = spreads(view)
    if len(found) > 1 and all(spread <= EQUAL for _step, spread in found):
        return ok(mark("{ranks} ranks, with equal weights at {n} steps"), ranks=ranks, n=len(found))
    return unknown(mark("{ranks} ranks write; whether gradients are averaged is in the script"), ranks=ranks)


PROBE = Probe("rank-count", look)
