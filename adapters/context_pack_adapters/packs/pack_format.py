"""One pack as the bytes of its file, and back.

The front matter says what the parts of a pack are and what code they are about; its prose is the body, in
Markdown, and only there (`record.prose_below`). Files of version 2 have all in the front matter, and a body
that nobody reads. The rules of a pack are the domain's; here they are only told which file broke them.

A person who edits a file counts no revision, and a writer who saw the pack before the edit would go over it.
So the front matter ends with the digest of what was written: a file that is not as its digest says was
edited, and its pack is one revision further than it says. Line endings may differ, as git changes them.
"""

from __future__ import annotations

import codecs
import re

from attrs import evolve

from context_pack.kernel.errors import Code, Failure, invalid
from context_pack.kernel.text import sha256_hex
from context_pack.packs.anchors import DIGEST_CHARS
from context_pack.packs.model import Pack
from context_pack.packs.record import IN_BODY, from_record, prose_below, prose_joined, to_record
from context_pack_adapters.files import front_matter

MAX_FILE_BYTES = 8 * 1024 * 1024
WRITTEN = "written"
_CLOSING = b"\n---\n"
_DIGEST = re.compile(rb'^written: "?([0-9a-f]{16})"?\n', re.MULTILINE)


def encode(pack: Pack) -> bytes:
    """The file of a pack.

    Raises:
        Failure: `invalid_data` for a pack larger than readers accept.
    """
    try:
        data = front_matter.render(*prose_below(to_record(pack)))
    except UnicodeEncodeError:
        raise invalid("a text holds half of a character (a lone surrogate); send whole characters") from None
    front, closing, body = data.partition(_CLOSING)
    data = b"".join([front, f'\n{WRITTEN}: "{_digest(data)}"'.encode(), closing, body])
    if len(data) > MAX_FILE_BYTES:
        raise invalid(f"the pack would have more than {MAX_FILE_BYTES} bytes; split it into several packs")
    return data


def decode(data: bytes, pack_id: str) -> Pack:
    """The pack in a file named after `pack_id`.

    Raises:
        Failure: `migration_required` or `malformed_pack`, with the reason in the details.
    """
    try:
        front, body = front_matter.divide(data)
        record = front_matter.parse(front)
        if record.get("schema_version") == IN_BODY:
            record = prose_joined(record, body.decode("utf-8").replace("\r\n", "\n"))
    except front_matter.Malformed as error:
        raise broken(str(error)) from None
    except UnicodeDecodeError:
        raise broken("the body is not UTF-8 text") from None
    record.pop(WRITTEN, None)
    pack = from_record(record)
    if pack.id != pack_id:
        raise broken("the id in the file is not the one in its name")
    return evolve(pack, revision=pack.revision + 1) if _was_edited(data) else pack


def _was_edited(data: bytes) -> bool:
    """Whether a file is not what its digest says; one without a digest is taken as it is."""
    data = data.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")
    match = _DIGEST.search(data, 0, data.find(_CLOSING) + 1)
    return match is not None and match[1].decode() != _digest(data[: match.start()] + data[match.end() :])


def _digest(data: bytes) -> str:
    return sha256_hex(data)[:DIGEST_CHARS]


def broken(reason: str) -> Failure:
    """A file that holds no pack, for this reason."""
    return Failure(Code.MALFORMED_PACK, reason, {"reason": reason})
