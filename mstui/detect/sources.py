"""Where thresholds come from, where several share it: what `mstui rules` prints behind a reason.

Only what everybody can get is cited. A threshold that no publication has is said to be mstui's own, and on what it was
measured.
"""

from __future__ import annotations

from mstui.i18n import mark

MEASURED = mark("mstui's own, measured on its labelled trainings")
"""chosen by what healthy and faulty ones of them show"""
CHECKED = mark("mstui's own, checked on its labelled trainings")
"""chosen by reasoning; alarms and misses on them were counted with it"""
SIMULATED = mark("mstui's own, chosen on simulated losses and checked on its labelled trainings")
NETS = mark("mstui's own, measured on nets trained for it (bench/nets.py, bench/zoo.py)")
AUTOTRAINER_LOSS = mark("AUTOTRAINER (ICSE 2021), its repository: improper loss from 1e3 on")
HCCL = mark("CANN, HCCL: collectives give up after 1800 s")
