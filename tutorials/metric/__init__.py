"""Programs beside the page about metrics. They print tables in Markdown.

| the program                    | the question                                                           |
| ------------------------------ | ---------------------------------------------------------------------- |
| `python -m metric.coordinates` | which optimisers make the same step in all coordinates                 |
| `python -m metric.descent`     | how far thirty steps come, and how long a step takes                   |

They run in this folder's parent, `tutorials`, or with it on `PYTHONPATH`. `--help` lists the sizes and seeds. `--write`
keeps the tables in `results.json`, with these, and writes them to the page; `make metric` does so for both.
"""
