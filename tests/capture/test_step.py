from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

import otel_trace as ot
from otel_trace.capture import step as step_module
from otel_trace.cluster.run import current_run, step_ids
from tests.capture.recording import Tree, record_program

if TYPE_CHECKING:
    from pathlib import Path

    from tests.capture.recording import Recording


@pytest.fixture(autouse=True)
def count_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the openings of steps from the beginning."""
    monkeypatch.setattr(step_module, "_numbering", step_module._Numbering())


@ot.traced
def load(path: str) -> int:
    """Give the length."""
    return len(path)


LOADED = {"param.path": "aa", "return.value": 2}


def test_a_step_is_a_trace_of_its_own(recording: Recording) -> None:
    """Each step is a root, with number and loop on every span within."""
    for number in range(2):
        with ot.step(number), ot.stage("data"):
            load("aa")
    expected = []
    for number in range(2):
        step = {"training.step": number, "training.loop": "train"}
        stage = {**step, "training.stage": "data"}
        expected.append(Tree("step", step, [Tree("data", stage, [Tree("load", {**stage, **LOADED})])]))
    assert expected == recording.trees()


def test_a_loop_has_a_name(recording: Recording) -> None:
    """Steps of evaluation are told from those of training."""
    with ot.step(0, name="eval"), ot.span("batch"):
        pass
    loop = {"training.step": 0, "training.loop": "eval"}
    assert Tree("step", loop, [Tree("batch", loop)]) == recording.tree()


def test_a_step_leaves_the_spans_around_it(recording: Recording) -> None:
    """A step within a span is not below it; after the step the span goes on."""
    with ot.span("setup"):
        with ot.step(0):
            load("aa")
        load("aa")
    step = {"training.step": 0, "training.loop": "train"}
    assert [
        Tree("setup", {}, [Tree("load", LOADED)]),
        Tree("step", step, [Tree("load", {**step, **LOADED})]),
    ] == recording.trees()


def test_a_step_has_the_ids_that_all_ranks_know(recording: Recording) -> None:
    """Trace and span id come from run, loop, number, and how often the numbering began anew."""
    for number in (0, 1, 0):
        with ot.step(number):
            pass
    planned = [step_ids(current_run(), "train", *key) for key in ((0, 0), (1, 0), (0, 1))]
    expected = [(f"{ids.trace_id:032x}", f"{ids.root_id:016x}", None) for ids in planned]
    assert expected == [(span.trace_id, span.span_id, span.parent_id) for span in recording.spans()]


def test_a_step_that_is_opened_again_is_another_trace(recording: Recording) -> None:
    """The same number twice, in another epoch or at once, never shares a trace."""
    for _ in range(3):
        for number in (5, 6, 6):
            with ot.step(number):
                pass
    assert 9 == len({span.trace_id for span in recording.spans()})


def test_an_exception_ends_the_step(recording: Recording) -> None:
    """A step that an exception leaves has failed, and the next one is well."""
    with pytest.raises(ValueError, match=r"^no$"), ot.step(0):
        raise ValueError("no")
    with ot.step(1):
        pass
    assert ["error ValueError: no", "unset"] == [tree.status for tree in recording.trees()]


def test_a_thread_within_a_step_has_a_trace_of_its_own(recording: Recording) -> None:
    """What another thread does is not of the step by itself."""
    with ot.step(0):
        thread = threading.Thread(target=load, args=("aa",))
        thread.start()
        thread.join()
    assert ["step", "load"] == [tree.name for tree in recording.trees()]


@pytest.mark.parametrize("number", [-1, 0, 2**63 - 1])
def test_a_step_may_have_any_number(recording: Recording, number: int) -> None:
    """Numbers begin wherever the user begins to count."""
    with ot.step(number):
        pass
    assert number == recording.tree().attributes["training.step"]


RANKS = """
import otel_trace as ot

@ot.stage("forward")
def forward(x):
    return 2 * x

with ot.span("setup"):
    pass
for number in range(3):
    with ot.step(number):
        forward(number)
"""


def test_two_ranks_are_in_one_trace_for_each_step(tmp_path: Path) -> None:
    """Below the root of rank 0 each rank has its part, without a message between them."""
    spans = record_program(tmp_path / "ranks", RANKS, ranks=2)
    in_steps = [span for span in spans if "training.step" in span.attributes]
    assert 1 == len({span.process.run_id for span in spans})
    assert 3 == len({span.trace_id for span in in_steps})
    for number in range(3):
        own = [span for span in in_steps if span.attributes["training.step"] == number]
        by_id = {span.span_id: span for span in own}
        edges = sorted(
            (by_id[span.parent_id].name if span.parent_id else "", span.name, span.resource["training.rank"])
            for span in own
        )
        assert [
            ("", "step", 0),
            ("rank 0", "forward", 0),
            ("rank 1", "forward", 1),
            ("step", "rank 0", 0),
            ("step", "rank 1", 1),
        ] == edges
    assert ["setup", "setup"] == [span.name for span in spans if span not in in_steps]


def test_the_tree_of_a_step_stands_without_rank_0(tmp_path: Path) -> None:
    """A rank that is alone in having written is below a root that nobody has."""
    program = "import os\n" + RANKS + "    if os.environ['RANK'] == '0': os._exit(0)\n"
    spans = record_program(tmp_path / "ranks", program, ranks=2)
    lone = [span for span in spans if span.name == "rank 1"]
    roots = [span for span in spans if span.name == "step"]
    assert (3, 1) == (len(lone), len(roots))
    assert roots[0].trace_id == lone[0].trace_id
    assert roots[0].span_id == lone[0].parent_id
    assert 3 == len({span.parent_id for span in lone} - {None})
