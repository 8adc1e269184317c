"""A search ends in time whatever the pattern, the machine or the child does, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hanging import never_hanging
from search_corpus import settle
from waiting import PATIENCE, is_alive, until

from context_pack.code.domain.search import LineQuery
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy
from context_pack.toolkit.call import Cancelled, QuietCall
from context_pack_adapters.search.code_search import FileTreeSearch
from context_pack_adapters.search.deadline import Deadline, TimedOut, in_time
from context_pack_adapters.search.ripgrep import output_of, running

CATASTROPHES = {
    "(a|aa)+$": "a" * 80 + "!",
    r"(.*?,){30}P": "1," * 60,
    r"(?:(?:a|b|ab)+c?)+d$": "ab" * 60 + "d!",
    r"^(\w|\w\w)*\d$": "w" * 80,
    r"(?=(a|aa)+$)a": "a" * 80 + "!",
    r"((a|aa)+)\1!$": "a" * 80,
    r"b.*a.*c.*d$": "bac" * 40_000 + "d ",
}


class Watched(QuietCall):
    """A call that is withdrawn at some time."""

    withdrawn = False

    def check(self) -> None:
        if self.withdrawn:
            raise Cancelled("test")


@contextmanager
def withdrawing(call: Watched) -> Iterator[None]:
    """Another thread, which withdraws the call once it has run five times beside the search's thread."""
    stop = threading.Event()

    def watch() -> None:
        beside = 0
        while beside < 5 and not stop.wait(0.005):
            beside += any(thread.name == "search" for thread in threading.enumerate())
        call.withdrawn = True

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def busy_cores() -> Iterator[None]:
    """Twice as many busy processes as there are cores."""
    command = [sys.executable, "-c", "while True: pass"]
    children = [subprocess.Popen(command) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def timed_out(search: FileTreeSearch, pattern: str) -> float:
    """How long it took to say that the time is over."""
    began = time.monotonic()
    with pytest.raises(Failure) as caught:
        search.search(LineQuery(pattern), QuietCall())
    assert caught.value.code is Code.TIMED_OUT
    assert caught.value.message == "Search timed out"
    assert caught.value.details["pattern"] == pattern
    return time.monotonic() - began


def found(search: FileTreeSearch, pattern: str) -> int:
    """How many lines a search found; none if the machine was too slow for the search's short time."""
    try:
        return search.search(LineQuery(pattern), QuietCall()).total
    except Failure as failure:
        if failure.code is not Code.TIMED_OUT:
            raise
        return 0


@pytest.mark.clause("CD-68")
@pytest.mark.parametrize("pattern", CATASTROPHES)
def test_a_catastrophic_pattern_ends_in_time(pattern: str, tmp_path: Path) -> None:
    (tmp_path / "trap.txt").write_text(f"{CATASTROPHES[pattern]}\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), "pure", seconds=0.5)
    with never_hanging():
        assert timed_out(search, pattern) >= 0.5
    (tmp_path / "trap.txt").write_text("harmless\n")
    until(lambda: found(search, "harmless") == 1)


@pytest.mark.slow
@pytest.mark.clause("CD-68")
def test_a_search_runs_its_full_three_seconds_on_busy_cores(tmp_path: Path) -> None:
    (tmp_path / "trap.txt").write_text("a" * 80 + "!\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), "pure")
    with busy_cores(), never_hanging():
        assert timed_out(search, "(a|aa)+$") >= 3.0


@pytest.mark.clause("CD-68")
def test_a_search_of_many_slow_texts_times_out(tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"{number}.txt").write_text("a" * 24 + "!\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), "pure", seconds=0.3)
    with never_hanging():
        assert timed_out(search, r"(a|aa)+\1$") >= 0.3


@pytest.mark.clause("CD-68")
@pytest.mark.parametrize("engine", ["pure", "rg"])
def test_a_search_that_queued_past_its_deadline_never_starts(
    engine: str, tmp_path: Path, stuck: Path
) -> None:
    search = FileTreeSearch(planted(tmp_path), PathPolicy(), engine, str(stuck))
    with pytest.raises(Failure) as caught:
        search.search(LineQuery("foo.*bar.*foo"), QuietCall(waited=3.0))
    assert caught.value.code is Code.TIMED_OUT
    assert not (tmp_path / "pid").exists()  # no child was started for it


@pytest.mark.clause("CD-68")
def test_queueing_time_counts_towards_the_search_deadline(tmp_path: Path) -> None:
    (tmp_path / "trap.txt").write_text("a" * 80 + "!\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), "pure", seconds=60.0)
    with pytest.raises(Failure) as caught:
        search.search(LineQuery("(a|aa)+$"), QuietCall(waited=59.8))
    assert caught.value.code is Code.TIMED_OUT


@pytest.mark.clause("CD-68", "CD-69")
@pytest.mark.parametrize("pattern", ["(a|aa)+$", "b.*a.*c.*d$"])  # in a short text and in a long one
def test_a_pattern_yields_to_other_threads_and_stops_when_cancelled(pattern: str, tmp_path: Path) -> None:
    """Did the pattern hold the interpreter, nobody could withdraw the call before its time is over."""
    (tmp_path / "trap.txt").write_text(f"{CATASTROPHES[pattern]}\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), "pure")
    call = Watched()
    with withdrawing(call), pytest.raises(Cancelled):
        search.search(LineQuery(pattern), call)
    # Nothing is left to burn beside the next test.
    until(lambda: not any(thread.name == "search" for thread in threading.enumerate()))


@pytest.mark.clause("CD-68")
def test_threads_that_were_left_behind_end_by_themselves(tmp_path: Path) -> None:
    (tmp_path / "trap.txt").write_text("a" * 80 + "!\n")
    search = FileTreeSearch(tmp_path, PathPolicy(), "pure", seconds=0.1)
    for _ in range(3):
        timed_out(search, "(a|aa)+$")
    until(lambda: not any(thread.name == "search" for thread in threading.enumerate()))


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """A folder with an `rg` that tells its process id and then never ends."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "rg"
    script.write_text(
        '#!/bin/sh\ncase "$*" in *--version*) echo ripgrep 15; exit 0;; esac\n'
        f'echo $$ > "{tmp_path}/pid"\nexec sleep 600\n'
    )
    script.chmod(0o755)
    return folder


def planted(root: Path) -> Path:
    """A tree whose one file `rg` is asked about."""
    (root / "tree").mkdir()
    (root / "tree" / "a.txt").write_text("foo bar foo bar\n")
    settle(root / "tree")
    return root / "tree"


@pytest.mark.clause("CD-68", "CD-69")
def test_a_child_that_hangs_is_killed_at_the_deadline(tmp_path: Path, stuck: Path) -> None:
    search = FileTreeSearch(planted(tmp_path), PathPolicy(), "rg", str(stuck), seconds=0.5)
    before = children()
    with never_hanging():
        assert timed_out(search, "foo.*bar.*foo") >= 0.5
    until(lambda: children() <= before)


@pytest.mark.clause("CD-69")
def test_a_child_is_killed_when_its_call_is_cancelled(tmp_path: Path, stuck: Path) -> None:
    search = FileTreeSearch(planted(tmp_path), PathPolicy(), "rg", str(stuck), seconds=2 * PATIENCE)
    call = Watched()

    def withdraw() -> None:
        waited_for(tmp_path / "pid")
        call.withdrawn = True

    threading.Thread(target=withdraw).start()
    with pytest.raises(Cancelled):
        search.search(LineQuery("foo.*bar.*foo"), call)
    pid = int((tmp_path / "pid").read_text())
    until(lambda: not is_alive(pid))


@pytest.mark.clause("CD-69")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a child ends when it next writes")
def test_a_child_does_not_outlive_a_server_that_was_killed(tmp_path: Path, stuck: Path) -> None:
    tree = planted(tmp_path)
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from context_pack.code.domain.search import LineQuery\n"
        "from context_pack.kernel.paths import PathPolicy\n"
        "from context_pack.toolkit.call import QuietCall\n"
        "from context_pack_adapters.search.code_search import FileTreeSearch\n"
        "search = FileTreeSearch(Path(sys.argv[1]), PathPolicy(), 'rg', sys.argv[2], seconds=600)\n"
        "search.search(LineQuery('foo.*bar.*foo'), QuietCall())\n"
    )
    checkout = Path(__file__).resolve().parents[2]
    path = os.pathsep.join([str(checkout), str(checkout / "adapters")])
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(tree), str(stuck)], env={**os.environ, "PYTHONPATH": path}
    )
    try:
        pid = int(waited_for(tmp_path / "pid"))
        until(lambda: is_tied(pid))
        assert is_alive(pid)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    until(lambda: not is_alive(pid))


def is_tied(pid: int) -> bool:
    """Whether a hang-up of a child's standard input raises a signal in it; it may be at work before that."""
    flags = Path(f"/proc/{pid}/fdinfo/0").read_text().partition("flags:")[2].split()[0]
    return bool(int(flags, 8) & os.O_ASYNC)


def waited_for(file: Path) -> str:
    """What a file says once it is there and says something."""
    return until(lambda: file.read_text().strip() if file.exists() else "")


def children() -> set[str]:
    """The processes that this one has started and that still run."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and state != "Z":
                found.add(path.parent.name)
    return found


@pytest.mark.clause("CD-69")
def test_no_descriptor_is_left_open_after_a_run(tmp_path: Path) -> None:
    before = sorted(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else []
    with running(["sh", "-c", "echo said; exit 3"], str(tmp_path)) as child:
        assert output_of(child, Deadline(PATIENCE)) == b"said\n"
    assert child.returncode == 3
    with running(["/no-such-command"], str(tmp_path)) as child:
        assert output_of(child, Deadline(PATIENCE)) == b""
    assert child.returncode not in (0, 1)
    with running(["sleep", "600"], str(tmp_path)):
        pass
    assert sorted(os.listdir("/proc/self/fd")) == before if before else True


@pytest.mark.clause("CD-69")
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
def test_a_child_sees_none_of_our_streams(tmp_path: Path) -> None:
    ours = {os.readlink(f"/proc/self/fd/{number}") for number in (0, 1, 2)} - {os.devnull}
    words = ["sh", "-c", "readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2"]
    with running(words, str(tmp_path)) as child:
        reads, writes, complains = output_of(child, Deadline(PATIENCE)).decode().split()
    assert reads.startswith("pipe:")
    assert writes.startswith("pipe:")
    assert complains == os.devnull
    assert ours.isdisjoint({reads, writes})


def test_exceptions_of_timed_work_reach_the_caller() -> None:
    def work(_: Deadline) -> None:
        raise LookupError("inside")

    with pytest.raises(LookupError, match="inside"):
        in_time(work, "x", PATIENCE, QuietCall())
    assert in_time(lambda deadline: deadline.left() > 0, "x", PATIENCE, QuietCall())


def test_a_stopped_deadline_has_no_time_left() -> None:
    deadline = Deadline(PATIENCE)
    assert 0 < deadline.left() <= PATIENCE
    deadline.stop()
    with pytest.raises(TimedOut):
        deadline.left()
