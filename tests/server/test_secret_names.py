"""Files with the names of secrets: no reader serves them, no search finds their words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from document_trees import configure, lay
from stdio_client import StdioClient

Spawn = Callable[..., StdioClient]
SECRETS = (
    *(
        "prod.env",
        "config/secrets.yml",
        "credentials.json",
        "credentials",
        "service-account.json",
        "kubeconfig",
    ),
    *(
        ".docker/config.json",
        "infra/terraform.tfstate",
        "infra/prod.tfvars",
        "AuthKey.p8",
        "x.ppk",
        "deploy_rsa",
    ),
    *(".my.cnf", ".codex/auth.json", ".claude.json", ".bash_history", "home/zsh_history", "vault.yml"),
)
CODE = ("secrets.py", "pkg/credentials/provider.py", "history.py", "locales/en/auth.json")
WORD = "hippopotamus"


def answers(client: StdioClient, path: str) -> str:
    """Everything that the readers and the searches say about a file and its word."""
    calls = (
        ("read_file", {"path": path}),
        ("grep_codebase", {"pattern": WORD, "filePattern": path}),
        ("grep_codebase", {"pattern": WORD}),
        ("find_usages", {"name": WORD}),
        ("context_search", {"query": WORD}),
        ("documents_search", {"query": WORD}),
    )
    return "\n".join(str(client.call(tool, arguments)) for tool, arguments in calls)


@pytest.mark.clause("KN-06")
def test_secrets_are_served_by_no_reader_and_are_not_in_the_index(tmp_path: Path, spawn: Spawn) -> None:
    lay(tmp_path, dict.fromkeys(SECRETS, f"{WORD}_secret = 1\n"))
    lay(tmp_path, dict.fromkeys(CODE, f"{WORD}_code = 1\n"))
    lay(tmp_path, {f"docs/{path}.md": f"# {WORD}_page\n" for path in ("guide", "secrets")})
    lay(tmp_path, {"docs/secrets.txt": f"{WORD}_secret\n"})
    configure(tmp_path, docs="./docs")
    client = spawn()
    client.initialize()
    for path in SECRETS:
        words = answers(client, path)
        assert f"{WORD}_secret" not in words, path
    for path in CODE:
        assert f"{WORD}_code" in str(client.call("read_file", {"path": path})), path
    assert "pkg/credentials/provider.py" in str(client.call("grep_codebase", {"pattern": f"{WORD}_code"}))


@pytest.mark.clause("ENV-06")
def test_a_secret_is_opened_by_its_name(tmp_path: Path, spawn: Spawn) -> None:
    lay(
        tmp_path,
        {"prod.env": f"{WORD}_secret\n", "deploy/prod.env": f"{WORD}_secret\n", "x.env": f"{WORD}_no\n"},
    )
    client = spawn(env={"CONTEXT_PACK_ALLOW": "prod.env"})
    client.initialize()
    grepped = str(client.call("grep_codebase", {"pattern": WORD}))
    assert f"{WORD}_secret" in str(client.call("read_file", {"path": "prod.env"}))
    assert ("deploy/prod.env" in grepped, f"{WORD}_no" in grepped) == (True, False)
