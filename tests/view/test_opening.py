import re
from pathlib import Path

import pytest

from otel_trace.cluster.process import host_name
from otel_trace.errors import RunNotFound
from otel_trace.journal.place import journal_root
from otel_trace.view import open_run
from otel_trace.view.errors import SourceFailed
from tests.view.journals import write_run


@pytest.fixture
def root() -> Path:
    """Give the folder of all runs of this test."""
    return journal_root()


def test_no_target_is_the_newest_run(root: Path) -> None:
    """Without a name the run that was written last is opened."""
    write_run(root, "run-old", age_s=60)
    write_run(root, "run-new")
    assert "run-new" == open_run().run_id


def test_a_run_is_read(root: Path) -> None:
    """The spans, processes and source of a run are those of its journal."""
    folder = write_run(root, "run-a", num_spans=2)
    run = open_run("run-a")
    assert [("load", {"param.path": "a.csv"})] * 2 == [(span.name, span.attributes) for span in run.spans]
    assert ([host_name()], str(folder), False) == (
        [one.host for one in run.processes],
        run.source,
        bool(run.damage),
    )
    assert 2 == run.ledger["journal"]


def test_every_path_to_a_run_opens_it(root: Path) -> None:
    """A run's folder, the folder of a host in it, a segment, and a folder of runs all lead to the run."""
    folder = write_run(root, "run-a")
    segment = next(folder.rglob("*.seg"))
    for target in (folder, str(folder), segment, segment.parent, root, str(root)):
        assert ("run-a", 1) == (open_run(target).run_id, len(open_run(target).spans))


def test_a_relative_path_opens_a_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path from where one stands is as good as a full one."""
    folder = write_run(root, "run-a")
    monkeypatch.chdir(folder)
    assert "run-a" == open_run(".").run_id


def test_a_unique_beginning_names_a_run(root: Path) -> None:
    """An id need not be typed in full."""
    write_run(root, "run-abc")
    write_run(root, "run-xyz")
    assert "run-xyz" == open_run("run-x").run_id


def test_a_whole_id_wins_over_a_beginning(root: Path) -> None:
    """An id that is the beginning of another one names its own run."""
    write_run(root, "run")
    write_run(root, "run-2")
    assert "run" == open_run("run").run_id


def test_an_id_wins_over_a_file_of_that_name(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What happens to lie in the current folder does not hide a run."""
    write_run(root, "run-a")
    monkeypatch.chdir(tmp_path)
    Path("run-a").mkdir()
    assert "run-a" == open_run("run-a").run_id


def check_refused(message: str, target: str | Path | None = None) -> None:
    """Check that a target is refused with exactly that message."""
    with pytest.raises(RunNotFound, match=f"^{re.escape(message)}$"):
        open_run(target)


def test_a_machine_without_runs_says_so(root: Path) -> None:
    """Where there is nothing, the message says where it looked and what to do."""
    check_refused(f"no runs in {root}; run a program that uses otel_trace, or name a run's folder")
    check_refused(f"no run 'x': there are no runs in {root}", "x")


def test_an_unknown_run_lists_the_known(root: Path) -> None:
    """A name that no run answers to is shown with the names that exist, newest first."""
    for number in range(7):
        write_run(root, f"run-{number}", age_s=number)
    known = "run-0, run-1, run-2, run-3, run-4 and 2 more"
    check_refused(f"no run 'nope' in {root}; runs there: {known}", "nope")
    check_refused(f"'run-' begins 7 runs: {known}; give more of the id", "run-")


@pytest.mark.parametrize(
    "url", ["file:///x", "ftp://me:secret@host", "http://", "http://[::1", "http://h:99999"]
)
def test_other_urls_are_refused(url: str) -> None:
    """A URL that cannot be asked is named, without its password, with one that could."""
    shown = url.replace("me:secret@", "")
    with pytest.raises(SourceFailed) as caught:
        open_run(url)
    assert f"'{shown}' is no address of a Jaeger or Tempo; one is http://host:16686" == str(caught.value)


def test_another_file_is_refused(tmp_path: Path) -> None:
    """A file that is neither a journal nor OTLP JSON is named."""
    path = tmp_path / "notes.txt"
    path.touch()
    with pytest.raises(SourceFailed) as caught:
        open_run(path)
    assert f"{str(path)!r} is neither a journal nor OTLP JSON" == str(caught.value)


def test_one_of_several_runs_is_chosen(root: Path) -> None:
    """Beside a folder of runs, or none, an id says which one."""
    write_run(root, "run-old", age_s=60)
    write_run(root, "run-new")
    for target in (None, root):
        assert "run-old" == open_run(target, run="run-o").run_id


@pytest.mark.parametrize("target", ["", "a\0b", "\ud800", "x" * 10_000, "../../nowhere"])
def test_a_hostile_target_is_not_found(root: Path, target: str) -> None:
    """Whatever is given as a name leads to a message, never to another error."""
    write_run(root, "run-a")
    with pytest.raises(RunNotFound, match=r"^no run '"):
        open_run(target)
