"""How often `context_search` finds the right discovery: sixty paraphrased questions about forty of them.

    python benches/quality/discoveries.py [--embedder fast|semantic] [--quick] [--beside FOLDER] [--misses]

Records the discoveries of `discoveries.txt` in a new project (with `--beside`, in a copy of that folder, so
that code answers as well), asks every question about them, and prints how often the right one is the first
discovery, among the first five results, and how often there was no answer. `--quick` takes every fourth
discovery only. Nothing is embedded beforehand: what an answer needs is embedded by the call itself.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from context_pack.app import build  # noqa: E402
from context_pack.toolkit.call import QuietCall  # noqa: E402
from context_pack_adapters.disk_ports import open_ports  # noqa: E402
from context_pack_adapters.settings import read_settings  # noqa: E402

DATA = HERE / "discoveries.txt"


def read() -> tuple[dict[str, tuple[str, str, str]], list[tuple[str, str]]]:
    """Discoveries (type, module, content) by key, and the questions with the key that answers."""
    text = "\n".join(line for line in DATA.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    first, second = text.strip().split("\n\n")
    rows = [line.split(" | ", 3) for line in first.splitlines()]
    asked = [line.rsplit(" | ", 1) for line in second.splitlines()]
    return {key: (kind, module, said) for key, kind, module, said in rows}, [(q, key) for q, key in asked]


def main() -> None:
    """Record, ask, count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--embedder", default="fast", help="auto, fast or semantic (default: fast)")
    parser.add_argument("--quick", action="store_true", help="a quarter of the discoveries")
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="a project whose code is searched too")
    parser.add_argument("--misses", action="store_true", help="show what came instead of the right answer")
    options = parser.parse_args()
    discoveries, questions = read()
    keys = list(discoveries)[:: 4 if options.quick else 1]
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        if options.beside:
            shutil.copytree(options.beside, project, symlinks=True)
        project.mkdir(exist_ok=True)
        variables = {"CONTEXT_PACK_EMBEDDER": options.embedder, "CONTEXT_PACK_CACHE": f"{folder}/cache"}
        registry = build(open_ports(read_settings(variables, str(project))))

        def call(tool: str, arguments: dict[str, object]) -> dict[str, object]:
            answer: dict[str, object] = json.loads(registry.call(tool, arguments, QuietCall()).text)
            return answer

        by_id = {}
        for key in keys:
            kind, module, said = discoveries[key]
            by_id[call("context_record", {"type": kind, "module": module, "content": said})["id"]] = key
        first = five = none = 0
        asked = [(question, key) for question, key in questions if key in keys]
        for question, key in asked:
            answer = call("context_search", {"query": question})
            rows = answer.get("results", [])
            assert isinstance(rows, list)
            own = [by_id[row["id"]] for row in rows if row["source"] == "discovery"]
            first += own[:1] == [key]
            five += key in own
            none += not own
            if options.misses and own[:1] != [key]:
                print(f"    {question} ({key}): {', '.join(own) or answer}")
    count = len(asked)
    print(
        f"{options.embedder}, {len(keys)} discoveries, {count} questions: first {first / count:.0%}, "
        f"in the first five {five / count:.0%}, without an answer {none}"
    )


if __name__ == "__main__":
    main()
