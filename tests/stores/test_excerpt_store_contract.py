"""What every `ExcerptStore` does: one suite, run on files and on Postgres."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import frozen
from inmemory import FixedClock

from context_pack.packs.anchors import digest_of
from context_pack.packs.ports import EXCERPT_BYTES, ExcerptStore
from context_pack_adapters.packs.excerpts import FileExcerptStore

TEXTS = ["def f():\n    return 1", "", "é\u2028\r 🙂\n\n", "x" * 10_000]


@frozen
class Kept:
    """A store with the clock it looks at."""

    store: ExcerptStore
    clock: FixedClock

    def put(self, text: str) -> str:
        """Keep a text; its digest."""
        digest = digest_of(text)
        self.store.put({digest: text})
        return digest

    def get(self, digest: str) -> str | None:
        """The text with that digest, if it is kept."""
        return self.store.texts([digest]).get(digest)


@pytest.fixture(params=["disk", "postgres"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    """A store of each kind, at the present moment: files have their times from the system."""
    clock = FixedClock(datetime.now(UTC))
    if request.param == "postgres":
        new_database = request.getfixturevalue("new_database")
        from context_pack_adapters.postgres.documents import PostgresExcerptStore

        return Kept(PostgresExcerptStore(new_database(), clock), clock)
    return Kept(FileExcerptStore(tmp_path / "root", clock), clock)


@pytest.mark.clause("ST-60")
def test_texts_come_back_at_once_as_they_were_without_those_that_are_not_kept(kept: Kept) -> None:
    digests = {kept.put(text): text for text in TEXTS * 2}
    assert kept.store.texts([*digests, "0" * 16, "../x"]) == digests
    assert kept.store.texts([]) == {}


@pytest.mark.clause("ST-60")
def test_a_text_that_is_too_long_is_not_kept(kept: Kept) -> None:
    assert kept.get(kept.put("x" * EXCERPT_BYTES)) is not None
    assert kept.get(kept.put("x" * (EXCERPT_BYTES + 1))) is None


@pytest.mark.clause("ST-60")
def test_removed_texts_are_gone_and_others_stay(kept: Kept) -> None:
    digests = [kept.put(text) for text in TEXTS]
    kept.store.remove([digests[0], "1" * 16, "../x"])
    assert [kept.get(digest) is None for digest in digests] == [True, False, False, False]
    kept.store.remove(digests)
    kept.store.remove(digests)
    assert kept.store.idle() == type(kept.store.idle())()
