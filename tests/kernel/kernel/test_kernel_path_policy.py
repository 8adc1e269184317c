"""The path policy: whole segments are denied, however spelled, and nothing that only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack.kernel.paths import PathPolicy, RelativePath

DENIED = [
    *(".git", "node_modules"),
    *(".env", ".env.local", ".env.production", ".env.example.local", ".env~", ".envrc", ".env.bak"),
    *("prod.env", "my.env", "docker.env", "secrets.env", "app.env.local", ".secrets", ".secret"),
    *("secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml", "secrets.ini", "secrets.properties"),
    *("secret.json", "secret.yaml", "app.secrets.json", "prod-secrets.yaml", "db_secrets.yml"),
    *("credentials.json", "credentials.yml", "credentials.yml.enc", "credentials.csv", "credentials.xml"),
    *("credentials.toml", ".credentials", ".credentials.json", "gcp-credentials.json", "aws_credentials.ini"),
    *("application_default_credentials.json", "client_secret.json", "client_secret_42.json"),
    *("client_secrets.json", "oauth_creds.json", "passwords.txt", "password.txt", "passwords.csv"),
    *("service-account.json", "service_account.json", "service-account-prod.json", "serviceaccount.json"),
    *("my-service-account.json", "x-firebase-adminsdk-ab12.json", "gcp-key.json", "kaggle.json"),
    *("rootkey_accesskeys.csv", "prod.kubeconfig", "kubeconfig.yaml", "admin-kubeconfig.yml"),
    *(".aws", ".azure", ".oci", ".kube", ".boto", ".s3cfg", ".passwd-s3fs", "rclone.conf", ".databrickscfg"),
    *("terraform.tfstate", "terraform.tfstate.backup", "prod.tfvars", "x.auto.tfvars", "x.tfvars.json"),
    *(".terraformrc", ".terraform.d", ".dockercfg", ".dockerconfigjson", "ngrok.yml", ".ngrok2"),
    *("server.pem", ".pem", "a.b.key", "server.key.bak", "AuthKey_1.p8", "x.p12", "x.pfx", "x.ppk", "x.pvk"),
    *("x.keystore", "x.jks", "x.jceks", "x.bks", "x.kdbx", "x.kdb", "x.keytab", "x.agekey", "vpn.ovpn"),
    *("wg0.conf", "login.keychain-db", "secring.gpg", ".ssh", ".gnupg", ".password-store"),
    *("id_rsa", "id_rsa.pub", "id_rsa_old", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519.pub"),
    *("ssh_host_rsa_key", "key.properties", "keystore.properties", "signing.properties"),
    *(".netrc", "_netrc", ".authinfo", ".git-credentials", ".npmrc", ".pypirc", ".my.cnf", ".mylogin.cnf"),
    *(".pgpass", "pgpass.conf", ".pg_service.conf", ".msmtprc", ".htpasswd", ".htdigest", "wp-config.php"),
    *(".vault-token", ".vault_pass", ".vault_pass.txt", "vault_pass.txt", ".vault-password", "vault.yml"),
    *(".claude.json", ".claude.json.backup", ".claude.json.before-context-pack", ".smbcredentials"),
    *(".bash_history", ".zsh_history", ".psql_history", ".mysql_history", ".python_history"),
    *(".node_repl_history", ".sqlite_history", ".histfile", ".viminfo", "cookies.txt", "logins.json"),
]
DENIED_AS_FILES = [
    *("credentials", "kubeconfig", "htpasswd", "deploy_key", "deploy_rsa", "my_id_rsa", "github_ed25519"),
    *("bash_history", "zsh_history", "fish_history"),
]
DENIED_IN_PLACE = [
    *(".docker/config.json", ".codex/auth.json", ".local/share/opencode/auth.json", ".composer/auth.json"),
    *(".config/gh/hosts.yml", ".config/gcloud/x.db", ".cargo/credentials.toml", ".aws/credentials"),
    *(".kube/config", ".m2/settings.xml", ".gradle/gradle.properties", ".config/sops/age/keys.txt"),
    *(".claude/.credentials.json", ".gemini/oauth_creds.json", ".config/github-copilot/apps.json"),
    *(".huggingface/token", ".bundle/config", "containers/auth.json", ".terraform.d/credentials.tfrc.json"),
]
READABLE = [
    *("app.environment.ts", ".gitignore", ".gitattributes", ".github", "git", "env", "envrc", "x.env.ts"),
    *(".env.example", ".env.sample", ".env.template", ".env.dist", ".ENV.Example", ".env.prod.example"),
    *("example.env", "node_modules.md", "modules", "env.py", "environment.yml", "dotenv.js"),
    *("keys.py", "key", "x.key.py", "x.pem.md", "rsa", ".sshd", "ssh", "aws", "keystore", ".npmrc.md"),
    *("secrets.py", "secrets.go", "secrets.rs", "secret.ts", "Secrets.java", "secrets.md", "secrets"),
    *("test_secrets.py", ".secrets.baseline", "sealed-secrets.yaml", "secret_names.py", "secretary.json"),
    *("credentials.ts", "credentials.go", "credentials.py", "Credentials.java", "credentials_test.go"),
    *("credentials.md", "history.go", "history.py", "history.json", "HISTORY.md", "order_history.rb"),
    *("test_key.py", "key.ts", "key.json", "public_key.py", "rsa.py", "my_rsa.c", "id.py", "identity.json"),
    *(
        "auth.json",
        "auth.ts",
        "config.json",
        "settings.xml",
        "gradle.properties",
        "token.json",
        "tokens.json",
    ),
    *("kubeconfig.go", "service_account.py", "service-account.ts", "serviceaccount.yaml", "main.tf"),
    *("terraform.tfvars.example", "variables.tf", "vault.go", "vault.py", "password.py", "passwords.rb"),
    *("htpasswd.c", "npmrc", "netrc.go", "pgpass.c", "wp-config-sample.php", "cookies.ts", "wg.conf"),
    *("claude.json", "CLAUDE.md", ".claude", ".codex", ".docker", "docker-compose.yml", "database.yml"),
    *("sshd_config", "known_hosts.go", "keymap.json", "keyboard.key.md", "package-lock.json", "yarn.lock"),
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


@pytest.mark.clause("KN-06")
@pytest.mark.parametrize("name", DENIED_AS_FILES)
def test_a_bare_name_of_a_secret_is_denied_as_a_file_and_not_as_a_folder(name: str) -> None:
    assert denies(name)
    assert denies(f"deploy/{name}")
    assert denies(f"deploy/{name.upper()}")
    assert not denies(f"pkg/{name}/provider.go")
    assert not PathPolicy().denies(RelativePath(f"pkg/{name}"), is_folder=True)


@pytest.mark.clause("KN-06")
@pytest.mark.parametrize("path", DENIED_IN_PLACE)
def test_a_login_is_denied_where_a_program_keeps_it(path: str) -> None:
    assert denies(path)
    assert denies(f"backup/home/{path}")
    assert denies(path.upper())


@pytest.mark.clause("ENV-06")
def test_a_denied_name_can_be_allowed_unless_it_is_denied_by_the_user() -> None:
    policy = PathPolicy(("top.env",), allow=("*.env", "credentials", "config.json"))
    for path in ("prod.env", "a/prod.env", "x/credentials", ".docker/config.json"):
        assert denies(path)
        assert not policy.denies(RelativePath(path))
    assert policy.denies(RelativePath("top.env"))
    assert policy.denies(RelativePath("secrets.yml"))
    assert policy.denies(RelativePath(".aws/prod.env"))
