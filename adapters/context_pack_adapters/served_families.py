"""Which families of tools have something to serve in a project, without loading any of them.

Packs, code and memory always have. The others have once their files are there: one bounded walk looks for
directory contexts and bundles, and at its top for the configurations of documents and bundles. A
`context.json` whose last collection was removed has nothing to serve.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from context_pack.kernel.paths import EXCLUDED_FOLDERS
from context_pack_adapters.files.opening import Place, read_file
from context_pack_adapters.files.walking import Level, walk
from context_pack_adapters.settings import Settings

ALWAYS = frozenset({"packs", "code", "memory"})
SIGNS = {".context.yaml": "contexts", "sdd-bundle.yaml": "bundles"}
TOP_SIGNS = {"bundles.yaml": "bundles", **SIGNS}
"""At the top of a project its configurations count, too."""
MOST_FOLDERS = 3_000
"""A project with more folders is taken to have everything."""
CONFIG_FILE, MOST_BYTES = "context.json", 1024 * 1024


def served_families(settings: Settings) -> frozenset[str]:
    """The families that are worth listing in this project now."""
    families = set(ALWAYS)
    user_config = settings.user_config and Place(os.path.realpath(settings.user_config))
    if _has_collections(Place.of(settings.source_root).below(CONFIG_FILE)) or (
        user_config and _has_collections(user_config)
    ):
        families.add("documents")
    if settings.bundles:
        families.add("bundles")
    left = MOST_FOLDERS

    def entered(level: Level, _: None) -> Iterable[tuple[str, None]]:
        nonlocal left
        left -= 1
        signs = SIGNS if level.prefix else TOP_SIGNS
        families.update(signs[entry.name] for entry in level.entries if entry.name in signs)
        if left < 0 or families >= set(SIGNS.values()):
            return ()
        folders = (entry.name for entry in level.entries if entry.is_dir(follow_symlinks=False))
        return [(name, None) for name in folders if name not in EXCLUDED_FOLDERS]

    walk(settings.source_root, entered, None)
    return frozenset(families | set(SIGNS.values()) if left < 0 else families)


def _has_collections(config: Place) -> bool:
    """Whether a `context.json` names collections; one that nobody can read does, so that it is told of."""
    folder, name = config.split()
    try:
        with folder.held() as handle:
            value = json.loads(read_file(handle, name, MOST_BYTES)[0])
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError, RecursionError):
        return True
    return not isinstance(value, dict) or value.get("collections", {}) != {}
