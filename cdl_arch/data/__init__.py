"""Data that every machine has: Python's own standard library, read as trees; and how data come to a network.

| module       | what it gives                                                                        |
| ------------ | ------------------------------------------------------------------------------------ |
| `stdlib`     | the files of the library, their split in three, and their syntax                     |
| `python_ast` | the whole syntax as a one-sorted signature, made from the node classes of `ast`      |
| `python_sorts` | the same as a family of three sorts, with fields by name: `python_family()`        |
| `batches`    | `Batches`: epochs of forests, packed ahead of training; `ahead`                      |
"""

# isort: off
from . import stdlib as stdlib
from .batches import ahead as ahead, Batches as Batches
