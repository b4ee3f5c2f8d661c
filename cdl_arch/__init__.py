"""Architectures, each in three parts: its parameters, one layer, and the algebra or coalgebra that they make.

| module      | the functor         | what it gives                                                             |
| ----------- | ------------------- | ------------------------------------------------------------------------- |
| `folding`   | `1 + A × X`         | recurrent networks that read a list, from either end or from both         |
| `unfolding` | `O × X`, `1 + O × X`| networks that write: streams, lists that end, one list from another       |
| `recursive` | any                 | tree networks, derived for a signature                                    |
| `mealy`     | `[I, O × X]`        | a recurrent network that answers every input                              |
| `moore`     | `O × [I, X]`        | a recurrent network that says whether a word is in a language             |
| `automata`  |                     | the finite automaton that a machine behaves like                          |
| `train`     |                     | a training loop whose runs are values, and can be broken off and resumed  |
| `symmetry`  | `M × −`             | networks whose weights are tied by an action of a group or a monoid       |
| `search`    |                     | search among architectures: spaces, seven methods, one budget             |
| `data`      |                     | Python's standard library, read as trees; pictures; a graph               |
| `letters`   |                     | letters as rows of an embedding, refused where there is no row            |
| `demo`      |                     | a trained network to try on a Python file: `python -m cdl_arch.demo`      |
"""

# isort: off
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from cdl._front_door import refuse_name as _refuse_name

from . import folding as folding, unfolding as unfolding, recursive as recursive, mealy as mealy, moore as moore
from . import automata as automata, symmetry as symmetry
from . import train as train, data as data, letters as letters, search as search, demo as demo


if not _TYPE_CHECKING:  # type checkers know the names, and refuse others

    def __getattr__(name: str) -> object:
        """**Raises:** `AttributeError`, which says in which module a name is that is not here."""
        _refuse_name(_sys.modules[__name__], name)
