"""How fast folds are, beside their peers and beside what the machine can do: `python -m benchmarks`.

| the file          | what is in it                                                                          |
| ----------------- | -------------------------------------------------------------------------------------- |
| `_problems.py`    | what is computed: trees, weights, cdl's algebra                                        |
| `_table.py`       | the same trees as levels, for the peers                                                |
| `_levels.py`      | the same cells level by level, written once for PyTorch and for JAX                     |
| `_contestants.py` | everyone who computes it: cdl, recursion in JAX, levels in JAX, PyTorch twice          |
| `_clock.py`       | contestants timed in turn                                                              |
| `_race.py`        | a problem's contestants held to the same values and gradients, then timed              |
| `_compiling.py` `_packing.py` `_chain.py` `_memory.py` `_reverse.py` | one question each                   |
| `_sequences.py` `_scans.py` | recurrent networks on lists, and the bracketings of a product                 |
| `_symmetry.py` `_emlp.py` | `hom`, and a layer that it ties, beside EMLP                           |
| `_systems.py`     | many boxes in a diagram, beside a scan by hand                                         |
| `_natural.py` `_kfac_jax.py` | natural gradient, beside kfac-jax                           |
| `_machine.py`     | the rates that bound everything: matrix products, memory                               |
| `_child.py`       | one measurement in a process of its own, so that it has its own environment            |
| `_page.py`        | the page that is written: `tutorials/benchmarks.md`                                    |

Nothing here is a test. Every figure of the page is of one run.
"""
