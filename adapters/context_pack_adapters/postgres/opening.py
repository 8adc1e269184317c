"""The one door to the team's database: its driver is an extra, and may not be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from context_pack.kernel.errors import Code, Failure
from context_pack_adapters.about import install_command
from context_pack_adapters.files.events import Tell
from context_pack_adapters.settings import Settings

if TYPE_CHECKING:
    from context_pack_adapters.postgres.team import Team

INSTALL = install_command("postgres")
NOT_INSTALLED = f"CONTEXT_PACK_STORE names a Postgres database, but its driver does not load: {INSTALL}"


def load_team(settings: Settings, environ: Mapping[str, str], tell: Tell = lambda _: None) -> Team:
    """The team's stores.

    Raises:
        Failure: the driver does not load.
    """
    try:
        from context_pack_adapters.postgres.team import Team
    except ImportError:
        raise Failure(Code.IO_ERROR, NOT_INSTALLED, {"reason": "not_installed"}) from None
    return Team(settings, environ, tell)


def open_team(settings: Settings, environ: Mapping[str, str], tell: Tell = lambda _: None) -> AnyTeam:
    """The team's stores, or what stands in for them: a server starts without the driver."""
    try:
        return load_team(settings, environ, tell)
    except Failure as failure:
        return Unopened(failure)


class Unopened:
    """Stands in for a team that cannot be opened, and for each of its stores, which say why when used."""

    def __init__(self, failure: Failure) -> None:
        self._failure = failure

    def packs(self, *_: Any) -> Any:
        """What stands in for packs, and for each other store."""
        return self

    history = excerpts = discoveries = collection = packs

    def close(self) -> None:
        """There is nothing to close."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._refuse

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise self._failure


AnyTeam: TypeAlias = "Team | Unopened"
