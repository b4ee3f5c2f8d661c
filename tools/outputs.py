"""Write what the code of pages prints below it: `python tools/outputs.py [--figures] FILES`.

Each python fence of a page runs, top to bottom, as one module. What a fence prints stands in a block after it:

    ```text title="output"
    (3, 8)
    ```

The tests run each page too, and compare the texts exactly, but for what `UNEVEN` finds. A title that goes on, as in
`title="output of one run"`, is for what differs from run to run, such as a time: such a block is not compared. With
`--figures`, the figures that a page saves are copied to the folder of the page.
"""

import argparse
import contextlib
import io
import os
import pathlib
import re
import shutil
import sys
import tempfile
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass


TITLE = ' title="output"'
# What is not compared: a line of the page, in an error about its code, which moves when the page is edited; and what
# rounding leaves of a zero, below 1e-5.
UNEVEN = re.compile(r"\bat line \d+|-?\b\d(?:\.\d+)?e-(?:0[5-9]|[1-9]\d)\b|\b0\.0e\+00\b")
FENCE = re.compile(
    r"^(?P<margin> *)```python\n(?P<code>.*?)^(?P=margin)```(?:\n|\Z)"
    r"(?:\n*(?P=margin)```text(?P<title>[^\n]*)\n(?P<shown>.*?)^(?P=margin)```(?:\n|\Z))?",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Ran:
    """A python fence of a page, with the block below it and what the code printed."""

    fence: re.Match[str]
    line: int
    printed: str

    @property
    def shown(self) -> str | None:
        """The text of the block below, or None if there is no block of outputs."""
        if not (self.fence["title"] or "").startswith(TITLE[:-1]):
            return None
        return tidy(re.sub(f"^{self.fence['margin']}", "", self.fence["shown"], flags=re.MULTILINE))

    @property
    def differs(self) -> bool:
        if self.shown is not None and self.fence["title"] != TITLE:
            return not self.printed
        return UNEVEN.sub("…", self.shown or "") != UNEVEN.sub("…", self.printed)


def tidy(text: str) -> str:
    """The text without spaces at the ends of its lines, and without empty lines around it."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def run(text: str, name: str, file: str) -> Iterator[Ran]:
    """Run the python fences of a page, one at a time, as one module, known to Python so that its annotations can be
    resolved."""
    module = sys.modules[name] = types.ModuleType(name)
    for fence in FENCE.finditer(text):
        line = text.count("\n", 0, fence.start("code"))  # so that tracebacks name the page's own line
        code = compile("\n" * line + textwrap.dedent(fence["code"]), file, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, module.__dict__)
        yield Ran(fence, line, tidy(printed.getvalue()))


def written(text: str, ran: list[Ran]) -> str:
    """The page with the outputs of its code; the rest as it was."""
    parts, end = [], 0
    for block in ran:
        fence = block.fence
        if block.differs:
            below = f"\n```text{TITLE}\n{block.printed}\n```\n" if block.printed else ""
            code_ends = fence.end("code") + len(fence["margin"] + "```")
            parts += [text[end:code_ends], "\n", textwrap.indent(below, fence["margin"])]
            end = fence.end()
    return "".join(parts) + text[end:]


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Write what the code of pages prints below it.")
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="pages, such as tutorials/trees.md")
    parser.add_argument("--figures", action="store_true", help="copy the figures too")
    options = parser.parse_args(argv)
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tutorials"))  # programs that pages import
    for page in [file.resolve() for file in options.files]:
        text = page.read_text()
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            ran = list(run(text, f"page_{page.stem.replace('-', '_')}", str(page)))
            if options.figures and os.path.isdir("images"):
                shutil.copytree("images", page.parent / "images", dirs_exist_ok=True)
        page.write_text(written(text, ran))
        print(f"{page.name}: {sum(block.differs for block in ran)} of {len(ran)} blocks written")


if __name__ == "__main__":
    main(sys.argv[1:])
