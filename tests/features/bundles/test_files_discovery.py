"""Where bundles are looked for: the environment, `bundles.yaml`, the source root and one folder down."""

from __future__ import annotations

from pathlib import Path

import pytest
from bundle_maker import MANIFEST, BundleDesk, Files, ids_of, nodes, target, write_files

from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.bundles.store import FileBundleStore

POLICY = PathPolicy()


def bundle(key: str) -> Files:
    """A bundle with one entity of that id."""
    return nodes({key: []})


def ids(root: Path, *given: str) -> list[str]:
    return [place.id for place in FileBundleStore(root, POLICY, given).discover().places]


def complaints(root: Path, *given: str) -> list[tuple[str | None, str]]:
    """What was wrong with the search."""
    found = FileBundleStore(root, POLICY, given).discover().diagnostics
    return [(told.file, told.message) for told in found]


@pytest.mark.clause("BD-03")
def test_bundles_are_found_in_the_source_root_and_one_folder_down(tmp_path: Path) -> None:
    root = tmp_path / "project"
    for name in ("b", "a", "deep/er", ".hidden", "node_modules"):
        write_files(root / name, bundle("x"))
    (root / "no-bundle").mkdir()
    (root / "file").write_text("x")
    assert ids(root) == [".hidden", "a", "b"]
    write_files(root, bundle("top"))
    assert ids(root) == ["project", ".hidden", "a", "b"]
    assert [place.path for place in FileBundleStore(root, POLICY).discover().places][:2] == [".", ".hidden"]
    assert ids(tmp_path / "nowhere") == []


@pytest.mark.clause("BD-03")
def test_ids_are_made_unique(tmp_path: Path) -> None:
    root = tmp_path / "same"
    write_files(root, bundle("top"))
    write_files(root / "same", bundle("inner"))
    assert ids(root) == ["same", "same-2"]
    desk = BundleDesk(store=FileBundleStore(root, POLICY))
    assert desk.export("inner", bundleId="same-2")["bundleId"] == "same-2"
    for number in range(3):
        write_files(tmp_path / f"{number}/same", bundle("x"))
    assert ids(root, *(str(tmp_path / f"{number}/same") for number in range(3))) == [
        "same",
        "same-2",
        "same-3",
    ]


@pytest.mark.clause("BD-03", "BD-13")
def test_a_linked_folder_counts_if_it_stays_inside_and_once(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write_files(root / "real", bundle("x"))
    write_files(tmp_path / "outside", bundle("secret"))
    (root / "link").symlink_to("real")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to("loop")
    assert ids(root) == ["real"]


@pytest.mark.clause("BD-01")
def test_bundles_named_by_the_environment_replace_discovery(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write_files(root / "found", bundle("x"))
    write_files(root / "deep/named", bundle("y"))
    write_files(tmp_path / "elsewhere", bundle("z"))
    (root / "bundles.yaml").write_text("bundles: [{id: listed, path: found}]\n")
    assert ids(root, "deep/named", str(tmp_path / "elsewhere")) == ["named", "elsewhere"]
    assert ids(root, f"deep/named/{MANIFEST}", "deep/named", "./deep//named/") == ["named"]
    assert ids(root, "nowhere") == []
    assert complaints(root, "nowhere") == [
        (None, "CONTEXT_PACK_BUNDLES names nowhere, which has no sdd-bundle.yaml")
    ]
    error = BundleDesk(store=FileBundleStore(root, POLICY, ["nowhere"])).refused(
        "export_context", targets=[target("x")]
    )
    assert error["code"] == "NOT_FOUND"
    assert "nowhere" in error["details"]["diagnostics"][0]["message"]


@pytest.mark.clause("BD-01", "BD-13")
def test_no_message_shows_where_things_are_on_this_machine(tmp_path: Path) -> None:
    write_files(tmp_path / "elsewhere", {MANIFEST: {"kind": "Bundle"}})
    store = FileBundleStore(
        tmp_path / "project", POLICY, [str(tmp_path / "elsewhere"), str(tmp_path / "gone")]
    )
    answer = BundleDesk(store=store).call("export_context", targets=[target("x")])
    assert answer.is_error
    assert str(tmp_path) not in answer.text
    assert str(tmp_path) not in str(store.discover())


@pytest.mark.clause("BD-01")
def test_bundles_yaml_names_bundles_inside_the_source_root(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write_files(root / "specs/one", bundle("a"))
    write_files(root / "unlisted", bundle("b"))
    write_files(root, bundle("top"))
    (root / "bundles.yaml").write_text(
        "bundles:\n"
        "  - {id: first, path: ./specs/one/, }\n"
        "  - {path: unlisted}\n"
        "  - {id: top, path: .}\n"
        "  - {id: first, path: unlisted/../unlisted2}\n"
    )
    store = FileBundleStore(root, POLICY)
    places = store.discover().places
    assert [(place.id, place.path) for place in places] == [
        ("first", "specs/one"),
        ("unlisted", "unlisted"),
        ("top", "."),
    ]
    assert ids_of(BundleDesk(store=store).export("a", bundleId="first")["data"]["targets"]) == ["a"]


@pytest.mark.clause("BD-01")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bundles: [", "line"),
        ("- x", "$.bundles must be a list"),
        ("", "it is empty"),
        ("bundles: [5]", "$.bundles[0].path must be the folder"),
        ("bundles: [{id: x, path: 7}]", "$.bundles[0].path must be the folder"),
        ("bundles: [{id: x, path: ../outside}]", "$.bundles[0].path is no folder inside the source root"),
        ("bundles: [{id: x, path: linked}]", "$.bundles[0].path leads out of the source root"),
        ("bundles: [{id: x, path: nowhere}]", "$.bundles[0].path has no sdd-bundle.yaml"),
    ],
)
def test_mistakes_in_bundles_yaml_are_reported(tmp_path: Path, text: str, words: str) -> None:
    root = tmp_path / "project"
    write_files(root / "found", bundle("a"))
    write_files(tmp_path / "outside", bundle("secret"))
    (root / "linked").symlink_to(tmp_path / "outside")
    (root / "bundles.yaml").write_text(text)
    (one,) = complaints(root)
    assert one[0] == "bundles.yaml"
    assert words in one[1]
    assert ids(root) == []
    error = BundleDesk(store=FileBundleStore(root, POLICY)).refused("export_context", targets=[target("a")])
    assert (error["code"], error["details"]["diagnostics"][0]["filePath"]) == ("NOT_FOUND", "bundles.yaml")
    assert error["message"] == "there is no bundle where bundles should be; see the diagnostics"
