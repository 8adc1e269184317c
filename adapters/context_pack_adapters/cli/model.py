"""The command `model fetch`: models for searches by meaning, in place of the installed one."""

from __future__ import annotations

import click

from context_pack_adapters.about import install_command
from context_pack_adapters.cli import output
from context_pack_adapters.cli.app import App, command
from context_pack_adapters.embed.fetching import HUB, KNOWN, fetch_model, is_fetched
from context_pack_adapters.private_places import models_folder


@command("model fetch", anywhere=True)
@click.argument("name", required=False)
@click.option("--hub", metavar="URL", help="A mirror of the hub.")
def fetch(app: App, name: str | None, hub: str | None) -> None:
    """Fetch a known model into your data folder, checked by the digests that are pinned for it.

    Without a name, list the models that are known, and where those are that were fetched.

    Examples:
      context-pack model fetch
      context-pack model fetch potion-base-8M
      context-pack model fetch all-MiniLM-L6-v2 --hub https://mirror.example.org
    """
    models = models_folder(app.settings.cache)
    if name is None:
        places = {name: str(models / name) if is_fetched(name, models) else None for name in KNOWN}
        bodies = [{"name": name, "extra": KNOWN[name].extra, "folder": places[name]} for name in KNOWN]
        rows = [(body["name"], body["extra"], body["folder"] or "not fetched") for body in bodies]
        app.table({"models": bodies}, rows, ("NAME", "EXTRA", "FOLDER"), "No models are known.")
        return
    folder = fetch_model(name, models, hub=hub or HUB, report=lambda file: output.note(f"fetching {file}"))
    extra, files = KNOWN[name].extra, dict(KNOWN[name].files)
    app.tell(
        {"name": name, "folder": str(folder), "extra": extra, "files": files},
        *(f"{digest}  {file}" for file, digest in files.items()),
        f"Use it: CONTEXT_PACK_MODEL={folder} ({install_command(extra)})",
    )
