"""A differential fuzzer: random programs of cdl, each compiled form beside two definitions of it.

A case is written down as the text of a program: the classes of a random family of sorts, trees of it, an algebra (or
steps, coalgebras, a machine), and functions that give one result in three ways:

| the function | how                                                                           |
| ------------ | ----------------------------------------------------------------------------- |
| `compiled`   | the form under test: `fold`, `annotate`, `inherit`, `follow`, `unfold` …      |
| `by_cdl`     | its definition in cdl: `cata`, `decorate`, `inherited`, `likelihood`, `ana` … |
| `plain`      | a recursive function in `yardstick.py`, which uses no code of cdl's           |

That text is what runs, and what is printed when the results differ, after it has been shrunk. Only names of
`cdl/__init__.py` are used. What is drawn:

| of            | what                                                                                              |
| ------------- | ------------------------------------------------------------------------------------------------- |
| families      | 1 to 4 sorts; rarely 40 constructors, or 70 places in one                                         |
| fields        | `X`, `X | None`, `tuple[X, Y]`, `tuple[X, ...]`, nested in each other; `Many` of any sort         |
| payloads      | Python numbers, arrays of every type (64 bits under x64), NumPy scalars, tuples, dicts, optional  |
| algebras      | hashes of 32 bits, which are exact; floats of each type; Python numbers; with keys                |
| carriers      | vectors, numbers, tuples and dicts with a count; of another type for each sort                    |
| cells         | `jax.nn`, layers of `eqx.nn`, control flow, custom rules, callbacks, closures (`cells.py`)        |
| `Many`        | each reduction, after `map` and without; with a `zero` of the same type, of integers, a number    |
| forms         | those of `forms.py`, `growth.py` and `lists.py`                                                   |
| around them   | the value, gradients to weights and payload, `jit`, `vmap`, `jvp`, products with the Hessian      |

Left out: the gradient of `max`, which is not defined where children are equal.
"""
