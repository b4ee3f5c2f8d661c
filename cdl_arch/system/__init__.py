"""Architectures that are systems: boxes in wiring diagrams.

| the module   | what is in it                                                                     |
| ------------ | --------------------------------------------------------------------------------- |
| `circuits`   | gates and adders, all of them diagrams of NAND gates                              |
| `gates`      | an array of gates whose wires are data                                            |
"""

# isort: off
from . import circuits as circuits, gates as gates
