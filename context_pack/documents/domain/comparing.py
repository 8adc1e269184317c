"""What the index lacks, found by comparing what it remembers with what a source holds now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from context_pack.documents.domain.model import Changes, Survey
from context_pack.kernel.digest import sha256_hex
from context_pack.retrieval.model import Known

SMALL_DOCUMENTS = 100
SMALL_BYTES = 1024 * 1024


def state_of(survey: Survey) -> str:
    """One digest of all that a survey says: the same digest, nothing to do."""
    about = survey.about
    rows = [f"{document}\n{file.stamp}" for document, file in survey.files.items()]
    rows.sort()
    told = [f"{one.document}\n{one.reason}" for one in survey.failed]
    return sha256_hex("\n".join([about.name, about.version or "", about.description or "", *told, "", *rows]))


def compared(
    known: Mapping[str, Known],
    survey: Survey,
    failed: Mapping[str, tuple[str, str]],
    facts: Mapping[str, Any],
) -> Changes:
    """What differs; documents that have failed (stamp and reason) and are as they were then do not."""
    new, changed, size, kept = [], [], 0, {}
    for document, file in survey.files.items():
        was = known.get(document)
        if was is not None:
            if was.stamp == file.stamp:
                continue
            changed.append(document)
        elif document in failed and failed[document][0] == file.stamp:
            kept[document] = failed[document]
            continue
        else:
            new.append(document)
        size += file.size
    gone = tuple(document for document in known if document not in survey.files)
    digests = {document: known[document].digest for document in changed}
    return Changes(survey, tuple(new), tuple(changed), gone, size, digests, kept, facts)


def is_small(changes: Changes) -> bool:
    """Whether the changes can be indexed while somebody waits."""
    return len(changes.new) + len(changes.changed) <= SMALL_DOCUMENTS and changes.size <= SMALL_BYTES
