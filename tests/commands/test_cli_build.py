"""Packs made and changed by hand, as Markdown or piece by piece, and what is known at a place."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import MAIN, CommandLine
from file_trees import git, lay

CODE = """\
class Session:
    def renew(self):
        return token()


def token():
    return 1
"""
HAND_OVER = """\
# How login works

## Overview

Sessions are renewed by `src/login.py#Session.renew`.
Nobody else makes a `token`.

- Tokens are of `src/login.py:6-7`.

```mermaid
graph LR; login --> token
```
"""


class Login(CommandLine):
    """The command line in a project with a module."""

    def ok(self, *words: str, stdin: str = "", **variables: str) -> str:
        """What a command that must succeed prints."""
        done = self(*words, stdin=stdin, **variables)
        assert done.code == 0, done
        return done.out

    def refused(self, *words: str, code: int = 1) -> str:
        """What a command that must fail says."""
        done = self(*words)
        assert (done.code, done.out) == (code, ""), done
        return done.err


@pytest.fixture
def cli(tmp_path: Path) -> Login:
    """A project with a module, and an empty pack."""
    login = Login(tmp_path)
    lay(login.folder, {"src/login.py": CODE})
    login.ok("packs", "create", "auth")
    return login


@pytest.mark.clause("CLI-61")
def test_a_pack_is_made_changed_and_finished_by_hand(cli: Login) -> None:
    assert "add code with: context-pack packs add 'the pack' FILE" in cli.ok("packs", "create", "the pack")
    added = cli.ok("packs", "add", "auth", "src/login.py:6-7", "--why", "Where it is made", "--key", "made")
    assert added == (
        "added main/made to auth, revision 2: src/login.py:6-7\n6: def token():\n7:     return 1\n"
    )
    said = cli.ok("packs", "section", "auth", "main", "--title", "Tokens", "--text", "Only **here**.")
    assert said == "changed section main of auth, revision 3\n"
    assert "stdin holds no text" in cli.refused("packs", "diagram", "auth", "flow/login", "-", code=2)
    drawing = cli.ok("packs", "diagram", "auth", "flow/login", "-", stdin="graph LR; a --> b")
    assert drawing == "drew flow/login in auth, revision 4\n"
    cli.ok("packs", "describe", "auth", "--title", "Login", "--brief", "Who makes tokens", "--tags", "x")
    cli.ok("packs", "rename", "auth", "main/made", "token")
    cli.ok("packs", "rename", "auth", "main", "tokens")
    shown = cli.ok("packs", "show", "auth")
    parts = ("# Context pack: Login\n", "- brief: Who makes tokens", "## Tokens [tokens]", "#### token [")
    assert all(part in shown for part in (*parts, "graph LR; a --> b"))
    assert cli.ok("packs", "remove", "auth", "flow/login").startswith("removed flow/login from auth")
    assert cli.ok("packs", "remove", "auth", "flow").startswith("removed flow from auth")
    assert "there is no 'flow' in it" in cli.refused("packs", "remove", "auth", "flow")
    assert cli.ok("packs", "finalize", "auth").startswith("finalized auth, revision ")
    assert "packs reopen" in cli.refused("packs", "add", "auth", "src/login.py:1")
    assert "auth is a draft again" in cli.ok("packs", "reopen", "auth")
    assert cli.ok("packs", "extend", "auth", "--ttl", "7d").startswith("auth lives until 20")


@pytest.mark.clause("CLI-61")
def test_changed_code_is_accepted_by_hand(cli: Login) -> None:
    cli.ok("packs", "add", "auth", "src/login.py:6-7", "--key", "made")
    lay(cli.folder, {"src/login.py": f"# new\n{CODE.replace('return 1', 'return 2')}"})
    said = cli.refused("packs", "finalize", "auth")
    assert "main/made  changed  src/login.py:6-7 → src/login.py:7-8 (changed since anchored)\n" in said
    assert cli.ok("packs", "accept", "auth", "main/made") == (
        "accepted 1 ref of auth, revision 3\n  main/made  src/login.py:6-7 → src/login.py:7-8\n"
    )
    again = cli("packs", "accept", "auth")
    assert (again.code, again.out, "nothing to accept" in again.err) == (1, "", True)
    assert "'packs show PACK --compact' lists its keys" in cli.refused("packs", "accept", "auth", "main")


@pytest.mark.clause("CLI-61")
def test_each_place_has_a_key_of_its_own_and_the_same_place_keeps_it(cli: Login) -> None:
    lay(cli.folder, {"run.go": "package a\n\nfunc Execute() {\n}\n\nfunc execute() {\n}\n"})
    for place, said in (
        ("run.go#Execute", "added main/run-go-execute to auth, revision 2: run.go:3-4\n"),
        ("run.go#execute", "added main/run-go-execute-2 to auth, revision 3"),
        ("run.go#execute", "replaced main/run-go-execute-2 in auth"),
        ("Session.renew", "added main/session-renew to auth"),
        ("Session.renew", "replaced main/session-renew in auth"),
        (f"{cli.folder}/src/login.py:1-3", "added main/src-login-py-1-3 to auth"),
        ("src/login.py:1-3", "replaced main/src-login-py-1-3 in auth"),
    ):
        assert cli.ok("packs", "add", "auth", place).startswith(said), place


@pytest.mark.clause("CLI-61")
@pytest.mark.parametrize(
    "place, said, code",
    [
        ("src/login.py", "write src/login.py:10-40 or src/login.py#Symbol", 2),
        ("my notes.py#", "write 'my notes.py':10-40 or 'my notes.py'#Symbol", 2),
        ("src/logn.py:1-2", "did you mean src/login.py?", 1),
        ("logn.py", "did you mean src/login.py?", 1),
        ("src/conf.py:1", "src/conf.py does not exist\n", 1),
        ("Sesion", "did you mean Session?", 1),
        ("src/login.py:6-9", "lines 6-9 do not exist: src/login.py has 7 lines; did you mean 6-7?", 1),
        ("src/login.py:0-2", "the first line must be at least 1", 1),
        ("src/login.py:2-1", "the last line must not be before the first line", 1),
        ("src/login.py:8", "lines 8-8 do not exist: src/login.py has 7 lines\n", 1),
        (".env:1", "cannot be shown", 1),
        ("picture.bin:1", "cannot be shown", 1),
        ("../other.py:1", "", 1),
    ],
)
def test_what_can_never_be_shown_is_refused_with_what_may_be_meant(
    cli: Login, place: str, said: str, code: int
) -> None:
    lay(cli.folder, {"gone.py": "", "my notes.py": "x = 1\n", ".env": "TOKEN=decoy\n"})
    (cli.folder / "picture.bin").write_bytes(b"\0\1\2\n")
    assert said in cli.refused("packs", "add", "auth", place, code=code)
    assert cli("packs", "show", "auth", "--json").json["revision"] == 1
    assert "did you mean 'auth'?" in cli.refused("packs", "add", "atuh", "src/login.py:1")


@pytest.mark.clause("CLI-65", "PK-80")
def test_prose_that_calls_a_source_file_by_a_path_that_is_none_is_told_so(cli: Login) -> None:
    text = "Look at `src/logn.py`, `src/login.py`, `docs/gone.txt`, `and/or` and `Nope.nothing`.\n"
    done = cli("packs", "import", "-", "--name", "told", stdin=text)
    assert (done.code, done.err) == (0, "src/logn.py does not exist; did you mean src/login.py?\n")


@pytest.mark.clause("AN-13", "CLI-61", "CLI-66")
def test_advice_fits_what_does_not_hold(cli: Login) -> None:
    lay(cli.folder, {"src/gone.py": "def gone():\n    return 1\n"})
    text = "It renews by `src/login.py#Session.renew`.\n\nIt went: `src/gone.py#gone`.\n"
    cli.ok("packs", "import", "-", "--name", "two", stdin=text)
    (cli.folder / "src/gone.py").unlink()
    lost = "what is not found cannot be accepted; 'packs edit {0}' corrects the text, "
    lost += "'packs remove {0} SECTION/REF' takes the ref out"
    stale = cli("verify").err
    assert stale == f"In packs {lost.format('PACK')}.\n", "nothing here can be accepted"
    assert cli("packs", "verify", "two").err == f"In two {lost.format('two')}.\n"
    code = (cli.folder / "src/login.py").read_text()
    lay(cli.folder, {"src/login.py": code.replace("return", "return not")})
    accept = "--diff shows what changed; if the words still hold: 'packs accept PACK'.\n"
    assert cli("verify").err == accept + stale
    accepted = cli("packs", "accept", "two")
    assert (accepted.code, accepted.err) == (0, f"overview/gone stale: {lost.format('two')}\n")
    assert cli("verify").err == stale


@pytest.mark.clause("CLI-66")
def test_a_broken_bundle_is_no_reason_to_accept_packs(cli: Login) -> None:
    lay(cli.folder, {"shop/sdd-bundle.yaml": "kind: Bundle\nspec: {bundleTypeDefinition: none.yaml}\n"})
    done = cli("verify")
    assert (done.code, done.err) == (1, "")


@pytest.mark.clause("CLI-61", "CLI-65")
def test_a_name_or_key_that_is_too_short_is_told_with_what_to_do(cli: Login) -> None:
    lay(cli.folder, {"H.md": "Words.\n"})
    refused = cli.refused("packs", "import", "H.md", code=2)
    assert "H.md gives the pack no name: 'name' must have 3 to 120 characters; --name gives one" in refused
    said = cli.ok("packs", "section", "auth", "s", "--text", "Words.")
    assert said == "added section s-1 ('s' is too short for a key) of auth, revision 2\n"


@pytest.mark.clause("CLI-04")
def test_an_option_is_suggested_only_where_it_is_nearly_the_same(cli: Login) -> None:
    assert "Did you mean '--strict'?" in cli.refused("verify", "--strct", code=2)
    assert "Did you mean" not in cli.refused("--frob", code=2)


@pytest.mark.clause("CLI-66")
def test_verify_cuts_a_long_statement_around_the_place_that_changed(cli: Login) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    text = f"{words} `src/login.py:1` {words} `src/login.py#Session.renew` {words}.\n"
    cli.ok("packs", "import", "-", "--name", "long", stdin=text)
    code = (cli.folder / "src/login.py").read_text()
    lay(cli.folder, {"src/login.py": code.replace("return", "return not")})
    row = cli("verify").out.splitlines()[0]
    cut = row[row.index("claim: ") : row.index(" — pack long")]
    assert "word59 `src/login.py#Session.renew` word0" in cut
    assert (cut[7], cut[-1], len(cut) <= 107) == ("…", "…", True)


@pytest.mark.clause("CLI-66", "KW-08")
def test_about_lines_that_do_not_exist_says_so(cli: Login) -> None:
    refused = cli.refused("about", "src/login.py:90-91")
    words = "lines 90-91 do not exist, and nothing is written about them: src/login.py has 7 lines"
    assert refused.strip() == f"context-pack: {words}"
    assert cli("about", "src/login.py:0").code == 2


@pytest.mark.clause("CLI-04", "CLI-61")
def test_files_are_named_from_the_project_or_from_the_working_directory(cli: Login) -> None:
    lay(cli.folder, {"login.py": "other = 1\n"})
    inside = CommandLine(cli.folder / "src")
    places = ["login.py", "./login.py", "../login.py", f"{cli.folder}/src/login.py"]
    for number, place in enumerate(places):
        done = inside("packs", "add", "auth", f"{place}:1", "--key", f"p{number}", "--source-root", "..")
        assert done.code == 0, done
    refs = cli("packs", "show", "auth", "--json").json["sections"][0]["refs"]
    assert [ref["path"] for ref in refs] == ["login.py", "src/login.py", "login.py", "src/login.py"]


@pytest.mark.clause("PK-71")
def test_a_diagram_that_cannot_be_drawn_is_named(cli: Login) -> None:
    pytest.importorskip("mmdr")
    cli.ok("packs", "add", "auth", "src/login.py:1-3")
    drawn = cli("packs", "diagram", "auth", "main/flow", "-", stdin="graph TD; a[x-->b")
    assert (drawn.code, "cannot be drawn: Diagram parse error" in drawn.err) == (0, True)
    assert "diagram     main/flow  cannot be drawn: Diagram parse error" in cli.ok("packs", "verify", "auth")
    done = cli("packs", "finalize", "auth")
    assert (done.code, "the diagram main/flow cannot be drawn: Diagram parse error" in done.err) == (0, True)


@pytest.mark.clause("CLI-65")
def test_a_markdown_file_becomes_a_pack_and_says_what_became_of_its_places(cli: Login) -> None:
    lay(cli.folder, {"HANDOVER.md": HAND_OVER})
    made = cli.ok("packs", "import", "HANDOVER.md")
    assert "1 section, 2 refs, 1 diagram, 0 statements without code\n" in made
    assert "src/login.py  " in made
    gone = HAND_OVER.replace("login.py#Session.renew", "login.py#Session.end")
    again = cli("packs", "import", "-", "--name", "HANDOVER", stdin=gone)
    assert (again.code, "src/login.py#Session.end: " in again.err) == (1, True)
    assert cli("packs", "show", "HANDOVER", "--json").json["revision"] == 2
    assert cli("packs", "import", "-", stdin=gone).code == 2
    assert "absent.md: No such file" in cli.refused("packs", "import", "absent.md")


@pytest.mark.clause("CLI-65")
def test_a_pack_is_edited_as_markdown_and_lint_says_what_to_look_at(cli: Login) -> None:
    cli.ok("packs", "import", "-", "--name", "login", stdin=HAND_OVER)
    editor = cli.folder / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/Nobody else/Only a session/" "$1"\n')
    editor.chmod(0o755)
    assert "wrote login, revision 2" in cli.ok("packs", "edit", "login", EDITOR=str(editor))
    assert "Only a session makes a `token`." in cli.ok("packs", "show", "login", "--compact")
    assert cli.ok("packs", "edit", "login", EDITOR=str(editor)) == "nothing was changed\n"
    assert cli.ok("packs", "lint", "login") == "nothing to remark\n"
    cli.ok("packs", "section", "login", "notes", "--text", "Everybody knows that.")
    remarks = cli("packs", "lint", "login")
    assert remarks.code == 1
    assert remarks.out == "notes  no code stands behind it: Everybody knows that.\n"
    lay(cli.folder, {"src/login.py": CODE.replace("renew", "prolong")})
    cli.ok("packs", "accept", "login")
    lost = (
        "its code has another name or file: src/login.py#Session.renew is src/login.py#Session.prolong now: "
    )
    assert lost in cli("packs", "lint", "login").out


@pytest.mark.clause("CLI-61", "CLI-65")
def test_places_that_a_section_names_become_refs_and_only_new_ones_can_be_missed(cli: Login) -> None:
    text = "Made in `src/login.py#token`, never in `gone.py:1-2`."
    said = cli("packs", "section", "auth", "How it ends", "--text", text)
    assert (said.code, said.out) == (1, "added section how-it-ends of auth, revision 2\n")
    assert "gone.py:1-2: gone.py does not exist" in said.err
    (section,) = cli("packs", "show", "auth", "--json").json["sections"]
    assert (section["title"], [ref["path"] for ref in section["refs"]]) == ("How it ends", ["src/login.py"])
    editor = cli.folder / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/Made/Tokens are made/" "$1"\n')
    editor.chmod(0o755)
    assert "wrote auth, revision 3" in cli.ok("packs", "edit", "auth", EDITOR=str(editor))
    lay(cli.folder, {"src/login.py": CODE.replace("return 1", "return 2")})
    assert "packs show auth --diff" in cli("packs", "verify").err
    editor.write_text('#!/bin/sh\nsed -i "s/Tokens are/A token is/" "$1"\n')
    edited = cli.ok("packs", "edit", "auth", EDITOR=str(editor))
    assert "re-anchored, its code had changed: how-it-ends/token changed src/login.py:" in edited


@pytest.mark.clause("CLI-65")
def test_an_edit_that_comes_too_late_is_kept_in_a_file(cli: Login) -> None:
    cli.ok("packs", "import", "-", "--name", "login", stdin=HAND_OVER)
    editor = cli.folder / "editor.sh"
    other = "context_pack packs describe login --brief meanwhile"
    python = f'cd "{cli.folder}" && {" ".join(MAIN)} {other.removeprefix("context_pack ")}'
    editor.write_text(f'#!/bin/sh\nsed -i "s/Nobody else/Only a session/" "$1"\n{python} >/dev/null\n')
    editor.chmod(0o755)
    done = cli("packs", "edit", "login", EDITOR=str(editor))
    (kept,) = cli.folder.glob("login.edited-*.md")
    assert (done.code, f"what you wrote is kept in {kept.name}" in done.err) == (1, True), done
    assert "Only a session" in kept.read_text()
    assert cli("packs", "show", "login", "--json").json["brief"] == "meanwhile"


@pytest.mark.clause("CLI-66", "KW-07")
def test_a_rule_is_known_at_its_place_and_the_gate_watches_it(cli: Login) -> None:
    git(cli.folder, "init", "-q")
    git(cli.folder, "add", "src")
    git(cli.folder, "commit", "-qm", "x")
    cli.ok("packs", "import", "-", "--name", "login", stdin=HAND_OVER)
    where = ("--path", "src/login.py", "--symbol", "token")
    cli.ok("memory", "add", "rule", "Only a session asks for a token", *where)
    for place in ("src/login.py", "src/login.py:6", "src/login.py#token"):
        assert cli.ok("about", place).startswith("rule: Only a session asks for a token (src/login.py:6-7")
    nothing = cli("about", "src")
    assert (nothing.code, nothing.out) == (1, "") or "login.py" in nothing.out
    assert "holds" in cli.ok("verify")
    assert "0 statements touched" in cli.ok("affected")
    lay(cli.folder, {"src/login.py": CODE.replace("return 1", "return 2")})
    gate = cli("verify", "--github", "--diff")
    assert (gate.code, "rule: Only a session asks for a token — discovery " in gate.out) == (1, True)
    assert "+    return 2" in gate.out
    assert "::error file=src/login.py,line=6,endLine=7,title=context-pack::" in gate.out
    assert gate.out.splitlines()[-1].endswith("1 of discoveries (1 does not hold)")
    assert "read again" in cli.ok("about", "src/login.py")
    touched = cli("affected", "HEAD", "--json")
    assert (touched.code, {row["holds"] for row in touched.json["rows"]}) == (1, {False})
    cli.ok("packs", "accept", "login")
    (row,) = cli("verify", "--json").json["rows"]
    cli.ok("memory", "accept", row["from"].removeprefix("discovery "))
    cli.ok("verify")
    unknown = cli("affected", "no-such-branch")
    assert (unknown.code, "revision" in unknown.err) == (2, True)


@pytest.mark.clause("CLI-62", "ME-08")
def test_discoveries_are_found_beside_code_and_shown_by_how_their_ids_begin(cli: Login) -> None:
    assert "there is nothing to search" not in cli("search", "token").err
    long = "Tokens are made in one place, " + "and nowhere else, " * 10
    name = cli("memory", "add", "rule", long, "--path", "src/login.py", "--symbol", "token", "--json").json[
        "id"
    ]
    other = cli("memory", "add", "issue", "Renewing is slow on Mondays", "--json").json["id"]
    assert "src/login.py:" in cli.ok("search", "where is the token renewed")
    hits = cli("memory", "search", "where are tokens made", "--json").json["results"]
    assert {each["source"] for each in hits} == {"discovery"}
    assert cli("search", "xyzzyqwert", "--sources", "discovery", "--type", "pattern").code == 1
    assert "memory show ID" in cli("memory", "list").err
    shown = cli.ok("memory", "show", name[:8]).splitlines()[1:]
    assert shown == [f"    {long.strip()}", "    about src/login.py:6-7 token (exact)"]
    told = cli("memory", "show", "nobody", other[:6], "--json")
    assert [each["id"] for each in told.json["discoveries"]] == [other]
    assert (told.code, "no discovery has that id" in told.err) == (1, True)
    lay(cli.folder, {"src/login.py": CODE.replace("return 1", "return 2")})
    assert "[code changed]" in cli.ok("memory", "list")
    changed = cli("memory", "show", name[:8])
    assert "    -    return 1\n    +    return 2\n" in changed.out
    assert f"context-pack memory accept {name[:8]}" in changed.err
    assert cli("memory", "accept", name[:8]).code == 0
    assert cli.ok("memory", "show", name[:8]).endswith("token (exact)\n")
    assert cli.ok("memory", "forget", other[:6]) == f"forgot {other}\n"
