"""Packages: streamed, confined and bounded, whatever is in them."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest
from waiting import until

from context_pack.documents.domain.model import DocumentText, Failed, Survey
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections import tar_stream
from context_pack_adapters.collections.package import PackageSource
from context_pack_adapters.files.signature import is_young, stamp_of

MANIFEST = {"name": "guide", "version": "3", "sources": {"glob": ["**/*.md"]}}


def member(name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = "") -> tuple[Any, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(data), kind, link
    return info, data


def packed(
    folder: Path, *members: tuple[Any, bytes], manifest: Any = MANIFEST, root: str = ""
) -> PackageSource:
    """A package of these entries, the manifest last."""
    path = folder / "p.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
        if manifest is not None:
            info, data = member(f"{root}manifest.json", json.dumps(manifest).encode())
            archive.addfile(info, io.BytesIO(data))
    return PackageSource(path, PathPolicy())


def surveyed(source: PackageSource) -> Survey:
    found = source.survey()
    assert found is not None
    return found


def texts(source: PackageSource) -> dict[str, str]:
    found = source.read(list(surveyed(source).files))
    return {one.document: one.text for one in found if isinstance(one, DocumentText)}


@pytest.mark.clause("DC-11")
@pytest.mark.parametrize("root", ["", "guide-3/", "./"])
def test_a_package_is_read_with_its_manifest_at_the_root_or_one_folder_down(
    tmp_path: Path, root: str
) -> None:
    entries = [
        member(f"{root}{name}", text)
        for name, text in (("b.md", b"# B"), ("x/a.md", b"# A"), ("c.txt", b"no"))
    ]
    source = packed(tmp_path, *entries, root=root)
    assert texts(source) == {"b.md": "# B", "x/a.md": "# A"}
    assert (surveyed(source).about.name, surveyed(source).about.version) == ("guide", "3")


@pytest.mark.clause("DC-11")
def test_the_root_manifest_wins_and_deeper_ones_do_not_count(tmp_path: Path) -> None:
    other = json.dumps({**MANIFEST, "name": "other"}).encode()
    source = packed(tmp_path, member("a/manifest.json", other), member("a/x.md", b"x"), member("y.md", b"y"))
    assert surveyed(source).about.name == "guide"
    assert sorted(texts(source)) == ["a/x.md", "y.md"]
    with pytest.raises(Failure) as refused:
        packed(tmp_path, member("a/b/manifest.json", other), manifest=None).survey()
    assert refused.value.message == "the package has no manifest.json at its root or one folder down"


@pytest.mark.clause("DC-12")
def test_entries_that_lead_out_fail_alone(tmp_path: Path) -> None:
    source = packed(
        tmp_path,
        member("../up.md", b"x"),
        member("/abs.md", b"x"),
        member("a/../../b.md", b"x"),
        member("link.md", kind=tarfile.SYMTYPE, link="/etc/passwd"),
        member("hard.md", kind=tarfile.LNKTYPE, link="../../etc/passwd"),
        member("dev.md", kind=tarfile.CHRTYPE),
        member("pipe.md", kind=tarfile.FIFOTYPE),
        member("docs", kind=tarfile.SYMTYPE, link="/etc"),
        member("docs/passwd.md", b"mine"),
        member(".env", b"TOKEN"),
        member("ok.md", b"ok"),
    )
    assert texts(source) == {"docs/passwd.md": "mine", "ok.md": "ok"}
    assert {one.document: one.reason for one in surveyed(source).failed} == {
        "../up.md": "outside the package: Path traversal not allowed",
        "/abs.md": "outside the package: Absolute paths not allowed",
        "a/../../b.md": "outside the package: Path traversal not allowed",
        "link.md": "a link in a package is not followed",
        "hard.md": "a link in a package is not followed",
        "dev.md": "it is not a regular file",
        "pipe.md": "it is not a regular file",
    }


@pytest.mark.clause("DC-07", "DC-11")
def test_hashes_of_a_package_are_checked(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"good").hexdigest()
    files = [
        {"path": "a.md", "hash": digest},
        {"path": "b.md", "hash": f"sha256:{digest}"},
        "../c.md",
        "d.md",
    ]
    manifest = {"name": "n", "version": "1", "sources": {"files": files}}
    source = packed(tmp_path, member("a.md", b"good"), member("b.md", b"evil"), manifest=manifest)
    found = list(source.read(list(surveyed(source).files)))
    assert [one.document for one in found if isinstance(one, DocumentText)] == ["a.md"]
    assert [one.reason[:13] for one in found if isinstance(one, Failed)] == ["hash mismatch"]
    assert [one.document for one in surveyed(source).failed] == ["../c.md", "d.md"]


@pytest.mark.clause("DC-11")
def test_the_last_package_entry_of_a_name_wins(tmp_path: Path) -> None:
    source = packed(tmp_path, member("a.md", b"old"), member("./a.md", b"new"))
    assert texts(source) == {"a.md": "new"}


@pytest.mark.clause("DC-12")
def test_a_file_that_is_too_large_fails_alone(tmp_path: Path) -> None:
    source = packed(tmp_path, member("big.md", b"0" * (11 << 20)), member("a.md", b"a"))
    assert texts(source) == {"a.md": "a"}
    assert [one.document for one in surveyed(source).failed] == ["big.md"]


@pytest.mark.clause("DC-12")
def test_package_limits_on_entries_bytes_and_headers_are_errors(tmp_path: Path) -> None:
    packed(tmp_path, *(member(f"{number}.md") for number in range(20)))
    with pytest.raises(Failure) as refused:
        PackageSource(tmp_path / "p.tar.gz", PathPolicy(), max_entries=20).survey()
    assert refused.value.message.endswith("it has more than 20 entries")
    assert PackageSource(tmp_path / "p.tar.gz", PathPolicy(), max_entries=21).survey() is not None
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 1 << 30
    bomb = tmp_path / "bomb.tgz"
    with gzip.open(bomb, "wb", compresslevel=1) as out:
        out.write(header.tobuf(tarfile.USTAR_FORMAT))
        out.write(bytes(1 << 20))
    with pytest.raises(Failure) as refused:
        PackageSource(bomb, PathPolicy()).survey()
    assert refused.value.message.endswith("its entries have headers that are too long")


@pytest.mark.clause("DC-12")
def test_a_bomb_is_not_unpacked_to_its_end(tmp_path: Path) -> None:
    huge = tarfile.TarInfo("huge.bin")
    huge.size = 3 << 30
    path = tmp_path / "bomb.tgz"
    with gzip.open(path, "wb", compresslevel=1) as out:
        out.write(huge.tobuf())
        for _ in range(12):
            out.write(bytes(1 << 20))
    with pytest.raises(Failure) as refused:
        PackageSource(path, PathPolicy(), max_bytes=10 << 20).survey()
    assert refused.value.message.endswith("unpacked it has more than 10485760 bytes")
    assert (tar_stream.MAX_ENTRIES, tar_stream.MAX_TOTAL_BYTES) == (100_000, 1 << 30)


@pytest.mark.clause("DC-12")
def test_an_unusable_package_is_read_once_until_it_changes(tmp_path: Path) -> None:
    path, looks, useless = tmp_path / "p.tgz", [0], dict[str, tuple[str, str]]()

    def look() -> str:
        def count() -> None:
            looks[0] += 1

        with pytest.raises(Failure) as refused:
            PackageSource(path, PathPolicy(), count, useless=useless).survey()
        return refused.value.message

    path.write_bytes(gzip.compress(member("a.md")[0].tobuf() + bytes(1024)))
    first = look()
    until(lambda: not is_young(stamp_of(path.stat(), time.time_ns())))
    assert look() == first
    settled = looks[0]
    assert look() == first
    assert looks[0] == settled
    path.write_bytes(gzip.compress(member("b.md")[0].tobuf() + bytes(1024)))
    look()
    assert looks[0] == settled + 1


@pytest.mark.clause("DC-11")
@pytest.mark.parametrize(
    "data",
    [b"", b"no gzip", gzip.compress(b"no tar" * 1000), gzip.compress(b"\0" * 2000)[:20]],
    ids=["nothing", "no gzip", "no tar", "cut short"],  # what is compressed holds the time
)
def test_a_file_that_is_no_package_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p.tgz").write_bytes(data)
    with pytest.raises(Failure) as refused:
        PackageSource(tmp_path / "p.tgz", PathPolicy()).survey()
    assert "package" in refused.value.message


@pytest.mark.clause("DC-21")
def test_an_unchanged_package_is_not_read_again(tmp_path: Path) -> None:
    import os

    source = packed(tmp_path, member("a.md", b"a"))
    os.utime(tmp_path / "p.tar.gz", (1, 1))
    signature = surveyed(source).signature
    # The file has changed just now, so its state cannot be trusted yet.
    assert source.survey(signature) is not None
