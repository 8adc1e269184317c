"""Packs built by hand, searches and completion from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine, Done

from context_pack_adapters.cli.dispatch import run

CODE = "class Session:\n    def renew(self):\n        return token()\n\n\ndef token():\n    return 1\n"


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """The command line over a small project."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/login.py").write_text(CODE)
    return CommandLine(tmp_path)


@pytest.mark.clause("CLI-61")
def test_a_pack_is_made_and_code_is_added_without_a_revision(cli: CommandLine) -> None:
    made = cli("packs", "create", "auth-flow", "--title", "How login works", "--json").json
    assert (made["name"], made["revision"]) == ("auth-flow", 1)
    done = cli("packs", "add", "auth-flow", "src/login.py:6-7", "--why", "Where it is made")
    assert (done.code, "revision 3" in done.out) == (0, True), done.err
    assert cli("packs", "add", "auth-flow", "src/login.py#Session.renew", "--section", "renewing").code == 0
    shown = cli("packs", "show", "auth-flow").out
    assert "return 1" in shown
    assert "def renew(self):" in shown
    assert "Where it is made" in shown
    refs = cli("packs", "verify", "auth-flow", "--json")
    assert refs.code == 0


@pytest.mark.clause("CLI-61")
def test_packs_add_suggests_near_names_and_refuses_bad_places(cli: CommandLine) -> None:
    cli("packs", "create", "auth-flow")
    near = cli("packs", "add", "auth-flw", "src/login.py:1")
    assert near.code == 1
    assert "did you mean 'auth-flow'?" in near.err
    assert cli("packs", "add", "auth-flow", "src/login.py").code == 2
    file = cli("packs", "add", "auth-flow", "src/logn.py:1-2")
    assert (file.code, "did you mean src/login.py?" in file.err) == (1, True), file.err


@pytest.mark.clause("CLI-61")
def test_packs_add_refuses_what_is_denied_outside_or_no_text(cli: CommandLine) -> None:
    cli("packs", "create", "auth-flow")
    (cli.folder / ".env").write_text("TOKEN=decoy\nOTHER=decoy\n")
    (cli.folder / "picture.bin").write_bytes(b"\0\1\2\n")
    for place in (".env:1-2", "../other.py:1-2", "picture.bin:1"):
        done = cli("packs", "add", "auth-flow", place)
        assert (done.code, done.out) == (1, ""), place
    assert cli("packs", "show", "auth-flow", "--json").json["revision"] == 1


@pytest.mark.clause("CLI-61")
def test_an_absolute_path_in_the_project_becomes_a_relative_key(cli: CommandLine) -> None:
    cli("packs", "create", "auth-flow")
    place = f"{cli.folder / 'src/login.py'}:1-3"
    added = cli("packs", "add", "auth-flow", place).out.splitlines()
    assert added[0] == "added main/src-login-py-1-3 to auth-flow, revision 3: src/login.py:1-3"
    assert added[1] == "1: class Session:"
    assert cli("packs", "add", "auth-flow", "src/login.py:1-3", "--why", "W").out.startswith("replaced ")


@pytest.mark.clause("PK-71")
def test_a_diagram_that_cannot_be_drawn_is_named_by_verify_and_finalize(cli: CommandLine) -> None:
    pytest.importorskip("mmdr")
    made = cli("packs", "create", "auth-flow", "--json").json
    cli("packs", "add", "auth-flow", "src/login.py:1-3")
    put = ["call", "input", "action=upsert_diagram", f"id={made['id']}", "expected_revision=3"]
    answer = cli(*put, "section_key=main", "diagram_key=flow", "title=Flow", "mermaid=graph TD; a[x-->b").json
    assert "cannot be drawn: Diagram parse error" in answer["payload"]["changed"]["warning"]
    done = cli("packs", "verify", "auth-flow")
    assert (done.code, "diagram     main/flow  cannot be drawn: Diagram parse error" in done.out) == (0, True)
    done = cli("packs", "finalize", "auth-flow")
    assert (done.code, "the diagram main/flow cannot be drawn: Diagram parse error" in done.err) == (0, True)


@pytest.mark.clause("CLI-61")
def test_packs_add_says_what_to_write_for_a_file_without_lines(
    tmp_path: Path, here: Callable[..., Done]
) -> None:
    (tmp_path / "my notes.py").write_text("def h():\n    return 1\n")
    here("packs", "create", "auth-flow")
    add = ("packs", "add", "auth-flow")
    for place in ("my notes.py", "my notes.py:1,2", "my notes.py#"):
        part = here(*add, place)
        assert (part.code, "write 'my notes.py':10-40 or 'my notes.py'#Symbol" in part.err) == (2, True)
    for place in ("logn.py", "login.py", "lib/login.py"):
        file = here(*add, place)
        assert (file.code, "File not found" in file.err) == (1, True)
        assert "did you mean src/login.py?" in file.err
    assert here(*add, "h").out.startswith("added main/ref-h to auth-flow, revision 3: ")


@pytest.mark.clause("CLI-61")
def test_a_pack_is_accepted_extended_and_finalized_without_a_revision(
    tmp_path: Path, cli: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--source-root", str(tmp_path)]

    def pack(*words: str) -> str:
        assert run(["packs", *words, *place]) == 0
        return capsys.readouterr().out

    pack("create", "auth-flow", "--ttl", "1h")
    pack("add", "auth-flow", "src/login.py:6-7", "--key", "renew")
    code = (tmp_path / "src/login.py").read_text()
    (tmp_path / "src/login.py").write_text(f"# new\n{code.replace('return 1', 'return 2')}")
    assert run(["packs", "finalize", "auth-flow", *place]) == 1
    said = "main/renew  changed  src/login.py:6-7 → src/login.py:7-8 (changed since anchored)\n"
    assert said in capsys.readouterr().err
    assert pack("accept", "auth-flow", "main/renew").startswith("accepted 1 ref of auth-flow, revision 4\n")
    for refs in ((), ("main/renew",)):
        assert run(["packs", "accept", "auth-flow", *refs, *place]) == 1
        assert "nothing to accept" in capsys.readouterr().err
    assert pack("extend", "auth-flow", "--ttl", "7d").startswith("auth-flow lives until 20")
    assert pack("finalize", "auth-flow") == "finalized auth-flow, revision 6\n"


@pytest.fixture
def here(tmp_path: Path, cli: CommandLine, capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """Runs a command over that project in this process."""

    def command(*words: str) -> Done:
        code = run([*words, "--source-root", str(tmp_path)])
        return Done(code, *capsys.readouterr())

    return command


@pytest.mark.clause("CLI-61")
def test_packs_add_takes_a_name_that_one_file_defines(here: Callable[..., Done]) -> None:
    here("packs", "create", "auth-flow")
    assert here("packs", "add", "auth-flow", "Session.renew").out.startswith(
        "added main/session-renew to auth-flow, revision 3: src/login.py:2-3\n"
    )
    again = here("packs", "add", "auth-flow", "Session.renew")
    assert again.out.startswith("replaced main/session-renew in auth-flow, revision 3: ")
    near = here("packs", "add", "auth-flow", "Sesion")
    assert (near.code, "did you mean Session?" in near.err) == (1, True), near.err


@pytest.mark.clause("CLI-61")
def test_packs_add_gives_each_place_its_own_ref_key(tmp_path: Path, here: Callable[..., Done]) -> None:
    (tmp_path / "run.go").write_text("package a\n\nfunc Execute() {\n}\n\nfunc execute() {\n}\n")
    assert "add 'the pack' FILE" in here("packs", "create", "the pack").out
    add = ("packs", "add", "the pack")
    assert here(*add, "run.go#Execute").out.startswith("added main/run-go-execute to the pack, revision 3")
    assert here(*add, "run.go#execute").out.startswith("added main/run-go-execute-2 to the pack, revision 4")
    assert here(*add, "run.go#execute", "--why", "new").out.startswith("replaced main/run-go-execute-2 in")
    assert here(*add, "run.go:1", "--key", "run-go-execute").out.startswith("replaced main/run-go-execute in")
    shown = here("packs", "show", "the pack").out
    assert "func execute() {" in shown
    assert "func Execute() {" not in shown


@pytest.mark.clause("CLI-61")
def test_a_line_that_is_not_there_is_refused_and_a_final_pack_is_opened_again(
    tmp_path: Path, here: Callable[..., Done]
) -> None:
    here("packs", "create", "auth-flow")
    past = here("packs", "add", "auth-flow", "src/login.py:6-9")
    assert past.code == 1
    assert "there is no line 9: src/login.py has 7 lines" in past.err
    here("packs", "add", "auth-flow", "src/login.py#token")
    here("packs", "finalize", "auth-flow")
    refused = here("packs", "add", "auth-flow", "src/login.py:1")
    assert (refused.code, "packs reopen" in refused.err) == (1, True)
    assert here("packs", "reopen", "auth-flow").out == "auth-flow is a draft again, revision 5\n"
    assert "there are 1, 2, 3, 4, 5" in here("packs", "diff", "auth-flow", "77").err
    (tmp_path / "src/login.py").write_text("\n" + CODE.replace("return 1", "return 2"))
    told = here("packs", "accept", "auth-flow").out.splitlines()
    assert told[1:] == ["  main/src-login-py-token  src/login.py:6-7 → src/login.py:7-8"]


@pytest.mark.clause("CLI-06", "CLI-61")
def test_files_are_named_from_the_project_or_from_the_working_directory(
    tmp_path: Path, here: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    here("packs", "create", "auth-flow")
    (tmp_path / "login.py").write_text("other = 1\n")
    monkeypatch.chdir(tmp_path / "src")
    for number, place in enumerate(["login.py", "./login.py", "../login.py", str(tmp_path / "src/login.py")]):
        assert here("packs", "add", "auth-flow", f"{place}:1", "--key", f"p{number}").code == 0
    (tmp_path / "login.py").unlink()
    assert here("packs", "add", "auth-flow", "login.py:1", "--key", "p4").code == 0
    refs = here("packs", "show", "auth-flow", "--json").json["sections"][0]["refs"]
    assert [ref["path"] for ref in refs] == [
        "login.py", "src/login.py", "login.py", "src/login.py", "src/login.py",
    ]  # fmt: skip
    assert here("packs", "add", "auth-flow", "../../elsewhere.py:1").code == 1


@pytest.mark.clause("CD-45", "CD-58", "CLI-06")
def test_code_is_read_and_searched_by_the_places_that_packs_take(
    tmp_path: Path, here: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    here("packs", "create", "auth-flow")
    here("packs", "add", "auth-flow", "src/login.py#token", "--why", "def token is the one")
    monkeypatch.chdir(tmp_path / "src")
    (tmp_path / "src/c[1].txt").write_text("def token\n")
    assert here("read", "login.py:6-7").out == "6: def token():\n7:     return 1\n"
    assert here("read", "login.py#Session.renew").out.startswith("2:     def renew(self):\n")
    assert here("read", "login.py:7-70").err == "src/login.py has 7 lines.\n"
    assert here("usages", "token", "--path", "login.py").out.startswith("token: 1 definition, 1 use")
    everywhere = ["src/c[1].txt:1:def token", "src/login.py:6:def token():"]
    for path, found in (
        ((), everywhere),
        ((".",), everywhere),
        (("..", "-g", "*.py"), everywhere[1:]),
        (("c[1].txt",), everywhere[:1]),
        ((str(tmp_path), "-g", "*.txt"), everywhere[:1]),
    ):
        assert here("grep", "def token", *path).out.splitlines() == found, path
    assert here("grep", "def token", "nowhere").code == 2
    assert here("grep", "def token", ".", "-g", "!*.py").code == 2


@pytest.mark.clause("CLI-07")
def test_a_home_folder_is_walked_only_on_request(
    tmp_path: Path, here: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for words in (["search", "where is the token"], ["contexts", "init"]):
        assert run(words) == 2
    assert not [*tmp_path.rglob(".context.yaml")]
    assert here("contexts", "init").code == 0
    (tmp_path / ".git").mkdir()
    assert run(["contexts", "refresh"]) == 0


@pytest.mark.clause("CLI-45", "HTML-15")
def test_a_file_that_ends_with_html_is_a_page(tmp_path: Path, here: Callable[..., Done]) -> None:
    here("packs", "create", "auth-flow")
    page = str(tmp_path / "out.html")
    assert here("packs", "export", "auth-flow", "-o", page).code == 0
    assert (tmp_path / "out.html").read_text().startswith("<!DOCTYPE html>")
    assert here("packs", "export", "auth-flow", "--compact", "-o", page, "--force").code == 2


@pytest.mark.clause("CLI-62")
def test_code_and_discoveries_are_searched(cli: CommandLine) -> None:
    cli("memory", "add", "rule", "Tokens are renewed by the session, never by a view")
    found = cli("search", "where is the token renewed")
    assert "src/login.py:" in found.out, found.err
    remembered = cli("memory", "search", "who renews tokens", "--json").json["results"]
    assert {each["source"] for each in remembered} == {"discovery"}
    assert cli("search", "x").code == 1


@pytest.mark.clause("CLI-62", "ME-08")
def test_discoveries_are_found_beside_much_code_and_say_when_theirs_changed(
    cli: CommandLine, tmp_path: Path
) -> None:
    for number in range(8):
        (tmp_path / f"src/lease_{number}.py").write_text(f"def take_lease_{number}(job):\n    return job\n")
    cli("memory", "add", "rule", "Whoever works for long gives the lease back", "--symbol", "take_lease_0")
    cli("memory", "add", "decision", "A lease ends when its worker does not say anything for a minute")
    (tmp_path / "src/lease_0.py").write_text("def take_lease_0(job):\n    return job.renewed()\n")
    found = cli("memory", "search", "take lease job", "--limit", "2").out
    assert "lease back" in found
    assert "its worker" in found
    assert found.count("[code changed]") == 1


@pytest.mark.clause("CLI-62")
def test_a_discovery_is_shown_whole_with_its_code_by_how_its_id_begins(here: Callable[..., Done]) -> None:
    assert here("memory", "search", "anything at all").code == 1
    long = "Tokens are made in one place, " + "and nowhere else, " * 10
    note = ("--path", "src/login.py", "--symbol", "token")
    name = here("memory", "add", "rule", long, *note, "--json").json["id"]
    other = here("memory", "add", "issue", "Renewing is slow on Mondays", "--json").json["id"]
    assert "memory show ID" in here("memory", "list").err
    shown = here("memory", "show", name[:8])
    assert shown.out.splitlines()[1:] == [
        f"    {long.strip()}",
        "    about src/login.py:6-7 token (exact)",
    ]
    told = here("memory", "show", "nobody", other, "--json")
    assert [each["id"] for each in told.json["discoveries"]] == [other]
    assert (told.code, "no discovery has that id" in told.err) == (1, True)


@pytest.mark.clause("CLI-63")
@pytest.mark.parametrize(
    "words, expected",
    [
        ("packs ", "create"),
        ("packs show ", "auth-flow"),
        ("packs accept auth-flow ", "main/one"),
        ("packs add auth-flow src/login.py:1 --section ", "main"),
    ],
)
def test_a_shell_completes_commands_and_names(cli: CommandLine, words: str, expected: str) -> None:
    cli("packs", "create", "auth-flow")
    cli("packs", "add", "auth-flow", "src/login.py:1-2", "--key", "one")
    typed = ["context-pack", *words.split(), ""]
    asked = {"COMP_WORDS": f"context-pack {words}", "COMP_CWORD": str(len(typed) - 1)}
    done = cli(**asked, _CONTEXT_PACK_COMPLETE="bash_complete")
    assert f"plain,{expected}" in done.out.splitlines()


@pytest.mark.clause("CLI-63")
def test_the_completion_script_asks_the_command(cli: CommandLine) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert f"_CONTEXT_PACK_COMPLETE={shell}_complete" in cli("completion", shell).out


@pytest.mark.clause("CLI-64")
def test_refs_that_do_not_hold_are_annotations_at_their_lines(cli: CommandLine, tmp_path: Path) -> None:
    cli("packs", "create", "auth-flow")
    cli("packs", "add", "auth-flow", "src/login.py:6-7")
    assert "::error" not in cli("packs", "verify", "--github").out
    (tmp_path / "src/login.py").write_text("nothing is left\n")
    told = cli("packs", "verify", "--github")
    assert told.code == 1
    (line,) = [line for line in told.out.splitlines() if line.startswith("::")]
    assert line.startswith(
        "::error file=src/login.py,line=6,endLine=7,title=context-pack::main/src-login-py-6-7 of"
    )
