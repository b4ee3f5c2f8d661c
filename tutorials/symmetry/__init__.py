"""The programs that make the tables of the pages about symmetry. Each prints its tables in Markdown.

| the program                              | the question                                                           |
| ---------------------------------------- | ---------------------------------------------------------------------- |
| `python -m symmetry.beyond_groups`       | what a layer gains that knows a monoid, and not its groups alone       |
| `python -m symmetry.how_equivariant`     | how equivariant networks are, before and after training                |
| `python -m symmetry.rotated_bodies`      | what a fold gains that commutes with rotations                         |
| `python -m symmetry.what_structure_buys` | what a convolution gains from its structure                            |
| `python -m symmetry.karate_club`         | what a graph network gains from a graph                                |

They run in this folder's parent, `tutorials`, or with it on `PYTHONPATH`. `--help` lists the sizes and seeds. `--write`
keeps the tables in `results.json`, with these, and writes them to the pages; `make symmetry` does so for all programs.
"""
