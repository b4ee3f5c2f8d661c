"""The programs that make the tables of the pages about symmetry. Each prints a table in Markdown.

| the program                              | the question                                                           |
| ---------------------------------------- | ---------------------------------------------------------------------- |
| `python -m symmetry.beyond_groups`       | what a layer gains that knows a monoid, and not its groups alone       |
| `python -m symmetry.how_equivariant`     | how equivariant networks are, before and after training                |
| `python -m symmetry.what_structure_buys` | what a convolution and a graph network gain from their structure       |

They run in this folder's parent, `tutorials`, or with it on `PYTHONPATH`; `make symmetry` runs all of them. `--help`
lists the sizes and seeds.
"""
