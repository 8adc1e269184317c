"""Packages that are small on the disk and endless inside: reading ends, soon and without much memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import pytest
from hanging import never_hanging
from hypothesis import given, settings
from hypothesis import strategies as st
from stdio_client import environment

from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections.package import PackageSource
from context_pack_adapters.collections.tar_stream import (
    Budget,
    BudgetExceeded,
    NoArchive,
    TarEntry,
    TarStream,
)

MANIFEST = json.dumps({"name": "n", "version": "1", "sources": {"glob": ["**/*.md"]}}).encode()
MOST_MEMORY = 100 * 1024 * 1024


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.USTAR_FORMAT)


def entry(name: str, body: bytes, kind: bytes = tarfile.REGTYPE) -> bytes:
    return header(name, len(body), kind) + body + bytes(-len(body) % 512)


def ignore_files(out: IO[bytes]) -> None:
    for number in range(300):
        out.write(entry(f"{number}/.gitignore", b"a\n" * (1 << 19)))


def manifests(out: IO[bytes]) -> None:
    for number in range(100):
        out.write(entry(f"{number}/manifest.json", b" " * (4 << 20)))


def hollow_manifest(out: IO[bytes]) -> None:
    out.write(entry("manifest.json", b'{"sources": [' + b"[]," * 1_300_000 + b"[]]}") + bytes(1024))


def overlapping_pax_records(out: IO[bytes]) -> None:
    # Each record is three bytes long and its key as long as all that follows.
    body = b"3 1" * 80_000 + b"="
    for number in range(100):
        out.write(entry("x", body, tarfile.XHDTYPE) + entry(f"{number}.md", b"x"))


def many_pax_records(out: IO[bytes]) -> None:
    body = b"6 a=b\n" * 40_000
    for number in range(500):
        out.write(entry("x", body, tarfile.XHDTYPE) + entry(f"{number}.md", b"x"))


def global_headers(out: IO[bytes]) -> None:
    out.write(header("g", 0, tarfile.XGLTYPE) * 400_000)


def sparse_map(out: IO[bytes]) -> None:
    block = bytearray(header("s.md", 0, tarfile.GNUTYPE_SPARSE))
    block[482] = 1
    block[148:156] = b"%06o\0 " % (sum(block[:148]) + 256 + sum(block[156:]))
    out.write(bytes(block))
    more = (b"00000000001\0" * 42 + b"\1").ljust(512, b"\0")
    for _ in range(300_000):
        out.write(more)


def long_names(out: IO[bytes]) -> None:
    for _ in range(100):
        out.write(entry("././@LongLink", b"a/" * 100_000, tarfile.GNUTYPE_LONGNAME) + entry("x", b""))


def many_entries(out: IO[bytes]) -> None:
    for number in range(99_999):
        out.write(header(f"top/{number:06}{'n' * 80}.md", 0))


def zeros(out: IO[bytes]) -> None:
    for number in range(1200):
        out.write(entry(f"{number}.md", bytes(1 << 20)))


BOMBS: list[Callable[[IO[bytes]], None]] = [
    ignore_files, manifests, hollow_manifest, overlapping_pax_records, many_pax_records, global_headers,
    sparse_map, long_names, zeros,
]  # fmt: skip


def package(folder: Path, fill: Callable[[IO[bytes]], None]) -> Path:
    path = folder / "p.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as packed_file:
        out = cast(IO[bytes], packed_file)
        fill(out)
        out.write(entry("manifest.json", MANIFEST) + bytes(1024))
    return path


SURVEY = """
import resource, sys
from pathlib import Path
from context_pack.kernel.errors import Failure
from context_pack.kernel.paths import PathPolicy
from context_pack_adapters.collections.package import PackageSource

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    outcome = len(PackageSource(Path(sys.argv[1]), PathPolicy()).survey().files)
except Failure as failure:
    outcome = failure.code.value
print(outcome, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def surveyed(path: Path) -> tuple[str, int]:
    """What looking at a package comes to, and by how many bytes the process grew meanwhile."""
    words = [sys.executable, "-c", SURVEY, str(path)]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True, timeout=120)
    outcome, grown = done.stdout.split()
    return outcome, int(grown) * 1024


@pytest.mark.clause("DC-12")
@pytest.mark.parametrize("fill", BOMBS, ids=lambda fill: fill.__name__)
def test_no_package_takes_much_memory_or_time(tmp_path: Path, fill: Callable[[IO[bytes]], None]) -> None:
    outcome, grown = surveyed(package(tmp_path, fill))
    assert outcome == "invalid_data"
    assert grown < MOST_MEMORY


@pytest.mark.clause("DC-12")
def test_as_many_entries_as_a_package_may_have_are_listed(tmp_path: Path) -> None:
    outcome, grown = surveyed(package(tmp_path, many_entries))
    assert outcome == "99999"
    assert grown < MOST_MEMORY


@pytest.mark.clause("DC-12")
@pytest.mark.parametrize("kind", ["pipe", "folder link", "link round", "socket"])
def test_a_package_path_that_is_no_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    import socket

    path = tmp_path / "p.tar.gz"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder link":
        path.symlink_to(tmp_path)
    elif kind == "link round":
        path.symlink_to(path)
    else:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(path))
    with never_hanging(20), pytest.raises(Failure) as refused:
        PackageSource(path, PathPolicy()).survey()
    assert "p.tar.gz cannot be read" in refused.value.message


@pytest.mark.clause("DC-12")
def test_a_cancelled_call_stops_in_the_middle_of_a_package(tmp_path: Path) -> None:
    path = package(tmp_path, ignore_files)
    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked > 5:
            raise KeyError("nobody waits")

    with pytest.raises(KeyError):
        PackageSource(path, PathPolicy(), check).survey()


def packed(members: list[tuple[tarfile.TarInfo, bytes]], form: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=form) as archive:
        for info, body in members:
            archive.addfile(info, io.BytesIO(body))
    return out.getvalue()


def listed(data: bytes) -> Iterator[tuple[TarEntry, bytes]]:
    stream = TarStream(io.BytesIO(data), Budget())
    for each in stream:
        yield each, stream.read()


KINDS = [tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE,
         tarfile.FIFOTYPE, tarfile.CHRTYPE]  # fmt: skip
NAMES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1), min_size=1)


@pytest.mark.clause("DC-11")
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
@settings(deadline=None)
@given(members=st.lists(st.tuples(NAMES.map("/".join), st.binary(max_size=1500), st.sampled_from(KINDS))))
def test_entries_are_those_that_the_standard_library_sees(
    form: int, members: list[tuple[str, bytes, bytes]]
) -> None:
    made = []
    for name, body, kind in members:
        info = tarfile.TarInfo(name)
        info.type = kind
        info.size = len(body) if kind in (tarfile.REGTYPE, tarfile.AREGTYPE) else 0
        info.linkname = "target" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
        made.append((info, body if info.size else b""))
    data = packed(made, form)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        theirs = [
            (one.name, one.isdir(), one.type in (tarfile.REGTYPE, tarfile.AREGTYPE), one.size)
            for one in archive
        ]
        contents = [stream.read() if (stream := archive.extractfile(one)) else b""
                    for one in archive if not one.islnk() and not one.issym()]  # fmt: skip
    ours = list(listed(data))
    assert [
        (each.name.rstrip("/"), each.is_folder, not each.is_folder and each.problem is None, each.size)
        for each, _ in ours
    ] == [(name.rstrip("/"), *rest) for name, *rest in theirs]
    assert [body for each, body in ours if each.problem != "a link in a package is not followed"] == contents


@pytest.mark.clause("DC-11")
@settings(deadline=None)
@given(cut=st.integers(0, 3000), flips=st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 255))))
def test_a_damaged_archive_raises_only_its_two_errors(cut: int, flips: list[tuple[int, int]]) -> None:
    body = bytearray(entry("a.md", b"x" * 700) + entry("x", b"12 path=b.md", tarfile.XHDTYPE) + bytes(1024))
    for at, change in flips:
        body[at % len(body)] ^= change
    try:
        for _ in listed(gzip.compress(bytes(body[: max(1, cut)]), 1)):
            pass
    except (NoArchive, BudgetExceeded):
        return
