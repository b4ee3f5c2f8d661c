"""Headless Chromium, spoken to through two pipes in its DevTools protocol."""

import base64
import json
import os
import pathlib
import shutil
import tempfile
from typing import Any


NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def found() -> str | None:
    """The path of Chromium, where it is installed."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of a browser. `events` are those that were not `heard` yet."""

    def __init__(self, program: str) -> None:
        self.profile = tempfile.TemporaryDirectory()
        (its_in, self.out), (self.into, its_out) = os.pipe(), os.pipe()
        flags = "--headless=new --no-sandbox --disable-gpu --hide-scrollbars --remote-debugging-pipe --no-first-run"
        quiet = os.open(os.devnull, os.O_WRONLY)
        moved = [(os.POSIX_SPAWN_DUP2, its_in, 3), (os.POSIX_SPAWN_DUP2, its_out, 4), (os.POSIX_SPAWN_DUP2, quiet, 2)]
        arguments = [program, *flags.split(), f"--user-data-dir={self.profile.name}", "about:blank"]
        self.pid = os.posix_spawn(program, arguments, os.environ, file_actions=moved)
        for end in (its_in, its_out, quiet):
            os.close(end)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        pages = [t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.ask("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Page.addScriptToEvaluateOnNewDocument", source="localStorage.clear()")  # a reader's first visit

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to one command. **Raises:** `RuntimeError` where the browser answers with an error."""
        self.number += 1
        asked = {"id": self.number, "method": method, "params": params}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.out, json.dumps(asked).encode() + b"\0")
        while (said := self._next()).get("id") != self.number:
            self.events.append(said)
        if "error" in said:
            raise RuntimeError(f"{method}: {said['error']['message']}")
        return said["result"]

    def open(self, url: str) -> None:
        """Opens a page, and waits until it is loaded and drawn."""
        self.heard()
        self.ask("Page.navigate", url=url)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())
        self._drawn()

    def heard(self) -> list[Any]:
        """The events, each once."""
        events, self.events = self.events, []
        return events

    def run(self, script: str) -> Any:
        """What a script of the page gives. **Raises:** `RuntimeError` where it throws."""
        done = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"]["description"])
        return done["result"].get("value")

    def size(self, width: int, height: int, scheme: str) -> None:
        """Sizes the window, and waits until the page is drawn again."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self._drawn()

    def picture(self, path: pathlib.Path) -> None:
        """The whole page, as a PNG."""
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True, optimizeForSpeed=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def close(self) -> None:
        self.session = None
        self.ask("Browser.close")
        os.waitpid(self.pid, 0)
        self.profile.cleanup()

    def _drawn(self) -> None:
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            read = os.read(self.into, 1 << 20)
            if not read:
                raise RuntimeError("the browser has ended")
            self.rest += read
        one, self.rest = self.rest.split(b"\0", 1)
        said: dict[str, Any] = json.loads(one)
        return said
