"""`context-pack docs …` as people and scripts run it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import CommandLine, Done
from document_trees import configure, environ, handbook
from embedding_endpoint import Answer, serving
from file_trees import lay


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


@pytest.mark.clause("DC-30")
def test_collections_are_added_listed_and_removed(docs: Docs) -> None:
    lay(docs.root, {"sub/docs/a.md": "# A\n", "sub/docs/b.html": "no", "context.json": '{"theme": "dark"}'})
    inside = CommandLine(docs.root / "sub")
    done = inside(
        *("docs", "add", "notes", "docs", "--description", "Mine"),
        **environ(docs.root, CONTEXT_PACK_SOURCE_ROOT=str(docs.root)),
    )
    assert done.code == 0, done
    entry = {"url": "./sub/docs", "description": "Mine"}
    assert docs.config() == {"theme": "dark", "collections": {"notes": entry}}
    assert docs("add", "page", "sub/docs/a.md").code == 0
    assert docs("remove", "page").code == 0
    for wrong, code in (
        (("notes", "sub"), 2),
        (("x", "nowhere"), 1),
        (("x", "http://host/x"), 1),
        (("x", f"git+file://{docs.root}/elsewhere"), 1),
        (("x", "git+https://token-4711@host.invalid/handbook"), 1),
    ):
        refused = docs("add", *wrong)
        assert refused.code == code
        assert "4711" not in refused.out + refused.err
        assert ("git+" in wrong[1]) == ("--user" in refused.err)
    assert docs("add", "mine", "sub/docs", "--user").code == 0
    listed = docs("list", "--json").json["collections"]
    assert [(one["collection"], one["documentCount"], one["userWide"]) for one in listed] == [
        ("notes", 1, False),
        ("mine", 1, True),
    ]
    assert "notes  1" in docs("list").out
    assert docs("remove", "notes", "mine").code == 2
    assert docs("remove", "nots").code == 1
    assert docs("remove", "mine", "--user").code == 0
    assert docs("remove", "notes", "--json").json == {"removed": ["notes"]}
    assert docs.config() == {"theme": "dark", "collections": {}}
    assert docs("list").out.startswith("No collections.")


@pytest.mark.clause("DC-31")
def test_a_sync_is_incremental_lists_failures_and_has_a_dry_run(docs: Docs) -> None:
    handbook(docs.root)
    lay(docs.root, {"docs/bad.md": b"\xff\xff", "docs/.gitignore": "draft.md\n", "docs/draft.md": "d"})
    failed = [{"document": "bad.md", "reason": "it is not UTF-8"}]
    tried = docs("sync", "--dry-run", "--json")
    (plan,) = tried.json["collections"]
    assert (tried.code, plan["added"], plan["failed"]) == (1, 3, failed)
    first = docs("sync", "--json")
    assert (first.code, first.json["collections"][0]["failed"]) == (1, failed)
    (docs.root / "docs/bad.md").unlink()
    lay(docs.root, {"docs/guide.md": "# Other\n"})
    second = docs("sync")
    assert (second.code, second.out, second.err) == (0, "handbook: 0 added, 1 updated, 0 removed\n", "")
    assert docs("sync", "handbok").code == 1
    configure(docs.root, handbook="./docs", gone="./nowhere", bad="ftp://x/y")
    broken = docs("sync", "--json")
    assert broken.code == 1
    assert "collection 'bad'" in broken.err
    assert broken.json["collections"][1]["failed"] == [
        {"document": "nowhere", "reason": "there is no ./nowhere"}
    ]


@pytest.mark.clause("DC-33")
def test_a_search_indexes_first_and_shows_places(docs: Docs) -> None:
    handbook(docs.root)
    found = docs("search", "how to install", "--limit", "1")
    assert found.code == 0
    assert "handbook/guide.md:5  Setup" in found.out
    answer = docs("search", "pasta", "--collections", "handbook", "--json").json
    assert answer["results"][0]["documentId"] == "food/pasta.md"
    assert docs("search", "pasta", "--max-distance", "0").code == 1
    assert docs("search", "pasta", "--collections", "cookbook").code == 1
    assert docs("search", "  ").code == 1


@pytest.mark.clause("DC-33")
def test_a_search_says_what_it_leaves_out(docs: Docs) -> None:
    lay(docs.root, {f"docs/{name}.md": f"# Pasta\n\n{'pasta ' * 200}\n" for name in "ab"})
    configure(docs.root, docs="./docs")
    whole = docs("search", "pasta")
    assert [len(line) for line in whole.out.split("\n") if line.endswith("…")] == [6 + 160] * 2
    assert whole.err == ""
    less = docs("search", "pasta", "--max-tokens", "600")
    assert "1 of 2 results are here" in less.err
    assert "[default: []]" not in CommandLine(docs.root)("search", "--help").out


@pytest.mark.clause("DC-33", "ME-50")
def test_a_search_and_a_draft_say_how_much_is_embedded_and_how_to_finish(docs: Docs) -> None:
    handbook(docs.root)
    with serving() as endpoint:
        endpoint.answers = [Answer(401)] * 20  # away for now
        model = {**environ(docs.root), "CONTEXT_PACK_EMBEDDER": endpoint.url}
        for words in (("docs", "search", "pasta"), ("packs", "draft", "how long is pasta cooked")):
            told = docs.line(*words, **model).err
            assert "passages of documents are embedded so far; 'context-pack docs sync' does the rest" in told


@pytest.mark.clause("DC-36")
def test_no_command_prints_the_credentials_of_a_repository(docs: Docs) -> None:
    places = {
        "repo": "git+https://reader:hidden-1@host.invalid/team/handbook.git#main",
        "token": "git+https://hidden-2@host.invalid/x",
        "shell": "git+ssh://git:hidden-4@host.invalid/x",
        "broken": "git+https://reader:hid/den-6@host.invalid/x",
    }
    said = [docs("add", name, place) for name, place in places.items()]
    configure(docs.root, **places)
    said += [docs(*words, *more) for words in (["list"], ["sync", "--dry-run"]) for more in ([], ["--json"])]
    said.append(docs.line("doctor", "--json", **environ(docs.root)))
    for done in said:
        assert "hid" not in done.out + done.err, done
    listed = {one["collection"]: one["place"] for one in docs("list", "--json").json["collections"]}
    assert listed == {
        "repo": "https://host.invalid/team/handbook.git",
        "token": "https://host.invalid/x",
        "shell": "ssh://git@host.invalid/x",
    }


@pytest.mark.clause("DC-15")
def test_a_repository_is_allowed_listed_and_allowed_no_more(docs: Docs) -> None:
    own = docs.root / "xdg/context-pack/context.json"
    lay(docs.root, {"xdg/context-pack/context.json": '{"theme": "dark", "allowed": {"wrong": true}}'})
    assert docs("allow", "https://host.invalid/a.git", "--with-credentials").code == 0
    assert docs("allow", "git+ssh://git@Host.invalid/b").code == 0
    permits = {
        "https://host.invalid/a": {"credentials": True},
        "ssh://host.invalid/b": {"credentials": False},
    }
    assert json.loads(own.read_text()) == {"theme": "dark", "allowed": permits}
    listed = docs("allow", "--json").json["allowed"]
    assert [(one["address"], one["credentials"]) for one in listed] == [
        ("https://host.invalid/a", True),
        ("ssh://host.invalid/b", False),
    ]
    assert docs("allow", "--remove", "https://host.invalid/a").code == 0
    assert docs("allow", "--remove", "https://host.invalid/a").code == 1
    assert docs("allow", f"git+file://{docs.root}/x").code == 1
