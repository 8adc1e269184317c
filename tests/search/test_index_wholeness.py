"""What keeps an index whole and small: portions, several processes, some killed, no words of what is gone."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from index_entries import ToyEmbedder, make_entry

from context_pack.retrieval.model import IndexEntry, Scope
from context_pack_adapters.index.sqlite_index import SqliteIndex


def say(line: str) -> None:
    """Tell whoever started us."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def versioned(key: int, version: int) -> IndexEntry:
    """An entry whose every piece says which version it is of, so that a mixture would show."""
    pieces = 2 + (key + version) % 4
    return make_entry(f"k{key}", *(f"key{key} version{version} of {pieces} pieces" for _ in range(pieces)))


def opened(path: str) -> SqliteIndex:
    return SqliteIndex(Path(path), ToyEmbedder(), chunker="test/1")


def write(path: str, seed: str, rounds: str) -> None:
    """Replace and forget entries at random, then say so."""
    chance = random.Random(int(seed))
    index = opened(path)
    for version in range(int(rounds)):
        keys = [chance.randrange(12) for _ in range(4)]
        index.replace(versioned(key, version) for key in keys)
        if version % 5 == 4:
            index.forget("docs", [f"k{chance.randrange(12)}"])
        index.keep("slow-8/1", {piece: [1.0] + [0.0] * 7 for piece in index.lacking("slow-8/1", Scope(), 5)})
    say(json.dumps({"notices": list(index.notices())}))


def write_until_killed(path: str) -> None:
    """Replace entries for ever, in big portions; says when it has begun."""
    index = opened(path)
    version = 0
    while True:
        index.replace(versioned(key, version) for key in range(60))
        version += 1
        if version == 1:
            say("begun")


def read(path: str, rounds: str) -> None:
    """Read and check that every entry is whole, everywhere at once."""
    index = opened(path)
    asked = ToyEmbedder().one("key1 version1")
    for _ in range(int(rounds)):
        check(index, asked)
    say(json.dumps({"notices": list(index.notices())}))


def check(index: SqliteIndex, asked: Any) -> int:
    """One reader sees one version of every entry, in every table; how many entries there are."""
    with index.reading() as snapshot:
        names = [each.key for each in snapshot.summaries("docs")]
        total = snapshot.progress("toy-16/1", Scope())
        assert total.done == total.total
        near = snapshot.nearest("toy-16/1", asked, Scope(), 1000)
        assert len(near) == total.total, (len(near), total)
        found = snapshot.found([piece for piece, _ in near])
        assert len(found) == len(near)
        for name in names:
            entry, texts = snapshot.entry("docs", name), [each.text for each in found if each.key == name]
            assert entry is not None
            assert len(set(texts)) == 1
            assert f"of {len(texts)} pieces" in texts[0]
            assert entry.text == "\n".join(texts)
        words = snapshot.keyword(["piec"], Scope(), 1000)
        assert {piece for piece, _ in words} == {piece for piece, _ in near}
    return len(names)


OUR_PATH = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "derived" / "things.sqlite3"


def start(*words: object) -> subprocess.Popen[str]:
    """A worker in a process of its own."""
    command = [sys.executable, __file__, *(str(word) for word in words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=OUR_PATH, encoding="utf-8"
    )


@pytest.mark.slow
@pytest.mark.clause("IX-02")
def test_two_processes_write_and_four_read_without_an_error_or_half_an_entry(path: Path) -> None:
    # Nobody has made the file yet: they also meet at its creation.
    workers = [start("write", path, seed, 25) for seed in (1, 2)] + [
        start("read", path, 30) for _ in range(4)
    ]
    for worker in workers:
        out, err = worker.communicate(timeout=240)
        assert worker.returncode == 0, err
        assert json.loads(out) == {"notices": []}, "nobody set anything aside"
    with closing(SqliteIndex(path, ToyEmbedder(), chunker="test/1")) as index:
        assert check(index, ToyEmbedder().one("key1")) > 0


@pytest.mark.slow
@pytest.mark.clause("IX-02")
def test_a_writer_killed_at_any_moment_leaves_whole_entries(path: Path) -> None:
    asked = ToyEmbedder().one("key1 version1")
    with closing(SqliteIndex(path, ToyEmbedder(), chunker="test/1")) as index:
        for moment in range(4):
            worker = start("write_until_killed", path)
            with worker:
                try:
                    assert worker.stdout is not None
                    assert worker.stdout.readline() == "begun\n", worker.stderr and worker.stderr.read()
                    # Somewhere in its endless writing: after so many states of ours.
                    for _ in range(moment * 3):
                        check(index, asked)
                finally:
                    worker.send_signal(signal.SIGKILL)
            assert check(index, asked) == 60
            with closing(SqliteIndex(path, ToyEmbedder(), chunker="test/1")) as fresh:
                assert check(fresh, asked) == 60
                fresh.replace([versioned(3, 1000)])
                assert fresh.notices() == []
        assert index.notices() == []


@pytest.fixture
def index(path: Path) -> Iterator[SqliteIndex]:
    with closing(SqliteIndex(path, ToyEmbedder(), chunker="test/1")) as made:
        yield made


@pytest.mark.clause("IX-02")
def test_a_large_replace_is_committed_in_portions(index: SqliteIndex) -> None:
    seen: list[int] = []

    def entries() -> Iterator[IndexEntry]:
        for number in range(2500):
            if number % 500 == 0:
                seen.append(len(index.known("docs")))
            yield make_entry(f"e{number:04}", "a piece")

    index.replace(entries())
    assert seen[-1] > 1000
    assert len(index.known("docs")) == 2500


@pytest.mark.clause("IX-13")
def test_vectors_without_a_piece_are_bounded_and_come_back(index: SqliteIndex, path: Path) -> None:
    index.replace([make_entry("one", "first text")])
    with closing(sqlite3.connect(path)) as connection:
        rows = ((f"{number:032x}", bytes(64)) for number in range(50_010))
        connection.executemany("INSERT INTO vectors VALUES (NULL, 'toy-16/1', ?, ?)", rows)
        connection.commit()
    index.replace([make_entry("one", "second text")])
    index.tend(lambda: False)
    assert ask_file(path, "SELECT COUNT(*) FROM vectors") == 50_000
    index.replace([make_entry("one", "first text")])
    with index.reading() as snapshot:
        assert snapshot.progress("toy-16/1", Scope()).done == 1


def ask_file(path: Path, sql: str) -> int:
    """A number that the file knows."""
    with closing(sqlite3.connect(path)) as connection:
        (number,) = connection.execute(sql).fetchone()
    return int(number)


if __name__ == "__main__":  # as a worker, which `start` starts
    globals()[sys.argv[1]](*sys.argv[2:])
