"""What every `BundleStore` does: one suite, run on the store on disk and on its twin in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bundle_maker import LONG_AGO, MANIFEST, TYPE_FILE, Files, nodes, write_files
from inmemory import MemoryBundleStore

from context_pack.bundles.ports import BundleFiles, BundlePlace, BundleStore, Document, Flaw
from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack_adapters.bundles.store import FileBundleStore


class World:
    """A store of either kind, and ways to change what it is over."""

    def __init__(self, kind: str, root: Path) -> None:
        self._root = root if kind == "disk" else None
        self._bundles: dict[str, Files] = {}
        self.store: BundleStore
        if kind == "disk":
            self.store = FileBundleStore(root, PathPolicy())
        else:
            self.store = MemoryBundleStore(self._bundles, LONG_AGO * 10**9)

    def put(self, key: str, files: Files) -> None:
        """Write files of a bundle."""
        if self._root is not None:
            write_files(self._root / key, files)
        else:
            self._bundles.setdefault(key, {}).update(json.loads(json.dumps(files)))

    def remove(self, key: str, name: str) -> None:
        """Remove a file."""
        if self._root is not None:
            (self._root / key / name).unlink()
        else:
            del self._bundles[key][name]

    def files(self, key: str = "one") -> BundleFiles:
        """The files of a bundle that is there."""
        (place,) = [place for place in self.store.discover().places if place.id == key]
        return self.store.files(place)


@pytest.fixture(params=["disk", "memory"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """A world with one bundle."""
    made = World(request.param, tmp_path)
    made.put("one", nodes({"a": ["b"], "b": []}))
    return made


def folder(files: BundleFiles, path: str | None = "bundle/node") -> list[Document | Flaw]:
    """What is in a folder that is there."""
    found = files.folder(None if path is None else RelativePath(path))
    assert not isinstance(found, Flaw)
    return list(found)


@pytest.mark.clause("BD-03", "BD-04")
def test_discovered_bundles_are_cached_until_discovery_is_forced(world: World) -> None:
    known = world.store.discover()
    assert [place.id for place in known.places] == ["one"]
    world.put("two", nodes({"c": []}))
    assert world.store.discover() == known
    assert [place.id for place in world.store.discover(again=True).places] == ["one", "two"]
    assert [place.id for place in world.store.discover().places] == ["one", "two"]


@pytest.mark.clause("BD-16")
def test_a_file_comes_as_a_value_with_its_time(world: World) -> None:
    found = world.files().document(RelativePath(MANIFEST))
    assert isinstance(found, Document)
    assert (found.path, found.modified_ns) == (MANIFEST, LONG_AGO * 10**9)
    assert found.value["spec"]["bundleTypeDefinition"] == TYPE_FILE


@pytest.mark.clause("BD-16")
def test_the_same_document_comes_again_while_nothing_changes(world: World) -> None:
    files = world.files()
    first, again = folder(files), folder(files)
    assert all(one is other for one, other in zip(first, again, strict=True))
    path = RelativePath("bundle/node/0000.yaml")
    assert files.document(path) is first[0]
    world.put("one", {"bundle/node/0000.yaml": {"id": "a", "n": 2}})
    changed = folder(files)
    assert changed[0] is not first[0]
    assert changed[1] is first[1]
    assert isinstance(changed[0], Document)
    assert changed[0].value == {"id": "a", "n": 2}


@pytest.mark.clause("BD-07")
def test_a_folder_gives_its_yaml_files_by_name(world: World) -> None:
    world.put(
        "one", {f"bundle/node/{name}": {"id": name} for name in ("z.yml", "A.yaml", "x.json", "sub/y.yaml")}
    )
    names = [found.path.rpartition("/")[2] for found in folder(world.files())]
    assert names == ["0000.yaml", "0001.yaml", "A.yaml", "z.yml"]
    world.remove("one", "bundle/node/A.yaml")
    assert len(folder(world.files())) == 3
    assert [found.path for found in folder(world.files(), None)] == [MANIFEST]
    assert folder(world.files(), "schemas") == []


@pytest.mark.clause("BD-06", "BD-07")
def test_a_missing_file_or_folder_is_a_flaw(world: World) -> None:
    files = world.files()
    missing = files.document(RelativePath("schemas/gone.json"))
    assert missing == Flaw("schemas/gone.json", "there is no such file", absent=True)
    nowhere = files.folder(RelativePath("bundle/gone"))
    assert isinstance(nowhere, Flaw)
    assert (nowhere.path, nowhere.severity, nowhere.absent) == ("bundle/gone", "warning", True)


@pytest.mark.clause("BD-16")
def test_a_load_receives_the_result_of_the_last_load(world: World) -> None:
    (place,) = world.store.discover().places
    heard: list[Any] = []

    def make(files: BundleFiles, before: int | None) -> int:
        heard.append((before, isinstance(files.document(RelativePath(MANIFEST)), Document)))
        return (before or 0) + 1

    assert [world.store.load(place, make, lambda: None) for _ in range(3)] == [1, 2, 3]
    assert heard == [(None, True), (1, True), (2, True)]


@pytest.mark.clause("BD-16")
def test_a_failed_load_keeps_the_result_of_the_last_load(world: World) -> None:
    (place,) = world.store.discover().places

    def fail(_: BundleFiles, __: str | None) -> str:
        raise LookupError("no")

    remember: Callable[[BundleFiles, str | None], str] = lambda _, before: f"{before}+"  # noqa: E731
    assert world.store.load(place, remember, lambda: None) == "None+"
    with pytest.raises(LookupError):
        world.store.load(place, fail, lambda: None)
    assert world.store.load(place, remember, lambda: None) == "None++"


@pytest.mark.clause("BD-05")
def test_a_place_that_was_never_found_is_not_found(world: World) -> None:
    world.store.discover()
    for ask in (world.store.files, lambda place: world.store.load(place, lambda _, __: 1, lambda: None)):
        with pytest.raises(Failure) as told:
            ask(BundlePlace("nothing", "nothing"))
        assert told.value.code is Code.NOT_FOUND
