"""The commands about models that somebody brings: which are known, and fetching one."""

from __future__ import annotations

import click

from context_pack_adapters.about import install_command
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.embed.fetching import HUB, KNOWN, fetch_model, is_fetched
from context_pack_adapters.private_places import models_folder


@command("model list", anywhere=True)
def list_models(app: App) -> None:
    """List the models that can be fetched, and where those that were are.

    Examples:
      context-pack model list
    """
    models = models_folder(app.settings.cache)
    places = {name: str(models / name) if is_fetched(name, models) else None for name in KNOWN}
    bodies = [{"name": name, "extra": known.extra, "folder": places[name]} for name, known in KNOWN.items()]
    rows = [(name, known.extra, places[name] or "not fetched") for name, known in KNOWN.items()]
    app.table({"models": bodies}, rows, ("NAME", "EXTRA", "FOLDER"), "No models are known.")


@command("model fetch", anywhere=True)
@click.argument("name")
@click.option("--hub", metavar="URL", help="A mirror of the hub.")
def fetch(app: App, name: str, hub: str | None) -> None:
    """Fetch a known model into your data folder, checked by the digests that are pinned for it.

    Examples:
      context-pack model fetch potion-base-8M
      context-pack model fetch all-MiniLM-L6-v2 --hub https://mirror.example.org
    """
    folder = fetch_model(
        name,
        models_folder(app.settings.cache),
        hub=hub or HUB,
        report=lambda file: output.note(f"fetching {file}"),
    )
    extra, files = KNOWN[name].extra, dict(KNOWN[name].files)
    app.tell(
        {"name": name, "folder": str(folder), "extra": extra, "files": files},
        *(f"{digest}  {file}" for file, digest in files.items()),
        f"Use it: CONTEXT_PACK_MODEL={folder} ({install_command(extra)})",
    )
