"""Anchored texts on disk: beside the packs, believed only by their digest, and no link followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from inmemory import FixedClock

from context_pack import open_workspace
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.text import sha256_hex
from context_pack.packs.anchors import digest_of
from context_pack.packs.model import Pack
from context_pack_adapters.packs.excerpts import FileExcerptStore

TEXT = "def f():\n    return 1"
DIGEST = digest_of(TEXT)


@pytest.fixture
def store(tmp_path: Path) -> FileExcerptStore:
    """A store that has one text."""
    made = FileExcerptStore(tmp_path, FixedClock())
    made.put({DIGEST: TEXT})
    return made


@pytest.mark.clause("ST-60")
def test_a_link_in_the_place_of_a_text_or_of_the_folder_is_not_followed(
    store: FileExcerptStore, tmp_path: Path
) -> None:
    path, decoy = tmp_path / "excerpts" / f"{DIGEST}.txt", tmp_path / "decoy"
    decoy.write_text(TEXT)
    path.unlink()
    os.symlink(decoy, path)
    assert store.texts([DIGEST]) == {}
    path.unlink()
    path.parent.rmdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "excerpts")
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(Failure) as caught:
        store.put({DIGEST: TEXT})
    assert caught.value.code is Code.IO_ERROR
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.clause("ST-60")
def test_a_text_in_a_file_named_after_all_of_its_digest_is_found_and_removed(tmp_path: Path) -> None:
    store, path = FileExcerptStore(tmp_path, FixedClock()), tmp_path / "excerpts" / f"{sha256_hex(TEXT)}.txt"
    path.parent.mkdir()
    path.write_text(TEXT)
    assert store.texts([DIGEST]) == {DIGEST: TEXT}
    store.remove([DIGEST])
    assert not path.exists()


@pytest.mark.clause("ST-60", "AN-19")
def test_texts_lie_beside_the_packs_and_go_with_the_last_pack_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{TEXT}\nother()\n")
    packs = open_workspace(tmp_path, storage=tmp_path / "store").packs

    def made() -> Pack:
        pack = packs.create(ttl_minutes=60)
        pack = packs.upsert_section(pack, section_key="main", section_title="Main")
        return packs.upsert_ref(
            pack, section_key="main", ref_key="ref", path="a.py", line_start=1, line_end=2
        )

    one, two = made(), made()
    kept = tmp_path / "store" / "excerpts"
    assert [path.name for path in kept.iterdir()] == [f"{DIGEST}.txt"]
    packs.delete(one)
    packs.discard(one.id)
    assert [path.name for path in kept.iterdir()] == [f"{DIGEST}.txt"]
    two = packs.upsert_ref(two, section_key="main", ref_key="ref", path="a.py", line_start=3, line_end=3)
    assert [path.name for path in kept.iterdir()] == [f"{digest_of('other()')}.txt"]
    packs.delete(two)
    packs.discard(two.id)
    assert list(kept.iterdir()) == []
