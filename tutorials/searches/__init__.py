"""Programs beside the page about architecture search. Each prints a table in Markdown.

| the program                    | the question                                                                |
| ------------------------------ | --------------------------------------------------------------------------- |
| `python -m searches.pictures`  | which of seven searches finds the best network for one budget                |
| `python -m searches.resampled` | what pruning by a score is worth, over thousands of resampled searches      |
| `python -m searches.signatures` | does a search find the functor signature that is known to be right         |

They run in this folder's parent, `tutorials`, or with it on `PYTHONPATH`. `--help` lists the sizes and seeds. `--write`
keeps the tables in `results.json`, with these, and writes them to the page; `make search` does so for all programs.
"""
