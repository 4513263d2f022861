"""lr-plan: does the learning rate follow its plan, as far as a plan is declared or the curve speaks for itself?"""

from __future__ import annotations

from mstui.checks.evidence.learning_rate import leap
from mstui.checks.probe_base import Probe, bad, ok, unknown
from mstui.checks.view import View
from mstui.i18n import mark
from mstui.model.checks import ProbeResult

LEAST = 8
"""Records below which a curve has no shape."""
CONSTANT = 1e-6
EARLY = 0.5
DECAYED = 0.01


def look(view: View) -> ProbeResult:
    """Jumps, a rate of 0, an end long before the plan's; a constant rate that was declared so."""
    rate = view.learning_rate
    if rate is None or len(rate.good) < LEAST:
        return unknown(
            mark("{n} records of the learning rate, {least} are needed"),
            n=0 if rate is None else len(rate.good),
            least=LEAST,
        )
    values, steps = rate.good, rate.good_steps
    peak = float(values.max())
    plan = view.declared.text("lr_schedule").strip().lower()
    flat = float(values.max() - values.min()) <= CONSTANT * peak
    zeros = int((values[1:] == 0.0).sum())
    if zeros > 1 and not peak > 0.0:
        return bad(mark("it is 0 in every record"))
    if plan == "constant":
        return (ok if flat else bad)(
            mark("declared as constant; {low:.3g} to {high:.3g}"), low=float(values.min()), high=peak
        )
    up = leap(view)
    if up is not None:
        sentence = mark("it jumps from {before:.3g} to {after:.3g} at step {step}")
        return bad(sentence, (up.step,), before=up.before, after=up.after, step=up.step)
    planned = view.declared.planned_steps
    low = values < DECAYED * peak
    top = int(values.argmax())
    low[: top + 1] = False
    if low.any() and low[int(low.argmax()) :].all():
        step = int(steps[int(low.argmax())])
        if planned is not None and step < EARLY * planned:
            return bad(
                mark("below 1 % of its peak from step {step} on, of {planned} planned"),
                (step,),
                step=step,
                planned=planned,
            )
        if zeros > 1 and (planned is None or step < planned) and view.span is not None and step < EARLY * view.span[1]:
            return bad(mark("below 1 % of its peak from step {step} on"), (step,), step=step)
    return unknown(
        mark("the plan is not declared; {low:.3g} to {high:.3g}, without jumps"), low=float(values.min()), high=peak
    )


PROBE = Probe("lr-plan", look)
