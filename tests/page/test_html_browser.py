"""The page in a real browser, where there is one: nothing is fetched, nothing runs, nothing overflows.

Chromium is driven over its debugging pipe (file descriptors 3 and 4, messages end in NUL), so that no package
besides the browser is needed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from html_pages import FULL, at, pack, page, ref

from context_pack.packs.model import Diagram, Section
from context_pack.packs.states import State

PROGRAM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --remote-debugging-pipe"
)
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
DRAWN = (
    "[...document.images].every(image => image.complete && image.naturalWidth > 0) && document.images.length"
)

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium on this machine")


class Browser:
    """One tab, told what to do and asked what it sees."""

    def __init__(self, profile: Path) -> None:
        (theirs_in, self._out), (self._in, theirs_out) = os.pipe(), os.pipe()

        def place() -> None:
            os.dup2(theirs_in, 13)
            os.dup2(theirs_out, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(
            [str(PROGRAM), *FLAGS.split(), f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest, self._count, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        targets = self.ask("Target.getTargets")["targetInfos"]
        tab = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; what happens meanwhile is kept in `events`."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._count:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._in, 65536)
            assert data, "the browser went away"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def show(self, path: Path, width: int, scheme: str) -> None:
        """Open a file at a width in a colour scheme and wait until it is there."""
        self.events = []
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Page.navigate", url=path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        """What an expression is worth in the page."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"]
        return result.get("value")

    def happened(self, method: str) -> list[dict[str, Any]]:
        """The events of one kind since the page was opened."""
        return [event["params"] for event in self.events if event["method"] == method]

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)
        os.close(self._in)
        os.close(self._out)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all the tests of this module."""
    one = Browser(tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


WIDE_TEXT = f"`{'d' * 300}`\n\n| a | b |\n|---|---|\n| {'t' * 200} | x |\n\n```\n{'c' * 300}\n```"
WIDE_PATH = f"{'p' * 200}/{'q' * 200}.py"
WIDE_CHART = "flowchart LR\n  " + " --> ".join(f"N{n}[Node {n}]" for n in range(20))
WIDE_REF = ref("a" * 64, WIDE_PATH, title="T" * 190, why="y" * 500, group="g" * 100)
WIDE_DIAGRAMS = (
    Diagram("d" * 64, "D" * 150, WIDE_CHART),
    Diagram("broken", "B", f"flowchart LR\n  {'x' * 400}[[["),
)
WIDE_SECTION = Section("long-words" + "x" * 50, "W" * 150, WIDE_TEXT, (WIDE_REF,), WIDE_DIAGRAMS)
WIDE = pack(WIDE_SECTION, title="U" * 150, brief="V" * 300, tags=("t" * 60,))


def opened(browser: Browser, folder: Path, markup: str, width: int = 1280, scheme: str = "light") -> str:
    """Open a page; its address."""
    file = folder / "page.html"
    file.write_text(markup, "utf-8")
    browser.show(file, width, scheme)
    return file.as_uri()


def fetched(browser: Browser) -> set[str]:
    """What the page asked for that it does not hold itself."""
    asked = {event["request"]["url"] for event in browser.happened("Network.requestWillBeSent")}
    return {url for url in asked if not url.startswith("data:")}


@pytest.mark.clause("HTML-14")
@pytest.mark.parametrize("width", [320, 400, 900, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_html_page_does_not_overflow_at_any_width(
    browser: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    for shown in (FULL, WIDE):
        opened(browser, tmp_path, page(shown, at(State.MOVED)), width, scheme)
        assert browser.value(OVERFLOW) == 0


@pytest.mark.clause("HTML-01", "HTML-09")
def test_the_html_page_makes_no_request_and_logs_no_error(browser: Browser, tmp_path: Path) -> None:
    address = opened(browser, tmp_path, page(FULL), scheme="dark")
    assert browser.value(DRAWN) == 1
    assert fetched(browser) == {address}
    assert browser.happened("Log.entryAdded") == []
    assert browser.happened("Runtime.exceptionThrown") == []


@pytest.mark.clause("HTML-01")
def test_a_picture_with_a_script_runs_and_loads_nothing(browser: Browser, tmp_path: Path) -> None:
    evil = (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="alert(1)">'
        b"<script>alert(2)</script>"
        b'<style>@import url(https://evil.example/x.css);</style><image href="https://evil.example/x.png"/></svg>'
    )
    markup = re.sub('base64,[^"]+', f"base64,{b64encode(evil).decode()}", page(FULL))
    address = opened(browser, tmp_path, markup)
    assert browser.value(DRAWN) == 1
    assert fetched(browser) == {address}
    assert browser.happened("Page.javascriptDialogOpening") == []


@pytest.mark.clause("HTML-01")
def test_the_content_policy_blocks_an_injected_script(browser: Browser, tmp_path: Path) -> None:
    planted = "<script>window.ran = 1</script><img src='https://evil.example/x.png' onerror='window.ran = 2'>"
    opened(browser, tmp_path, page(FULL).replace("</main>", planted + "</main>"))
    assert browser.value("window.ran === undefined")
    assert len(browser.happened("Log.entryAdded")) >= 2


@pytest.mark.clause("HTML-14")
def test_the_html_page_follows_the_browsers_colour_scheme(browser: Browser, tmp_path: Path) -> None:
    seen = []
    for scheme in ("light", "dark"):
        opened(browser, tmp_path, page(FULL), scheme=scheme)
        ground = browser.value("getComputedStyle(document.body).backgroundColor")
        seen.append((ground, browser.value("getComputedStyle(document.images[0]).filter") == "none"))
    assert seen == [("rgb(246, 247, 249)", True), ("rgb(22, 27, 34)", False)]


@pytest.mark.clause("HTML-07")
def test_a_copied_excerpt_is_the_code_without_its_numbers(browser: Browser, tmp_path: Path) -> None:
    opened(browser, tmp_path, page(FULL))
    browser.value(
        "getSelection().selectAllChildren(document.getElementById('flow.loose').querySelector('pre'))"
    )
    copied = browser.value("getSelection().toString()")
    assert copied.rstrip("\n").split("\n") == [f"line_{number} = {number}" for number in range(42, 46)]
