"""Bundles on disk: malformed files of every kind, confinement, and what is read again."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from bundle_maker import MANIFEST, TYPE_FILE, BundleDesk, ids_of, nodes, target, write_files

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
