"""The tables that the pages show: measured by a program, kept in a `results.json`, and written to the pages.

| what                                             | here                                                        |
| ------------------------------------------------ | ----------------------------------------------------------- |
| a program: options, and what it measures         | `Program(name, parser, measured)`, with `main`              |
| its tables and its options, seeds among them     | `results.json` of its package; `main(["--write"])` writes   |
| the place of a table on a page                   | between `<!-- table: NAME -->` and `<!-- /table -->`        |
"""

import argparse
import json
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .markdown import markdown


PAGES = pathlib.Path(__file__).parents[1]
PLACE = re.compile(r"(<!-- table: (\S+) -->\n\n)(.*?)(\n\n<!-- /table -->)", re.DOTALL)


class Table(NamedTuple):
    """A table of texts. The first `texts` columns are set to the left."""

    head: list[str]
    rows: list[list[str]]
    texts: int = 1

    def __str__(self) -> str:
        return markdown(self.head, self.rows, self.texts)


class Program(NamedTuple):
    """A program that measures tables, each with a name. Its own is that of its module: `symmetry.karate_club`."""

    name: str
    parser: argparse.ArgumentParser
    measured: Callable[[argparse.Namespace], dict[str, Table]]

    def options(self, argv: Sequence[str] | None) -> dict[str, Any]:
        """The sizes and seeds that are asked for."""
        return vars(self.parser.parse_args(argv))

    def main(self, argv: Sequence[str] | None = None) -> str:
        """Measures the tables, and gives them in Markdown. With `--write`, they are kept and put on the pages."""
        first = argparse.ArgumentParser(add_help=False)
        first.add_argument("--write", action="store_true")
        given, rest = first.parse_known_args(argv)
        options = self.options(rest)
        tables = self.measured(argparse.Namespace(**options))
        if given.write:
            written(self.name, options, tables)
        return "\n\n".join(map(str, tables.values()))


def arguments(about: str | None, **defaults: int) -> argparse.ArgumentParser:
    """Whole numbers from the command line, one option for each default; `--write` is every program's."""
    parser = argparse.ArgumentParser(description=about, epilog="--write keeps the tables, and puts them on the pages")
    for name, value in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value, help=f"{value} by default")
    return parser


def kept() -> dict[str, dict[str, Any]]:
    """What was measured: for each program its options and its tables."""
    packages = sorted(path.parent.name for path in PAGES.glob("*/results.json"))
    return {f"{package}.{name}": found for package in packages for name, found in _of(package).items()}


def tables() -> dict[str, Table]:
    """All tables that were measured."""
    return {name: Table(**table) for program in kept().values() for name, table in program["tables"].items()}


def written(program: str, options: dict[str, Any], measured: dict[str, Table]) -> None:
    """Keeps what a program measured, and puts its tables on the pages."""
    package, _, name = program.rpartition(".")
    found = _of(package)
    found[name] = {"options": options, "tables": {name: table._asdict() for name, table in measured.items()}}
    text = json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False)
    _results(package).write_text(text + "\n")
    for page in sorted(PAGES.glob("*.md")):
        shown = page.read_text()
        if PLACE.search(shown):
            page.write_text(filled(shown, measured))


def filled(page: str, measured: dict[str, Table]) -> str:
    """A page with these tables in their places; other tables stay as they are."""

    def table(place: re.Match[str]) -> str:
        before, name, now, after = place.groups()
        return f"{before}{measured.get(name, now)}{after}"

    return PLACE.sub(table, page)


def _results(package: str) -> pathlib.Path:
    return PAGES / package / "results.json"


def _of(package: str) -> dict[str, Any]:
    path = _results(package)
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found
