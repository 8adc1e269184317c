"""`context-pack memory …` and `context-pack index`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import CommandLine
from embedding_endpoint import Answer, serving
from hanging import never_hanging
from waiting import until

RECORD = "# 1. Use Postgres\n\n## Status\nAccepted\n\n## Context\nWhy.\n\n## Decision\nWe use Postgres.\n"


@pytest.fixture
def run(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


@pytest.mark.clause("ME-01")
def test_discoveries_are_added_listed_and_forgotten(run: CommandLine) -> None:
    added = run("memory", "add", "rule", "Never log tokens", "--module", "auth", "--json").json
    assert (added["merged"], added["type"], added["module"]) == (False, "rule", "auth")
    assert run("memory", "add", "issue", "NEVER log tokens").out == f"merged with {added['id'][:8]}\n"
    listed = run("memory", "list", "--json").json
    assert [(each["id"], each["type"]) for each in listed["discoveries"]] == [(added["id"], "issue")]
    assert run("memory", "list", "--type", "rule", "--module", "auth").out == "No discoveries found.\n"
    gone = run("memory", "forget", added["id"], "00000000-0000-4000-8000-000000000000", "--json")
    assert gone.code == 1
    assert [each["id"] for each in gone.json["forgotten"]] == [added["id"]]
    assert [each["code"] for each in gone.json["failed"]] == ["not_found"]
    empty = run("memory", "list")
    assert (empty.out, "memory add TYPE TEXT" in empty.err) == ("No discoveries found.\n", True)


@pytest.mark.clause("ME-04", "ME-01")
def test_a_malformed_discovery_is_named_where_it_is_and_can_be_forgotten(
    run: CommandLine, tmp_path: Path
) -> None:
    kept = run("memory", "add", "rule", "Never log tokens", "--json").json["id"]
    (file,) = tmp_path.glob(f"**/memory/discoveries/{kept}.md")
    file.write_text("no front matter")
    (tmp_path / "a.py").write_text("def feed_zebra():\n    return 1\n")
    draft = ("packs", "draft", "never log tokens")
    for words in (("memory", "list"), draft):
        told = run(*words, CONTEXT_PACK_EMBEDDER="fast")
        assert told.code == 1
        assert f"{file}: the first line is not '---'" in told.err
    gone = run("memory", "forget", kept, "--json")
    assert (gone.code, gone.json["forgotten"]) == (0, [{"id": kept, "malformed": True}])
    assert not file.exists()
    assert run("memory", "list").out == "No discoveries found.\n"


@pytest.mark.clause("ME-06")
def test_notes_and_decision_records_are_imported_once(run: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "adr"
    folder.mkdir(parents=True)
    (folder / "0001-db.md").write_text(RECORD)
    (folder / "notes.md").write_text(
        "## Rules\n- Never log tokens\n- hm\n- NEVER log tokens.\n\n## Other\nNothing tells a type.\n"
    )
    done = run("memory", "import", "docs", "--module", "shop", "--json")
    assert (done.code, done.json["counts"]) == (0, {"recorded": 2, "merged": 1})
    kept = run("memory", "list", "--json").json["discoveries"]
    assert {(each["type"], each["module"]) for each in kept} == {("decision", "shop"), ("rule", "shop")}
    shown = run("memory", "import", "docs/adr/notes.md").out
    assert "docs/adr/notes.md:2: merged: rule: Never log tokens" in shown


@pytest.mark.clause("ME-06")
def test_an_import_of_a_folder_follows_no_link_and_waits_for_no_pipe(
    run: CommandLine, tmp_path: Path
) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (project / "docs", outside):
        folder.mkdir(parents=True)
    (outside / "theirs.md").write_text("Rule: this is a secret of somebody else\n")
    (project / "docs/ours.md").write_text("Rule: never log the tokens of a user\n")
    (project / "docs/link.md").symlink_to(outside / "theirs.md")
    (project / "folder").symlink_to(outside)
    os.mkfifo(project / "docs/pipe.md")
    with never_hanging():
        told = run("memory", "import", str(project), "--json").json
    assert [Path(row["file"]).name for row in told["notes"]] == ["ours.md"]
    # What a person names may be a link.
    named = run("memory", "import", str(project / "docs/link.md"), "--json").json
    assert named["counts"] == {"recorded": 1}
    assert run("memory", "import", str(project / "docs/pipe.md")).code == 1


@pytest.mark.clause("ME-35")
def test_searches_say_how_much_is_embedded_and_how_to_finish(run: CommandLine) -> None:
    for animal in ("zebra", "okapi"):
        assert run("memory", "add", "rule", f"The {animal} is fed at dawn").code == 0
    with serving() as endpoint:
        model = {"CONTEXT_PACK_EMBEDDER": endpoint.url}
        for words in (("search", "when is the zebra fed"), ("packs", "draft", "when is the zebra fed")):
            endpoint.answers = [Answer(401)] * 9  # away for now
            told = run(*words, **model).err
            assert "0 of 2 notes are embedded so far; 'context-pack index' does the rest" in told
        endpoint.answers = []
        assert run("index", **model).code == 0
        assert "embedded" not in run("search", "when is the zebra fed", **model).err


@pytest.mark.clause("ME-24")
def test_index_says_what_it_does_and_a_dry_run_does_nothing(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def feed_zebra():\n    return 1\n")
    (tmp_path / "b.py").write_bytes(b"x = 1\0")
    (tmp_path / "latin.py").write_bytes(b"# gr\xf6sse\n")
    (tmp_path / "one.js").write_text("x" * 30_000)
    (tmp_path / "data.csv").write_text("a,b\n")
    (tmp_path / ".env").write_text("SECRET=1\n")
    (tmp_path / ".ignore").write_text("hidden.py\n")
    (tmp_path / "hidden.py").write_text("x = 1\n")
    (tmp_path / "node_modules").mkdir()
    skip = [
        {"path": ".env", "reason": "denied"},
        {"path": ".ignore", "reason": "no source code"},
        {"path": "b.py", "reason": "not text"},
        {"path": "data.csv", "reason": "no source code"},
        {"path": "hidden.py", "reason": "ignored"},
        {"path": "latin.py", "reason": "not UTF-8"},
        {"path": "node_modules/", "reason": "a folder that is never searched"},
        {"path": "one.js", "reason": "a line of more than 20000 characters"},
    ]
    dry = run("index", "--dry-run", "--json", CONTEXT_PACK_EMBEDDER="fast").json
    assert (dry["index"], dry["remove"]) == (["a.py"], [])
    assert dry["skip"] == skip
    assert not (tmp_path / ".agents").exists()
    done = run("index", "--json", CONTEXT_PACK_EMBEDDER="fast").json
    assert done == {"files": 1, "skipped": 8, "failed": []}

    def is_known() -> bool:  # a file as young as the clock's grain is looked at once more
        later = run("index", "--dry-run", "--json", CONTEXT_PACK_EMBEDDER="fast").json
        assert later["skip"] == skip
        return later["index"] == [] or not run("index", "--json", CONTEXT_PACK_EMBEDDER="fast").json

    until(is_known)
    again = run("index", CONTEXT_PACK_EMBEDDER="fast")
    assert again.code == 0
    assert again.out.startswith("1 file indexed, 8 skipped, in ")
    (tmp_path / "a.py").unlink()
    (tmp_path / "b.py").unlink()
    gone = run("index", "--json", CONTEXT_PACK_EMBEDDER="fast").json
    assert gone == {"files": 0, "skipped": 7, "failed": []}


@pytest.mark.clause("ME-24", "CD-83")
def test_index_names_the_lines_that_were_not_parsed_and_has_their_definitions(
    run: CommandLine, tmp_path: Path
) -> None:
    known = "".join(f"fun number{each}() = {each}\n" for each in range(12))
    (tmp_path / "a.kt").write_text(f"{known}context(a: A, _: B)\nclass Zebra {{\n    fun feed() = 1\n}}\n")
    indexed = run("index", CONTEXT_PACK_EMBEDDER="fast")
    assert indexed.code == 0
    assert "a.kt: not parsed: lines 13-16" in indexed.err
    again = run("index", "--json", CONTEXT_PACK_EMBEDDER="fast").json
    assert again["partly"] == [{"path": "a.kt", "reason": "not parsed: lines 13-16"}]
    assert "a.kt:14-16 Zebra" in run("search", "Zebra").out
