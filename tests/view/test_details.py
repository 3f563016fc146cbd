from typing import Any

import pytest

from otel_trace.view.details import list_details

TENSOR = {
    "param.x.shape": [8, 16],
    "param.x.dtype": "float32",
    "param.x.device": "cuda:0",
    "param.x.summary": "float32[8, 16] cuda:0",
}


@pytest.mark.parametrize(
    ("pieces", "attributes"),
    [
        (["x=float32[8, 16] cuda:0"], TENSOR),
        (["lr=0.1", "path='a.csv'", "n=7"], {"param.lr": 0.1, "param.path": "a.csv", "param.n": 7}),
        (
            ["model=<Net>", "opt=<SGD>"],
            {"param.model.type": "__main__.Net", "param.opt.type": "torch.optim.sgd.SGD"},
        ),
        (["mask=None"], {"param.mask.type": "builtins.NoneType"}),
        (
            ["len(batch)=2", "batch.0=int64[] cpu"],
            {"param.batch.length": 2, "param.batch.0.summary": "int64[] cpu"},
        ),
        (["-> 0.31"], {"return.value": 0.31}),
        (["-> float32[8, 4] cpu"], {"return.summary": "float32[8, 4] cpu", "return.shape": [8, 4]}),
        (
            ["-> [1, bool[3] cpu]"],
            {"return.length": 2, "return.0": 1, "return.1.summary": "bool[3] cpu"},
        ),
        ([], {"return.type": "builtins.NoneType"}),
        (
            ["x=[1, [2, 3]]"],
            {"param.x.length": 2, "param.x.0": 1, "param.x.1.length": 2, "param.x.1.0": 2, "param.x.1.1": 3},
        ),
        (["x=[]", "y=1"], {"param.x.length": 0, "param.y": 1}),
        (["-> len=9", "0=1"], {"return.length": 9, "return.0": 1}),
        (["-> len=2", "a=1", "b=2"], {"return.length": 2, "return.a": 1, "return.b": 2}),
        (["len(x)='2'"], {"param.x.length": "2"}),
        (["loss=0.5", "cfg.lr=0.1"], {"watch.loss": 0.5, "watch.cfg.lr": 0.1}),
        (["loss=NaN", "n=Infinity"], {"otel_trace.unrepresentable": ["watch.loss=NaN", "param.n=Infinity"]}),
        (["http.method='GET'"], {"http.method": "GET"}),
        (["x=float32[4] cpu"], {"x.summary": "float32[4] cpu", "x.shape": [4], "x.dtype": "float32"}),
        (["doc.summary='short'"], {"doc.summary": "short"}),
        (["img.shape=[3]"], {"param.img.shape": [3]}),
        ([], {"training.step": 3, "training.stage": "data", "code.line.number": 7, "thread.id": 1}),
    ],
)
def test_attributes_become_short_pieces(pieces: list[str], attributes: dict[str, Any]) -> None:
    """Each kind of attribute has its form; what a summary or the view itself says is left out."""
    assert pieces == list_details(attributes)


def test_pieces_stand_in_the_order_of_a_call() -> None:
    """Parameters come first, then watched values, then the user's own attributes, last what was returned."""
    attributes = {"return.value": 1, "mine": 2, "watch.w": 3, "param.p": 4}
    assert ["p=4", "w=3", "mine=2", "-> 1"] == list_details(attributes)


def test_many_pieces_are_counted() -> None:
    """Of a call with fifty parameters the first are shown and the others counted, or all on request."""
    attributes = {f"param.p{number}": number for number in range(50)}
    assert ["p0=0", "p1=1", "(+48 values)"] == list_details(attributes, max_pieces=3)
    assert 50 == len(list_details(attributes, max_pieces=None))


def test_hostile_attributes_stay_on_their_line() -> None:
    """Keys and values from the user are cleaned, whatever their type."""
    attributes = {"a\nb": "\x1b[0m", "param.\0": "\ud800", "param.x.summary": 7, "return.value": [None, "\n"]}
    assert [r"\x00='\ud800'", "x=7", r"a\nb='\x1b[0m'", r"-> [None, '\n']"] == list_details(attributes)
