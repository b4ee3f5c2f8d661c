"""Opens every page of the site as its readers do, and says what is wrong: `make look`.

At three widths, light and dark, each page is drawn by Chromium from files alone. It is wrong if it scrolls sideways, if
a block of code is wider than its box on a wide screen, or what a program says on any, if mathematics is left as TeX, if
a figure is missing, has no alternative text or has letters too small to read on a phone, if a link or an anchor leads
nowhere, if a script reports an error, or if anything is asked of another host. Pictures are taken with `--into`.
"""

import argparse
import functools
import http.server
import pathlib
import re
import sys
import threading
import urllib.parse
from collections.abc import Iterator

from browser import Browser, found


WIDTHS, HEIGHT = (1400, 800, 390), 900
SCHEMES = {"light": "default", "dark": "slate"}  # and what the theme calls them
CHECKS = (pathlib.Path(__file__).parent / "page.js").read_text()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


def main() -> None:
    parser = argparse.ArgumentParser(prog="make look", description=__doc__)
    parser.add_argument("--site", type=pathlib.Path, default=pathlib.Path("site"), help="where the site is built")
    parser.add_argument("--into", type=pathlib.Path, help="where pictures of the pages go, if any do")
    parser.add_argument("--only", default="", help="pages whose address has this in it")
    options = parser.parse_args()
    program = found()
    if program is None:
        sys.exit("Chromium is not installed: install the package `chromium` of your system.")
    if options.into:
        options.into.mkdir(exist_ok=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(options.site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host, browser = f"http://127.0.0.1:{server.server_port}/", Browser(program)
    seen = {}  # what is wrong, and at which widths
    pages = [page for page in addresses(options.site) if options.only in page]
    for page in pages:
        for scheme in SCHEMES:
            browser.size(WIDTHS[0], HEIGHT, scheme)
            browser.open(host + page.lstrip("/"))
            for width in WIDTHS:
                browser.size(width, HEIGHT, scheme)
                for fault in faults(browser, options.site, host, scheme):
                    seen.setdefault((page, fault), []).append(f"{width} {scheme}")
                if options.into:
                    name = page.strip("/").replace("/", "-") or "home"
                    browser.picture(options.into / f"{name}-{width}-{scheme}.png")
    browser.close()
    for (page, fault), where in seen.items():
        everywhere = len(where) == len(WIDTHS) * len(SCHEMES)
        print(f"{page or 'home'}: {fault}" + ("" if everywhere else f" ({', '.join(where)})"))
    pictures = f"; the pictures are in {options.into}/" if options.into else ""
    print(f"{len(pages)} pages, {len(seen)} faults{pictures}")
    sys.exit(bool(seen))


def addresses(site: pathlib.Path) -> list[str]:
    return sorted(str(path.parent.relative_to(site)).strip(".") + "/" for path in site.rglob("index.html"))


def faults(browser: Browser, site: pathlib.Path, host: str, scheme: str) -> Iterator[str]:
    """What is wrong with the page that is open, at its width, and what was heard since it was last asked."""
    chosen = browser.run("document.body.dataset.mdColorScheme")
    if chosen != SCHEMES[scheme]:
        yield f"a reader whose system is {scheme} gets the scheme `{chosen}`"
    drawn = browser.run(CHECKS)
    yield from drawn["wrong"]
    for link in drawn["links"]:
        if link.startswith(host) and not leads(site, link.removeprefix(host)):
            yield f"a link leads nowhere: {link.removeprefix(host)}"
    for event in browser.heard():
        params = event["params"]
        if event["method"] == "Runtime.exceptionThrown":
            yield f"a script fails: {params['exceptionDetails']['text']}"
        elif event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
            yield f"the console reports: {params['entry']['text']}"
        elif event["method"] == "Network.requestWillBeSent":
            asked = params["request"]["url"]
            if not asked.startswith((host, "data:")):
                yield f"another host is asked for {asked[:100]}"


def leads(site: pathlib.Path, link: str) -> bool:
    """Whether a file of the site has this address, and the anchor in it."""
    path, _, anchor = urllib.parse.unquote(link).partition("#")
    file = site / path
    file = file / "index.html" if file.is_dir() else file
    return file.exists() and (not anchor or anchor in anchors(file))


@functools.cache
def anchors(file: pathlib.Path) -> set[str]:
    return set(re.findall(r'\b(?:id|name)="?([^"\s>]+)', file.read_text()))


if __name__ == "__main__":
    main()
