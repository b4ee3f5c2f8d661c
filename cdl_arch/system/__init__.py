"""Architectures that are systems: boxes in wiring diagrams.

| the module   | what is in it                                                                     |
| ------------ | --------------------------------------------------------------------------------- |
| `circuits`   | gates and adders, all of them diagrams of NAND gates                              |
| `gates`      | an array of gates whose wires are data                                            |
| `neurons`    | networks as diagrams in diagrams                                                  |
| `cells`      | their nerve cells as boxes of a diagram                                           |
| `talk`       | the same with wires between the nerve cells                                       |

Examples:
    >>> from cdl_arch.system import circuits
    >>> cdl.system.latency(circuits.full_adder())["carry"]["a"]
    Latency(shortest=4, longest=7)
"""

# isort: off
from . import circuits as circuits, gates as gates, neurons as neurons, cells as cells, talk as talk
