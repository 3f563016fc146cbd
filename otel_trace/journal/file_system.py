"""The kind of file system that holds a path, and what may be done there."""

import os
import re
from pathlib import Path

NETWORK = frozenset(
    {
        *(
            "nfs",
            "nfs4",
            "cifs",
            "smb2",
            "smb3",
            "smbfs",
            "9p",
            "afs",
            "ncpfs",
            "virtiofs",
            "vboxsf",
            "vmhgfs",
        ),
        *("lustre", "gpfs", "beegfs", "fhgfs", "ceph", "glusterfs", "wekafs", "panfs", "orangefs", "pvfs2"),
        *("gfs2", "ocfs2", "aufs", "autofs"),
    }
)
# A block allocated there may still find no room when it is written, which in a mapping is a SIGBUS.
_COPY_ON_WRITE = frozenset({"btrfs", "zfs", "bcachefs"})
_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(rb"\\([0-7]{3})")


def find_file_system(path: Path, mounts: Path = _MOUNTS) -> str:
    """Give the kind of file system that holds a path ("ext4", "tmpfs", "fuse"), "" where that is not told."""
    try:
        lines = mounts.read_bytes().splitlines()
    except OSError:
        return ""
    longest, found = -1, b""
    target = os.fsencode(os.path.realpath(path))
    for line in lines:
        left, _, right = line.partition(b" - ")
        fields = left.split()
        if len(fields) < 5 or not right:
            continue
        mount = _OCTAL.sub(lambda match: bytes([int(match[1], 8)]), fields[4])
        if len(mount) >= longest and _is_below(target, mount):
            longest, found = len(mount), right.split()[0]
    kind = found.decode("ascii", "replace")
    return "fuse" if kind.startswith("fuse") else kind


def _is_below(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def may_map(kind: str) -> bool:
    """Say whether a file that was allocated there may be mapped and written without fear."""
    return kind != "fuse" and kind not in NETWORK and kind not in _COPY_ON_WRITE
