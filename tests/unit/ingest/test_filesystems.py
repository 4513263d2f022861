"""Which file systems can be trusted to report what is written to them."""

from __future__ import annotations

import os

import pytest

from mstui.ingest.filesystems import Mounts, needs_polling, parse_mounts, read_mounts

TABLE = r"""
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 27 0:40 / /home rw,relatime shared:1 master:2 - nfs4 server:/home rw
31 30 0:41 / /home/me/my\040data rw - fuse.sshfs me@host: rw
32 27 0:42 / /tmp rw - tmpfs tmpfs rw
33 27 0:43 / /tmp rw - xfs /dev/vdb rw
nonsense
34 27 zz / /odd rw - cifs //server/share rw
35 27 0:44 / /broken rw -
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/log", "ext4"),
        ("/home", "nfs4"),
        ("/home/me/run", "nfs4"),
        ("/homework", "ext4"),
        ("/home/me/my data/run", "fuse.sshfs"),
        ("/tmp/x", "xfs"),
        ("/odd/x", "cifs"),
    ],
)
def test_the_longest_and_latest_mount_point_decides(path: str, kind: str) -> None:
    assert parse_mounts(TABLE).type_of(path) == kind


def test_trees_made_up_by_the_kernel_are_known_by_device() -> None:
    assert os.makedev(0, 21) in parse_mounts(TABLE).pseudo_devices
    assert os.makedev(254, 0) not in parse_mounts(TABLE).pseudo_devices


def test_this_machine_has_a_mount_table() -> None:
    assert read_mounts().type_of("/") != ""


def test_without_a_mount_table_nothing_is_said(tmp_path: os.PathLike[str]) -> None:
    assert read_mounts(os.path.join(tmp_path, "missing")) == Mounts()


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "cifs", "smb3", "fuse", "fuse.sshfs", "9p", "lustre", "ceph", "overlay"]
)
def test_events_are_not_trusted_on(kind: str) -> None:
    assert needs_polling(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "zfs", ""])
def test_events_are_trusted_on(kind: str) -> None:
    assert not needs_polling(kind)
