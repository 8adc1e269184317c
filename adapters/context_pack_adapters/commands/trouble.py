"""Failures in words: the message, then what the details name, one line each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from context_pack.kernel.errors import Code, Failure

MOST_LINES = 20
ADVICE = "mend it or move it away; until then the other packs answer by id, and 'packs verify' checks them"

MEMORY_ADVICE = "mend it, or remove it with 'memory forget' and its id"
_KINDS = {Code.MALFORMED_PACK: "pack", Code.MALFORMED_DISCOVERY: "discovery"}


def words_for(failure: Failure, folder: str = "") -> list[str]:
    """The lines that tell a person what failed and where; `folder` is where the files in question are."""
    details = _details(failure.details, folder)
    lines = [f"{failure.code}: {_message(failure)}", *(f"  {line}" for line in details)]
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"  and {len(lines) - MOST_LINES} more"]
    if folder and failure.code in {Code.MALFORMED_PACK, Code.MIGRATION_REQUIRED}:
        lines.append(f"  {ADVICE}")
    if folder and failure.code is Code.MALFORMED_DISCOVERY:
        lines.append(f"  {MEMORY_ADVICE}")
    return lines


def _message(failure: Failure) -> str:
    """The message; where it speaks of its own details, the same for somebody who reads them as lines."""
    files = failure.details.get("files", ())
    if failure.code not in _KINDS or not files:
        return failure.message
    count, kind = failure.details.get("count", len(files)), _KINDS[failure.code]
    return f"a {kind} file is malformed" if count == 1 else f"{count} {kind} files are malformed"


def _details(details: Mapping[str, Any], folder: str) -> Iterator[str]:
    """The details that a person can act on."""
    for file in details.get("files", ()):
        yield f"{os.path.join(folder, str(file.get('file')))}: {file.get('reason')}"
    for ref in details.get("refs", ()):
        yield f"{ref.get('section')}/{ref.get('ref')} {ref.get('path')}: {ref.get('reason')}"
    for problem in details.get("problems", ())[1:]:
        yield str(problem.get("message"))
    if "hint" in details:
        yield str(details["hint"])
