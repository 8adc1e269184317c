"""The path policy: whole segments are denied, however spelled, and nothing that only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.paths import PathPolicy, RelativePath

DENIED = [
    *(
        ".git",
        "node_modules",
        ".env",
        ".env.local",
        ".env.production",
        ".env.example.local",
        ".netrc",
        ".npmrc",
    ),
    *(
        ".pypirc",
        ".ssh",
        ".aws",
        ".gnupg",
        "id_rsa",
        "id_rsa.pub",
        "id_rsa_old",
        "id_ed25519",
        "id_ed25519.pub",
    ),
    *("server.pem", "a.b.key", "x.p12", "x.pfx", "x.keystore", ".pem", "x.jks", "x.kdbx"),
    *(".env~", ".git-credentials", ".htpasswd", ".pgpass", ".vault-token", ".dockercfg"),
    *(".envrc", ".kube", "id_dsa", "id_ecdsa", "id_ecdsa.pub"),
]
READABLE = [
    *(
        "app.environment.ts",
        ".gitignore",
        ".gitattributes",
        ".github",
        "git",
        "env",
        "envrc",
        "my.env",
        "x.env.ts",
    ),
    *(
        ".env.example",
        ".env.sample",
        ".env.template",
        ".env.dist",
        ".ENV.Example",
        "node_modules.md",
        "modules",
    ),
    *(
        "keys.py",
        "key",
        "x.key.py",
        "x.pem.md",
        "my_id_rsa",
        "rsa",
        ".sshd",
        "ssh",
        "aws",
        "keystore",
        ".npmrc.md",
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
    assert PathPolicy().denies_name(name)
    assert all(denies(text) for text in (name, f"a/{name}", f"{name}/b", f"a/{name}/b/c.txt"))


@pytest.mark.clause("KN-07")
@pytest.mark.parametrize("name", READABLE)
def test_a_segment_that_only_contains_a_denied_one_is_readable(name: str) -> None:
    assert not PathPolicy().denies_name(name)
    assert not any(denies(text) for text in (name, f"a/{name}", f"{name}/x.yml"))


@pytest.mark.clause("KN-08")
@pytest.mark.parametrize(
    "name",
    [
        *(".ENV", ".Git", "NODE_MODULES", "Id_Rsa", "SERVER.PEM"),
        *(
            ".env.",
            ".env ",
            ".git. .",
            "x.pem ",
            ".env::$DATA",
            ".git:x",
            ".env.local::$DATA",
            "x.key:stream",
        ),
        *("．env", "．ｅｎｖ", ".e\u200cnv", ".\u200dgit", ".ſsh", "x.\u212aey", ".ＧＩＴ", ".env\u200b"),
    ],
)
def test_a_disguised_segment_is_denied(name: str) -> None:
    assert PathPolicy().denies_name(name)
    assert denies(f"a/{name}/b")


@pytest.mark.clause("KN-06", "KN-08")
@given(st.data())
def test_no_disguise_of_a_denied_segment_gets_through(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(DENIED))
    spelled = "".join(
        data.draw(st.sampled_from([char.lower(), char.upper(), widened(char), f"{char}\u200b"]))
        for char in name
    )
    tail = data.draw(st.sampled_from(["", ".", " ", " . .", "::$DATA", ":s", ". :s"]))
    parts = [*data.draw(FOLDERS), spelled + tail, *data.draw(FOLDERS)]
    assert denies("/".join(parts))


@pytest.mark.clause("KN-07")
@given(FOLDERS, st.sampled_from(DENIED), st.text("abcxyz", min_size=1, max_size=5))
def test_a_denied_word_inside_a_longer_plain_one_is_no_reason(
    folders: list[str], name: str, more: str
) -> None:
    if "." in name.strip("."):
        return
    assert not denies("/".join([*folders, f"{more}{name}{more}.ts"]))


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
        ("a/*.txt", ["a/x.txt"], ["a/b/x.txt", "a/x.txt.md"]),
        ("/top", ["top", "top/x"], ["a/top"]),
        ("vault/", ["vault", "a/vault/x"], ["vaults", "avault"]),
        ("a\\b", ["a/b"], ["ab"]),
        ("x[0-9].md", ["x1.md"], ["xx.md", "x12.md"]),
        (" spaced.txt ", ["spaced.txt"], ["spaced"]),
        ("über*", ["ÜBER.md"], ["uber.md"]),
        ("x[", ["x[", "a/x["], ["x"]),
    ],
)
def test_extra_globs_deny_more(glob: str, hit: list[str], miss: list[str]) -> None:
    assert [text for text in hit if not denies(text, glob)] == []
    assert [text for text in miss if denies(text, glob)] == []


@pytest.mark.clause("KN-09")
@pytest.mark.parametrize("glob", ["", "  ", "/", "./"])
def test_an_empty_glob_denies_nothing(glob: str) -> None:
    assert not denies("a/b", glob)
    assert denies(".env", glob)


@pytest.mark.clause("KN-09")
def test_extra_globs_add_up_and_policies_compare_by_them() -> None:
    policy = PathPolicy(("*.bak", "a/b"))
    assert policy.denies(RelativePath("x.bak"))
    assert policy.denies(RelativePath("a/b"))
    assert policy.denies(RelativePath(".env"))
    assert not policy.denies(RelativePath("a/c"))
    assert policy == PathPolicy(("*.bak", "a/b")) != PathPolicy()


@pytest.mark.clause("KN-09")
def test_a_hostile_glob_is_matched_in_reasonable_time() -> None:
    assert not denies("a" * 200 + "/" + "a" * 200, "*a" * 40 + "b", "/".join(["**"] * 30) + "/b")
