"""The notebook of the first page: it is the page's, and its cells run one after another."""

import json
import pathlib
import sys
import types

import notebook
import pytest


PAGE = pathlib.Path(__file__).parents[2] / "tutorials/quickstart.md"
NOTEBOOK = PAGE.with_suffix(".ipynb")


def test_the_notebook_is_that_of_its_page():
    assert NOTEBOOK.read_text() == notebook.written(PAGE), f"run `python tools/notebook.py {PAGE}`"


@pytest.mark.page
def test_its_cells_run_and_print_what_the_page_shows(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("first_notebook")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), module.__dict__)
    lines = capsys.readouterr().out.splitlines()
    shown = [line for block in notebook.OUTPUT.findall(PAGE.read_text()) for line in block.splitlines()[1:-1]]
    assert lines
    assert [line for line in lines if line in shown] == lines
