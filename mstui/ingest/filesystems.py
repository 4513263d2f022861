"""Which kind of file system a path lies on, from the kernel's mount table, and what that means for watching.

Knows names of file systems; refuses to probe them.
"""

from __future__ import annotations

import os
import re
from typing import Dict, FrozenSet, List, NamedTuple, Tuple

MOUNT_TABLE = "/proc/self/mountinfo"

_REMOTE_NAMES = """
    nfs nfs4 cifs smb3 smbfs 9p virtiofs lustre gpfs beegfs ceph glusterfs afs ocfs2 gfs2 orangefs pvfs2 panfs wekafs
    davfs ncpfs coda vboxsf vmhgfs prl_fs drvfs
"""
_REMOTE = frozenset(_REMOTE_NAMES.split())
"""Another machine may write here, of which this kernel hears nothing."""
_LAYERED = frozenset({"overlay", "overlayfs", "aufs"})
"""A container's root. A file of a lower layer gets a new inode with its first write, and a watch set before stays on
the old one; what other containers or the host write below is not reported either. A stat sees all of it."""
_PSEUDO_NAMES = """
    proc sysfs devtmpfs devpts cgroup cgroup2 debugfs tracefs securityfs configfs fusectl autofs mqueue pstore bpf
    binfmt_misc efivarfs rpc_pipefs nsfs hugetlbfs selinuxfs
"""
_PSEUDO = frozenset(_PSEUDO_NAMES.split())
"""Trees the kernel makes up: endless, and no training writes there."""
_ESCAPED = re.compile(r"\\([0-7]{3})")


class Mounts(NamedTuple):
    """The mount table at one moment."""

    entries: Tuple[Tuple[str, str], ...] = ()
    """mount point and file-system type, in the order of mounting"""
    pseudo_devices: FrozenSet[int] = frozenset()
    """st_dev of trees that must not be walked"""

    def type_of(self, path: str) -> str:
        """File-system type of an absolute path, symlinks not resolved; "" when the table does not say."""
        best, best_length = "", -1
        for point, kind in self.entries:
            inside = path == point or point == "/" or path.startswith(point + "/")
            if inside and len(point) >= best_length:
                best, best_length = kind, len(point)
        return best


def read_mounts(table: str = MOUNT_TABLE) -> Mounts:
    """The kernel's mount table; empty where there is none."""
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as lines:
            return parse_mounts(lines.read())
    except OSError:
        return Mounts()


def parse_mounts(text: str) -> Mounts:
    """Parse the text of /proc/self/mountinfo; lines that make no sense are passed over."""
    latest: Dict[str, str] = {}
    pseudo: List[int] = []
    for line in text.splitlines():
        fields, separator, source = line.partition(" - ")
        parts, kinds = fields.split(" "), source.split(" ")
        if not separator or len(parts) < 5 or not kinds[0]:
            continue
        point = _ESCAPED.sub(lambda found: chr(int(found.group(1), 8)), parts[4])
        latest.pop(point, None)
        latest[point] = kinds[0]
        major, colon, minor = parts[2].partition(":")
        if kinds[0] in _PSEUDO and colon and major.isdigit() and minor.isdigit():
            pseudo.append(os.makedev(int(major), int(minor)))
    return Mounts(tuple(latest.items()), frozenset(pseudo))


def is_remote(kind: str) -> bool:
    """May another machine write on this type of file system?"""
    return kind in _REMOTE or kind == "fuse" or kind.startswith("fuse.")


def needs_polling(kind: str) -> bool:
    """Do file events not tell the whole truth on this type of file system?"""
    return is_remote(kind) or kind in _LAYERED
