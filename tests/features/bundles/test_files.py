"""Bundles on disk: where they are looked for, malformed files of every kind, and what is read again."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from bundle_maker import MANIFEST, TYPE_FILE, BundleDesk, Files, ids_of, nodes, target, write_files

from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.bundles.store import FileBundleStore

POLICY = PathPolicy()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one bundle, `shop`, and a secret beside it."""
    root = tmp_path / "project"
    write_files(root / "shop", nodes({"a": ["b"], "b": []}))
    (tmp_path / "secret.yaml").write_text("id: secret\ntitle: SECRET\n")
    return root


def desk(root: Path) -> BundleDesk:
    return BundleDesk(store=FileBundleStore(root, POLICY))


def told(root: Path, key: str = "a") -> list[tuple[str | None, str]]:
    """What an export has to tell, as (file, message)."""
    body = desk(root).export(key)
    return [(one.get("filePath"), one["message"]) for one in body["diagnostics"]]


@pytest.mark.clause("BD-11", "BD-06")
@pytest.mark.parametrize(
    ("data", "words", "line"),
    [
        (b"id: [", "not valid YAML", 2),
        (b"id: x\nid: y\n", "a key appears twice", 2),
        (b"id: x\nn: .inf\n", "not finite", 2),
        (b"id: x\nt: \xff\xfe\n", "not UTF-8", 2),
        (b"- id: x\n", "must be a mapping", None),
        (b"title: no id\n", "$.id must be the id", None),
        (b"[" * 200_000, "nested deeper", 1),
    ],
)
def test_a_malformed_entity_is_reported_with_its_line_and_others_load(
    project: Path, data: bytes, words: str, line: int | None
) -> None:
    (project / "shop/bundle/node/9.yaml").write_bytes(data)
    found = told(project)
    assert [file for file, _ in found] == ["bundle/node/9.yaml"]
    assert words in found[0][1]
    assert line is None or f"line {line}" in found[0][1]


@pytest.mark.clause("BD-13")
def test_an_entity_link_is_followed_only_inside_the_bundle(project: Path) -> None:
    folder = project / "shop/bundle/node"
    inside = project / "shop/elsewhere.yaml"
    inside.write_text("id: inside\n")
    (folder / "in.yaml").symlink_to(inside)
    (folder / "out.yaml").symlink_to(project.parent / "secret.yaml")
    (folder / "up.yaml").symlink_to("../../../../secret.yaml")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    (folder / "hang.yaml").symlink_to("nowhere.yaml")
    found = dict(told(project))
    assert found.keys() == {f"bundle/node/{name}.yaml" for name in ("out", "up", "loop", "hang")}
    assert "leads out of the bundle" in found["bundle/node/out.yaml"]
    assert ids_of(desk(project).export("inside")["data"]["targets"]) == ["inside"]
    assert "SECRET" not in json.dumps(found)


@pytest.mark.clause("BD-13")
@pytest.mark.parametrize("place", ["bundle/node", "schemas/Node.json", TYPE_FILE, MANIFEST])
def test_manifest_paths_never_follow_a_link_out_of_the_bundle(project: Path, place: str) -> None:
    shop, outside = project / "shop", project.parent / "outside"
    write_files(outside, nodes({"secret": []}))
    (shop / place).rename(shop / "kept")
    (shop / place).symlink_to(outside / place)
    store = FileBundleStore(project, POLICY, [str(shop)])
    answer = BundleDesk(store=store).call("export_context", targets=[target("secret")])
    assert answer.is_error
    body = BundleDesk(store=store).call("export_context", targets=[target("a")])
    assert not place.startswith("schemas") or "leads out of the bundle" in body.text
    assert "SECRET" not in answer.text + body.text


@pytest.mark.clause("BD-13")
def test_pipes_sockets_and_folders_named_yaml_are_reported_at_once(project: Path) -> None:
    folder = project / "shop/bundle/node"
    os.mkfifo(folder / "pipe.yaml")
    (folder / "folder.yaml").mkdir()
    os.mknod(folder / "socket.yaml", stat.S_IFSOCK)
    found = dict(told(project))
    assert found.keys() == {f"bundle/node/{name}.yaml" for name in ("pipe", "folder", "socket")}
    assert set(found.values()) == {"it is not a regular file"}


@pytest.mark.clause("BD-11")
def test_a_file_over_the_size_limit_is_reported(project: Path) -> None:
    with open(project / "shop/bundle/node/9.yaml", "wb") as stream:
        stream.truncate(9 * 1024 * 1024)
    assert told(project) == [("bundle/node/9.yaml", "it is larger than 8 MiB")]


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
