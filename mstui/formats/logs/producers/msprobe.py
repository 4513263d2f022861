"""msprobe's alerts on the console: an event each. Its figures are read from its own files."""

from __future__ import annotations

import re
from typing import Optional

from mstui.formats.logs.producer import Producer, Shape
from mstui.formats.logs.state import Fact, Reading, State
from mstui.formats.logs.values import NUM
from mstui.model.logs import EventKind

_ALERT = (
    r"Rule (?P<rule>\w{1,60}) reports anomaly signal in \('(?P<tag>[^']{1,400})', '(?P<op>\w{1,40})'\) at step "
    rf"(?P<step>\d{{1,15}}), current value (?P<value>{NUM}), history mean (?P<mean>{NUM})"
)


def _alert(found: re.Match[str], state: State) -> Optional[Reading]:
    step = int(found["step"])
    fields = {name: found[name] for name in ("rule", "tag", "op", "value", "mean")}
    state.facts.append(Fact(EventKind.PROBE_ALERT, "", fields, step))
    return None


PRODUCER = Producer("msprobe", (Shape((b"anomaly signal",), _ALERT, _alert),))
