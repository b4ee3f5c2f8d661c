"""What a cell of a script prints becomes a block of outputs, as on the other pages."""

import outputs
import pytest


def test_what_a_cell_prints_is_a_block_of_outputs():
    nbformat = pytest.importorskip("nbformat")
    nbconvert = pytest.importorskip("nbconvert")
    pytest.importorskip("jupytext")
    import render

    printed = nbformat.v4.new_output("stream", name="stdout", text="  one\n\ntwo\n")
    cell = nbformat.v4.new_code_cell("print(text)", outputs=[printed])
    written = nbformat.v4.new_notebook(cells=[cell], metadata={"language_info": {"name": "python"}})
    page, _ = nbconvert.MarkdownExporter(raw_template=render.TEMPLATE).from_notebook_node(written)
    fence = outputs.FENCE.search(page)
    assert fence["title"] == outputs.TITLE
    assert fence["shown"] == "  one\n\ntwo\n"
