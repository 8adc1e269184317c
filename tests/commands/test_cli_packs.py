"""`context-pack packs`: list, show, verify, repair, delete and export, for people, scripts and CI jobs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command_line import MAIN, CommandLine, Done
from file_trees import committed
from stdio_client import environment

from context_pack import Pack, UpsertRef, UpsertSection, open_workspace

CODE = "import os\n\n\ndef login(user):\n    return user.name\n"


class Shop(CommandLine):
    """The command line in a project with one source file."""

    def source(self, text: str) -> None:
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
        with open_workspace(self.folder) as workspace:
            workspace.packs.set_status(pack, "finalized")

    def expire(self, pack: Pack) -> None:
        """Let the time of a pack be over."""
        (file,) = self.folder.rglob(f"{pack.id}.md")
        text = re.sub("updated_at: .*", "updated_at: '2019-01-01T00:00:00Z'", file.read_text())
        file.write_text(re.sub("expires_at: .*", "expires_at: '2020-01-01T00:00:00Z'", text))

    def break_one(self) -> str:
        """The path of a file that is named like a pack and holds none."""
        path = self.folder / ".agents/mcp/context_pack/packs/pk_aaaaaaaa.md"
        path.write_text("---\nnonsense\n---\n")
        return str(path)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A project with code."""
    made = Shop(tmp_path)
    made.source(CODE)
    return made


def names(done: Done) -> list[str]:
    """The names in a JSON list."""
    return [pack["name"] for pack in done.json["packs"]]


def without_life(text: str) -> str:
    """The text without the one line that changes with time."""
    return re.sub(r"- ttl_remaining: .*\n", "", text)


@pytest.mark.clause("CLI-40")
def test_list_shows_a_line_per_pack_and_filters(shop: Shop) -> None:
    empty = shop("packs", "list")
    assert (empty.out, "packs draft QUESTION" in empty.err) == ("No context packs found.\n", True)
    one, other = shop.pack("auth"), shop.pack("billing")
    shop.finalize(one)
    lines = shop("packs", "list").out.splitlines()
    assert lines[0].split() == ["ID", "STATUS", "REVISION", "TTL", "NAME", "AND", "TITLE"]
    assert lines[1].split(maxsplit=4) == [one.id, "finalized", "3", "59m", "(soon)  auth — How login works"]
    assert lines[2].split(maxsplit=2)[:2] == [other.id, "draft"]
    assert names(shop("packs", "list", "--json")) == ["auth", "billing"]
    assert names(shop("packs", "list", "--status", "draft", "--json")) == ["billing"]
    assert names(shop("packs", "list", "--query", "BILL", "--json")) == ["billing"]


@pytest.mark.clause("CLI-40")
def test_list_says_which_file_keeps_it_from_listing_and_what_to_do(shop: Shop) -> None:
    shop.pack("auth")
    path = shop.break_one()
    done = shop("packs", "list")
    assert (done.code, done.out) == (1, "")
    first, second, third = done.err.splitlines()
    assert first == "context-pack: a pack file is malformed"
    assert second.startswith(f"context-pack:   {path}: ")
    assert "mend it or move it away" in third


@pytest.mark.clause("ST-64", "CLI-40", "CLI-42")
def test_an_expired_pack_is_named_by_verify_and_comes_back(shop: Shop) -> None:
    pack = shop.pack("auth")
    shop.expire(pack)
    assert shop("packs", "list").out == "No context packs found.\n"
    said = shop("packs", "show", "auth")
    assert (said.code, f"packs restore {pack.id}" in said.err) == (1, True), said.err
    other = shop.pack("other")
    for named in ((), (pack.id,), ("auth",), ("other", "auth")):
        done = shop("packs", "verify", *named)
        assert (done.code, f"{pack.id}  auth — How login works: expired" in done.out) == (0, True), done.err
        assert shop("packs", "verify", "--strict", *named).code == 1
    assert shop("packs", "verify", "--json").json["expired"] == [pack.id]
    assert shop("packs", "verify", "--strict", other.id).code == 0
    assert names(shop("packs", "list", "--expired", "--json")) == ["auth"]
    assert shop("packs", "restore", "auth", "--ttl", "soon").code == 2
    assert shop("packs", "restore", "none", "--ttl", "7d").code == 1
    assert shop("packs", "restore", "auth").out.startswith(f"restored {pack.id}, until ")
    again = shop("packs", "restore", "auth")
    assert (again.code, "that pack has not expired: it is there" in again.err) == (1, True)
    assert "89d  " in shop("packs", "list").out
    assert shop("packs", "list", "--expired").out == "No expired packs found.\n"


@pytest.mark.clause("CLI-44", "ST-64")
def test_a_deleted_pack_is_in_the_trash_until_it_is_deleted_again(shop: Shop) -> None:
    one = shop.pack("auth")
    shop.pack("billing")
    done = shop("packs", "delete", "auth")
    assert (done.code, done.out) == (0, f"deleted {one.id}\n")
    assert f"packs restore {one.id}" in done.err
    assert names(shop("packs", "list", "--json")) == ["billing"]
    assert shop("packs", "verify", "--strict").code == 0, "nobody misses what was deleted"
    assert shop("packs", "restore", "auth").code == 0
    shop.source(CODE.replace("def login", "\ndef login"))
    assert "moved" in shop("packs", "verify", "auth").out, "its kept code came back, too"
    assert shop("packs", "delete", "auth").code == 0
    assert shop("packs", "delete", "auth").err == ""
    assert shop("packs", "restore", "auth").code == 1
    partly = shop("packs", "delete", "auth", "billing", "--json")
    assert (partly.code, len(partly.json["deleted"])) == (1, 1)


@pytest.mark.clause("CLI-08")
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
    compared = shop("packs", "diff", "large", "2", "--json").json
    assert (len(compared["changes"]), "more" in compared) == (600, False)
    (shop.folder / "large.py").write_text("\n".join([*lines[:-1], "value_1199 = 'other'"]) + "\n")
    done = shop("packs", "verify", "large")
    assert (done.code, "600 refs, does not hold" in done.out, "main/ref-599" in done.out) == (1, True, True)
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


@pytest.mark.clause("CLI-08", "CLI-41")
def test_show_renders_the_pack_with_its_code_in_colours_only_where_they_are_wanted(shop: Shop) -> None:
    pack = shop.pack()
    done = shop("packs", "show", "auth")
    assert (done.code, "   4: def login(user):\n" in done.out, "\x1b[" in done.out) == (0, True, False)
    assert without_life(shop("packs", "show", pack.id).out) == without_life(done.out)
    assert "def login" not in shop("packs", "show", "auth", "--compact").out
    assert shop("packs", "show", "auth", "--json").json["sections"][0]["refs"][0]["key"] == "login"
    coloured = shop.on_terminal("packs", "show", "auth").out
    assert "\x1b[" in coloured
    assert without_life(re.sub(r"\x1b\[[\d;]+m", "", coloured)) == without_life(done.out)
    for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b[" not in shop.on_terminal("packs", "show", "auth", **plain).out


@pytest.mark.clause("CLI-08")
def test_no_text_of_a_pack_or_a_file_reaches_the_terminal_as_a_command(shop: Shop) -> None:
    shop.source("a\nb\nc\n# \x1b]0;owned\x07 \x9b31m \u202e\x7f\r\r\nd\n")
    shop.pack()
    shown = shop.on_terminal("packs", "show", "auth", NO_COLOR="1").out
    assert "␛]0;owned␇ <U+009B>31m <U+202E>␡␍" in shown
    assert not set(shown) & set("\x1b\x07\x9b\u202e\x7f\r")
    assert "\x1b]0;owned\x07" in shop("packs", "show", "auth").out


@pytest.mark.clause("CLI-04")
def test_a_pack_whose_name_looks_like_an_option_is_named_after_two_dashes(shop: Shop) -> None:
    pack = shop.pack("-rf")
    assert f"- id: {pack.id}\n" in shop("packs", "show", "--", "-rf").out
    assert "1 ref, ok" in shop("packs", "verify", "--strict", "--", "-rf").out
    assert shop("packs", "export", "-o", "out.md", "--", "-rf").out == "out.md\n"
    refused = shop("packs", "delete", "-rf")
    assert (refused.code, "goes after '--'" in refused.err) == (2, True)
    assert shop("packs", "delete", "--", "-rf").out == f"deleted {pack.id}\n"


@pytest.mark.clause("CLI-42")
def test_verify_passes_while_code_stays_or_moves_and_fails_when_it_changes(shop: Shop) -> None:
    assert shop("packs", "verify") == (0, "No context packs found.\n", "")
    assert shop("packs", "verify", "--strict").code == 1, "there is nothing to check"
    pack = shop.pack()
    assert shop("packs", "verify").out == f"{pack.id}  auth — How login works: 1 ref, ok\n"
    shop.source("# a new line\n" + CODE)
    moved = shop("packs", "verify", "auth")
    assert (moved.code, moved.out.splitlines()[1]) == (
        0,
        "  moved       main/login  auth.py:4-5 → auth.py:5-6",
    )
    assert shop("packs", "verify", "--strict").code == 1
    shop.source(CODE.replace("user.name", "user.id"))
    changed = shop("packs", "verify")
    assert (changed.code, "does not hold" in changed.out) == (1, True)
    assert "  changed     main/login  auth.py:4-5" in changed.out
    (shop.folder / "auth.py").unlink()
    done = shop("packs", "verify", "nobody", "auth", "--json")
    assert (done.code, done.json["ok"]) == (1, False)
    assert [ref["state"] for ref in done.json["packs"][0]["refs"]] == ["stale"]
    assert [(one["pack"], one["code"]) for one in done.json["failed"]] == [("nobody", "not_found")]


@pytest.mark.clause("AN-20")
def test_diff_shows_what_became_of_one_ref(shop: Shop) -> None:
    shop.pack()
    assert shop("packs", "diff", "auth", "main/login").out.endswith("auth.py:4-5  as it was anchored\n")
    shop.source(CODE.replace("return", "yield"))
    told = shop("packs", "diff", "auth", "login")
    assert told.code == 0
    assert told.out.startswith(
        "main/login  changed  auth.py:4-5  changed since anchored: 1 of 2 lines, body\n"
    )
    assert re.search(r"^ +\+ +yield", told.out, re.MULTILINE)
    assert "did you mean 'main/login'" in shop("packs", "diff", "auth", "main/lgin").err
    assert shop("packs", "diff", "auth", "1", "main/login").code == 2


@pytest.mark.clause("CLI-42", "KW-09", "AN-24")
def test_a_cosmetic_change_fails_neither_verify_and_both_tell_it(shop: Shop) -> None:
    shop.pack()
    shop.source(CODE.replace("return", "# a remark\n    return"))
    told = shop("packs", "verify", "auth")
    assert (told.code, told.out.splitlines()[0].endswith("1 ref, ok")) == (0, True)
    assert "  cosmetic    main/login  auth.py:4-5" in told.out
    assert "packs repair settles it" in told.out
    assert shop("packs", "verify", "--strict").code == 1
    gate = shop("verify")
    assert (gate.code, gate.out.split()[0], "packs repair" in gate.err) == (0, "cosmetic", True)
    rows = [
        *shop("packs", "verify", "--json").json["packs"][0]["refs"],
        *shop("verify", "--json").json["rows"],
    ]
    assert [row["state"] for row in rows] == ["cosmetic", "cosmetic"]
    assert shop("packs", "finalize", "auth").code == 1
    assert shop("packs", "repair", "auth").code == 0
    assert (shop("verify").out.split()[0], shop("packs", "verify", "--strict").code) == ("1", 0)
    assert shop("packs", "finalize", "auth").code == 0


@pytest.mark.clause("KW-09", "CLI-66")
def test_the_gate_names_a_pack_that_has_expired_until_it_is_back_or_replaced(shop: Shop) -> None:
    assert shop("verify", "--strict").code == 1, "there is nothing to check"
    old = shop.pack()
    committed(shop.folder, {})
    assert shop("verify", "--strict").code == 0
    shop.expire(old)
    line = f"expired     pack auth: not checked; packs restore {old.id} brings it back"
    for options, code in (((), 0), (("--strict",), 1)):
        done = shop("verify", *options)
        assert (done.code, done.out.splitlines()[0]) == (code, line)
    assert shop("verify", "--json").json["expired"] == [{"id": old.id, "name": "auth"}]
    assert (
        f"::warning title=context-pack::pack auth has expired: {line[23:]}" in shop("verify", "--github").out
    )
    assert line not in shop("affected").out
    shop.source(CODE.replace("user.name", "user.id"))
    assert line in shop("affected").out
    new = shop.pack()
    for done in (shop("verify"), shop("packs", "verify")):
        assert (done.code, "expired" in done.out) == (0, False), "another pack has taken its name"
    shop("packs", "delete", new.id)
    assert shop("packs", "restore", old.id).code == 0
    done = shop("verify")
    assert (done.code, "expired" in done.out) == (1, False)


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
    done = verified()
    assert done.code == 3
    assert done.out.startswith(
        f"{pack.id}  auth — How login works: 1 ref, could not be decided\n"
        "  unknown     main/login  auth.py:4-5 (the file cannot be read)\n"
    )
    told = verified("--json").json
    assert (told["ok"], told["packs"][0]["ok"], told["packs"][0]["undecided"]) == (False, False, True)


@pytest.mark.clause("CLI-42")
def test_verify_and_repair_go_on_beside_a_malformed_pack_and_fail(shop: Shop) -> None:
    one, final, over = shop.pack("auth"), shop.pack("billing"), shop.pack("over")
    shop.finalize(final)
    shop.expire(over)
    path = shop.break_one()
    done = shop("packs", "verify")
    assert done.code == 1
    assert sorted(re.findall("(auth|billing) — .* 1 ref, ok", done.out)) == ["auth", "billing"]
    assert "context-pack: a pack file is malformed\n" in done.err
    assert f"{path}: " in done.err
    assert (f"{over.id}  over — How login works: expired" in done.out, over.id in done.err) == (True, False)
    shop.source("# a new line\n" + CODE)
    repaired = shop("packs", "repair", "--json")
    assert (repaired.code, [pack["id"] for pack in repaired.json["packs"]]) == (1, [one.id])
    assert [each["pack"] for each in repaired.json["failed"]] == ["pk_aaaaaaaa"]


@pytest.mark.clause("CLI-42")
def test_repair_rewrites_what_moved_but_never_in_a_finalized_pack(shop: Shop) -> None:
    pack = shop.pack()
    assert "nothing to repair" in shop("packs", "repair", "auth").out
    shop.source("# a new line\n" + CODE)
    done = shop("packs", "repair")
    assert done.out == f"{pack.id}  1 ref repaired, revision 3\n  main/login  auth.py:4-5 → auth.py:5-6\n"
    assert shop("packs", "verify", "--strict").code == 0
    assert shop("packs", "finalize", "auth").code == 0
    shop.source(CODE)
    refused = shop("packs", "repair", "auth")
    assert (refused.code, "packs reopen" in refused.err) == (1, True)


@pytest.mark.clause("CLI-45")
def test_export_writes_the_whole_pack_and_never_over_a_file(shop: Shop) -> None:
    shop.pack("Login & co/2")
    (shop.folder / "docs").mkdir()
    export = ("packs", "export", "Login & co/2")
    done = shop(*export)
    assert (done.code, done.out) == (0, "Login-co-2.md\n")
    file = shop.folder / "Login-co-2.md"
    written = file.read_text("utf-8")
    assert without_life(written) == without_life(shop("packs", "show", "Login & co/2").out)
    assert shop(*export, "-o", "-").out.startswith("[LEGEND]\n")
    file.write_text("mine")
    refused = shop(*export)
    assert (refused.code, file.read_text(), "--force" in refused.err) == (2, "mine", True)
    assert shop(*export, "--force").code == 0
    assert without_life(file.read_text("utf-8")) == without_life(written)
    assert shop(*export, "-o", "docs").out == "docs/Login-co-2.md\n"
    assert shop(*export, "-o", "docs/", "--html").out == "docs/Login-co-2.html\n"
    assert shop(*export, "-o", "page.html").out == "page.html\n"
    page = (shop.folder / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert 'id="main.login-L-4"' in page
    assert "</span> exact</span>" in page
    absent = shop(*export, "-o", "absent/")
    assert (absent.code, "no folder absent/" in absent.err) == (2, True)


@pytest.mark.clause("CLI-45")
def test_export_errors_leave_no_file_and_a_pipe_is_written_into(shop: Shop) -> None:
    shop.pack("auth")
    (shop.folder / "auth.md").mkdir()
    for target in ("auth.py/x.md", "x" * 300, "absent/folder.md"):
        failed = shop("packs", "export", "auth", "-o", target, "--force")
        assert (failed.code, failed.out) == (1, ""), target
        assert failed.err.startswith(f"context-pack: {target}: ")
    assert sorted(path.name for path in shop.folder.iterdir()) == [".agents", "auth.md", "auth.py"]
    pipe = shop.folder / "pipe"
    os.mkfifo(pipe)
    reads = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert shop("packs", "export", "auth", "-o", "pipe").code == 2
    assert shop("packs", "export", "auth", "-o", "pipe", "--force").code == 0
    assert os.read(reads, 100).startswith(b"[LEGEND]\n")
    os.close(reads)
    assert pipe.is_fifo()
