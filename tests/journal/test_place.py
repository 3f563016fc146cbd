from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from otel_trace.errors import FolderRefused
from otel_trace.journal.file_system import NETWORK, find_file_system, may_map
from otel_trace.journal.place import journal_root, measure_place, open_place
from otel_trace.journal.writer import Writer
from tests.journal.factories import MIB, describe, write_spans

IS_ROOT = os.geteuid() == 0
NOBODY = 65534
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can make files of other users")


def mode_of(path: Path) -> int:
    """Return the permissions of a path."""
    return stat.S_IMODE(path.lstat().st_mode)


def local(_: Path) -> str:
    """Say that every path is on a local disk."""
    return "ext4"


ROOTS = [
    ({"OTELTRACE_DIR": "/data/journals", "SLURM_TMPDIR": "/scratch"}, "/data/journals"),
    ({"OTELTRACE_DIR": "  "}, "/home-of-test/.local/state/otel_trace"),
    ({"SLURM_TMPDIR": "/scratch/1"}, "/scratch/1/otel_trace"),
    ({"XDG_STATE_HOME": "/state"}, "/state/otel_trace"),
    ({"XDG_STATE_HOME": "not/absolute"}, "/home-of-test/.local/state/otel_trace"),
    ({}, "/home-of-test/.local/state/otel_trace"),
]


@pytest.mark.parametrize(("environ", "expected"), ROOTS)
def test_root_is_chosen_by_the_environment(
    environ: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is told, else the job's scratch, else the user's state folder."""
    monkeypatch.setattr(os, "access", lambda *_: True)
    assert Path(expected) == journal_root({"HOME": "/home-of-test", **environ}, local)


def test_relative_folder_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that changes its folder keeps its journal."""
    monkeypatch.chdir(tmp_path)
    assert tmp_path / "here" == journal_root({"OTELTRACE_DIR": "here"})


@pytest.mark.parametrize("kind", sorted(NETWORK))
def test_state_folder_on_a_network_is_not_taken(kind: str, tmp_path: Path) -> None:
    """Then the temporary folder with the user's id is the root."""
    expected = Path(tempfile.gettempdir()) / f"otel_trace-{os.getuid()}"
    assert expected == journal_root({"HOME": str(tmp_path)}, lambda _: kind)


@pytest.mark.parametrize("home", ["", "relative", "/nowhere/at/all"])
def test_home_that_cannot_be_used_is_not_taken(home: str) -> None:
    """A user without a home has the temporary folder."""
    expected = Path(tempfile.gettempdir()) / f"otel_trace-{os.getuid()}"
    assert expected == journal_root({"HOME": home}, local)


MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
23 22 0:5 / /mnt/with\\040space rw - nfs4 server:/x rw
24 22 0:6 / /mnt/caf\\303\\251 rw - fuse.sshfs x rw
25 22 0:7 / /mnt/over rw - ext4 /dev/vdb rw
26 25 0:8 / /mnt/over rw - tmpfs tmpfs rw
27 22 0:9 / /mnt/b rw - lustre x rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/srv/x", "ext4"),
        ("/mnt/with space/deep", "nfs4"),
        ("/mnt/café", "fuse"),
        ("/mnt/over/x", "tmpfs"),
        ("/mnt/b", "lustre"),
        ("/mnt/bb", "ext4"),
    ],
)
def test_kind_of_file_system_is_that_of_the_innermost_mount(path: str, expected: str, tmp_path: Path) -> None:
    """Of mounts over each other the last one counts; names are told in octal."""
    mounts = tmp_path / "mountinfo"
    mounts.write_bytes(MOUNTS.encode() + b"28 22 0:9 / /mnt/\\377 rw - nfs x rw\n")
    assert expected == find_file_system(Path(path), mounts)


def test_kind_is_unknown_where_the_system_does_not_tell(tmp_path: Path) -> None:
    """Without a table of mounts there is no kind."""
    assert find_file_system(tmp_path, tmp_path / "none") == ""


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("ext4", True), ("xfs", True), ("tmpfs", True), ("overlay", True), ("", True)]
    + [(kind, False) for kind in ("nfs4", "lustre", "fuse", "btrfs", "zfs")],
)
def test_files_are_mapped_where_that_is_safe(kind: str, tmp_path: Path, *, expected: bool) -> None:
    """Not over a network, through FUSE, or where an allocated block can still find no room."""
    assert (expected, expected) == (
        may_map(kind),
        measure_place(tmp_path, find_kind=lambda _: kind).is_mapped,
    )


@pytest.mark.parametrize(
    ("kind", "free", "expected"),
    [
        ("ext4", 100 * 1024 * MIB, (1024 * MIB, 8 * MIB)),
        ("ext4", 1000 * MIB, (100 * MIB, 8 * MIB)),
        ("ext4", 200 * MIB, (20 * MIB, 2 * MIB)),
        ("ext4", 0, (2 * MIB, 1 * MIB)),
        ("tmpfs", 100 * 1024 * MIB, (64 * MIB, 8 * MIB)),
    ],
)
def test_bound_follows_what_is_free(
    kind: str, free: int, expected: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of what is free, at most 1 GiB, in memory 64 MiB; segments an eighth of it."""

    class State:
        f_bavail, f_frsize = free // 4096, 4096

    monkeypatch.setattr(os, "statvfs", lambda _: State)
    place = measure_place(tmp_path, find_kind=lambda _: kind)
    assert expected == (place.max_bytes, place.segment_bytes)


def test_folders_and_files_are_the_users_alone(tmp_path: Path) -> None:
    """Folders are 0700 and files 0600, also when the umask would allow more."""
    before = os.umask(0)
    try:
        place = open_place(tmp_path / "root", "run-a", "node1")
        writer = Writer(lambda: place, describe)
        write_spans(writer, 1)
        path = writer.segment.path
        writer.close()
    finally:
        os.umask(before)
    assert [0o600, 0o700, 0o700, 0o700] == [mode_of(part) for part in (path, *list(path.parents)[:3])]


@needs_root
def test_group_can_read_what_the_user_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node service in the group reads every file; others read none, and nobody else writes."""
    monkeypatch.setenv("OTELTRACE_GROUP", "54321")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == "root" and folder != Path("/") and not mode_of(folder) & 1:
            monkeypatch.setattr(tmp_path.__class__, "owner", tmp_path.__class__.owner)
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        root = Path(name) / "root"
        place = open_place(root, "run-a", "node1")
        writer = Writer(lambda: place, describe)
        write_spans(writer, 1)
        path = writer.segment.path
        writer.close()
        assert ["2750", "2750", "2750", "640"] == [
            f"{mode_of(part):o}" for part in (root, root / "run-a", place.folder, path)
        ]
        assert ["read", "refused"] == [ask_as(path, group) for group in (54321, 12345)]


def ask_as(path: Path, group: int) -> str:
    """Return whether a process of another user in that group can read a file."""
    program = (
        f"import os; os.setgroups([]); os.setgid({group}); os.setuid({NOBODY}); open({str(path)!r}).close()"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, check=False)
    return "refused" if done.returncode else "read"


def test_unknown_group_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that is not there is named."""
    monkeypatch.setenv("OTELTRACE_GROUP", "no-such-group")
    with pytest.raises(FolderRefused, match="OTELTRACE_GROUP='no-such-group': there is no such group"):
        open_place(tmp_path / "root", "run-a", "node1")


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_symbolic_link_is_refused(tmp_path: Path, depth: int) -> None:
    """Neither the root nor the run's nor the host's folder may be a link, and nothing is written behind it."""
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / Path("root", "run-a", "node1").parts[0]
    parts = ["root", "run-a", "node1"]
    folder = tmp_path.joinpath(*parts[:depth])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / parts[depth]).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FolderRefused, match="is a symbolic link; set OTELTRACE_DIR to the folder itself"):
        open_place(tmp_path / "root", "run-a", "node1")
    assert [] == list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_file_in_the_place_of_a_folder_is_refused(tmp_path: Path, depth: int) -> None:
    """A file is not made into a folder."""
    parts = ["root", "run-a", "node1"]
    folder = tmp_path.joinpath(*parts[:depth])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / parts[depth]).touch()
    with pytest.raises(FolderRefused, match="is not a folder; set OTELTRACE_DIR to another one"):
        open_place(tmp_path / "root", "run-a", "node1")


@needs_root
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_folder_of_another_user_is_refused(tmp_path: Path, depth: int) -> None:
    """Whoever owns the folder could read or replace what is in it."""
    parts = ["root", "run-a", "node1"]
    folder = tmp_path.joinpath(*parts[: depth + 1])
    folder.mkdir(parents=True)
    os.chown(folder, NOBODY, NOBODY)
    with pytest.raises(
        FolderRefused, match=f"belongs to user {NOBODY}, not to you; set OTELTRACE_DIR to one of yours"
    ):
        open_place(tmp_path / "root", "run-a", "node1")


def test_second_process_finds_the_folder_of_the_first(tmp_path: Path) -> None:
    """Processes of one run on one node share a folder."""
    first = open_place(tmp_path / "root", "run-a", "node1")
    assert first == open_place(tmp_path / "root", "run-a", "node1")
