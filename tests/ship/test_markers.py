from otel_trace.journal.span_data import LinkData
from otel_trace.ship.markers import make_interrupted, make_marker, marker_id
from tests.ship.factories import START_NS, TRACE, make_span

NOW = START_NS + 60_000_000_000
PARENT = "00000000000000aa"


def test_marker_says_that_the_span_is_open() -> None:
    """A marker has an id of its own, the span's name and facts, how long it takes so far, and a link to it."""
    span = make_span(7, parent_id=PARENT, end_ns=None, attributes={"param.x": 1})
    marker = make_marker(span, NOW, set())
    assert ("work (open)", marker_id(span.span_id), PARENT) == (marker.name, marker.span_id, marker.parent_id)
    assert (span.start_ns, NOW) == (marker.start_ns, marker.end_ns)
    assert {"param.x": 1, "otel_trace.open": True} == marker.attributes
    assert [LinkData(TRACE, span.span_id, {"otel_trace.link": "open"})] == marker.links
    assert ({"param.x": 1}, []) == (span.attributes, span.links)


def test_marker_hangs_below_the_marker_of_its_parent() -> None:
    """Where the parent is shown too, the markers are one subtree."""
    marker = make_marker(make_span(7, parent_id=PARENT, end_ns=None), NOW, {PARENT})
    assert marker_id(PARENT) == marker.parent_id


def test_marker_of_a_root_hangs_below_the_root() -> None:
    """The trace's root is the span itself once it arrives; a link would hide from Jaeger that it is the parent."""
    root = make_span(7, end_ns=None)
    marker = make_marker(root, NOW, set())
    assert (root.span_id, []) == (marker.parent_id, marker.links)


def test_marker_is_never_shorter_than_a_nanosecond() -> None:
    """A clock that went back makes no span that ends before it starts."""
    span = make_span(7, end_ns=None)
    assert span.start_ns + 1 == make_marker(span, span.start_ns - 5, set()).end_ns


def test_marker_id_is_always_the_same_and_never_zero() -> None:
    """A shipper that comes after another one makes the same marker."""
    assert marker_id(PARENT) == marker_id(PARENT)
    assert 16 == len(marker_id(PARENT))
    assert len({marker_id(f"{number:016x}") for number in range(1000)}) == 1000


def test_interrupted_span_is_ended_as_an_error() -> None:
    """A span whose process has died keeps its id and ends with the last record of that process."""
    span = make_span(7, end_ns=None, attributes={"param.x": 1})
    ended = make_interrupted(span, NOW)
    assert (span.span_id, span.start_ns, NOW) == (ended.span_id, ended.start_ns, ended.end_ns)
    assert ("error", "the process ended before the span did") == (ended.status, ended.status_message)
    assert {"param.x": 1, "otel_trace.interrupted": True} == ended.attributes
    assert span.end_ns is None


def test_full_spans_stay_within_their_attributes() -> None:
    """What is added does not make a span exceed what backends take."""
    full = make_span(7, end_ns=None, attributes={f"x{number}": number for number in range(128)})
    for made in (make_marker(full, NOW, set()), make_interrupted(full, NOW)):
        assert (128, (1, 0, 0)) == (len(made.attributes), made.dropped)
        assert any(name.startswith("otel_trace.") for name in made.attributes)
