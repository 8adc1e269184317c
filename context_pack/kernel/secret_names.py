"""The names under which people keep secrets: the one table that every reader and the index ask.

Ordinary code is none of it: `secrets.py`, `credentials.ts`, `history.go` and `auth.json` of a translation are
read like any file, so words that programs also use (`secrets`, `credentials`) count only with the ending of a
data file, or in the folder where a program keeps its login. Names are lower case here: who asks has folded
them. `CONTEXT_PACK_ALLOW` opens one by name.
"""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache

_DATA = (
    *("json", "yml", "yaml", "toml", "ini", "cfg", "conf", "properties", "xml", "txt", "csv", "plist"),
    *("enc", "yml.enc", "db", "dat"),
)


def _with_data_endings(*stems: str) -> list[str]:
    return [f"{stem}.{ending}" for stem in stems for ending in _DATA]


SECRET_NAMES = (
    # never a source, whoever asks
    *(".git", "node_modules"),
    # environments
    *(".env", ".env.*", "*.env", "*.env.local", ".envrc", ".secrets", ".secret"),
    # words for secrets, in files of data
    *_with_data_endings("secret", "secrets", "*.secret", "*.secrets", "*-secrets", "*_secrets"),
    *_with_data_endings("credentials", ".credentials", "*-credentials", "*_credentials", "*.credentials"),
    *_with_data_endings("password", "passwords", "apikeys", "api_keys", "api-keys"),
    *(".credentials", ".smbcredentials", ".passwords", ".password-store", "rsyncd.secrets", "cookies.txt"),
    *("client_secret*.json", "oauth_creds.json", "*accesskeys.csv", "access_tokens.db", "logins.json"),
    # clouds and clusters
    *("*service-account*.json", "*service_account*.json", "serviceaccount*.json", "*firebase-adminsdk*.json"),
    *("gcp-key*.json", "*-sa-key.json", "keyfile.json", "kaggle.json", "credentials.tfrc.json"),
    *(".aws", ".azure", ".oci", ".kube", "*.kubeconfig", ".boto", ".s3cfg", ".passwd-s3fs", "rclone.conf"),
    *_with_data_endings("kubeconfig", "*-kubeconfig", "*_kubeconfig"),
    *("*.tfstate", "*.tfstate.*", "*.tfvars", "*.tfvars.json", "*.tfplan", ".terraformrc", ".terraform.d"),
    *(".databrickscfg", ".ngrok2", "ngrok.yml", ".dockercfg", ".dockerconfigjson", ".sentryclirc"),
    # keys and their stores
    *("*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.ppk", "*.pvk", "*.agekey", "*.keytab"),
    *("*.keystore", "*.jks", "*.jceks", "*.bks", "*.kdb", "*.kdbx", "*.keychain", "*.keychain-db"),
    *("*.agilekeychain", "*.1pux", "*.ovpn", "wg[0-9]*.conf", "secring.*", ".gnupg", ".ssh"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "id_xmss*", "ssh_host_*_key"),
    *("key.properties", "keystore.properties", "signing.properties"),
    # logins of programs
    *(".netrc", "_netrc", ".authinfo", ".authinfo.gpg", ".git-credentials", ".npmrc", ".pypirc"),
    *(".my.cnf", ".mylogin.cnf", ".pgpass", "pgpass.conf", ".pg_service.conf", ".msmtprc", ".fetchmailrc"),
    *(".htpasswd", ".htdigest", "wp-config.php", ".vault-token", ".vault_pass*", ".vault-pass*"),
    *("vault_pass*.txt", "vault-pass*.txt", "vault.yml", "vault.yaml", ".claude.json", ".claude.json.*"),
    # what was typed
    *(".*_history", ".*-history", ".histfile", ".lesshst", ".viminfo"),
)
"""Denied wherever they stand in a path."""
SECRET_FILES = (
    *("credentials", "kubeconfig", "htpasswd", "deploy_key", "vault_pass", "vault-password"),
    *("*_rsa", "*_dsa", "*_ecdsa", "*_ed25519", "*-rsa", "*-ed25519"),
    *("bash_history", "zsh_history", "fish_history", "psql_history", "mysql_history", "python_history"),
    *("node_repl_history", "sqlite_history", "irb_history", "rediscli_history"),
)
"""Denied as files; a folder of that name may be a package of code."""
SECRET_PLACES = frozenset(
    {
        *((".codex", "auth.json"), ("opencode", "auth.json"), (".composer", "auth.json")),
        *(("composer", "auth.json"), ("containers", "auth.json"), (".docker", "config.json")),
        *((".cargo", "credentials"), (".bundle", "config"), (".config", "gcloud"), (".config", "hub")),
        *(("gh", "hosts.yml"), ("glab-cli", "config.yml"), ("doctl", "config.yaml"), ("age", "keys.txt")),
        *(("github-copilot", "hosts.json"), ("github-copilot", "apps.json"), (".huggingface", "token")),
        *(("huggingface", "token"), (".m2", "settings.xml"), (".m2", "settings-security.xml")),
        *((".gradle", "gradle.properties"), (".gemini", "google_accounts.json")),
    }
)
"""A folder and what in it is denied."""
READABLE_NAMES = (
    *(".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults"),
    *(".env.*.example", ".env.*.sample", ".env.*.template", ".env.*.dist"),
    *("example.env", "sample.env", "template.env", "*.example.env", "*.sample.env", "*.template.env"),
    *("sealed-secrets.yaml", "sealed-secrets.yml", "external-secrets.yaml", "external-secrets.yml"),
    *("example.tfvars", "*.example.tfvars"),
)
"""Examples for people to copy, which the table would deny."""
_COPY = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|copy|swp|before-context-pack))+\Z")


@cache
def _any_of(globs: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for all of them; compiled by the first who reads a folder, as it takes 20 ms."""
    return re.compile("|".join(map(translate, globs)))


def is_secret_name(name: str) -> bool:
    """Whether a segment of a path is on the table, wherever it stands; a copy beside it counts as well."""
    return _has(SECRET_NAMES, name)


def is_secret_entry(folder: str, name: str, is_folder: bool) -> bool:
    """Whether an entry is on the table because of the folder it is in, or because it is a file."""
    return (folder, name) in SECRET_PLACES or (not is_folder and _has(SECRET_FILES, name))


def _has(globs: tuple[str, ...], name: str) -> bool:
    if _any_of(READABLE_NAMES).match(name):
        return False
    return any(map(_any_of(globs).match, (name, _COPY.sub("", name))))
