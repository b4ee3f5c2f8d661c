"""Programs beside the pages about metrics and modules. They print tables in Markdown.

| the program                    | the question                                                           |
| ------------------------------ | ---------------------------------------------------------------------- |
| `python -m metric.coordinates` | which optimisers make the same step in all coordinates                 |
| `python -m metric.descent`     | how far thirty steps come, and how long a step takes                   |
| `python -m metric.modules`     | do modules learn by themselves what they learn in the whole            |
| `python -m metric.lengths`     | which networks keep lengths, as they are initialised                   |

They run in this folder's parent, `tutorials`, or with it on `PYTHONPATH`. `--help` lists the sizes and seeds. `--write`
keeps the tables in `results.json`, with these, and writes them to the pages; `make metric` does so for all.
"""
