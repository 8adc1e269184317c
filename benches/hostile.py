"""Every kind of plant at every path that the product comes to, one at a time, under a running server.

`python benches/hostile.py [--kinds "a pipe,a device"] [--shard 1/2] [--commands]` builds the project of the
hostile tests, collects its paths by tracing, and plants at each path each kind. A spawned server, started
anew for each path, is called with every tool; with `--commands` every command is run too. Prints what was
read, written, told or slow that must not be, and the counts; the exit code is 1 if there was anything.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "tests" / "support")]

from hanging import never_hanging  # noqa: E402
from hostile_world import CALLS, COMMANDS, THEIRS, World  # noqa: E402
from path_trace import paths_of  # noqa: E402
from planting import plantable, planted  # noqa: E402
from stdio_client import StdioClient  # noqa: E402

from context_pack_adapters.cli import main as command_line  # noqa: E402

TOO_LONG = 10.0
AS_ORDINARY_USER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
"""Takes root's power to read what is closed from the server."""
ROOT_TELLERS = ("list_contexts", "query_context")


def troubles(world: World, client: StdioClient, commands: bool) -> Iterator[str]:
    """What one plant makes the server and the commands do that they must not."""
    for tool, arguments in CALLS:
        began = time.monotonic()
        try:
            text = json.dumps(client.request("tools/call", {"name": tool, "arguments": arguments}))
        except (TimeoutError, EOFError) as error:
            yield f"{tool} {arguments}: {type(error).__name__}"
            return
        if time.monotonic() - began > TOO_LONG:
            yield f"{tool} {arguments}: {time.monotonic() - began:.1f} s"
        if THEIRS in text:
            yield f"{tool} {arguments}: serves the decoy"
        if "failed inside" in text:
            yield f"{tool} {arguments}: {text}"
        if str(world.top) in (text.replace(str(world.project), "") if tool in ROOT_TELLERS else text):
            yield f"{tool} {arguments}: tells a path: {text[:300]}"
    if "result" not in client.request("ping"):
        yield "no answer to a ping"
    for words in COMMANDS if commands else ():
        out = io.StringIO()
        try:
            with never_hanging(), redirect_stdout(out), redirect_stderr(out):
                command_line(words)
        except AssertionError as error:
            yield f"{words}: {error}"
        if THEIRS in out.getvalue() or "failed inside" in out.getvalue():
            yield f"{words}: {out.getvalue()[-300:]}"


def started(world: World) -> StdioClient:
    """A server over the project that can read what an ordinary user can."""
    plain = (sys.executable, "-m", "context_pack")
    weakened = os.geteuid() == 0 and shutil.which(AS_ORDINARY_USER[0]) is not None
    client = StdioClient(
        world.top, command=(*AS_ORDINARY_USER, *plain) if weakened else plain, env=world.environment
    )
    client.initialize()
    return client


def main() -> int:
    """Plant, call, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default="", help="only these, comma-separated")
    parser.add_argument("--shard", default="1/1", help="which part of the paths, as 1/2")
    parser.add_argument("--commands", action="store_true", help="run every command, too")
    options = parser.parse_args()
    part, parts = map(int, options.shard.split("/"))
    kinds = options.kinds.split(",") if options.kinds else plantable()
    cases = wrong = 0
    screen = os.fdopen(os.dup(1), "w")  # a command whose answer cannot be written lets go of stdout
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        world = World.made(Path(folder))
        paths = paths_of(world.top)
        os.environ.update(world.environment)
        before = world.around()
        for path in paths[part - 1 :: parts]:
            world.restore()
            client = started(world)
            for kind in kinds:
                cases += 1
                with planted(world, kind, [path]):
                    os.chdir(world.project)
                    found = list(troubles(world, client, options.commands))
                now = world.around()
                if now != before:
                    found.append(f"the world outside is another: {set(now.items()) ^ set(before.items())}")
                    before = now
                for trouble in found:
                    wrong += 1
                    print(f"{kind} at {path}: {trouble}", file=screen, flush=True)
                if client.process.poll() is not None:
                    print(f"{kind} at {path}: the server has ended", file=screen, flush=True)
                    client = started(world)
            client.close_input()
            if client.wait() != 0 or b"Traceback" in client.stderr.read():
                wrong += 1
                print(f"{path}: the server did not end well", file=screen, flush=True)
            client.kill()
        os.chdir("/")
        print(f"{len(paths)} paths, {cases} plants, {wrong} troubles", file=screen, flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
