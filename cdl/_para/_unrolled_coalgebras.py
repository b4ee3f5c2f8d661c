"""Coalgebras in `Para`: the network that grows one tree, untied, and tied again.

| the mathematics                                              | here                                                |
| ------------------------------------------------------------ | --------------------------------------------------- |
| a parametric coalgebra `(P, γ : P × S → F S)`                | `Para[P, S, Base[T, S]]`; `Para.of` of a module     |
| `γ`, `n` layers deep: `Pᵏ × S → Fⁿ S`                        | `unroll_coalgebra(γ, seed, n)`                      |
| the same along a finished tree                               | `unroll_coalgebra(γ, seed, tree)`                   |
| a place where depth ended, with its seed                     | `Pure(seed)`, of the free monad                     |
| tying, along `Δ : P → Pᵏ`                                    | `untied.tied()`: `ana` of the coalgebra             |

Each node that is grown has a copy of the parameters, in pre-order, as each node that is read has in `unroll`. Which
constructors are grown is fixed when the network is made: by the best of what the coalgebra proposes, or by the tree
that is given. At other parameters a coalgebra that chooses (`choose`) is told to choose these, as in teacher forcing;
so the network is a smooth map, from parameters to the payloads and the seeds of a tree of one shape.

(Gavranović et al., *Categorical Deep Learning*, 2024, examples 2.15 and I.3.)
"""

import itertools
from typing import Any, overload, TypeVar

import equinox as eqx
from jax.core import Tracer

from .._functors import Base, Fix, Free, Pure
from .._functors.described import described
from .._functors.recursion import Done, recursion
from .._functors.usage import whole, with_usage
from .._schemes.unfolds import Choice, chosen, expect_layer
from ..errors import CdlError
from ._outline import Outline, outlined, read, strict
from .para import Para
from .unrolled import Grower, Place, Untied


T = TypeVar("T")
P = TypeVar("P")
S = TypeVar("S")


@overload
def unroll_coalgebra(coalgebra: Para[P, S, Base[T, S]], seed: S, until: int, /) -> Untied[P, Free[T, S]]: ...
@overload
def unroll_coalgebra(coalgebra: Para[P, S, Base[T, S]], seed: S, until: Fix[T], /) -> Untied[P, Fix[T]]: ...
@with_usage
def unroll_coalgebra(coalgebra: Any, seed: Any, until: Any, /) -> Any:
    """The network of a parametric coalgebra from one seed, untied: each layer has a copy of the coalgebra's parameters.

    **Arguments:** `coalgebra`: one layer of seeds for a seed, of a functor of one sort without functions in it; for
    streams and machines there is `unroll_machine`. `until`: how many layers deep to grow, or a tree whose constructors
    are to be grown, which may end at a `Pure`. A tree that branches in two may have `2ⁿ − 1` nodes in `n` layers.

    **Returns:** the network, whose value is the tree. Where depth ends before the tree does, it has `Pure(seed)`.

    **Raises:** `CdlError` where the first is not a `Para`, where the depth is not a whole number, where a choice
    depends on traced values, and `ForeignLayer` where the coalgebra gives another layer than the tree has, when the
    network is made or when it is called with other parameters.

    Examples:
        >>> down = cdl.Para(2, lambda p, n: cdl.Cons(p * n, n - 1) if n else cdl.Nil())
        >>> untied = cdl.para.unroll_coalgebra(down, 2, 5)
        >>> untied(), untied.params
        (Cons(4, Cons(2, Nil())), (2, 2, 2))
    """
    expect_para("unroll_coalgebra", "coalgebra", coalgebra)
    if isinstance(until, Base):
        outline, places = _of_tree(until)
    elif isinstance(until, list | tuple | str):
        raise CdlError(
            f"`unroll_coalgebra` was given {described(until)} where the depth or the tree belongs: for a machine and "
            "its inputs, write `unroll_machine(machine, state, inputs)`."
        )
    else:
        outline, places = _grown(coalgebra, seed, whole("depth", until, least=0))
    network = _Growing(coalgebra.fn, seed, outline)
    untied = Untied(Para((coalgebra.params,) * len(places), network), places)
    if isinstance(until, Base):
        untied()  # that the coalgebra gives these layers
    return untied


def expect_para(name: str, what: str, given: Any) -> None:
    """**Raises:** `CdlError` where this is not a `Para`."""
    if not isinstance(given, Para):
        write = f"the {what} comes first, `{name}(Para.of({what}), …)`"
        if callable(given):
            write = f"write `{name}(Para.of({what}), …)`, which takes its arrays for parameters"
        raise CdlError(f"`{name}` takes a parametric {what}, a `Para`, and was given {described(given)}: {write}.")


class _Growing(Grower):
    """`Pᵏ × 1 → Fⁿ S`: each node by its copy."""

    seed: Any
    outline: tuple[Outline | None, ...] = eqx.field(static=True)  # in pre-order, with `None` for where depth ended

    def __call__(self, params: Any, _: Any) -> Any:
        outline, copies = iter(self.outline), itertools.count()

        def down(_: int, seed: Any) -> Any:
            node = next(outline)
            return Done(Pure(seed)) if node is None else node.of(self.fn(params[next(copies)], seed))

        return recursion(down, lambda frame, go: frame.filled(go))(0)(self.seed)

    def nodes(self) -> tuple[tuple[type[Any], int] | None, ...]:
        return tuple(None if node is None else (node.kind, node.number) for node in self.outline)


def _of_tree(tree: Any) -> tuple[tuple[Outline | None, ...], tuple[Place, ...]]:
    """The outline of a tree that is there, every node of which is grown."""
    return read(lambda node: (outlined(strict(node)), node), tree, None)


def _grown(coalgebra: Para[Any, Any, Any], seed: Any, depth: int) -> tuple[tuple[Outline | None, ...], Any]:
    """The outline of what a coalgebra grows at its own parameters."""

    def best(seed: Any) -> tuple[Outline, Any]:
        given, index = coalgebra(seed), None
        if isinstance(given, Choice):
            if isinstance(given.scores, Tracer):
                raise CdlError(
                    "a coalgebra chooses by scores that are traced, so that nothing is known of the tree that it "
                    "grows: give the tree in place of the depth, or unroll outside of `jit`, `grad` and `vmap`."
                )
            layer = chosen(given, None)
            index = next(i for i, one in enumerate(given.layers) if one is layer)
            return outlined(strict(layer), index), layer
        layer = expect_layer(given)
        return outlined(strict(layer)), layer

    return read(best, seed, depth)
