import time
from pathlib import Path

import pytest

from otel_trace.cluster.process import ProcessKey
from otel_trace.journal.delivery import read_delivery
from otel_trace.ship import shipper as shipper_module
from otel_trace.ship.answer import Answer, Outcome
from otel_trace.ship.markers import marker_id
from otel_trace.ship.shipper import Shipper
from tests.journal.factories import TRACE, Shared, fill_with, write_spans
from tests.ship.factories import DELIVERED, REFUSED, UNREACHED, TellingSender, list_spans
from tests.ship.journals import Run, turn


class Killed(BaseException):
    """Ends a shipper as a kill does: nothing after it is done."""


def test_what_ended_is_delivered_and_the_place_kept(run: Run) -> None:
    """Spans arrive once; what was reached is on disk, so that whoever waits for it sees it."""
    sender = TellingSender()
    write_spans(run.writer, 700)
    turn(run.make_shipper(sender))
    assert list(range(1, 701)) == sender.delivered
    assert [512, 188] == [len(asked) for asked in sender.asked]
    position = run.writer.find_position()
    assert (700, position) == (run.delivery.delivered, run.delivery.positions[str(run.key)])


def test_next_shipper_sends_nothing_again(run: Run) -> None:
    """A shipper that starts after one that ended goes on where that one stood."""
    write_spans(run.writer, 100)
    turn(run.make_shipper(TellingSender()))
    write_spans(run.writer, 50, first=101)
    sender = TellingSender()
    turn(run.make_shipper(sender))
    assert list(range(101, 151)) == sender.delivered
    assert 150 == run.delivery.delivered


@pytest.mark.parametrize("request_number", [1, 2, 4])
def test_killed_shipper_repeats_at_most_one_request(run: Run, request_number: int) -> None:
    """Killed after the backend took a request and before it was written down, exactly that one comes again."""
    write_spans(run.writer, 2500)
    seen: list[list[int]] = []

    def answer(numbers: list[int]) -> Answer:
        seen.append(numbers)
        if len(seen) == request_number:
            raise Killed
        return DELIVERED

    with pytest.raises(Killed):
        turn(run.make_shipper(TellingSender(answer)))
    turn(run.make_shipper(TellingSender(answer)))
    numbers = [number for asked in seen for number in asked]
    assert set(range(1, 2501)) == set(numbers)
    assert seen[request_number - 1] == sorted({number for number in numbers if numbers.count(number) > 1})


def test_unreachable_endpoint_loses_nothing(run: Run) -> None:
    """While nobody answers, what is read waits; when somebody does, all of it arrives, once."""
    sender = TellingSender([UNREACHED] * 3)
    shipper = run.make_shipper(sender)
    write_spans(run.writer, 100)
    for _ in range(8):
        shipper._retry_at = 0
        shipper.turn()
    assert list(range(1, 101)) == sender.delivered
    assert 4 == len(sender.asked)
    assert (100, {}, "") == (run.delivery.delivered, run.delivery.dropped, run.delivery.message)


def test_waits_longer_each_time(run: Run) -> None:
    """An endpoint that is away is asked after about 0.5, 1, 2, 4 ... 30 s."""
    shipper = run.make_shipper(TellingSender(lambda _: UNREACHED))
    write_spans(run.writer, 1)
    pauses = []
    for _ in range(9):
        shipper._retry_at = 0
        shipper.turn()
        pauses.append(shipper._retry_at - time.monotonic())
    for pause, expected in zip(pauses, [0.5, 1, 2, 4, 8, 16, 30, 30, 30], strict=True):
        assert 0.75 * expected < pause < 1.25 * expected


def test_pause_that_the_backend_asks_for_is_kept(run: Run) -> None:
    """`Retry-After` wins over a shorter pause of ours."""
    shipper = run.make_shipper(TellingSender(lambda _: Answer(Outcome.RETRY, "429", retry_after=120.0)))
    write_spans(run.writer, 1)
    shipper.turn()
    assert 118 < shipper._retry_at - time.monotonic() <= 120
    assert shipper.is_waiting
    assert "answers 429" in run.delivery.message


def test_refusal_as_a_whole_moves_nothing(run: Run) -> None:
    """Wrong credentials: told once, everything kept, asked again after half a minute."""
    shipper = run.make_shipper(TellingSender(lambda _: REFUSED))
    write_spans(run.writer, 5)
    turn(shipper)
    assert 20 < shipper._retry_at - time.monotonic() < 40
    assert (0, {}, {}) == (run.delivery.delivered, run.delivery.dropped, run.delivery.positions)
    assert 1 == len(run.told)
    sender = TellingSender()
    turn(run.make_shipper(sender))
    assert [1, 2, 3, 4, 5] == sender.delivered


def test_what_is_read_ahead_is_bounded(run: Run) -> None:
    """While the endpoint is away, memory does not grow with the journal."""
    shipper = run.make_shipper(TellingSender(lambda _: UNREACHED))
    for first in range(1, 40_001, 1000):
        write_spans(run.writer, 1000, first=first)
        shipper.turn()
    assert 10_000 > len(shipper._pending)


def test_zero_ids_are_dropped_and_counted(run: Run) -> None:
    """A zero id, for which Tempo refuses a whole request or breaks a trace, is never sent."""
    run.writer.start(Shared(), bytes(16), 1, None, 1, [])
    run.writer.end(1, 2)
    run.writer.start(Shared(), TRACE, 0, None, 1, [])
    run.writer.end(0, 2)
    write_spans(run.writer, 1, first=5)
    sender = TellingSender()
    turn(run.make_shipper(sender))
    assert ([5], {"invalid": 2}, 1) == (sender.delivered, run.delivery.dropped, run.delivery.delivered)


def test_interrupted_spans_are_ended(run: Run) -> None:
    """What a killed process left open arrives as errors, and its process is finished with."""
    write_spans(run.writer, 2)
    write_spans(run.writer, 2, first=3, is_ended=False)
    run.die()
    sender = TellingSender()
    turn(run.make_shipper(sender))
    spans = list_spans(*sender.bodies)
    assert [1, 2, 3, 4] == sender.delivered
    assert [0, 0, 2, 2] == [span.status.code for span in spans]
    assert ([str(run.key)], 4) == (run.delivery.finished, run.delivery.delivered)
    turn(run.make_shipper(again := TellingSender()))
    assert [] == again.asked


def test_interrupted_spans_survive_a_kill_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """More interrupted spans than fit into a request: a kill between two repeats at most one."""
    write_spans(run.writer, 1200, is_ended=False)
    run.die()
    answers = iter([DELIVERED])
    with pytest.raises(StopIteration):
        turn(run.make_shipper(first := TellingSender(lambda _: next(answers))))
    turn(run.make_shipper(second := TellingSender()))
    assert list(range(1, 1201)) == first.delivered + second.delivered


def open_long(run: Run, number: int, parent: int | None = None, seconds: float = 60) -> None:
    """Start a span that has been open for long."""
    run.writer.start(Shared(), TRACE, number, parent, time.time_ns() - int(seconds * 1e9), [])


def test_long_open_spans_are_shown_once(run: Run) -> None:
    """A span that is open for 5 s gets a marker, in the chain of its parents' markers; a younger one none."""
    open_long(run, 1, seconds=20)
    open_long(run, 2, parent=1, seconds=10)
    open_long(run, 3, parent=2, seconds=1)
    sender = TellingSender()
    shipper = run.make_shipper(sender)
    turn(shipper)
    spans = list_spans(*sender.bodies)
    ids = [marker_id(f"{number:016x}") for number in (1, 2)]
    assert ids == [span.span_id.hex() for span in spans]
    assert [f"{1:016x}", ids[0]] == [span.parent_span_id.hex() for span in spans]
    assert ["load (open)"] * 2 == [span.name for span in spans]
    assert 0 == run.delivery.delivered
    turn(run.make_shipper(again := TellingSender()))
    assert [] == again.asked


def test_markers_of_ended_spans_are_forgotten(run: Run) -> None:
    """What is known of markers does not grow with the length of the run."""
    shipper = run.make_shipper(TellingSender())
    for number in range(1, 20):
        open_long(run, number)
        turn(shipper, 3)
        run.writer.end(number, time.time_ns())
        turn(shipper, 3)
    assert 1 >= sum(len(known) for known in run.delivery.markers.values())


def test_marker_hangs_below_the_marker_of_another_process(run: Run, tmp_path: Path) -> None:
    """The parent's marker is found also where the parent is open in another process of the node."""
    open_long(run, 1, seconds=30)
    other = Run(tmp_path / "other")
    open_long(other, 2, parent=1, seconds=10)
    for path in other.folder.glob("*.seg"):
        path.rename(tmp_path / f"1-1-{path.name.rsplit('-', 1)[1]}")
    sender = TellingSender()
    turn(run.make_shipper(sender))
    parents = {span.span_id.hex(): span.parent_span_id.hex() for span in list_spans(*sender.bodies)}
    assert marker_id(f"{1:016x}") == parents[marker_id(f"{2:016x}")]
    other.writer.after_fork()


def test_what_was_delivered_may_go_first(run: Run) -> None:
    """Segments that are wholly delivered are known as such, but for those with open spans."""
    run.writer.start(Shared(), TRACE, 99_999, None, time.time_ns(), [])
    write_spans(run.writer, 5000)
    turn(run.make_shipper(TellingSender()))
    number = run.writer.find_position() or (0, 0)
    delivery, key = run.delivery, str(run.key)
    assert 3 < number[0]
    assert (1, 0, None) == tuple(delivery.count_undelivered(key, segment) for segment in (1, 2, number[0]))
    assert [False, True, False] == [delivery.is_done_with(key, segment) for segment in (1, 2, number[0])]


def test_nothing_may_go_while_the_endpoint_is_away(run: Run) -> None:
    """What was read and not acknowledged is not taken for delivered."""
    write_spans(run.writer, 5000)
    turn(run.make_shipper(TellingSender(lambda _: UNREACHED)))
    assert None is run.delivery.count_undelivered(str(run.key), 1)


def test_many_processes_in_one_folder(run: Run) -> None:
    """Dead workers and the living one are all shipped, each finished on its own."""
    for number in range(1, 31):
        fill_with(run.folder, 3, key=ProcessKey(900_000 + number, 1))
    write_spans(run.writer, 2, first=100)
    sender = TellingSender()
    shipper = Shipper(run.folder, sender, run.told.append, is_alive=lambda key: key == run.key)
    turn(shipper)
    shipper.close()
    assert 92 == len(sender.delivered)
    assert (30, 92) == (len(run.delivery.finished), run.delivery.delivered)


def test_processes_without_segments_are_forgotten(run: Run) -> None:
    """What is known of processes goes with their segments."""
    path = fill_with(run.folder, 3, key=ProcessKey(900_001, 1))
    shipper = Shipper(run.folder, TellingSender(), run.told.append, is_alive=lambda _: False)
    turn(shipper)
    assert ["900001-1"] == run.delivery.finished
    path.unlink()
    turn(run.make_shipper(TellingSender()))
    write_spans(run.writer, 1)
    turn(run.make_shipper(TellingSender()))
    assert ([], [str(run.key)]) == (run.delivery.finished, list(run.delivery.positions))


def test_trace_larger_than_tempo_keeps_is_told_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Tempo would drop without a word is counted here."""
    from otel_trace.ship import sizes

    monkeypatch.setattr(sizes, "MAX_TRACE_BYTES", 1000)
    write_spans(run.writer, 100)
    turn(run.make_shipper(TellingSender()))
    assert 80 < run.delivery.oversized < 100
    assert [f"trace {TRACE.hex()} is larger than the 5 MB that Tempo keeps by default"] == run.told


def test_ends_when_all_is_sent(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its last producer ended and all sent, a shipper ends after a moment."""
    monkeypatch.setattr(shipper_module, "_GRACE", 0.2)
    write_spans(run.writer, 3)
    run.end()
    begin = time.monotonic()
    run.make_shipper(sender := TellingSender()).run()
    assert [1, 2, 3] == sender.delivered
    assert 0.2 <= time.monotonic() - begin < 1.5


def test_ends_5_s_after_its_last_producer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that is away does not keep a shipper: the spans stay in the journal."""
    monkeypatch.setattr(shipper_module, "_LINGER", 0.5)
    write_spans(run.writer, 3)
    run.end()
    begin = time.monotonic()
    run.make_shipper(TellingSender(lambda _: UNREACHED)).run()
    assert 0.4 < time.monotonic() - begin < 2
    turn(run.make_shipper(sender := TellingSender()))
    assert [1, 2, 3] == sender.delivered


def test_asks_once_more_before_it_ends(run: Run) -> None:
    """An endpoint that is back while we still waited gets everything, although the next try was far away."""
    shipper = run.make_shipper(sender := TellingSender([UNREACHED] * 6))
    write_spans(run.writer, 3)
    for _ in range(6):
        shipper._retry_at = 0
        shipper.turn()
    assert shipper._retry_at - time.monotonic() > 10
    run.end()
    assert not shipper.is_over()
    turn(shipper)
    assert [1, 2, 3] == sender.delivered


def test_end_does_not_hasten_what_was_asked_to_wait(run: Run) -> None:
    """A backend that said when to come again is not asked before."""
    shipper = run.make_shipper(
        sender := TellingSender(lambda _: Answer(Outcome.RETRY, "429", retry_after=60.0))
    )
    write_spans(run.writer, 3)
    shipper.turn()
    run.end()
    assert not shipper.is_over()
    turn(shipper)
    assert 1 == len(sender.asked)


def test_makes_way_when_it_has_grown(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 300 MB a shipper ends, with what it reached on disk, and says so."""
    monkeypatch.setattr(shipper_module, "_MAX_MEMORY", 1)
    write_spans(run.writer, 3)
    run.make_shipper(TellingSender()).run()
    assert 3 == run.delivery.delivered
    assert "makes way for another one" in run.told[-1]


def test_full_disk_does_not_stop_delivery(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the state cannot be written, spans are delivered all the same."""
    write_spans(run.writer, 3)
    monkeypatch.setattr(shipper_module, "write_delivery", lambda *_: False)
    turn(run.make_shipper(sender := TellingSender()))
    assert [1, 2, 3] == sender.delivered
    assert None is read_delivery(run.folder)


def test_busy_process_does_not_starve_the_others(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where one turn cannot take everything, the next one begins with whoever was left out."""
    monkeypatch.setattr("otel_trace.ship.intake._MAX_SPANS", 1)
    for number in (1, 2, 3):
        fill_with(run.folder, 3, key=ProcessKey(900_000 + number, 1))
    sender = TellingSender()
    shipper = Shipper(run.folder, sender, run.told.append, is_alive=lambda _: True)
    for _ in range(3):
        shipper.turn()
    shipper.close()
    assert [[1, 2, 3]] * 3 == sender.asked
    assert {f"90000{number}-1" for number in (1, 2, 3)} == set(run.delivery.positions)
