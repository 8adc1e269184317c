"""The environment as settings: defaults, the two roots, and what happens to values that make no sense."""

from __future__ import annotations

import os
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_pack_adapters.settings import (
    DEFAULT_RATE_LIMITS,
    VARIABLES,
    Settings,
    no_project,
    parse_level,
    read_settings,
)

CWD = os.path.join(os.sep, "work", "shop")


def settings(**variables: str) -> Settings:
    """The settings of a process in CWD with these `CONTEXT_PACK_` variables."""
    return read_settings({f"CONTEXT_PACK_{name}": value for name, value in variables.items()}, CWD)


@pytest.mark.clause("ENV-01", "ENV-02")
@pytest.mark.parametrize(
    "variables, source_root, root",
    [
        ({}, CWD, f"{CWD}/.agents/mcp/context_pack"),
        ({"SOURCE_ROOT": "/srv/project"}, "/srv/project", "/srv/project/.agents/mcp/context_pack"),
        ({"SOURCE_ROOT": "/srv/project", "ROOT": "packs"}, "/srv/project", "/srv/project/packs"),
        ({"ROOT": "../beside"}, CWD, "/work/beside"),
        ({"ROOT": "/var/packs", "SOURCE_ROOT": "/srv/project"}, "/srv/project", "/var/packs"),
        ({"ROOT": "~/packs"}, CWD, os.path.expanduser("~/packs")),
        ({"SOURCE_ROOT": "~/src", "ROOT": "/p"}, os.path.expanduser("~/src"), "/p"),
        ({"SOURCE_ROOT": "lib", "ROOT": "/p"}, f"{CWD}/lib", "/p"),
        ({"SOURCE_ROOT": "CWD", "ROOT": "/p"}, f"{CWD}/CWD", "/p"),
    ]
    + [
        ({"SOURCE_ROOT": name, "ROOT": "/p"}, CWD, "/p")
        for name in ("", "  ", ".", "cwd", "session_cwd", "__SESSION_CWD__")
    ],
)
def test_the_two_roots_are_taken_from_each_other_and_from_here(
    variables: dict[str, str], source_root: str, root: str
) -> None:
    found = settings(**variables)
    assert (found.source_root, found.root) == (source_root, root)


@pytest.mark.clause("ENV-08")
def test_an_unexpanded_client_variable_is_not_used_as_a_folder() -> None:
    found = settings(SOURCE_ROOT="${workspaceFolder}", ROOT="${workspaceFolder}/packs")
    assert (found.source_root, found.root) == (CWD, os.path.join(CWD, ".agents/mcp/context_pack"))
    assert [refusal.split(" ")[0] for refusal in found.refusals] == [
        "CONTEXT_PACK_ROOT",
        "CONTEXT_PACK_SOURCE_ROOT",
    ]


@pytest.mark.clause("ENV-18")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STORE", "host=db.example dbname=team"),
        ("STORE", "mysql://db.example/team"),
        ("STORE", "postgresql://db.example:port/team"),
        ("PROJECT", "${workspaceFolderBasename}"),
        ("PROJECT", "a\nb"),
        ("PROJECT", "x" * 201),
    ],
)
def test_where_data_goes_is_refused_where_it_is_not_understood(name: str, value: str) -> None:
    found = settings(**{name: value})
    (refusal,) = found.refusals
    assert refusal.startswith(f"CONTEXT_PACK_{name} is not understood; set it to ")
    assert value not in refusal
    assert found.complaints == ()


@pytest.mark.clause("ENV-06")
def test_names_are_allowed_and_paths_are_not() -> None:
    assert settings(ALLOW=" prod.env, *.pem ").allow == ("prod.env", "*.pem")
    assert (settings(ALLOW="deploy/prod.env").allow, len(settings(ALLOW="a/b").complaints)) == ((), 1)


@pytest.mark.clause("ENV-18")
def test_the_disk_and_the_home_folder_are_no_projects_unless_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert no_project(read_settings({}, "/")) == "the whole disk"
    assert no_project(read_settings({}, str(tmp_path))) == "your home folder"
    assert no_project(read_settings({"CONTEXT_PACK_SOURCE_ROOT": "."}, str(tmp_path))) == ""
    assert no_project(read_settings({}, str(tmp_path / "shop"))) == ""


BAD_NUMBERS = ("0", "-1", "1.5", "1e3", "soon", "0x10", "1_000", "٣", "9" * 40)


@pytest.mark.clause("ENV-05", "ENV-06", "ENV-08", "ENV-09")
@pytest.mark.parametrize(
    "name, default, values, wrong",
    [
        ("INITIALIZE_TIMEOUT_MS", 20_000, {" 1 ": 1, "99999999999": 2**31 - 1}, BAD_NUMBERS),
        ("MAX_MESSAGE_BYTES", 10 * 1024 * 1024, {"1": 1, str(2**30): 2**30}, ("0", "10MB", str(2**30 + 1))),
        ("MAX_SOURCE_BYTES", 2 * 1024 * 1024, {"77": 77}, ("0", "-5", str(2**30 + 1))),
        ("CALL_SECONDS", 45, {" 7 ": 7}, (*BAD_NUMBERS, "86401")),
        ("DENY", (), {"*.sql, secrets ,,private-*": ("*.sql", "secrets", "private-*")}, ()),
        ("PAGE_TOKENS", None, {" 2500 ": 2500}, ("499", "200001", "-1", "many")),
        (
            "LOG",
            "info",
            {
                "off": "off", "WARN": "warn", "warning": "warn", "trace": "debug",
                "mcp_context_pack=off": "off", "somebody=debug": "debug", " context_pack = Error ": "error",
            },
            ("loud", "mcp_context_pack=loud", "=", "3", "info info", "warn,x=info"),
        ),
        (
            "TOOLS",
            (),
            {"all": (), " Packs, code,packs ": ("packs", "code"), "auto": ("auto",)},
            ("auto,packs", "spoons", ","),
        ),
        (
            "RATE_LIMITS",
            DEFAULT_RATE_LIMITS,
            {
                "read_file=5, output=2": {**DEFAULT_RATE_LIMITS, "read_file": 5, "output": 2},
                "read_file=off": {"context_search": 30, "grep_codebase": 60},
                " OFF ": {},
            },
            ("many", "read_file", "read_file=", "=3", "a=-1", "a=1.5", "a=1;b=2"),
        ),
    ],
)  # fmt: skip
def test_what_is_understood_counts_and_what_is_not_is_the_default_with_one_complaint(
    name: str, default: object, values: dict[str, object], wrong: tuple[str, ...]
) -> None:
    understood = attrgetter("log_level" if name == "LOG" else name.lower())
    assert understood(settings()) == understood(settings(**{name: "  "})) == default
    for text, value in values.items():
        found = settings(**{name: text})
        assert (understood(found), found.complaints) == (value, ())
    for text in wrong:
        found = settings(**{name: text})
        assert (understood(found), len(found.complaints)) == (default, 1)


@pytest.mark.clause("ENV-08")
@given(st.dictionaries(st.sampled_from(sorted(VARIABLES)), st.text(max_size=80)))
def test_no_value_of_any_variable_breaks_the_settings(variables: dict[str, str]) -> None:
    found = read_settings(variables, CWD)
    assert os.path.isabs(found.root)
    assert os.path.isabs(found.source_root)
    assert parse_level(found.log_level) == found.log_level
    assert found.initialize_timeout_ms > 0
    assert found.max_message_bytes > 0
    assert found.max_source_bytes > 0
    assert all(count >= 0 for count in found.rate_limits.values())
    assert all(line.isprintable() and len(line) < 400 for line in found.complaints)


@pytest.mark.clause("ENV-02")
def test_a_server_started_in_a_subfolder_serves_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(folder: str, **variables: str) -> tuple[str, str]:
        environ = {f"CONTEXT_PACK_{name}": value for name, value in variables.items()}
        read = read_settings(environ, str(tmp_path / folder))
        return os.path.relpath(read.source_root, tmp_path), read.source_because

    (tmp_path / "home/shop/web/src").mkdir(parents=True)
    (tmp_path / "home/notes/deep").mkdir(parents=True)
    (tmp_path / "home/.agents/mcp/context_pack").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert found("home/shop/web/src") == ("home/shop/web/src", "the working directory")
    (tmp_path / "home/shop/.git").mkdir()
    assert found("home/shop/web/src") == ("home/shop", "the root of the repository")
    (tmp_path / "home/shop/web/.agents/mcp/context_pack").mkdir(parents=True)
    assert found("home/shop/web/src") == ("home/shop/web", "it holds our files")
    assert found("home/shop/web/src", SOURCE_ROOT=".")[0] == "home/shop/web/src"
    assert found("home/notes/deep") == ("home/notes/deep", "the working directory")
    (tmp_path / "home/notes/.agents/mcp/context_pack").mkdir(parents=True)
    assert found("home/notes/deep") == ("home/notes", "it holds our files")
    assert found("home/notes/deep", ROOT="packs") == ("home/notes/deep", "the working directory")
