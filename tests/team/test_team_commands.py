"""`context-pack team` and the tools over a team's database, as processes of their own."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from command_line import CommandLine, Done
from postgres_server import Server
from psycopg import sql
from stdio_client import StdioClient

from context_pack_adapters.postgres.copying import EXCERPTS_AT_ONCE
from context_pack_adapters.postgres.faults import failure_of

SECRET = "pssst-4711"


class Member:
    """Somebody's checkout, and the login they use."""

    def __init__(self, folder: Path, url: str, project: str) -> None:
        folder.mkdir()
        (folder / "greet.py").write_text("def greet():\n    return 'hello'\n")
        self.run = CommandLine(folder)
        self.variables = {"CONTEXT_PACK_STORE": url, "CONTEXT_PACK_PROJECT": project}

    def __call__(self, *words: str, **others: str) -> Done:
        """Run a command with the team's database."""
        return self.run(*words, **{**self.variables, **others})

    def make(self, name: str, **others: str) -> str:
        """Make a pack; its id."""
        done = self("call", "input", "action=create", "ttl_minutes=60", f"name={name}", "title=T", **others)
        assert done.code == 0, done
        return str(done.json["payload"]["id"])

    def names(self) -> list[str]:
        """The names of the packs that are seen."""
        done = self("packs", "list", "--json")
        assert done.code == 0, done
        return sorted(pack["name"] for pack in done.json["packs"])


def grant(postgres: Server, login: str, *roles: str) -> None:
    """Make a login that has these roles."""
    with psycopg.connect(postgres.url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(login)))
        for role in roles:
            admin.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(login)))


def run_sql(postgres: Server, database: str, text: str) -> None:
    with psycopg.connect(postgres.address("postgres", database), autocommit=True) as admin:
        admin.execute(text.encode())


@pytest.mark.clause("TM-03")
def test_two_checkouts_with_plain_logins_share_packs_and_discoveries(
    postgres: Server, own_database: str, tmp_path: Path
) -> None:
    admin = Member(tmp_path / "admin", postgres.address("postgres", own_database), "example.org/shop")
    made = admin("team", "init")
    assert made.code == 0, made
    assert "up to date" in admin("team", "init").out
    logins = [f"m_{uuid4().hex[:8]}" for _ in range(2)]
    for login in logins:
        grant(postgres, login, "context_pack_member")
    ada, ben = (
        Member(tmp_path / login, postgres.address(login, own_database), "example.org/shop")
        for login in logins
    )
    key = ada.make("handed over")
    assert ben.names() == ["handed over"]
    assert ben("memory", "add", "rule", "Never log tokens anywhere").code == 0
    assert "Never log tokens" in ada("memory", "list").out
    assert ben("packs", "delete", key).code == 0
    assert ada.names() == []
    assert not (tmp_path / logins[0] / ".agents").exists()
    told = ada("team", "status", "--json").json
    assert (told["packs"], told["discoveries"], told["bypasses_security"]) == (0, 1, False)


@pytest.mark.clause("TM-04")
def test_a_newer_schema_is_refused_in_words_and_a_missing_one_names_the_command(
    postgres: Server, own_database: str, tmp_path: Path
) -> None:
    member = Member(tmp_path / "a", postgres.address("postgres", own_database), "example.org/shop")
    missing = member("packs", "list")
    assert missing.code == 1
    assert "team init" in missing.err
    assert member("team", "init").code == 0
    assert "mend it" not in missing.err, "that is about files"
    run_sql(postgres, own_database, "INSERT INTO context_pack.cp_schema VALUES (99)")
    for words in (("packs", "list"), ("team", "init"), ("team", "status")):
        done = member(*words)
        assert done.code == 1
        assert "newer than this program" in done.err


@pytest.mark.clause("TM-04")
def test_the_printed_sql_prepares_a_database(postgres: Server, own_database: str, tmp_path: Path) -> None:
    member = Member(tmp_path / "a", postgres.address("postgres", own_database), "example.org/it's")
    printed = member("team", "init", "--print")
    assert printed.code == 0, printed
    run_sql(postgres, own_database, printed.out)
    assert member("team", "status").code == 0
    assert "up to date" in member("team", "init").out


@pytest.mark.clause("TM-06")
def test_a_login_sees_only_projects_that_it_has_the_role_of(
    postgres: Server, own_database: str, tmp_path: Path
) -> None:
    role, inside, outside = (f"r_{uuid4().hex[:8]}" for _ in range(3))
    admin = Member(tmp_path / "admin", postgres.address("postgres", own_database), "example.org/secret")
    grant(postgres, role)
    assert admin("team", "init", "--members", role).code == 0
    grant(postgres, inside, "context_pack_member", role)
    grant(postgres, outside, "context_pack_member")
    ada = Member(tmp_path / "ada", postgres.address(inside, own_database), "example.org/secret")
    eve = Member(tmp_path / "eve", postgres.address(outside, own_database), "example.org/secret")
    ada.make("for us")
    refused = eve("packs", "list")
    assert refused.code == 1
    assert "not in the team's database" in refused.err
    assert "--print" in eve("team", "init").err
    tables = ["cp_packs", "cp_history", "cp_discoveries", "cp_excerpts", "cp_documents", "cp_projects"]
    tables += ["cp_collections"]
    run_sql(postgres, own_database, f"CREATE SCHEMA own AUTHORIZATION {outside}")
    with psycopg.connect(postgres.address(outside, own_database)) as connection:
        yes = "RETURNS boolean LANGUAGE sql AS 'SELECT true'"
        connection.execute(f"CREATE FUNCTION own.pg_has_role(regrole, text) {yes}".encode())
        connection.execute("SET search_path = own, pg_catalog")
        connection.execute("SELECT set_config('context_pack.project', 'example.org/secret', false)")
        for table in tables:
            query = sql.SQL("SELECT count(*) FROM context_pack.{}").format(sql.Identifier(table))
            assert connection.execute(query).fetchall() == [(0,)]
    with psycopg.connect(postgres.address("postgres", own_database)) as owner:  # FORCE: the owner, too
        owner.execute("SET ROLE context_pack_owner")
        assert owner.execute("SELECT count(*) FROM context_pack.cp_packs").fetchall() == [(0,)]


@pytest.mark.clause("TM-07")
def test_push_and_pull_name_conflicts_and_overwrite_nothing(
    postgres: Server, own_database: str, tmp_path: Path
) -> None:
    ada, ben = (
        Member(tmp_path / name, postgres.address("postgres", own_database), "example.org/shop")
        for name in ("ada", "ben")
    )
    assert ada("team", "init").code == 0
    local: dict[str, str] = {"CONTEXT_PACK_STORE": ""}
    first, second = ada.make("first", **local), ada.make("second", **local)
    ada("memory", "add", "rule", "Never log tokens anywhere", **local)
    pushed = ada("team", "push", "--json")
    assert pushed.code == 0, pushed
    assert sorted(pushed.json["packs"]["copied"]) == sorted([first, second])
    assert len(pushed.json["discoveries"]["copied"]) == 1
    again: Any = ada("team", "push", "--json").json
    assert (again["packs"]["copied"], len(again["packs"]["same"])) == ([], 2)
    assert len(again["discoveries"]["same"]) == 1
    assert ben("team", "pull").code == 0
    kept = ben.run("packs", "list", "--json").json["packs"]
    assert sorted(pack["id"] for pack in kept) == sorted([first, second])

    taken = ben.make("third", **local)
    ada.make("third")
    change = ("call", "input", "action=touch_ttl", f"id={first}", "extend_minutes=5", "expected_revision=1")
    changed = ben(*change, **local)
    assert changed.code == 0, changed
    files = sorted((tmp_path / "ben").rglob("pk_*.md"))
    before = [file.read_bytes() for file in files]
    pulled = ben("team", "pull")
    assert pulled.code == 1
    assert first in pulled.out
    assert [file.read_bytes() for file in sorted((tmp_path / "ben").rglob("pk_*.md"))] == before
    pushed = ben("team", "push", "--json")
    assert pushed.code == 1
    assert sorted(pushed.json["packs"]["conflicts"]) == sorted([first, taken])
    assert ada("packs", "show", first, "--json").code == 0


@pytest.mark.clause("TM-07")
def test_pushed_packs_bring_the_texts_that_show_what_changed(
    postgres: Server, own_database: str, tmp_path: Path
) -> None:
    ada, ben = (
        Member(tmp_path / name, postgres.address("postgres", own_database), "example.org/shop")
        for name in ("ada", "ben")
    )
    (tmp_path / "how.md").write_text("# How\n\nIt greets in `greet.py:1-2`.\n")
    assert ada.run("packs", "import", str(tmp_path / "how.md"), "--name", "how").code == 0
    assert ada("team", "init").code == 0
    assert ada("team", "push").code == 0
    (tmp_path / "ben" / "greet.py").write_text("def greet():\n    return 'bye'\n")
    assert "-    return 'hello'" in ben("packs", "diff", "how", "greet-py-1-2").out
    assert ben("team", "pull").code == 0
    assert "-    return 'hello'" in ben.run("packs", "diff", "how", "greet-py-1-2").out


@pytest.mark.clause("TM-07")
def test_the_texts_of_more_refs_than_one_statement_takes_are_pushed(
    postgres: Server, own_database: str, tmp_path: Path
) -> None:
    ada, ben = (
        Member(tmp_path / name, postgres.address("postgres", own_database), "example.org/shop")
        for name in ("ada", "ben")
    )
    count = 2 * EXCERPTS_AT_ONCE + 1
    (tmp_path / "ada" / "many.py").write_text("".join(f"value_{n} = {n}\n" for n in range(count)))
    places = "".join(f"- `many.py:{n}-{n}`\n" for n in range(1, count + 1))
    (tmp_path / "many.md").write_text(f"# Many\n\n{places}")
    assert ada.run("packs", "import", str(tmp_path / "many.md")).code == 0
    assert (ada("team", "init").code, ada("team", "push").code) == (0, 0)
    (tmp_path / "ben" / "many.py").write_text("".join(f"other_{n} = {n}{n}\n" for n in range(count)))
    shown = ben("packs", "show", "many", "--diff").out
    assert [n for n in range(count) if f"value_{n} = {n}\n" not in shown] == []


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        yield int(listener.getsockname()[1])


@pytest.fixture
def closed() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
@pytest.mark.clause("TM-08", "TM-09")
@pytest.mark.parametrize("which", ["silent", "closed"])
def test_a_database_that_is_down_is_reported_while_local_tools_work(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    port = request.getfixturevalue(which)
    url = f"postgresql://ada:{SECRET}@127.0.0.1:{port}/team"
    member = Member(tmp_path / "a", url, "example.org/shop")
    client = StdioClient(tmp_path / "a", env=member.variables)
    try:
        client.initialize()
        told = client.error("input", {"action": "list"})
        assert (told["kind"], told["code"]) == ("io_error", "unavailable")
        assert "try again" in told["message"]
        assert "hello" in str(client.call("read_file", {"path": "greet.py"}))
        assert "greet.py" in str(client.call("grep_codebase", {"pattern": "hello"}))
        found = client.call("context_search", {"query": "greet somebody"})
        assert "may be out of date" in str(found)
        assert not found.get("isError")
        _, log = client.end()
    finally:
        client.kill()
    shown = [log, str(told), str(found)]
    for words in (("doctor", "--json"), ("team", "status"), ("packs", "list")):
        done = member(*words)
        shown += [done.out, done.err]
    assert [text for text in shown if SECRET in text] == []
    assert "127.0.0.1" in shown[3]


@pytest.mark.clause("TM-08")
@pytest.mark.parametrize(
    "address",
    [f"postgres//ada:{SECRET}@h/t", f"postgresql://ada:a/{SECRET}@h/t", f"postgresql://h/t?sslmode={SECRET}"],
)
def test_an_address_that_is_wrong_is_not_repeated(address: str, tmp_path: Path) -> None:
    member = Member(tmp_path / "a", address, "example.org/shop")
    for words in (("doctor",), ("team", "status"), ("packs", "list")):
        done = member(*words)
        assert SECRET not in done.out + done.err


@pytest.mark.clause("TM-09")
@pytest.mark.parametrize("state, words", [("25006", "read-only"), ("53100", "no space left")])
def test_a_full_or_read_only_database_is_reported(
    postgres: Server, own_database: str, tmp_path: Path, state: str, words: str
) -> None:
    """The server refuses every change in the way it does when its disk is full, or it is a standby."""
    member = Member(tmp_path / "a", postgres.address("postgres", own_database), "example.org/shop")
    assert member("team", "init").code == 0
    key = member.make("before")
    refuse = f"""
        CREATE FUNCTION context_pack.refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE SQLSTATE '{state}'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON context_pack.cp_packs
        FOR EACH STATEMENT EXECUTE FUNCTION context_pack.refuse()"""
    run_sql(postgres, own_database, refuse)
    done = member("call", "input", "action=touch_ttl", f"id={key}", "extend_minutes=5", "expected_revision=1")
    assert done.code == 1
    assert words in done.err + done.out
    assert member.names() == ["before"]


@pytest.mark.clause("TM-09")
def test_a_login_that_cannot_work_is_told_what_to_check(tmp_path: Path, postgres: Server) -> None:
    crowded = f"crowded_{uuid4().hex[:8]}"
    run_sql(postgres, "postgres", f"CREATE ROLE {crowded} LOGIN CONNECTION LIMIT 0")
    told = {
        postgres.address("postgres", "nowhere"): "does not exist on its server",
        postgres.address("nobody-known"): "refuses this login",
        postgres.address(crowded): "has no connection left for us",
        f"{postgres.url}?sslmode=banana": "a setting that is not understood",
        f"{postgres.url}?nonsense=1": "a setting that is not understood",
        f"{postgres.url}?sslmode=require": "does not speak SSL",
        "postgresql://no-such-host.invalid/team": "is on a host that has no address",
    }
    for number, (url, words) in enumerate(told.items()):
        done = Member(tmp_path / str(number), url, "shop")("packs", "list")
        assert (done.code, words in done.err) == (1, True), done
        assert "does not answer" not in done.err
    failure = failure_of(psycopg.OperationalError('FATAL: password authentication failed for user "x"'))
    assert "refuses this password" in failure.message
