"""Data that every machine has, such as Python's own standard library, read as trees; and how data come to a network.

| module       | what it gives                                                                        |
| ------------ | ------------------------------------------------------------------------------------ |
| `stdlib`     | the files of the library, their split in three, and their syntax                     |
| `python_ast` | the whole syntax as a one-sorted signature, made from the node classes of `ast`      |
| `python_sorts` | the same as a family of three sorts, with fields by name: `python_family()`        |
| `batches`    | `Batches`: epochs of forests, packed ahead of training; `ahead`                      |
| `pictures`   | scikit-learn's digits, MNIST from its files, a photograph                            |
| `idx`        | IDX files, the format of MNIST, gzipped or not: `read_idx`                           |
| `cifar`      | CIFAR-10 from its binary files: `read_cifar`                                         |
| `folders`    | pictures in folders, one for each class, read lazily: `Folders`                      |
| `datasets`   | all sets of pictures behind one value: `dataset(name, root)`, a `Dataset` or `Absent` |
| `karate`     | Zachary's karate club: a graph of 34 members, and the side of each                   |

Examples:
    >>> from cdl_arch.data import dataset
    >>> digits = dataset("digits")
    >>> digits.images.shape[1:], digits.classes
    ((8, 8, 1), 10)
"""

# isort: off
from . import stdlib as stdlib, pictures as pictures, idx as idx, cifar as cifar, folders as folders, karate as karate
from .batches import ahead as ahead, Batches as Batches
from .datasets import Absent as Absent, Dataset as Dataset, dataset as dataset
