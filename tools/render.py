"""Render `tutorials/*.py` (jupytext's percent format) as pages, with their outputs and figures.

`python tools/render.py [--all] [--into FOLDER] [--resume] [NAME ...]` runs the scripts whose pages are out of date, or
all of them, or those named; each page is written beside its script, or in FOLDER, with the hash of the script at its
head.

A cell may say how it is shown: `# %% folded="Title"` folds its code under a title, and `figure="name" alt="text"` gives
its figure a file name and a text for readers who cannot see it.
"""

import argparse
import hashlib
import pathlib
import sys
import textwrap
import time

import jupytext
import nbformat
from nbconvert import MarkdownExporter
from nbconvert.preprocessors import CoalesceStreamsPreprocessor, ExecutePreprocessor


ROOT = pathlib.Path(__file__).parent.parent
TUTORIALS = ROOT / "tutorials"
SETUP = """\
import sys
import matplotlib_inline.backend_inline as _figures
sys.argv = [{script!r}, *{arguments!r}]
sys.path.insert(0, {folder!r})
_figures.set_matplotlib_formats("svg")
"""
# What a cell prints is a block like those of other pages, see outputs.py.
TEMPLATE = """\
{%- extends "markdown/index.md.j2" -%}
{% block stream %}
```text title="output"
{{ output.text.strip("\n") }}
```
{% endblock stream %}
"""


def head(script: pathlib.Path) -> str:
    digest = hashlib.sha256(script.read_bytes()).hexdigest()
    return f"<!-- rendered from {script.name}, sha256 {digest} -->\n"


def is_current(script: pathlib.Path) -> bool:
    page = script.with_suffix(".md")
    return page.exists() and page.read_text().startswith(head(script))


def executed(script: pathlib.Path, arguments: list[str]) -> nbformat.NotebookNode:
    """The script as a notebook that has run from the root of the tree, as `python tutorials/NAME.py` does."""
    notebook = jupytext.read(script)
    notebook.cells.insert(
        0, nbformat.v4.new_code_cell(SETUP.format(script=str(script), folder=str(script.parent), arguments=arguments))
    )
    runner = ExecutePreprocessor(timeout=None, kernel_name="python3")
    runner.preprocess(notebook, {"metadata": {"path": str(ROOT)}})
    del notebook.cells[0]
    for cell in notebook.cells:
        if cell.cell_type == "code":  # progress bars and log lines are no part of a page
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return CoalesceStreamsPreprocessor().preprocess(notebook, {})[0]


def render(script: pathlib.Path, into: pathlib.Path, arguments: list[str]) -> None:
    files = f"{script.stem}_files"
    resources = {"unique_key": script.stem, "output_files_dir": files}
    notebook = executed(script, arguments)
    body, resources = MarkdownExporter(raw_template=TEMPLATE).from_notebook_node(notebook, resources)
    for number, cell in enumerate(notebook.cells):
        if title := cell.metadata.get("folded"):
            code = f"```python\n{cell.source}\n```"
            assert body.count(code) == 1, title
            folded = f'??? note "{title}"\n\n{textwrap.indent(code, "    ")}'
            body = body.replace(code, f"{folded}\n\n<!-- what it prints is not folded -->")
        if name := cell.metadata.get("figure"):
            [made] = [x for x in resources["outputs"] if x.startswith(f"{files}/{script.stem}_{number}_")]
            named = f"{files}/{name}.svg"
            resources["outputs"][named] = resources["outputs"].pop(made)
            body = body.replace(f"![svg]({made})", f"![{cell.metadata['alt']}]({named})")
    (into / files).mkdir(parents=True, exist_ok=True)
    for old in (into / files).iterdir():
        old.unlink()
    for name, data in resources["outputs"].items():
        (into / name).write_bytes(data)
    (into / f"{script.stem}.md").write_text(head(script) + "\n" + body.strip() + "\n")


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Render the scripts of tutorials/ as pages.")
    parser.add_argument("names", nargs="*", help="scripts, such as first_network")
    parser.add_argument("--all", action="store_true", help="also those whose page is current")
    parser.add_argument("--into", type=pathlib.Path, default=TUTORIALS, help="the folder for the pages")
    parser.add_argument("--resume", action="store_true", help="scripts go on from the checkpoints of an earlier run")
    options = parser.parse_args(argv)
    scripts = [TUTORIALS / f"{name}.py" for name in options.names] or sorted(TUTORIALS.glob("*.py"))
    for script in scripts:
        if not options.names and not options.all and is_current(script):
            print(f"{script.name}: the page is current")
            continue
        began = time.perf_counter()
        render(script, options.into, ["--resume"] if options.resume else [])
        print(f"{script.name}: rendered in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
