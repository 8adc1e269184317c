"""The managed block in `AGENTS.md`: how to use the contexts, and which folder is which.

Only what stands between the two marks is ours; every other character of the file stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

from context_pack.kernel.text import first_sentence

AGENTS_FILE = "AGENTS.md"
START, END = "<!-- context-pack:contexts -->", "<!-- /context-pack:contexts -->"

_HEAD = """\
## Directory contexts

Folders listed below hold a `.context.yaml`: what the folder is for, decisions, constraints, interfaces.

- Before you explore or change a folder, read its context (tool `query_context`, or the file itself).
- Before you rely on one, check it (tool `check_freshness`): stale means that files changed since.
- After you changed files, correct what a person should know and run `context-pack contexts refresh`.

| Folder | Summary |
|---|---|
"""


def block_of(folders: Iterable[tuple[str, str]]) -> str:
    """The block for these scopes and summaries, with its marks."""
    rows = (f"| `{_cell(scope)}` | {_cell(first_sentence(summary))} |\n" for scope, summary in folders)
    return f"{START}\n{_HEAD}{''.join(rows)}{END}\n"


def with_block(text: str, block: str) -> str | None:
    """The file with the block in place of an older one, or at its end; None when its marks do not match."""
    if text.count(START) != text.count(END) or text.count(START) > 1:
        return None
    newline = "\r\n" if "\r\n" in text else "\n"
    block = block.replace("\n", newline)
    if START not in text:
        gap = 0 if not text or text.endswith(newline * 2) else 1 if text.endswith(newline) else 2
        return text + newline * gap + block
    before, _, rest = text.partition(START)
    if END not in rest:
        return None
    return before + block.rstrip("\r\n") + rest.partition(END)[2]


def _cell(text: str) -> str:
    """A text that cannot leave its cell."""
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'").replace("<!--", "<! --")
