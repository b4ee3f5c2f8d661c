"""What a cell of a script prints becomes a block of outputs, as on the other pages."""

import nbformat
import outputs
import pytest


pytest.importorskip("jupytext", reason="render.py is for those who write pages")


def test_what_a_cell_prints_is_a_block_of_outputs():
    import nbconvert
    import render

    printed = nbformat.v4.new_output("stream", name="stdout", text="  one\n\ntwo\n")
    cell = nbformat.v4.new_code_cell("print(text)", outputs=[printed])
    page, _ = nbconvert.MarkdownExporter(raw_template=render.TEMPLATE).from_notebook_node(
        nbformat.v4.new_notebook(cells=[cell])
    )
    fence = outputs.FENCE.search(page)
    assert fence["title"] == outputs.TITLE
    assert fence["shown"] == "  one\n\ntwo\n"
