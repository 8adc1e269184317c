"""Making a package: the same documents always make the same bytes, whoever packs them and when."""

from __future__ import annotations

import gzip
import io
import json
import tarfile

from context_pack.documents.domain.manifest import MANIFEST_FILE
from context_pack.documents.domain.model import Failed, SourceDescription, Survey
from context_pack.documents.ports import CollectionSource
from context_pack.kernel.text import sha256_hex


def package_of(
    about: SourceDescription, source: CollectionSource, survey: Survey
) -> tuple[bytes, int, tuple[Failed, ...]]:
    """A package of the documents of a source and their manifest; how many there are, and which failed."""
    bodies: dict[str, bytes] = {}
    failed: list[Failed] = []
    for found in source.read(sorted(survey.files)):
        if isinstance(found, Failed):
            failed.append(found)
        elif found.document == MANIFEST_FILE:
            failed.append(Failed(found.document, "its name is the manifest's"))
        else:
            bodies[found.document] = found.text.encode("utf-8")
    return packed(about, bodies), len(bodies), tuple(failed)


def packed(about: SourceDescription, bodies: dict[str, bytes]) -> bytes:
    """The bytes of a package."""
    files = [{"path": path, "hash": f"sha256:{sha256_hex(bodies[path])}"} for path in sorted(bodies)]
    manifest = {"name": about.name, "version": about.version}
    if about.description:
        manifest["description"] = about.description
    text = json.dumps({**manifest, "sources": {"files": files}}, ensure_ascii=False, indent=2) + "\n"
    out = io.BytesIO()
    # No file name and no time in the header of the stream, no owner and no time in those of the entries.
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for path, body in ((MANIFEST_FILE, text.encode("utf-8")), *sorted(bodies.items())):
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(body), 0o644
            archive.addfile(entry, io.BytesIO(body))
    return out.getvalue()
