"""`context-pack docs …` as people and scripts run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine, Done
from document_trees import configure, environ, handbook, lay


class Docs:
    """The docs commands in one project."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.line = CommandLine(root)

    def __call__(self, *words: str) -> Done:
        return self.line("docs", *words, **environ(self.root))

    def config(self) -> object:
        return json.loads((self.root / "context.json").read_text())


@pytest.fixture
def docs(tmp_path: Path) -> Docs:
    return Docs(tmp_path)


@pytest.mark.clause("DC-30", "DC-32", "DC-02")
def test_collections_are_added_listed_and_removed(docs: Docs) -> None:
    lay(docs.root, {"sub/docs/a.md": "# A\n", "sub/docs/b.html": "no", "context.json": '{"theme": "dark"}'})
    tried = docs("add", "notes", "sub/docs", "--dry-run", "--json")
    assert (tried.code, tried.json["documents"], tried.json["added"], tried.json["bytes"]) == (0, 1, 1, 4)
    assert tried.json["skipped"] == [{"document": "b.html", "reason": "not among the sources"}]
    assert docs.config() == {"theme": "dark"}
    inside = CommandLine(docs.root / "sub")
    done = inside(
        *("docs", "add", "notes", "docs", "--description", "Mine"),
        **environ(docs.root, CONTEXT_PACK_SOURCE_ROOT=str(docs.root)),
    )
    assert done.code == 0, done
    entry = {"url": "./sub/docs", "description": "Mine"}
    assert docs.config() == {"theme": "dark", "collections": {"notes": entry}}
    assert docs("add", "ours", "sub/docs", "--shared").code == 0
    both = {"notes": entry, "ours": {"url": "./sub/docs", "shared": True}}
    assert docs.config() == {"theme": "dark", "collections": both}
    assert docs("remove", "ours").code == 0
    assert docs("add", "notes", "sub").code == 2
    assert docs("add", "x", "nowhere").code == 1
    assert docs("add", "x", "http://host/x").code == 1
    assert docs("add", "mine", "sub/docs", "--user").code == 0
    assert docs("sync").code == 0
    listed = docs("list", "--json").json["collections"]
    assert [(one["collection"], one["documentCount"], one["userWide"]) for one in listed] == [
        ("notes", 1, False),
        ("mine", 1, True),
    ]
    assert "notes  1" in docs("list").out
    assert docs("remove", "notes", "mine").code == 2
    assert docs("remove", "nots").code == 1
    assert docs("remove", "mine", "--user", "--dry-run").code == 0
    assert docs("remove", "mine", "--user").code == 0
    assert docs("remove", "notes", "--json").json == {
        "dryRun": False,
        "removed": [{"collection": "notes", "documents": 1}],
    }
    assert docs.config() == {"theme": "dark", "collections": {}}
    assert docs("list").out.startswith("No collections.")


@pytest.mark.clause("DC-31", "DC-20", "DC-21")
def test_a_sync_is_incremental_lists_failures_and_has_a_dry_run(docs: Docs) -> None:
    handbook(docs.root)
    lay(docs.root, {"docs/bad.md": b"\xff\xff", "docs/.gitignore": "draft.md\n", "docs/draft.md": "d"})
    tried = docs("sync", "--dry-run", "--json")
    (plan,) = tried.json["collections"]
    assert tried.code == 1
    assert (plan["added"], plan["failed"]) == (3, [{"document": "bad.md", "reason": "it is not UTF-8"}])
    assert {"document": "draft.md", "reason": "ignored by .gitignore"} in plan["skipped"]
    assert docs("list", "--json").json["collections"][0]["documentCount"] == 0
    first = docs("sync", "--json")
    assert first.code == 1
    assert first.json["collections"] == [
        {
            "collection": "handbook",
            "added": 3,
            "updated": 0,
            "removed": 0,
            "failed": [{"document": "bad.md", "reason": "it is not UTF-8"}],
        }
    ]
    (docs.root / "docs/bad.md").unlink()
    lay(docs.root, {"docs/guide.md": "# Other\n", "docs/keys.md": (docs.root / "docs/keys.md").read_text()})
    second = docs("sync")
    assert (second.code, second.out) == (0, "handbook: 0 added, 1 updated, 0 removed\n")
    assert docs("sync", "handbook").out == "handbook: 0 added, 0 updated, 0 removed\n"
    assert docs("sync", "handbok").code == 1
    configure(docs.root, handbook="./docs", twin=f"file://{docs.root}/docs")
    assert docs("sync").out == "".join(
        f"{name}: 0 added, 0 updated, 0 removed\n" for name in ("handbook", "twin")
    )
    configure(docs.root, handbook="./docs", gone="./nowhere", bad="ftp://x/y")
    broken = docs("sync", "--json")
    assert broken.code == 1
    assert "collection 'bad'" in broken.err
    assert broken.json["collections"][1]["failed"] == [
        {"document": "nowhere", "reason": "there is no folder ./nowhere"}
    ]


@pytest.mark.clause("DC-33")
def test_a_search_indexes_first_and_shows_places(docs: Docs) -> None:
    handbook(docs.root)
    found = docs("search", "how to install", "-n", "1")
    assert found.code == 0
    assert "handbook/guide.md:5  Setup" in found.out
    answer = docs("search", "pasta", "-c", "handbook", "--json").json
    assert answer["results"][0]["documentId"] == "food/pasta.md"
    assert docs("search", "pasta", "--max-distance", "0").code == 1
    assert docs("search", "pasta", "-c", "cookbook").code == 1
    assert docs("search", "  ").code == 1


@pytest.mark.clause("DC-36")
def test_no_command_prints_the_credentials_of_a_repository(docs: Docs) -> None:
    places = {
        "repo": "git+https://reader:hidden-1@host.invalid/team/handbook.git#main",
        "token": "git+https://hidden-2@host.invalid/x",
        "bare": "git+https://reader:hidden-3@host.invalid",
        "shell": "git+ssh://git:hidden-4@host.invalid/x",
        "upper": "git+HTTPS://reader:hidden-5@host.invalid/x",
        "broken": "git+https://reader:hid/den-6@host.invalid/x",
        "twice": "git+https://reader:hid@den-7@host.invalid/x",
        "number": "git+https://reader:hid#den-8@host.invalid/x",
    }
    said = [docs("add", name, place) for name, place in places.items()]
    said.append(docs("add", "repo", places["repo"], "--json", "--dry-run", "--replace"))
    configure(docs.root, **places)
    commands = [["list"], ["sync", "--dry-run"], ["pack", "repo", "--dry-run"], ["search", "x"]]
    said += [docs(*words, *more) for words in commands for more in ([], ["--json"])]
    said.append(docs("pack", places["bare"], "--dry-run"))
    said += [docs.line("doctor", *more, **environ(docs.root)) for more in ([], ["--json"])]
    for done in said:
        assert "hid" not in done.out + done.err, done
    listed = {one["collection"]: one["place"] for one in docs("list", "--json").json["collections"]}
    assert listed == {
        "repo": "https://host.invalid/team/handbook.git",
        "token": "https://host.invalid/x",
        "bare": "https://host.invalid",
        "shell": "ssh://git@host.invalid/x",
        "upper": "https://host.invalid/x",
    }
