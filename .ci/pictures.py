"""Makes the pictures of the README: the page of a real pack of this project, light and dark, in Chromium.

  python .ci/pictures.py          # needs chromium, and the extra `html` for the diagram

The pack is made in a temporary copy of two files, one function of which is changed after it was anchored, so
that the pictures show what a changed claim looks like. Nothing of this runs in CI.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

from context_pack import open_workspace  # noqa: E402

SOURCES = ("context_pack/kernel/times.py", "adapters/context_pack_adapters/server/framing.py")
TEXT = """\
# How packs end, and how bytes become messages

For whoever changes the life of packs or the transport next.

## The life of a pack

- A pack dies at a moment, not after a while: `context_pack/kernel/times.py#expiry` computes it once.
- What is over is decided by `context_pack/kernel/times.py#is_expired` alone, so lists and reads agree.

```mermaid
flowchart LR
  draft -->|finalize| finalized -->|reopen| draft
  draft & finalized -->|time is over| trash -->|restore| draft
```

## From bytes to messages

The decoder keeps state and does no I/O, so every way of cutting the bytes gives the same messages. Both forms
of a message are read on one connection, and answered as they were asked.
"""
WIDTH, HEIGHT = 1100, 900
DARK, LIGHT = 0, 1
"""How Chromium counts colour schemes."""


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.stderr.write("no chromium here\n")
        return 1
    with tempfile.TemporaryDirectory() as place:
        project = Path(place, "project")
        for name in SOURCES:
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, project / name)
        with open_workspace(project, storage=Path(place, "packs"), cache=Path(place, "cache")) as workspace:
            pack = workspace.packs.write(TEXT, name="life-of-packs", ttl_minutes=60 * 24 * 30).pack
            times = project / SOURCES[0]
            old = times.read_text(encoding="utf-8")
            times.write_text(old.replace("now >= expires_at", "now > expires_at"), encoding="utf-8")
            page = Path(place, "page.html")
            page.write_text(workspace.packs.export_html(pack), encoding="utf-8")
        for name, scheme in (("light", LIGHT), ("dark", DARK)):
            target = ROOT / f"docs/pictures/page-{name}.png"
            target.parent.mkdir(exist_ok=True)
            words = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
            words += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
            words += [
                f"--user-data-dir={place}/{name}",
                f"--window-size={WIDTH},{HEIGHT}",
                "--hide-scrollbars",
            ]
            words += [
                f"--blink-settings=preferredColorScheme={scheme}",
                f"--screenshot={target}",
                page.as_uri(),
            ]
            subprocess.run([chromium, *words], check=True, capture_output=True, timeout=120)
    return 0


if __name__ == "__main__":
    sys.exit(main())
