"""One discovery as the bytes of its file, and back: labels in the front matter, the content as the body.

Unlike a pack, the body counts: people may mend a discovery's words with an editor, and its id stays.
"""

from __future__ import annotations

from context_pack.kernel.errors import Code, Failure
from context_pack.memory.domain.discovery import Discovery, from_record, to_record
from context_pack_adapters.stores import front_matter

MAX_FILE_BYTES = 64 * 1024


def encode(discovery: Discovery) -> bytes:
    """The file of a discovery."""
    return front_matter.render(to_record(discovery), discovery.content + "\n")


def decode(data: bytes, discovery_id: str) -> Discovery:
    """The discovery in a file named after `discovery_id`.

    Raises:
        Failure: `malformed_discovery`, with the reason in the details.
    """
    try:
        front, body = front_matter.divide(data)
        found = from_record(front_matter.parse(front), body.decode("utf-8"))
    except (front_matter.Malformed, ValueError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise broken(reason) from None
    except Failure as failure:
        raise broken(failure.message) from None
    if found.id != discovery_id:
        raise broken("the id in the file is not the one in its name")
    return found


def broken(reason: str) -> Failure:
    """A file that holds no discovery, for this reason."""
    return Failure(Code.MALFORMED_DISCOVERY, reason, {"reason": reason})
