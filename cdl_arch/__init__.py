"""Architectures, each in three parts: its parameters, one layer, and the algebra or coalgebra that they make.

| module      | what it gives                                                             |
| ----------- | ------------------------------------------------------------------------- |
| `recursive` | tree networks of any signature                                            |
| `train`     | a training loop whose runs are values, and can be broken off and resumed  |
| `classify`  | yes or no for trees: a loss, batches, answers                             |
| `recogniser`| a recurrent cell that says whether a word is in a language                |
| `automata`  | the finite automaton that a machine behaves like                          |
| `baselines` | what a tree network has to beat                                           |
| `data`      | Python's standard library, read as trees                                  |
| `figures`   | figures for pages                                                         |
"""

# isort: off
from . import recursive as recursive, train as train, classify as classify
from . import recogniser as recogniser, automata as automata
from . import baselines as baselines, data as data, figures as figures
