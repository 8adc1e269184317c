"""Where the private folders of a project are: by platform, by variable, by project."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from context_pack_adapters.private_places import open_places, project_key, user_folders
from context_pack_adapters.settings import Settings, read_settings


@pytest.mark.clause("PV-01")
@pytest.mark.skipif(sys.platform == "darwin", reason="its folders are below Library")
@pytest.mark.parametrize(
    "environ, cache, state",
    [
        ({}, "/home/ada/.cache/context-pack", "/home/ada/.local/state/context-pack"),
        ({"XDG_CACHE_HOME": "/c"}, "/c/context-pack", "/home/ada/.local/state/context-pack"),
        ({"XDG_STATE_HOME": "/s"}, "/home/ada/.cache/context-pack", "/s/context-pack"),
        (
            {"XDG_CACHE_HOME": "here", "XDG_STATE_HOME": ""},
            "/home/ada/.cache/context-pack",
            "/home/ada/.local/state/context-pack",
        ),
    ],
)
def test_the_folders_are_where_the_platform_wants_them(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], cache: str, state: str
) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/ada", **environ}.items():
        monkeypatch.setenv(name, value)
    assert tuple(place.path for place in user_folders("")) == (cache, state)


@pytest.mark.clause("PV-01")
def test_one_variable_names_a_folder_for_both(tmp_path: Path) -> None:
    settings = read_settings({"CONTEXT_PACK_CACHE": f" {tmp_path}/own/ "}, "/work/shop")
    assert settings.cache == f"{tmp_path}/own"
    places = open_places(settings)
    assert Path(places.cache.path).parent == tmp_path / "own" / "cache"
    assert Path(places.state.path).parent == tmp_path / "own" / "state"
    assert not places.trouble
    assert [path.name for path in tmp_path.iterdir()] == ["own"]
    home = os.path.expanduser("~")
    assert read_settings({"CONTEXT_PACK_CACHE": "~/own"}, "/work").cache == f"{home}/own"


@pytest.mark.clause("PV-01")
@pytest.mark.parametrize("text", ["own", "./own", "../own", "${workspaceFolder}/own", "/x/${y}"])
def test_a_folder_that_depends_on_the_project_is_not_understood(text: str) -> None:
    settings = read_settings({"CONTEXT_PACK_CACHE": text}, "/work/shop")
    assert settings.cache == ""
    assert [complaint.split(" ")[0] for complaint in settings.complaints] == ["CONTEXT_PACK_CACHE"]


@pytest.mark.clause("PV-01")
def test_a_project_is_known_by_its_real_path(tmp_path: Path) -> None:
    project = tmp_path / "My shop (2)"
    (project / "packs").mkdir(parents=True)
    (tmp_path / "alias").symlink_to(project)
    key = project_key(str(project), str(project / "packs"))
    assert key == project_key(str(tmp_path / "alias"), str(tmp_path / "alias" / "packs"))
    digest, _, name = key.partition("-")
    assert len(digest) == 16
    assert name == "My-shop-2"
    assert key != project_key(str(tmp_path), str(project / "packs"))
    assert key != project_key(str(project), str(tmp_path / "packs"))


@pytest.mark.clause("PV-06")
@pytest.mark.parametrize("what", ["file", "link"])
def test_a_folder_that_cannot_be_used_is_replaced_by_a_temporary_one(tmp_path: Path, what: str) -> None:
    (tmp_path / "real").mkdir()
    if what == "file":
        (tmp_path / "cache").write_text("")
    else:
        (tmp_path / "cache").symlink_to("real")
    settings = Settings(str(tmp_path / "store"), str(tmp_path), cache=str(tmp_path))
    places = open_places(settings)
    assert places.trouble.startswith(f"{tmp_path}/cache")
    assert os.stat(places.given).st_mode & 0o777 == 0o700
    assert not os.listdir(tmp_path / "real")
