"""Write a page as a notebook beside it: `python tools/notebook.py tutorials/quickstart.md`.

Prose and code are the page's. What the page shows as output is left out, since the notebook makes its own. The first
cell installs cdl where it is not installed, as on Colab.
"""

import json
import pathlib
import re
import sys
from typing import Any


INSTALL = """\
import importlib.util
import pathlib
import subprocess
import sys

# In a clone, the clone. Elsewhere, until there is a release, write its address here: "git+https://…"
SOURCE = ".." if pathlib.Path("../cdl").is_dir() else "cdl-jax"
if importlib.util.find_spec("cdl") is None:
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", SOURCE], check=True)
"""
CODE = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r"^```text[^\n]*\n.*?^```\n", re.DOTALL | re.MULTILINE)


def notebook(page: str) -> dict[str, Any]:
    """A page in the format of Jupyter, version 4.5."""
    parts = CODE.split(OUTPUT.sub("", page))  # prose and code, in turn
    cells = [cell("code", INSTALL)]
    cells += [cell(("markdown", "code")[i % 2], part) for i, part in enumerate(parts) if part.strip()]
    named = [{**made, "id": f"cell-{i}"} for i, made in enumerate(cells)]
    about = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return {"cells": named, "metadata": about, "nbformat": 4, "nbformat_minor": 5}


def cell(kind: str, text: str) -> dict[str, Any]:
    source = re.sub(r"\n{3,}", "\n\n", text.strip("\n")).splitlines(keepends=True) if kind == "markdown" else None
    made = {"cell_type": kind, "metadata": {}, "source": source or text.strip("\n").splitlines(keepends=True)}
    return made if kind == "markdown" else {**made, "execution_count": None, "outputs": []}


def written(page: pathlib.Path) -> str:
    return json.dumps(notebook(page.read_text()), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        file = pathlib.Path(name)
        file.with_suffix(".ipynb").write_text(written(file))
