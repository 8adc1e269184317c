"""`context-pack packs`: list, show, verify, repair, delete and export, for people, scripts and CI jobs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import MAIN, CommandLine, Done
from stdio_client import environment

from context_pack import Pack, UpsertRef, UpsertSection, open_workspace

CODE = "import os\n\n\ndef login(user):\n    return user.name\n"


class Shop(CommandLine):
    """The command line in a project with one source file."""

    def source(self, text: str) -> None:
        """Write the source file."""
        (self.folder / "auth.py").write_text(text)

    def pack(self, name: str = "auth", start: int = 4, end: int = 5) -> Pack:
        """A draft with a ref to the definition."""
        with open_workspace(self.folder) as workspace:
            made = workspace.packs.create(ttl_minutes=60, name=name, title="How login works")
            return workspace.packs.apply(
                made,
                UpsertSection(section_key="main", section_title="Main"),
                UpsertRef(
                    section_key="main", ref_key="login", path="auth.py", line_start=start, line_end=end
                ),
            )

    def finalize(self, pack: Pack) -> None:
        """Finalize a pack."""
        with open_workspace(self.folder) as workspace:
            workspace.packs.set_status(pack, "finalized")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A project with code."""
    made = Shop(tmp_path)
    made.source(CODE)
    return made


@pytest.mark.clause("CLI-40")
def test_list_shows_a_line_per_pack(shop: Shop) -> None:
    empty = shop("packs", "list")
    assert (empty.out, "packs draft QUESTION" in empty.err) == ("No context packs found.\n", True)
    assert shop("packs", "list", "--query", "x") == (0, "No context packs found.\n", "")
    one, other = shop.pack("auth"), shop.pack("billing")
    shop.finalize(one)
    lines = shop("packs", "list").out.splitlines()
    assert lines[0].split() == ["ID", "STATUS", "REVISION", "TTL", "NAME", "AND", "TITLE"]
    assert lines[1].split(maxsplit=4) == [one.id, "finalized", "3", "59m", "(soon)  auth — How login works"]
    assert lines[2].split(maxsplit=2)[:2] == [other.id, "draft"]
    assert [pack["name"] for pack in shop("packs", "list", "--json").json["packs"]] == ["auth", "billing"]


@pytest.mark.clause("ST-64", "CLI-40", "CLI-42")
def test_an_expired_pack_is_named_by_verify_and_comes_back(shop: Shop) -> None:
    assert shop("packs", "verify", "--strict").code == 1, "there is nothing to check"
    pack = shop.pack("auth")
    (file,) = shop.folder.rglob(f"{pack.id}.md")
    text = file.read_text()
    file.write_text(re.sub("expires_at: .*", "expires_at: '2020-01-01T00:00:00Z'", text))
    assert shop("packs", "list").out == "No context packs found.\n"
    assert not file.exists()
    for handle in ("auth", pack.id):
        said = shop("packs", "show", handle)
        assert (said.code, f"packs restore {pack.id}" in said.err) == (1, True), said.err
        assert "packs list --expired" in said.err
    other = shop.pack("other")
    for named in ((), (pack.id,), ("auth",), ("other", "auth")):
        done = shop("packs", "verify", *named)
        assert (done.code, f"{pack.id}  auth — How login works: expired" in done.out) == (0, True), done.err
        assert shop("packs", "verify", "--strict", *named).code == 1
    assert shop("packs", "verify", "--json").json["expired"] == [pack.id]
    assert shop("packs", "verify", "--strict", other.id).code == 0
    assert pack.id in shop("packs", "list", "--expired").out
    assert names(shop("packs", "list", "--expired", "--json")) == ["auth"]
    assert shop("packs", "restore", "auth", "--ttl", "soon").code == 2
    assert shop("packs", "restore", "none", "--ttl", "7d").code == 1
    assert shop("packs", "restore", "auth").out.startswith(f"restored {pack.id}, until ")
    listed = shop("packs", "list").out
    assert "89d  " in listed
    assert shop("packs", "verify").code == 0
    assert shop("packs", "list", "--expired").out == "No expired packs found.\n"


@pytest.mark.clause("ST-64")
def test_an_expired_pack_is_deleted_for_good(shop: Shop) -> None:
    pack = shop.pack("auth")
    (file,) = shop.folder.rglob(f"{pack.id}.md")
    file.write_text(re.sub('expires_at: "[^"]*"', 'expires_at: "2020-01-01T00:00:00Z"', file.read_text()))
    assert shop("packs", "delete", "auth").out == f"deleted {pack.id}\n"
    assert shop("packs", "list", "--expired").out == "No expired packs found.\n"
    assert shop("packs", "delete", "auth").code == 1


@pytest.mark.clause("CLI-46")
def test_commands_look_at_every_ref_of_a_large_pack(shop: Shop) -> None:
    lines = [f"value_{number} = {number}" for number in range(1_200)]
    (shop.folder / "large.py").write_text("\n".join(lines) + "\n")
    with open_workspace(shop.folder) as workspace:
        pack = workspace.packs.create(ttl_minutes=60, name="large", title="T")
        pack = workspace.packs.upsert_section(pack, section_key="main", section_title="Main")
        for start in range(0, 600, 100):
            refs = [
                UpsertRef(
                    section_key="main",
                    ref_key=f"ref-{number}",
                    path="large.py",
                    line_start=2 * number + 1,
                    line_end=2 * number + 2,
                )
                for number in range(start, start + 100)
            ]
            pack = workspace.packs.apply(pack, *refs)
    assert len(shop("packs", "show", "large", "--json").json["sections"][0]["refs"]) == 600
    found = shop("packs", "diff", "large", "2", "--json").json
    assert (len(found["changes"]), "more" in found) == (600, False)
    (shop.folder / "large.py").write_text("\n".join([*lines[:-1], "value_1199 = 'other'"]) + "\n")
    done = shop("packs", "verify", "large")
    assert (done.code, "600 refs, does not hold" in done.out, "main/ref-599" in done.out) == (1, True, True)
    states = [ref["state"] for ref in shop("packs", "verify", "--json").json["packs"][0]["refs"]]
    assert states == ["changed"]  # what is exact is only counted
    (shop.folder / "large.py").write_text("\n".join(["", *lines]) + "\n")
    assert len(shop("packs", "repair", "large", "--json").json["packs"][0]["repaired"]) == 600


@pytest.mark.clause("PK-70", "ST-66")
def test_diff_says_what_changed_between_revisions(shop: Shop) -> None:
    pack = shop.pack("auth")
    shop.finalize(pack)
    done = shop("packs", "diff", "auth")
    assert done.out == f"{pack.id}: revision 2 to 3\n  words: pack (status)\n"
    assert "added: ref main/login" in shop("packs", "diff", "auth", "1").out
    assert shop("packs", "diff", "auth", "1", "2", "--json").json["to"] == 2
    assert shop("packs", "diff", "auth", "1", "2", "3").code == 2
    assert shop("packs", "diff", "auth", "9").code == 1


@pytest.mark.clause("CLI-40")
def test_a_list_is_filtered_by_status_and_query(shop: Shop) -> None:
    shop.finalize(shop.pack("auth"))
    shop.pack("billing")
    assert names(shop("packs", "list", "--status", "draft", "--json")) == ["billing"]
    assert names(shop("packs", "list", "--query", "AUT", "--json")) == ["auth"]
    assert shop("packs", "list", "--status", "gone").code == 2


def names(done: Done) -> list[str]:
    """The names in a JSON list."""
    return [pack["name"] for pack in done.json["packs"]]


@pytest.mark.clause("PK-67", "CLI-41", "CLI-45")
def test_show_and_export_tell_when_the_context_of_a_named_folder_is_stale(shop: Shop) -> None:
    (shop.folder / "lib").mkdir()
    (shop.folder / "lib/a.py").write_text("x = 1\n" * 4000)
    assert shop("contexts", "init").code in (0, 1)
    assert shop("contexts", "refresh").code == 0
    with open_workspace(shop.folder) as workspace:
        named = UpsertSection(section_key="lib", section_title="Lib", section_scope="lib")
        workspace.packs.apply(shop.pack(), named)
    assert "stale_scopes" not in shop("packs", "show", "auth").out
    (shop.folder / "lib/b.py").write_text("y = 2\n")
    assert "- stale_scopes: lib\n" in shop("packs", "show", "auth").out
    page = shop("packs", "export", "auth", "--html", "-o", "-").out
    assert "stale scopes: lib" in page


@pytest.mark.clause("CLI-41")
def test_show_renders_the_pack_with_its_code(shop: Shop) -> None:
    pack = shop.pack()
    done = shop("packs", "show", "auth")
    assert done.code == 0
    assert done.out.startswith("[LEGEND]\n# Context pack: How login works\n")
    assert "   4: def login(user):\n" in done.out
    assert shop("packs", "show", pack.id).out.splitlines()[2:] == done.out.splitlines()[2:]
    assert "def login" not in shop("packs", "show", "auth", "--compact").out
    assert shop("packs", "show", "auth", "--json").json["sections"][0]["refs"][0]["key"] == "login"


@pytest.mark.clause("CLI-41")
def test_show_is_coloured_on_a_terminal_only_and_only_if_wanted(shop: Shop) -> None:
    shop.pack()
    plain = shop("packs", "show", "auth").out
    coloured = shop.on_terminal("packs", "show", "auth").out
    assert "\x1b[" not in plain
    assert "\x1b[01m# Context pack: How login works\x1b[39;49;00m\n" in coloured
    assert without_life(re.sub(r"\x1b\[[\d;]+m", "", coloured)) == without_life(plain)
    assert "\x1b[" not in shop.on_terminal("packs", "show", "auth", NO_COLOR="1").out
    assert "\x1b[" not in shop.on_terminal("packs", "show", "auth", TERM="dumb").out


def without_life(text: str) -> str:
    """The text without the one line that changes with time."""
    return re.sub(r"- ttl_remaining: .*\n", "", text)


@pytest.mark.clause("CLI-41")
def test_no_text_of_a_pack_or_a_file_reaches_the_terminal_as_a_command(shop: Shop) -> None:
    shop.source("a\nb\nc\n# \x1b]0;owned\x07 \x9b31m \u202e\x7f\r\r\nd\n")
    shop.pack()
    shown = shop.on_terminal("packs", "show", "auth", NO_COLOR="1").out
    assert "␛]0;owned␇ <U+009B>31m <U+202E>␡␍" in shown
    assert not set(shown) & set("\x1b\x07\x9b\u202e\x7f\r")
    assert "\x1b]0;owned\x07" in shop("packs", "show", "auth").out


@pytest.mark.clause("CLI-41")
def test_an_unknown_pack_is_an_error_message(shop: Shop) -> None:
    for command in ("show", "verify", "repair", "delete", "export"):
        done = shop("packs", command, "nobody")
        assert (done.code, done.out) == (1, ""), command
        assert "not_found" in done.err


@pytest.mark.clause("CLI-05")
def test_a_pack_whose_name_looks_like_an_option_is_named_after_two_dashes(shop: Shop) -> None:
    pack = shop.pack("-rf")
    assert f"- id: {pack.id}\n" in shop("packs", "show", "--", "-rf").out
    assert "1 ref, ok" in shop("packs", "verify", "--strict", "--", "-rf").out
    assert shop("packs", "export", "-o", "out.md", "--", "-rf").out == "out.md\n"
    refused = shop("packs", "delete", "-rf")
    assert (refused.code, "goes after '--'" in refused.err) == (2, True)
    assert shop("packs", "delete", "--", "-rf") == (0, f"deleted {pack.id}\n", "")


@pytest.mark.clause("CLI-42")
def test_verify_passes_while_code_stays_or_moves_and_fails_when_it_changes(shop: Shop) -> None:
    pack = shop.pack()
    assert shop("packs", "verify").out == f"{pack.id}  auth — How login works: 1 ref, ok\n"
    shop.source("# a new line\n" + CODE)
    moved = shop("packs", "verify", "auth")
    assert moved.code == 0
    assert moved.out.splitlines()[1] == "  moved       main/login  auth.py:4-5 → auth.py:5-6"
    assert shop("packs", "verify", "--strict").code == 1
    shop.source(CODE.replace("user.name", "user.id"))
    changed = shop("packs", "verify", "--all")
    assert changed.code == 1
    assert "does not hold" in changed.out
    assert "  changed     main/login  auth.py:4-5" in changed.out
    (shop.folder / "auth.py").unlink()
    assert shop("packs", "verify").code == 1


@pytest.mark.clause("CLI-42")
def test_verify_ends_with_a_code_of_its_own_where_something_could_not_be_decided(shop: Shop) -> None:
    bounded = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
    if bounded and shutil.which("setpriv") is None:
        pytest.skip("no setpriv here, and root may read everything")

    def verified(*options: str) -> Done:
        command = [*bounded, *MAIN, "packs", "verify", *options]
        done = subprocess.run(
            command, cwd=shop.folder, env=environment(), capture_output=True, text=True, check=False
        )
        return Done(done.returncode, done.stdout, done.stderr)

    pack, file = shop.pack(), shop.folder / "auth.py"
    assert verified().code == 0
    file.chmod(0)
    assert verified().code == 3
    assert verified().out == (
        f"{pack.id}  auth — How login works: 1 ref, could not be decided\n"
        "  unknown     main/login  auth.py:4-5 (the file cannot be read)\n"
    )
    assert "::warning file=auth.py,line=4,endLine=5" in verified("--github").out
    told = verified("--json").json
    assert (told["ok"], told["packs"][0]["ok"], told["packs"][0]["undecided"]) == (False, False, True)
    shop.pack("gone")
    with open_workspace(shop.folder) as workspace:
        gone = UpsertRef(section_key="main", ref_key="login", path="gone.py", line_start=1, line_end=2)
        workspace.packs.apply(workspace.packs.get("gone"), gone)
    assert verified().code == 1


@pytest.mark.clause("CLI-42")
def test_verify_tells_every_state_as_json(shop: Shop) -> None:
    shop.pack("auth")
    shop.pack("late", start=40, end=50)
    done = shop("packs", "verify", "--json")
    assert done.code == 1
    states = {
        pack["name"]: (pack["ok"], [ref["state"] for ref in pack["refs"]]) for pack in done.json["packs"]
    }
    assert states == {"auth": (True, []), "late": (False, ["stale"])}
    assert done.json["ok"] is False
    assert shop("packs", "verify", "auth", "--json").json["ok"] is True


@pytest.mark.clause("CLI-42")
def test_verify_goes_on_after_a_pack_that_is_not_there(shop: Shop) -> None:
    shop.pack()
    done = shop("packs", "verify", "nobody", "auth")
    assert done.code == 1
    assert "nobody: not_found" in done.err
    assert "1 ref, ok" in done.out


@pytest.mark.clause("CLI-42")
def test_verify_without_packs_passes(shop: Shop) -> None:
    assert shop("packs", "verify") == (0, "No context packs found.\n", "")
    assert shop("packs", "verify", "auth", "--all").code == 2


def broken(shop: Shop) -> str:
    """The path of a file that is named like a pack and holds none."""
    path = shop.folder / ".agents/mcp/context_pack/packs/pk_aaaaaaaa.md"
    path.write_text("---\nnonsense\n---\n")
    return str(path)


@pytest.mark.clause("CLI-42")
def test_verify_checks_the_healthy_packs_beside_a_malformed_one_and_fails(shop: Shop) -> None:
    shop.pack("auth")
    shop.pack("billing")
    path = broken(shop)
    done = shop("packs", "verify")
    assert done.code == 1
    assert sorted(re.findall("(auth|billing) — .* 1 ref, ok", done.out)) == ["auth", "billing"]
    assert "pk_aaaaaaaa: malformed_pack: a pack file is malformed\n" in done.err
    assert f"{path}: " in done.err
    told = shop("packs", "verify", "--json").json
    assert (told["ok"], sorted(pack["name"] for pack in told["packs"])) == (False, ["auth", "billing"])
    assert [(one["pack"], one["code"]) for one in told["failed"]] == [("pk_aaaaaaaa", "malformed_pack")]


@pytest.mark.clause("CLI-42")
def test_verify_passes_over_an_expired_pack_beside_a_malformed_one(shop: Shop) -> None:
    pack = shop.pack("auth")
    path = Path(broken(shop)).with_name(f"{pack.id}.md")
    path.write_text(re.sub("expires_at: .*", "expires_at: '2001-01-01T00:00:00Z'", path.read_text()))
    done = shop("packs", "verify")
    assert (done.code, f"{pack.id}  auth — How login works: expired" in done.out) == (1, True)
    assert pack.id not in done.err


@pytest.mark.clause("CLI-40")
def test_list_says_which_file_keeps_it_from_listing_and_what_to_do(shop: Shop) -> None:
    shop.pack("auth")
    path = broken(shop)
    done = shop("packs", "list")
    assert (done.code, done.out) == (1, "")
    first, second, third = done.err.splitlines()
    assert first == "context-pack: malformed_pack: a pack file is malformed"
    assert second.startswith(f"context-pack:   {path}: ")
    assert "mend it or move it away" in third
    Path(path).unlink()
    assert shop("packs", "list").code == 0


@pytest.mark.clause("CLI-43")
def test_repair_of_all_goes_on_beside_a_malformed_pack_and_fails(shop: Shop) -> None:
    draft, done = shop.pack("auth"), shop.pack("billing")
    shop.finalize(done)
    shop.source("# a new line\n" + CODE)
    broken(shop)
    repaired = shop("packs", "repair", "--all", "--json")
    assert repaired.code == 1
    assert [pack["id"] for pack in repaired.json["packs"]] == [draft.id]
    assert [one["pack"] for one in repaired.json["failed"]] == ["pk_aaaaaaaa"]


@pytest.mark.clause("CLI-43")
def test_repair_rewrites_what_moved(shop: Shop) -> None:
    pack = shop.pack()
    assert "nothing to repair" in shop("packs", "repair", "auth").out
    shop.source("# a new line\n" + CODE)
    done = shop("packs", "repair", "--all")
    assert done.out == f"{pack.id}  1 ref repaired, revision 3\n  main/login  auth.py:4-5 → auth.py:5-6\n"
    assert shop("packs", "verify", "--strict").code == 0
    assert shop("packs", "repair").code == 2
    assert shop("packs", "repair", "auth", "--json").json["packs"][0]["repaired"] == []


@pytest.mark.clause("CLI-43")
def test_a_finalized_pack_is_not_repaired(shop: Shop) -> None:
    shop.finalize(shop.pack())
    shop.source("# a new line\n" + CODE)
    done = shop("packs", "repair", "auth")
    assert done.code == 1
    assert "invalid_state" in done.err
    assert shop("packs", "repair", "--all") == (0, "", "")


@pytest.mark.clause("CLI-44")
def test_delete_removes_the_named_packs_only(shop: Shop) -> None:
    one = shop.pack("auth")
    shop.pack("billing")
    assert shop("packs", "delete", "auth", "--revision", "7").code == 1
    assert shop("packs", "delete", "auth", "billing", "--revision", "2").code == 2
    assert shop("packs", "delete", "auth") == (0, f"deleted {one.id}\n", "")
    assert names(shop("packs", "list", "--json")) == ["billing"]
    partly = shop("packs", "delete", "auth", "billing", "--json")
    assert (partly.code, len(partly.json["deleted"])) == (1, 1)
    assert shop("packs", "delete").code == 2


@pytest.mark.clause("CLI-45")
def test_export_writes_the_whole_pack_and_never_over_a_file(shop: Shop) -> None:
    shop.pack("Login & co/2")
    done = shop("packs", "export", "Login & co/2")
    assert (done.code, done.out) == (0, "Login-co-2.md\n")
    written = (shop.folder / "Login-co-2.md").read_text("utf-8")
    shown = shop("packs", "show", "Login & co/2").out
    assert without_life(written) == without_life(shown)
    (shop.folder / "Login-co-2.md").write_text("mine")
    refused = shop("packs", "export", "Login & co/2")
    assert (refused.code, (shop.folder / "Login-co-2.md").read_text()) == (2, "mine")
    assert "--force" in refused.err
    assert shop("packs", "export", "Login & co/2", "--force").code == 0
    assert without_life((shop.folder / "Login-co-2.md").read_text("utf-8")) == without_life(written)
    assert sorted(path.name for path in shop.folder.iterdir()) == [".agents", "Login-co-2.md", "auth.py"]


@pytest.mark.clause("CLI-45")
def test_export_writes_to_the_given_file(shop: Shop) -> None:
    with open_workspace(shop.folder) as workspace:
        pack = workspace.packs.create(ttl_minutes=5)
    assert shop("packs", "export", pack.id).out == f"{pack.id}.md\n"
    assert shop("packs", "export", pack.id, "-o", "-").out.startswith("[LEGEND]\n")
    assert shop("packs", "export", pack.id, "--output", "other.md").out == "other.md\n"
    for force in ([], ["--force"]):
        failed = shop("packs", "export", pack.id, "-o", "absent/folder.md", *force)
        assert (failed.code, failed.out) == (1, "")
        assert failed.err == "context-pack: absent/folder.md: No such file or directory\n"


@pytest.mark.clause("CLI-45")
def test_export_into_a_folder_names_the_file_after_the_pack(shop: Shop) -> None:
    shop.pack("Login & co/2")
    docs = shop.folder / "docs"
    docs.mkdir()
    assert shop("packs", "export", "Login & co/2", "-o", "docs").out == "docs/Login-co-2.md\n"
    assert shop("packs", "export", "Login & co/2", "-o", "docs/", "--html").out == "docs/Login-co-2.html\n"
    assert shop("packs", "export", "Login & co/2", "-o", "docs").code == 2
    assert shop("packs", "export", "Login & co/2", "-o", "docs", "--force").code == 0
    assert sorted(path.name for path in docs.iterdir()) == ["Login-co-2.html", "Login-co-2.md"]
    assert (docs / "Login-co-2.md").read_text("utf-8").startswith("[LEGEND]\n")
    absent = shop("packs", "export", "Login & co/2", "-o", "absent/")
    assert (absent.code, "no folder absent/" in absent.err) == (2, True)


@pytest.mark.clause("CLI-45")
def test_export_errors_show_no_temporary_name_and_leave_no_file(shop: Shop) -> None:
    shop.pack("auth")
    (shop.folder / "auth.md").mkdir()
    for words in (["--force"], ["-o", "auth.py/x.md", "--force"], ["-o", "x" * 300, "--force"]):
        failed = shop("packs", "export", "auth", *words)
        assert (failed.code, failed.out) == (1, ""), words
        assert "tmp" not in failed.err
    assert sorted(path.name for path in shop.folder.iterdir()) == [".agents", "auth.md", "auth.py"]


@pytest.mark.clause("CLI-45")
def test_export_writes_into_a_pipe_and_leaves_it_in_its_place(shop: Shop) -> None:
    shop.pack("auth")
    pipe = shop.folder / "pipe"
    os.mkfifo(pipe)
    reads = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert shop("packs", "export", "auth", "-o", "pipe").code == 2
    assert shop("packs", "export", "auth", "-o", "pipe", "--force").code == 0
    assert os.read(reads, 100).startswith(b"[LEGEND]\n")
    os.close(reads)
    assert pipe.is_fifo()
