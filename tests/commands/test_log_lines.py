"""Log lines: one per call, by level, on a standard error that may be slow, full, broken or gone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from threading import Thread

import pytest
from waiting import PATIENCE

from context_pack_adapters.logs import LONGEST_LINE, Log


class Pipe:
    """A pipe whose far end is read by nobody until asked."""

    def __init__(self) -> None:
        self.reads, self.writes = os.pipe()
        os.set_blocking(self.reads, False)

    def lines(self) -> list[str]:
        """What has been written so far."""
        found = b""
        with suppress(BlockingIOError):
            while data := os.read(self.reads, 1 << 20):
                found += data
        return found.decode("utf-8").splitlines()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """A fresh pipe; both ends are closed afterwards."""
    made = Pipe()
    yield made
    os.close(made.reads)
    os.close(made.writes)


def log(pipe: Pipe, level: str = "info") -> Log:
    """A log into the pipe."""
    return Log(level, pipe.writes)


@pytest.mark.clause("ENV-09")
@pytest.mark.parametrize(
    "level, heard",
    [
        ("off", []),
        ("error", ["ERROR"]),
        ("warn", ["ERROR", "WARN"]),
        ("info", ["ERROR", "WARN", "INFO"]),
        ("debug", ["ERROR", "WARN", "INFO", "DEBUG"]),
    ],
)
def test_a_level_lets_through_itself_and_what_is_graver(pipe: Pipe, level: str, heard: list[str]) -> None:
    for name in ("error", "warn", "info", "debug"):
        log(pipe, level).write(name, "something")
    assert [line.split()[1] for line in pipe.lines()] == heard


@pytest.mark.clause("ENV-09")
def test_an_unexpected_exception_is_a_type_and_a_place_and_at_debug_its_traceback(pipe: Pipe) -> None:
    try:
        raise ValueError("the user's secret")
    except ValueError as error:
        log(pipe).alarm("input", error)
        (line,) = pipe.lines()
        assert "ERROR context_pack: unexpected ValueError in input at test_log_lines.py:" in line
        assert "secret" not in line
        log(pipe, "debug").alarm("input", error)
    assert any("ValueError: the user's secret" in line for line in pipe.lines())


@pytest.mark.clause("ENV-09")
def test_no_text_can_forge_a_line_steer_a_terminal_or_be_too_long(pipe: Pipe) -> None:
    log(pipe).write("info", "a\nERROR forged\r\x1b[31m\u2028b\ud800")
    log(pipe).write("info", "é" * 5000)
    forged, long = pipe.lines()
    assert forged.endswith("a ERROR forged ?[31m?b?")
    assert forged.isprintable()
    assert (LONGEST_LINE - 4 < len(long.encode()) <= LONGEST_LINE, long.endswith("é")) == (True, True)


@pytest.mark.clause("ENV-09")
def test_a_full_stderr_pipe_blocks_no_caller(pipe: Pipe) -> None:
    def speak() -> None:
        for _ in range(1000):
            log(pipe).write("info", "x" * 500)

    speaker = Thread(target=speak)
    speaker.start()
    speaker.join(PATIENCE)
    assert not speaker.is_alive()
    lines = pipe.lines()
    assert 10 < len(lines) < 1000
    assert all(line.endswith("x") for line in lines)


@pytest.mark.clause("ENV-09")
def test_lines_of_many_threads_stay_whole(pipe: Pipe) -> None:
    shared = log(pipe)

    def speak(mark: str) -> None:
        for _ in range(20):
            shared.write("info", mark * 40)

    threads = [Thread(target=speak, args=(mark,)) for mark in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = pipe.lines()
    assert len(lines) == 160
    assert all(len(set(line.rsplit(" ", 1)[1])) == 1 and len(line.rsplit(" ", 1)[1]) == 40 for line in lines)
