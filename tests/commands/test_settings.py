"""The environment as settings: defaults, the two roots, and what happens to values that make no sense."""

from __future__ import annotations

import os
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


@pytest.mark.clause("ENV-01")
def test_packs_are_kept_in_the_project_by_default() -> None:
    assert settings().root == os.path.join(CWD, ".agents", "mcp", "context_pack")
    elsewhere = settings(SOURCE_ROOT="/srv/project")
    assert elsewhere.root == os.path.join("/srv/project", ".agents", "mcp", "context_pack")


@pytest.mark.clause("ENV-01")
def test_a_relative_storage_root_is_taken_from_the_source_root() -> None:
    assert settings(ROOT="packs", SOURCE_ROOT="/srv/project").root == "/srv/project/packs"
    assert settings(ROOT="../beside").root == "/work/beside"


@pytest.mark.clause("ENV-01")
def test_an_absolute_storage_root_is_taken_as_it_is() -> None:
    assert settings(ROOT="/var/packs", SOURCE_ROOT="/srv/project").root == "/var/packs"


@pytest.mark.clause("ENV-01", "ENV-02")
def test_a_tilde_means_the_home_folder() -> None:
    home = os.path.expanduser("~")
    assert settings(ROOT="~/packs").root == os.path.join(home, "packs")
    assert settings(SOURCE_ROOT="~/src").source_root == os.path.join(home, "src")


@pytest.mark.clause("ENV-02")
@pytest.mark.parametrize("value", ["", "  ", ".", "cwd", "session_cwd", "__SESSION_CWD__"])
def test_the_source_root_is_the_working_directory_by_every_name_of_it(value: str) -> None:
    assert settings(SOURCE_ROOT=value).source_root == CWD


@pytest.mark.clause("ENV-02")
def test_a_relative_source_root_is_taken_from_the_working_directory() -> None:
    assert settings(SOURCE_ROOT="lib").source_root == os.path.join(CWD, "lib")
    assert settings(SOURCE_ROOT="CWD").source_root == os.path.join(CWD, "CWD")


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


@pytest.mark.clause("ENV-09")
@pytest.mark.parametrize(
    "text, level",
    [
        ("off", "off"),
        ("error", "error"),
        ("WARN", "warn"),
        ("warning", "warn"),
        ("info", "info"),
        ("debug", "debug"),
        ("trace", "debug"),
        ("mcp_context_pack=info", "info"),
        ("mcp_context_pack=off", "off"),
        ("somebody=debug", "debug"),
        (" context_pack = Error ", "error"),
    ],
)
def test_a_log_level_may_carry_a_name(text: str, level: str) -> None:
    assert settings(LOG=text).log_level == level
    assert settings(LOG=text).complaints == ()


@pytest.mark.clause("ENV-09", "ENV-08")
@pytest.mark.parametrize("text", ["loud", "mcp_context_pack=loud", "=", "3", "info info", "warn,x=info"])
def test_an_unknown_log_level_is_info_with_a_complaint(text: str) -> None:
    assert settings(LOG=text).log_level == "info"
    (complaint,) = settings(LOG=text).complaints
    assert "CONTEXT_PACK_LOG" in complaint


@pytest.mark.clause("ENV-09")
def test_the_default_log_level_is_info() -> None:
    assert (settings().log_level, settings().log_level_given) == ("info", False)
    assert settings(LOG="info").log_level_given is True


@pytest.mark.clause("ENV-05", "ENV-08")
@pytest.mark.parametrize("text", ["0", "-1", "-20000", "1.5", "1e3", "soon", "0x10", "1_000", "٣", "9" * 40])
def test_a_timeout_that_makes_no_sense_is_twenty_seconds(text: str) -> None:
    found = settings(INITIALIZE_TIMEOUT_MS=text)
    assert found.initialize_timeout_ms == 20_000
    assert len(found.complaints) == 1


@pytest.mark.clause("ENV-05")
def test_a_timeout_is_whole_milliseconds() -> None:
    assert settings().initialize_timeout_ms == 20_000
    assert settings(INITIALIZE_TIMEOUT_MS=" 1 ").initialize_timeout_ms == 1
    # what one wait of the system can take
    assert settings(INITIALIZE_TIMEOUT_MS="99999999999").initialize_timeout_ms == 2**31 - 1


@pytest.mark.clause("ENV-05")
def test_sizes_have_defaults_and_take_any_positive_number_of_bytes() -> None:
    assert settings().max_message_bytes == 10 * 1024 * 1024
    assert settings().max_source_bytes == 2 * 1024 * 1024
    small = settings(MAX_MESSAGE_BYTES="1", MAX_SOURCE_BYTES="77")
    assert (small.max_message_bytes, small.max_source_bytes) == (1, 77)
    assert settings(MAX_MESSAGE_BYTES=str(2**30)).max_message_bytes == 2**30


@pytest.mark.clause("ENV-05", "ENV-08")
@pytest.mark.parametrize("name", ["MAX_MESSAGE_BYTES", "MAX_SOURCE_BYTES"])
@pytest.mark.parametrize("text", ["0", "-5", "10MB", str(2**30 + 1)])
def test_a_size_that_makes_no_sense_is_the_default(name: str, text: str) -> None:
    found = settings(**{name: text})
    assert (found.max_message_bytes, found.max_source_bytes) == (10 * 1024 * 1024, 2 * 1024 * 1024)
    assert len(found.complaints) == 1


@pytest.mark.clause("ENV-06")
def test_denied_globs_are_separated_by_commas() -> None:
    assert settings().deny == ()
    assert settings(DENY="*.sql, secrets ,,private-*").deny == ("*.sql", "secrets", "private-*")


@pytest.mark.clause("ENV-05")
def test_rate_limits_are_the_default_ones_unless_changed() -> None:
    assert settings().rate_limits == {"context_search": 30, "read_file": 100, "grep_codebase": 60}
    changed = settings(RATE_LIMITS="read_file=5, output=2")
    assert changed.rate_limits == {"context_search": 30, "read_file": 5, "grep_codebase": 60, "output": 2}
    assert settings(RATE_LIMITS="read_file=off").rate_limits == {"context_search": 30, "grep_codebase": 60}
    assert settings(RATE_LIMITS=" OFF ").rate_limits == {}


@pytest.mark.clause("ENV-05", "ENV-08")
@pytest.mark.parametrize("text", ["many", "read_file", "read_file=", "=3", "a=-1", "a=1.5", "a=1;b=2"])
def test_rate_limits_that_make_no_sense_are_the_default_ones(text: str) -> None:
    found = settings(RATE_LIMITS=text)
    assert found.rate_limits == DEFAULT_RATE_LIMITS
    assert len(found.complaints) == 1


@pytest.mark.clause("ENV-08")
def test_an_empty_variable_counts_as_absent() -> None:
    assert read_settings(dict.fromkeys(VARIABLES, "  "), CWD) == settings()


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


@pytest.mark.clause("ENV-08")
def test_only_one_module_reads_our_variables(checkout: Path) -> None:
    reading = "CONTEXT_PACK_"
    readers = {
        path.name
        for path in (checkout / "adapters" / "context_pack_adapters").rglob("*.py")
        if f'get("{reading}' in path.read_text("utf-8") or f'environ["{reading}' in path.read_text("utf-8")
    }
    assert readers == {"settings.py"}


@pytest.mark.clause("ENV-05")
def test_the_longest_time_of_a_call_is_a_whole_number_of_seconds() -> None:
    assert settings().call_seconds == 45
    assert settings(CALL_SECONDS=" 7 ").call_seconds == 7
    for text in ("0", "-1", "1.5", "soon", "86401"):
        assert settings(CALL_SECONDS=text).call_seconds == 45
        assert len(settings(CALL_SECONDS=text).complaints) == 1


@pytest.mark.clause("ENV-05")
def test_the_tokens_of_an_answer_go_by_the_client_unless_they_are_set() -> None:
    assert settings().page_tokens is None
    assert settings(PAGE_TOKENS=" 2500 ").page_tokens == 2500
    for text in ("499", "200001", "-1", "many"):
        assert settings(PAGE_TOKENS=text).page_tokens is None
        assert len(settings(PAGE_TOKENS=text).complaints) == 1


@pytest.mark.clause("ENV-05")
def test_families_of_tools_are_chosen_by_name_or_by_what_there_is() -> None:
    assert settings().tools == ()
    assert settings(TOOLS="all").tools == ()
    assert settings(TOOLS=" Packs, code,packs ").tools == ("packs", "code")
    assert settings(TOOLS="auto").tools == ("auto",)
    for text in ("auto,packs", "spoons", ","):
        assert settings(TOOLS=text).tools == ()
        assert len(settings(TOOLS=text).complaints) == 1


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
