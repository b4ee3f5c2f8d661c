"""Programs beside the pages about systems. Those that make tables print them in Markdown.

| the program                         | the question                                                        |
| ----------------------------------- | ------------------------------------------------------------------- |
| `python -m systems.always_learning` | is a system that goes on learning better on streams that drift      |
| `python -m systems.plans`           | is it better to plan again, or to execute a plan to its end         |
| `python -m systems.talking`         | are peers that talk better than the same peers that do not          |

They run in this folder's parent, `tutorials`, or with it on `PYTHONPATH`. `--help` lists the sizes and seeds. `--write`
keeps the tables in `results.json`, with these, and writes them to the pages; `make systems` does so for all programs.
`figures.py` has the figures of the source text, from terms.
"""
