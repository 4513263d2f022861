"""Events by what a line says: patterns as data, in order of precedence; a line says one of them at most.

A rule speaks only of its line. Which events of a burst are told is decided in `burst`, tracebacks are put together in
`tracebacks`, CANN error codes lie in `codes`. Lines that a healthy start prints mask every other rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Dict, NamedTuple, Optional, Tuple

from mstui.formats.logs.codes import CODE, kind_of
from mstui.formats.logs.guards import Guards
from mstui.formats.logs.templates import digit_blind, maybe_code
from mstui.formats.logs.values import NUM
from mstui.model.logs import EventKind

INFORMATIVE = frozenset((EventKind.CHECKPOINT, EventKind.GRAPH_COMPILATION, EventKind.RANK_MAP, EventKind.STARTUP))
"""Kinds that a healthy training has too. Every other kind is worth a person's eye."""
RETRIES_SHOWN = 240
"""Half seconds: a cluster that is not complete after two minutes is said, and again every two minutes."""


@dataclass(frozen=True)
class Rule:
    """One kind of line. Named groups become fields; `code`, `step` and `rank` have places of their own."""

    kind: EventKind
    guards: Tuple[str, ...]
    pattern: str
    code: str = ""

    @cached_property
    def blind(self) -> bool:
        """It takes every digit alike."""
        return digit_blind(self.pattern)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The pattern, ready for use."""
        return re.compile(self.pattern)


class Said(NamedTuple):
    """What a line says."""

    kind: EventKind
    code: str
    fields: Dict[str, str]
    step: Optional[int]
    rank: Optional[int]


_PEER = re.compile(r"remote rank \[(\d{1,9})\]|Waiting peer rank: (\d{1,9})")

BENIGN = (
    "you can ignore the above error",
    "Failed to connect to the meta server node url",
    "Failed to register and try to reconnect to the meta server",
    "alive nodes",
)
"""What a healthy training prints too, however it sounds."""

_WAITING = "Topology build"
_RETRY = re.compile(r"Topology build timed out\., retry\((?P<retry>\d{1,9})/\d{1,9}\)")

RULES: Tuple[Rule, ...] = (
    Rule(EventKind.FAULT_TOLERANCE, ("uce wrapper",), r"uce wrapper caught (?P<error>[\w ]{1,80})"),
    Rule(EventKind.FAULT_TOLERANCE, ("ttp exit",), r"Enter mindio ttp exit process"),
    Rule(
        EventKind.FAULT_TOLERANCE,
        ("TREError",),
        r"TREError occurred|Resume training after TREError from step (?P<step>\d{1,15})",
    ),
    Rule(
        EventKind.NAN_STOP,
        ("terminat", "cannot continue"),
        r"loss is NAN or INF, training process cannot continue|Invalid loss, terminating training"
        r"|[Tt]here is (?:nan|inf)\b.{0,200}terminate training|loss is [\w.+-]{1,40},? terminate training"
        r"|current value of loss is [^,]{1,60}, terminate",
    ),
    Rule(
        EventKind.SCALE_ABORT, ("Continuous overflow",), r"Dynamic loss scale Continuous overflow ', (?P<times>\d{1,9})"
    ),
    Rule(
        EventKind.NORM_STREAK,
        ("Current global norm",),
        rf"Current global norm \[? ?(?P<norm>{NUM}) ?\]? (?:of step (?P<step>\d{{1,15}}) has been "
        rf"(?P<times>\d{{1,9}}) consecutive times"
        rf" greater than threshold|is greater equal than threshold):? (?P<threshold>{NUM})",
    ),
    Rule(
        EventKind.OVERFLOW,
        ("overflow",),
        rf"overflow, (?:still update|drop step)(?:, loss scale adjust to (?P<loss_scale>{NUM}))?"
        rf"|this step grad overflow, drop(?:\. Loss scale adjust to (?P<scale>{NUM}))?"
        r"|overflow detected in epoch \d{1,9} step (?P<step>\d{1,15})|seems to be a overflow",
    ),
    Rule(
        EventKind.NAN_WEIGHTS,
        ("no valid values",),
        r"There are no valid values in the ndarray\(size=(?P<size>\d{1,15})",
    ),
    Rule(
        EventKind.SILENT_CORRUPTION,
        ("SDC", "STRESS TEST"),
        r"SilentCheck detect SDC(?: at step: (?P<step>\d{1,15}))?|CheckSum detects SDC(?: on rank (?P<rank>\d{1,9}))?"
        r"|SDC \d{1,9} strikes and out(?: on rank: (?P<rank2>\d{1,9}))?|STRESS TEST FAILED",
    ),
    Rule(
        EventKind.OUT_OF_MEMORY,
        ("emory", "total mem", "ostAlloc", "halMemAlloc"),
        r"(?i:memory isn'?t enough)(?:.{0,120}?alloc size: (?P<size>\d{1,20}))?|Memory not enough|(?i:out of memory)"
        r"|Malloc device memory failed(?:, size\[(?P<size2>\d{1,20})\])?|Allocate memory failed(?: for size: "
        r"(?P<size3>\d{1,20}))?"
        r"|halMemAlloc failed|is more than total mem size|Memory error occurred, process will exit"
        r"|Memory_Allocation_Failure"
        r"|(?P<host>cudaHostAlloc) failed|Insufficient shared memory",
    ),
    Rule(
        EventKind.HCCL_TIMEOUT,
        ("Heartbeat Lost", "socket times out", "Notify"),
        r"Heartbeat Lost Occurred|Getting socket times out|Notify wait execute failed|taskType\[Notify Wait\]"
        r"|Notify (?:register|wait).{0,80}tim(?:es|e) ?out|timeout occurs when the Notify",
    ),
    Rule(EventKind.DEVICE_LINK, ("error cqe", "HCCEError", "SuspectRemote"), r"error cqe|HCCEError|SuspectRemoteError"),
    Rule(
        EventKind.TASK_FAILED,
        ("kernel execute failed",),
        r"Aicore kernel execute failed(?:, device_id=(?P<device>\d{1,9}))?(?:.{0,160}?fault kernel_name="
        r"(?P<kernel>[\w/.-]{1,200}))?",
        "aicore",
    ),
    Rule(
        EventKind.TASK_FAILED,
        ("Task", "Run task for", "StreamSynchronize", "RunGraph", "compute device to finish"),
        r"Distribute Task Failed|Run task for graph:\S{0,200} error|rtStreamSynchronize (?:failed|execute failed)"
        r"|Task exception!"
        r"|Call GE RunGraph\w{0,60} Failed|wait for compute device to finish failed|Task execute failed",
    ),
    Rule(
        EventKind.WORKER_EXIT,
        ("exit",),
        r"Worker process (?P<pid>\d{1,10}) exit with exception(?:\. Error code: (?P<code>-?\d{1,9}))?"
        r"|process rank (?P<rank>\d{1,9}) with PID \d{1,10} on node (?P<node>\S{1,200}) exited on signal "
        r"(?P<signal>\d{1,4})",
    ),
    Rule(
        EventKind.PEER_CLOSED,
        ("end of file",),
        r"Client connected end of file! Peer Worker ip: (?P<peer>[\w.:]{1,80}), port: (?P<port>\d{1,5})",
    ),
    Rule(EventKind.NODE_TIMEOUT, ("is timed out",), r"The node: (?P<code>\w{1,80}) is timed out"),
    Rule(
        EventKind.NODE_TIMEOUT,
        ("timed out node", "abnormal compute"),
        r"total number of timed out node is (?P<nodes>\d{1,9})|There are "
        r"(?P<nodes2>\d{1,9}) abnormal compute graph nodes",
    ),
    Rule(
        EventKind.JOB_FAILED,
        ("exit", "kill all"),
        r"Distributed job exited with exception|Scheduler process \d{1,10} exit with exception|kill all other workers",
    ),
    Rule(
        EventKind.DATA_PIPELINE,
        ("ataset", "worker process timeout", "performance attention"),
        r"Exception thrown from dataset pipeline|subprocess of dataset may exit|Generator worker process timeout"
        r"|GeneratorDataset subprocess worker may be killed|Bad performance attention, it (?:takes|waits) more than",
    ),
    Rule(EventKind.LOG_LOST, ("Logging error",), r"^--- Logging error ---"),
    Rule(
        EventKind.CHECKPOINT,
        ("aving", "saved"),
        r"Finish saving (?P<what>ckpt|safetensors)(?: of epoch \d{1,9} step \d{1,15})?(?: using "
        r"(?P<seconds>[\d.]{1,20}) seconds)?"
        r"|\.{3,10}Saving (?:ckpt|safetensors)\.{3,10}|Saving model to (?P<path>\S{1,400})|, checkpoint saved"
        r"|successfully saved checkpoint (?:at|from) iteration {1,12}(?P<step>\d{1,15})",
    ),
    Rule(
        EventKind.GRAPH_COMPILATION,
        ("ompil",),
        r"(?P<phase>Start|End) compiling '(?P<name>[^']{1,200})'|(?P<phase2>[Bb]egin|[Ee]nd) to compile (?:the )?graph",
    ),
    Rule(
        EventKind.RANK_MAP,
        ("Start worker process",),
        r"Start worker process with rank id:(?P<rank>\d{1,9}), log file:(?P<file>\S{1,400}\.log)\.",
    ),
    Rule(
        EventKind.RANK_MAP,
        ("The new node",),
        r"The new node: (?P<node>\S{1,80})\(role: MS_WORKER\), rank id: (?P<rank>\d{1,9}), device id: "
        r"(?P<device>\d{1,9})"
        r", hostname: (?P<host>\S{1,200}), ip: (?P<ip>[\w.:]{1,80})",
    ),
    Rule(EventKind.RANK_MAP, ("This node",), r"This node (?P<node>\S{1,80}) rank id: (?P<rank>\d{1,9})"),
    Rule(EventKind.STARTUP, ("Cluster is",), r"Cluster is successfully initialized"),
)

_GUARDS = Guards([(rule, rule.guards) for rule in RULES])

EXCEPTION = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w{0,80}\.){0,10}[A-Z]\w{0,80}(?:Error|Exception|Interrupt|Exit|Iteration))(?:: |:?\s{0,8}$)"
)
"""What an exception's last line begins with, wherever it stands."""


def said(text: str, *, codes: bool) -> Optional[Said]:
    """The event that a message tells; None when it tells none. `codes`: look for CANN error codes too."""
    for words in BENIGN:
        if words in text:
            return None
    if _WAITING in text:
        return _waiting(text)
    if codes:
        code = CODE.search(text)
        if code is not None:
            return Said(kind_of(code.group()), code.group(), _peer(text), None, None)
    for rule in _GUARDS.present(text):
        found = rule.compiled.search(text)
        if found is not None:
            return _said(rule, found, text)
    return None


def settled(text: str, *, codes: bool) -> bool:
    """Of a text that tells no event: would none with other digits tell one."""
    if any(words in text for words in BENIGN):
        return True
    if _WAITING in text or (codes and maybe_code(text)):
        return False
    return all(rule.blind for rule in _GUARDS.present(text))


def _said(rule: Rule, found: re.Match[str], text: str) -> Said:
    groups = {name: value for name, value in found.groupdict().items() if value is not None}
    step, rank = groups.pop("step", None), groups.pop("rank", None) or groups.pop("rank2", None)
    code = groups.pop("code", rule.code)
    signal = groups.pop("signal", None)
    if signal is not None:
        code = f"-{signal}"
    fields = {name.rstrip("23"): value for name, value in groups.items()}
    if rule.kind is EventKind.HCCL_TIMEOUT:
        fields.update(_peer(text))
    return Said(rule.kind, code, fields, int(step) if step else None, int(rank) if rank else None)


def _waiting(text: str) -> Optional[Said]:
    """A cluster that is not complete yet is news only after minutes."""
    found = _RETRY.search(text)
    if found is None or int(found["retry"]) == 0 or int(found["retry"]) % RETRIES_SHOWN:
        return None
    return Said(EventKind.NODE_TIMEOUT, "", {"retry": found["retry"]}, None, None)


def _peer(text: str) -> Dict[str, str]:
    found = _PEER.search(text)
    return {"peer_rank": found.group(1) or found.group(2)} if found is not None else {}
