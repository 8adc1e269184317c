"""What tests of the index let other processes do: write, read and check, or write on a full disk."""

from __future__ import annotations

import json
import random
import resource
import sys
from pathlib import Path
from typing import Any

from index_entries import ToyEmbedder, make_entry

from context_pack.kernel.errors import Failure
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


def replace_limited(path: str, size: str) -> None:
    """What it says when no file may become larger than that."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
    big = make_entry("big", *(" ".join(f"word{m}" for m in range(300)) * 10 + str(n) for n in range(60)))
    try:
        opened(path).replace([big])
    except Failure as failure:
        say(json.dumps({"code": failure.code, "message": failure.message}))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
