"""Paths and the policy over them: what is a path, and which may be read, however it is spelled."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.errors import Code, Failure
from context_pack.kernel.paths import PathPolicy, RelativePath

PIECES = st.sampled_from(
    ["a", "b.py", "..", ".", "", "/", "\\", "C:", "~", " ", "é", "\n", "\0", "...", ".. "]
)
WRONG = [
    *[(text, Code.INVALID_DATA) for text in ("", ".", "./a", "a/.", "a//b", "a/", "a/./b")],
    *[(f"a{char}b", Code.INVALID_DATA) for char in "\0\n\t\x7f\x85\u2028\ud800"],
    *[
        (text, Code.ABSOLUTE_PATH)
        for text in ("/", "/etc/passwd", "//host/share", "\\a", "C:\\x", "z:", "C:x")
    ],
    *[(text, Code.PATH_TRAVERSAL) for text in ("..", "../x", "a/../b", "..\\x", "a/../\0", "./../x")],
    ("é" * 512 + "x", Code.INVALID_DATA),
]


@pytest.mark.clause("KN-01")
@pytest.mark.parametrize(("text", "code"), WRONG)
def test_what_is_no_path_is_refused_by_its_code(text: str, code: Code) -> None:
    with pytest.raises(Failure) as caught:
        RelativePath.parse(text)
    assert (caught.value.code, caught.value.details["field"]) == (code, "path")
    contract = {
        Code.ABSOLUTE_PATH: "Absolute paths not allowed",
        Code.PATH_TRAVERSAL: "Path traversal not allowed",
    }
    assert caught.value.message == contract.get(code, caught.value.message)


@pytest.mark.clause("KN-01")
@pytest.mark.parametrize("text", ["./a//b/", "a/b", ".\\a\\.\\b", "a/./b/.", "././a///b"])
def test_a_lenient_path_drops_empty_and_dot_parts(text: str) -> None:
    assert RelativePath.lenient(text) == RelativePath("a/b")


@pytest.mark.clause("KN-01")
@given(st.lists(PIECES, max_size=6).map("".join) | st.text(max_size=30))
def test_every_text_is_a_contained_path_or_a_failure(text: str) -> None:
    for read in (RelativePath.parse, RelativePath.lenient):
        try:
            path = read(text)
        except Failure:
            continue
        assert posixpath.normpath(path.value) == path.value
        assert posixpath.normpath(f"/root/{path}").startswith("/root/")
        assert RelativePath.parse(path.value) == RelativePath.lenient(path.value) == path


DENIED = [
    *(".git", "node_modules", ".env", ".env.local", ".env.example.local", ".env~", ".envrc", "prod.env"),
    *("secrets.yml", "secret.json", "app.secrets.json", "prod-secrets.yaml", "db_secrets.yml", ".secrets"),
    *("credentials.json", "credentials.yml.enc", ".credentials", "gcp-credentials.json", "passwords.txt"),
    *(
        "client_secret_42.json",
        "oauth_creds.json",
        "my-service-account.json",
        "x-firebase-adminsdk-ab12.json",
    ),
    *(
        "prod.kubeconfig",
        ".aws",
        ".kube",
        ".s3cfg",
        "terraform.tfstate.backup",
        "x.auto.tfvars",
        ".dockercfg",
    ),
    *("server.pem", "a.b.key", "server.key.bak", "AuthKey_1.p8", "x.kdbx", "vpn.ovpn", "wg0.conf", ".ssh"),
    *("id_rsa", "id_ed25519.pub", "ssh_host_rsa_key", "key.properties", ".netrc", ".npmrc", ".pgpass"),
    *("wp-config.php", ".vault_pass.txt", "vault.yml", ".claude.json.backup", ".bash_history", "logins.json"),
]
DENIED_AS_FILES = ["credentials", "kubeconfig", "htpasswd", "deploy_key", "my_id_rsa", "bash_history"]
DENIED_IN_PLACE = [
    *(
        ".docker/config.json",
        ".codex/auth.json",
        ".config/gh/hosts.yml",
        ".config/gcloud/x.db",
        ".aws/credentials",
    ),
    *(
        ".kube/config",
        ".m2/settings.xml",
        ".config/sops/age/keys.txt",
        ".huggingface/token",
        ".bundle/config",
    ),
]
READABLE = [
    *(
        "app.environment.ts",
        ".gitignore",
        ".github",
        "git",
        "env",
        "x.env.ts",
        ".env.example",
        ".ENV.Example",
    ),
    *(".env.prod.example", "example.env", "node_modules.md", "environment.yml", "keys.py", "x.pem.md", "rsa"),
    *("secrets.py", "Secrets.java", "secrets.md", "secrets", ".secrets.baseline", "sealed-secrets.yaml"),
    *(
        "credentials.ts",
        "credentials_test.go",
        "history.go",
        "order_history.rb",
        "public_key.py",
        "auth.json",
    ),
    *("config.json", "settings.xml", "token.json", "kubeconfig.go", "main.tf", "terraform.tfvars.example"),
    *(
        "vault.go",
        "password.py",
        "wp-config-sample.php",
        "wg.conf",
        "claude.json",
        ".claude",
        "package-lock.json",
    ),
]
FOLDERS = st.lists(st.sampled_from(["src", "a b", "über", ".github", "x.y"]), max_size=3)


def denies(text: str, *extra: str) -> bool:
    return PathPolicy(extra).denies(RelativePath.parse(text))


def widened(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


@pytest.mark.clause("KN-06")
@pytest.mark.parametrize("name", DENIED)
def test_a_denied_segment_is_denied_wherever_it_stands(name: str) -> None:
    assert all(denies(text) for text in (name, f"a/{name}", f"{name}/b", f"a/{name}/b/c.txt"))


@pytest.mark.clause("KN-06")
@pytest.mark.parametrize("name", READABLE)
def test_a_segment_that_only_contains_a_denied_one_is_readable(name: str) -> None:
    assert not any(denies(text) for text in (name, f"a/{name}", f"{name}/x.yml"))


@pytest.mark.clause("KN-06")
@given(st.data())
def test_no_disguise_of_a_denied_segment_gets_through(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(DENIED))
    spelled = "".join(
        data.draw(st.sampled_from([char.lower(), char.upper(), widened(char), f"{char}\u200b"]))
        for char in name
    )
    tail = data.draw(st.sampled_from(["", ".", " ", " . .", "::$DATA", ":s", ". :s"]))
    assert denies("/".join([*data.draw(FOLDERS), spelled + tail, *data.draw(FOLDERS)]))


@pytest.mark.clause("KN-06")
@pytest.mark.parametrize("name", DENIED_AS_FILES)
def test_a_bare_name_of_a_secret_is_denied_as_a_file_and_not_as_a_folder(name: str) -> None:
    assert denies(name)
    assert denies(f"deploy/{name.upper()}")
    assert not denies(f"pkg/{name}/provider.go")
    assert not PathPolicy().denies(RelativePath(f"pkg/{name}"), is_folder=True)


@pytest.mark.clause("KN-06")
@pytest.mark.parametrize("path", DENIED_IN_PLACE)
def test_a_login_is_denied_where_a_program_keeps_it(path: str) -> None:
    assert denies(path)
    assert denies(f"backup/home/{path.upper()}")


@pytest.mark.clause("KN-09")
@pytest.mark.parametrize(
    ("glob", "hit", "miss"),
    [
        ("secret*", ["secrets.txt", "a/Secret/b", "a/SECRETS./x"], ["a/topsecret", "my.secret"]),
        ("*.sqlite3", ["db.sqlite3", "a/b/c.SQLITE3"], ["sqlite3", "db.sqlite3.md"]),
        ("a/b", ["a/b", "a/b/c", "A/B/c"], ["a/bc", "x/a/b", "a/c/b"]),
        ("a/**/z.txt", ["a/z.txt", "a/b/z.txt", "a/b/c/z.txt"], ["z.txt", "b/a/z.txt", "a/z.txtx"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
        ("**/private/*.md", ["private/x.md", "a/b/private/x.md"], ["private/a/x.md", "private/x.txt"]),
        ("/top", ["top", "top/x"], ["a/top"]),
        ("vault/", ["vault", "a/vault/x"], ["vaults", "avault"]),
        ("x[0-9].md", ["x1.md"], ["xx.md", "x12.md"]),
        ("über*", ["ÜBER.md"], ["uber.md"]),
        ("x[", ["x[", "a/x["], ["x"]),
        (" ", [".env"], ["a/b"]),
        ("*a" * 40 + "b", [".env"], ["a" * 200 + "/" + "a" * 200]),
    ],
)
def test_extra_globs_deny_more(glob: str, hit: list[str], miss: list[str]) -> None:
    assert [text for text in hit if not denies(text, glob)] == []
    assert [text for text in miss if denies(text, glob)] == []


@pytest.mark.clause("ENV-06")
def test_a_denied_name_can_be_allowed_unless_it_is_denied_by_the_user() -> None:
    policy = PathPolicy(("top.env",), allow=("*.env", "credentials", "config.json"))
    for path in ("prod.env", "a/prod.env", "x/credentials", ".docker/config.json"):
        assert denies(path)
        assert not policy.denies(RelativePath(path))
    assert policy.denies(RelativePath("top.env"))
    assert policy.denies(RelativePath(".aws/prod.env"))
