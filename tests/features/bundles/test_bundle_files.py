"""Bundles on disk: malformed files of every kind, confinement, and what is read again."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from bundle_maker import LONG_AGO, MANIFEST, TYPE_FILE, BundleDesk, ids_of, nodes, target, write_files
from hanging import never_hanging
from waiting import PATIENCE

from context_pack.bundles.ports import Document, Flaw
from context_pack.kernel.paths import PathPolicy, RelativePath
from context_pack_adapters.bundles.reading import DiskBundleFiles
from context_pack_adapters.bundles.store import FileBundleStore

POLICY = PathPolicy()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one bundle, `shop`, and a secret beside it."""
    root = tmp_path / "project"
    write_files(root / "shop", nodes({"a": ["b"], "b": []}))
    (tmp_path / "secret.yaml").write_text("id: secret\ntitle: SECRET\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "s.yaml").write_text("id: secret\ntitle: SECRET\n")
    return root


def desk(root: Path) -> BundleDesk:
    """The tools over a project."""
    return BundleDesk(store=FileBundleStore(root, POLICY))


def told(root: Path, key: str = "a") -> list[tuple[str | None, str]]:
    """What an export has to tell, as (file, message)."""
    body = desk(root).export(key)
    return [(one.get("filePath"), one["message"]) for one in body["diagnostics"]]


@pytest.mark.clause("BD-11", "BD-12", "BD-06")
@pytest.mark.parametrize(
    ("data", "words", "line"),
    [
        (b"id: [", "not valid YAML", 2),
        (b"id: x\n  title: y\n", "not valid YAML", 2),
        (b"id: x\nid: y\n", "a key appears twice", 2),
        (b"id: x\nself: &a [*a]\n", "an alias of nothing before it", 2),
        (b"id: x\nn: .inf\n", "not finite", 2),
        (b"id: x\nn: 1e999\n", "not finite", 2),
        (b"id: x\nn: -.nan\n", None, None),
        (b"id: x\nt: \xff\xfe\n", "not UTF-8", 2),
        (b"id: x\nt: \x00\n", "not valid YAML", 2),
        (b"id: x\n---\nid: y\n", "more than one document", 2),
        (b"id: x\nt: !!python/object:os.system a\n", "a tag", 2),
        (b"", "it is empty", None),
        (b"- id: x\n", "must be a mapping", None),
        (b"title: no id\n", "$.id must be the id", None),
        (b"id: 5\n", "$.id must be the id", None),
        (b"id: 2026-01-01\n", None, None),
        (b"[" * 200_000, "nested deeper", 1),
        (b"id: " + b"9" * 5000, "digits", 1),
    ],
)
def test_a_malformed_entity_is_reported_with_its_line_and_others_load(
    project: Path, data: bytes, words: str | None, line: int | None
) -> None:
    (project / "shop/bundle/node/9.yaml").write_bytes(data)
    found = told(project)
    if words is None:
        assert found == []
        return
    assert [file for file, _ in found] == ["bundle/node/9.yaml"]
    assert words in found[0][1]
    assert line is None or f"line {line}" in found[0][1]


@pytest.mark.clause("BD-12")
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"type": "object",\n "x": }', "not valid JSON: Expecting value, line 2, column 7"),
        (b"", "not valid JSON"),
        (b'{"a": "NaN",\n "b": NaN}', "not finite"),
        (b'{"a": -Infinity}', "not finite"),
        (b'{"a": 1.5, "b": [\n1e999]}', "not finite"),
        (b'{"a": "\\\\",\n "title": "\\ud800"}', "half a character"),
        (b'{"a": "\xff"}', "not UTF-8, line 1"),
        (b"[" * 100_000, "nested too deep"),
        (b"[" * 101 + b"]" * 101, "nested deeper than 100 levels"),
        (b'{"maximum": ' + b"9" * 5000 + b"}", "too many digits"),
        (b"// no comments\n{}", "not valid JSON"),
    ],
)
def test_a_malformed_json_file_is_reported_with_its_line(project: Path, data: bytes, words: str) -> None:
    (project / "shop/schemas/Node.json").write_bytes(data)
    found = told(project)
    assert [file for file, _ in found] == ["schemas/Node.json"]
    assert words in found[0][1]
    (project / "shop" / TYPE_FILE).write_bytes(data)
    error = desk(project).refused("export_context", targets=[target("a")])
    (one,) = error["details"]["diagnostics"]
    assert (error["code"], one["filePath"]) == ("NOT_FOUND", TYPE_FILE)
    assert words in one["message"]


@pytest.mark.clause("BD-12")
def test_json_may_have_a_byte_order_mark_and_a_type_may_be_yaml(project: Path) -> None:
    path = project / "shop/schemas/Node.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    (project / "shop/schemas/type.yaml").write_text(
        "entities:\n  - {entityType: Node, directory: bundle/node, schemaPath: schemas/Node.json}\n"
    )
    (project / "shop" / MANIFEST).write_text(
        "kind: Bundle\nspec: {bundleTypeDefinition: schemas/type.yaml}\n"
    )
    assert told(project) == []


@pytest.mark.clause("BD-06", "BD-11")
def test_a_malformed_manifest_is_reported_with_its_line(project: Path) -> None:
    (project / "shop" / MANIFEST).write_text("kind: Bundle\nspec:\n\tx: 1\n")
    error = desk(project).refused("export_context", targets=[target("a")])
    (one,) = error["details"]["diagnostics"]
    assert one["filePath"] == MANIFEST
    assert "line 3" in one["message"]


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
@pytest.mark.parametrize("what", ["directory", "schema", "type", "manifest"])
def test_manifest_paths_never_follow_a_link_out_of_the_bundle(project: Path, what: str) -> None:
    shop, outside = project / "shop", project.parent / "outside"
    write_files(outside, nodes({"secret": []}))
    if what == "directory":
        os.rename(shop / "bundle/node", shop / "kept")
        (shop / "bundle/node").symlink_to(outside)
    elif what == "schema":
        (shop / "schemas/Node.json").unlink()
        (shop / "schemas/Node.json").symlink_to(outside / "schemas/Node.json")
    elif what == "type":
        (shop / TYPE_FILE).unlink()
        (shop / TYPE_FILE).symlink_to(outside / TYPE_FILE)
    else:
        (shop / MANIFEST).unlink()
        (shop / MANIFEST).symlink_to(outside / MANIFEST)
    store = FileBundleStore(project, POLICY, [str(shop)])
    answer = BundleDesk(store=store).call("export_context", targets=[target("secret")])
    assert answer.is_error
    words = json.loads(answer.text)["error"]["message"] + answer.text
    body = BundleDesk(store=store).call("export_context", targets=[target("a")])
    assert what in {"type", "manifest", "directory"} or "leads out of the bundle" in body.text
    assert "SECRET" not in words + body.text


@pytest.mark.clause("BD-13")
def test_a_folder_that_is_swapped_for_a_link_gives_nothing_away(project: Path) -> None:
    one = desk(project)
    assert one.export("a")["diagnostics"] == []
    node = project / "shop/bundle/node"
    os.rename(node, project / "shop/kept")
    node.symlink_to(project.parent / "outside")
    error = one.refused("export_context", targets=[target("a")])
    assert error["code"] == "NOT_FOUND"
    assert one.refused("export_context", targets=[target("secret")])["code"] == "NOT_FOUND"
    node.unlink()
    node.symlink_to(project / "shop/kept")
    assert ids_of(one.export("a")["data"]["dependencies"]) == ["b"]


@pytest.mark.clause("BD-13")
def test_pipes_sockets_and_folders_named_yaml_are_reported_at_once(project: Path) -> None:
    folder = project / "shop/bundle/node"
    os.mkfifo(folder / "pipe.yaml")
    (folder / "folder.yaml").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        place = os.open(folder, os.O_RDONLY)  # by its descriptor, for the name of a socket must be short
        listener.bind(f"/proc/self/fd/{place}/socket.yaml")
        os.close(place)
        found = dict(told(project))
    assert found.keys() == {f"bundle/node/{name}.yaml" for name in ("pipe", "folder", "socket")}
    assert set(found.values()) == {"it is not a regular file"}


@pytest.mark.clause("BD-13")
def test_files_with_denied_or_impossible_names_are_reported(project: Path) -> None:
    folder = project / "shop/bundle/node"
    (folder / "id_rsa.yaml").write_text("id: key\n")
    (folder / "back\\slash.yaml").write_text("id: slash\n")
    (folder / "new\nline.yaml").write_text("id: line\n")
    found = dict(told(project))
    assert found["bundle/node/id_rsa.yaml"] == "its name is on the list of what is never read"
    assert len(found) == 3


@pytest.mark.clause("BD-13")
def test_a_file_with_an_undecodable_name_breaks_no_answer(project: Path) -> None:
    bad = os.fsencode(project / "shop/bundle/node") + b"/\xff.yaml"
    with open(bad, "wb") as stream:
        stream.write(b"id: bad\n")
    answer = desk(project).call("export_context", targets=[target("a")])
    assert not answer.is_error
    assert answer.text.encode("utf-8", "backslashreplace")


@pytest.mark.clause("BD-11")
def test_a_file_over_the_size_limit_is_reported(project: Path) -> None:
    with open(project / "shop/bundle/node/9.yaml", "wb") as stream:
        stream.truncate(9 * 1024 * 1024)
    assert told(project) == [("bundle/node/9.yaml", "it is larger than 8 MiB")]


@pytest.mark.clause("BD-11")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_reported(project: Path) -> None:
    (project / "shop/bundle/node/9.yaml").write_text("id: x\n")
    (project / "shop/bundle/node/9.yaml").chmod(0)
    assert "cannot be read" in told(project)[0][1]


def read(files: DiskBundleFiles, path: str = "bundle/node/0000.yaml") -> Document:
    """A document that must be there."""
    found = files.document(RelativePath(path))
    assert isinstance(found, Document)
    return found


def folder(files: DiskBundleFiles) -> list[Document | Flaw]:
    """The documents of the type's folder."""
    found = files.folder(RelativePath("bundle/node"))
    assert not isinstance(found, Flaw)
    return list(found)


@pytest.mark.clause("BD-16")
def test_an_unchanged_file_is_the_same_document_object(project: Path) -> None:
    files = DiskBundleFiles(project / "shop", POLICY)
    first = folder(files)
    assert all(one is other for one, other in zip(first, folder(files), strict=True))
    assert read(files) is first[0]


def bytes_read() -> int:
    """How many bytes this process has read so far, by any system call."""
    counters = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counters["rchar"])


@pytest.mark.clause("BD-41", "BD-16")
@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="only Linux counts what a process reads")
def test_a_second_export_reads_nothing_that_has_not_changed(project: Path) -> None:
    files = nodes({f"n{number}": [f"n{number + 1}"] for number in range(30)})
    for name, value in files.items():
        if name.startswith("bundle/"):
            value["text"] = "x" * 50_000
    big = write_files(project / "big", files, LONG_AGO + 0.5)  # a whole second would look like a coarse clock
    time.sleep(0.05)  # older than the grain of time stamps, as files at rest are
    one = desk(big)
    start = bytes_read()
    one.export("n0")
    first = bytes_read() - start
    one.export("n0")
    second = bytes_read() - start - first
    assert first > 1_500_000
    assert second < 20_000
    (big / "bundle/node/0003.yaml").write_text(json.dumps({"id": "n3", "refs": ["n4"], "text": "y" * 30_000}))
    one.export("n0")
    assert 30_000 < bytes_read() - start - first - second < 60_000


@pytest.mark.clause("BD-16")
def test_files_changed_within_one_clock_tick_are_read_again(project: Path) -> None:
    """Rewrites of the same length within one tick leave size, inode and time as they were."""
    path = project / "shop/bundle/node/0000.yaml"
    files = DiskBundleFiles(project / "shop", POLICY)
    for number in range(300):
        with open(path, "r+b") as stream:
            stream.write(b"id: a\nn: %04d\n#" % number)
        found = folder(files)[0]
        assert isinstance(found, Document)
        assert found.value["n"] == number
        assert read(files).value == found.value


@pytest.mark.clause("BD-16", "BD-35")
def test_content_and_mtime_come_from_the_same_read_of_a_replaced_file(project: Path) -> None:
    path = project / "shop/bundle/node/0000.yaml"
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            fresh = path.with_name(".fresh")
            fresh.write_text(f"id: a\nn: {number}\n")
            os.utime(fresh, (LONG_AGO + number, LONG_AGO + number))
            os.replace(fresh, path)

    with Running(write, stop), never_hanging():
        one = desk(project)
        seen: set[int] = set()
        looks = count()
        while next(looks) < 200 or len(seen) < 10:
            (entity,) = one.export("a")["data"]["targets"]
            if "n" in entity["data"]:
                seconds = LONG_AGO + entity["data"]["n"]
                assert entity["lastModified"] == time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))
                seen.add(entity["data"]["n"])


class Running:
    """Work of another thread while a block runs."""

    def __init__(self, work: Any, stop: threading.Event) -> None:
        self._thread, self._stop = threading.Thread(target=work), stop

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@pytest.mark.clause("BD-16")
def test_files_that_come_and_go_are_seen(project: Path) -> None:
    node = project / "shop/bundle/node"
    one = desk(project)
    assert ids_of(one.export("a")["data"]["dependencies"]) == ["b"]
    (node / "0001.yaml").unlink()
    assert "'b'" in one.export("a")["diagnostics"][0]["message"]
    (node / "new.yml").write_text("id: b\nrefs: [c]\n")
    (node / "c.yaml").write_text("id: c\n")
    assert ids_of(one.export("a")["data"]["dependencies"]) == ["b", "c"]
    (node / "c.yaml").write_text("id: c\nbroken: [")
    assert {told["filePath"] for told in one.export("a")["diagnostics"]} >= {"bundle/node/c.yaml"}


@pytest.mark.clause("BD-16")
def test_several_calls_at_once_load_a_bundle_once(project: Path) -> None:
    one = desk(write_files(project / "big", nodes({f"n{n}": [f"n{n + 1}"] for n in range(300)})))
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda: texts.append(json.dumps(one.export("n0")["data"]))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 6
    assert len(set(texts)) == 1


@pytest.mark.clause("BD-16")
def test_a_call_waiting_for_a_load_can_be_cancelled(project: Path) -> None:
    class Withdrawn(Exception):
        """The caller has gone."""

    store = FileBundleStore(project, POLICY)
    (place,) = store.discover().places
    inside, done = threading.Event(), threading.Event()

    def slow(_: object, __: object) -> int:
        inside.set()
        done.wait(PATIENCE)
        return 1

    def gone() -> None:
        raise Withdrawn

    with Running(lambda: store.load(place, slow, lambda: None), done):
        assert inside.wait(PATIENCE)
        with pytest.raises(Withdrawn):
            store.load(place, lambda _, __: 2, gone)


@pytest.mark.clause("BD-16")
def test_a_file_that_changes_while_it_is_read_is_read_once_more(project: Path) -> None:
    path = project / "shop/bundle/node/0000.yaml"
    path.write_text("id: a\nn: 0\n")
    stop = threading.Event()

    def write() -> None:
        with open(path, "r+b") as stream:
            while not stop.is_set():
                for digit in b"0123456789":
                    stream.seek(9)
                    stream.write(bytes([digit]))
                    stream.flush()

    with Running(write, stop):
        files = DiskBundleFiles(project / "shop", POLICY)
        for _ in range(300):
            value = read(files).value
            assert value.keys() == {"id", "n"}


@pytest.mark.clause("BD-06")
def test_a_hidden_file_in_a_folder_of_entities_is_none(project: Path) -> None:
    (project / "shop/bundle/node/.context.yaml").write_text("version: 1\nscope: node\n")
    assert told(project) == []
