"""How well a drafted pack answers: the questions of `functions.txt` about click and chi, ten of each.

    python benches/quality/drafts.py FOLDER [--embedder fast|semantic]

FOLDER holds the checkouts that `functions.txt` names. For each question prints the number of refs, and
whether one of them holds a right definition whole; then the means.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parent))

from annotated import FUNCTIONS, checkouts
from code_search import indexed

from context_pack.toolkit.call import QuietCall
from context_pack_adapters.syntax.tree_sitter_syntax import TreeSitterSyntax

REPOSITORIES, QUESTIONS = ("click", "chi"), 10


def main() -> None:
    """Draft, look, count."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", default="fast")
    options = parser.parse_args()
    counts, whole = [], []
    for repository in checkouts(FUNCTIONS, options.folder, TreeSitterSyntax(), REPOSITORIES):
        with tempfile.TemporaryDirectory() as private:
            registry, _ = indexed(repository.root, options.embedder, Path(private))
            for task in repository.tasks[:QUESTIONS]:
                asked = {"action": "draft", "query": task.query, "ttl_minutes": 5}
                answer = json.loads(registry.call("input", asked, QuietCall()).text)["payload"]
                got = registry.call("input", {"action": "get", "id": answer["id"]}, QuietCall())
                refs = [
                    (ref["path"], ref["lines"]["start"], ref["lines"]["end"])
                    if isinstance(ref["lines"], dict)
                    else (ref["path"], *map(int, ref["lines"].split("-")))
                    for section in json.loads(got.text)["payload"]["sections"]
                    for ref in section["refs"]
                ]
                counts.append(len(refs))
                whole.append(
                    any(
                        path == place.path and start <= place.start and end >= place.end
                        for path, start, end in refs
                        for place in task.functions
                    )
                )
                print(f"{counts[-1]:3} {'whole' if whole[-1] else '-':6} {task.query}")
    print(f"whole {sum(whole)} of {len(whole)}, refs {fmean(counts):.1f} on average")


if __name__ == "__main__":
    main()
