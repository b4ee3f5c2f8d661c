"""`explain`: what an architecture is in mathematics, and what of it was run."""

from typing import Any

import jax
import numpy as np

from .._drawing.kinds import grown_kinds, kinds_of, machine_kind, read_by
from .._drawing.parts import parts
from .._functors import StreamF
from .._functors.ordered import in_order
from .._functors.usage import with_types
from .._functors.words import short
from .._para import Para
from .._schemes import Algebra, Automaton
from .._schemes.likelihoods import of_sorts
from ..errors import CdlError
from ..symmetry import EquivariantMap
from ..system import Field, System, Wiring
from ._algebra import explain_algebra
from ._coalgebra import explain_coalgebra
from ._machine import explain_machine
from ._page import Explanation
from ._para import explain_para
from ._samples import samples as some
from ._sorts import Sorts
from ._symmetry import explain_equivariant
from ._system import explain_system


@with_types
def explain(
    arch: Any,
    samples: Any = None,
    /,
    *,
    state: Any = None,
    signature: Any = None,
    tolerance: float | None = None,
) -> Explanation:
    """Explains an architecture: its functor, its type, its parameters and how they are tied, its laws, and how it is
    executed. The laws are run on samples, and the page gives the greatest difference between the two sides of each.

    | `arch`                   | `samples`                               | besides                                  |
    | ------------------------ | --------------------------------------- | ---------------------------------------- |
    | an `Algebra`             | trees; by default, small ones           | `signature`, if the algebra does not say |
    | a Moore or Mealy machine | a word: arrays of inputs, time first    | `state`, to begin in                     |
    | a coalgebra of streams   |                                         | `state`                                  |
    | one of lists or trees    | trees; by default, those that it grows  | `state`, a seed                          |
    | an `Automaton`           | letters; by default, each of them once  |                                          |
    | a `Para`                 | an input                                |                                          |
    | an equivariant layer     | an input; by default, normal numbers    |                                          |
    | a system                 | each input, time first; or random       | `state`; by default, its own             |
    | a tuple: a family        | trees of any sort                       | a tuple: `signature`, or `state`         |

    **Arguments:** `tolerance`: by how much the two sides of a law may differ. Where the greatest number on the right is
    above 1, the difference is divided by it; for an equivariant map, by the greatest number on either side. If it is
    not given, it is what rounding does to numbers of their type.

    **Raises:** `CdlError` for what is not an architecture, and where samples or a state are needed and not given;
    `SignatureError` where an algebra does not say what it reads.

    Examples:
        >>> double = cdl.Para(jnp.array(2.0), lambda p, x: p * x)
        >>> cdl.explain(double, jnp.array(3.0)).holds
        True
    """
    arch = read_by(arch, signature)
    each = arch if isinstance(arch, tuple) and arch else (arch,)
    if all(isinstance(alg, Algebra) for alg in each):
        kinds = kinds_of(each, signature)
        trees = some(kinds) if samples is None else in_order("samples", samples)
        return explain_algebra(each, Sorts(kinds), trees, tolerance)
    if isinstance(arch, Para):
        if samples is None:
            raise CdlError("a `Para` is explained at an input, whose shape its type is read from: `explain(f, x)`.")
        return explain_para(arch, samples, tolerance)
    if isinstance(arch, EquivariantMap):
        return explain_equivariant(arch, samples, tolerance)
    if isinstance(arch, System):
        if samples is not None:
            _expect_word(samples)
        return explain_system(arch, state, samples, tolerance)
    if isinstance(arch, Automaton):
        state = arch.start if state is None else state
        samples = np.arange(arch.letters) if samples is None else samples
    kind = machine_kind(arch, state)
    if kind is not None:
        _expect(state is not None, arch, "at a state", "state=…")
        _expect(kind is StreamF or samples is not None, arch, "on a word of inputs", "samples")
        if kind is not StreamF:
            _expect_word(samples)
        return explain_machine(arch, kind, state, samples, tolerance)
    layers = grown_kinds(each, state)
    if layers is not None:
        _expect(state is not None, arch, "at a seed", "state=…")
        coalgs, seeds = of_sorts(each, state if len(each) > 1 else (state,))
        return explain_coalgebra(coalgs, Sorts(layers), seeds, samples, tolerance)
    raise CdlError(
        f"`{_called(arch)}` is not an algebra, a coalgebra, a `Para`, an equivariant map or a system, and cannot be "
        f"explained{_instead(each, state)}."
    )


def _expect(given: bool, arch: Any, where: str, what: str) -> None:
    if not given:
        raise CdlError(f"`{_called(arch)}` is explained {where}: give `{what}`.")


def _expect_word(samples: Any) -> None:
    """**Raises:** `CdlError` where the inputs of a machine are not arrays of numbers, time first."""
    leaves = [x if isinstance(x, jax.Array) else np.asarray(x) for x in jax.tree.leaves(samples)]
    if not leaves or any(x.ndim == 0 or (isinstance(x, np.ndarray) and x.dtype.kind in "OSU") for x in leaves):
        raise CdlError(f"`samples` is {short(samples)}, and a machine reads a word: give arrays of inputs, time first.")


def _called(arch: Any) -> str:
    names = [type(one).__name__ for one in arch] if isinstance(arch, tuple) else []
    return f"({', '.join(names)})" if names else type(arch).__name__


def _instead(each: tuple[Any, ...], state: Any) -> str:
    """What else might be explained: the fields of a module, or at a state what does not say what it gives."""
    if isinstance(each[0], Field):
        return ": explain a system that runs it, `explain(discretise(…, state, step=…))`"
    if isinstance(each[0], Wiring):
        return ": explain it with systems in its boxes, `explain(oapply(…, systems))`"
    found = parts(each[0], _known)
    if found:
        return f": explain what it is made of, {', '.join(f'`explain({part})`' for part in found)}"
    if state is None and all(map(callable, each)):
        return "; if it is a coalgebra whose annotations do not say what it gives, give `state=…`"
    return ""


def _known(x: Any) -> bool:
    return (
        isinstance(x, Algebra | Para | EquivariantMap) or machine_kind(x) is not None or grown_kinds((x,)) is not None
    )
