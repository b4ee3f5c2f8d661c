"""What derived networks hold in stacks: the same numbers, found by name, and folded as they are defined."""

from typing import Any, Generic, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from few import few


X = TypeVar("X", covariant=True)


@pytest.fixture(scope="module")
def signature() -> Any:
    """The functor `2 X² + X + 2 + 2 ℝ`, and a tree of all its constructors."""
    from cdl import Base

    class Arithmetic: ...

    class Add(Base[Arithmetic, X], Generic[X]):
        left: X
        right: X

    class Mul(Base[Arithmetic, X], Generic[X]):
        left: X
        right: X

    class Neg(Base[Arithmetic, X], Generic[X]):
        of: X

    class One(Base[Arithmetic, X], Generic[X]): ...

    class Two(Base[Arithmetic, X], Generic[X]): ...

    class Metres(Base[Arithmetic, X], Generic[X]):
        count: float

    class Feet(Base[Arithmetic, X], Generic[X]):
        count: float

    tree = Mul(Add(Metres(1.5), Two()), Neg(Add(One(), Mul(Feet(0.5), Metres(2.0)))))
    return Union[Add[X], Mul[X], Neg[X], One[X], Two[X], Metres[X], Feet[X]], tree


def test_cells_of_one_form_are_one_stack(signature, getkey):
    from cdl.schemes import Stacked
    from cdl_arch.recursive import gated, n_ary

    stacks_of: Any = lambda named: {name for name, held in named.held.items() if isinstance(held, Stacked)}
    net = gated(signature[0], 3, key=getkey())
    assert stacks_of(net.cells) == {"2 places, 0 groups", "0 places, 0 groups", "0 places, 0 groups, payload"}
    assert sorted(net.cells) == ["Add", "Feet", "Metres", "Mul", "Neg", "One", "Two"]
    assert len(net.cells) == len(net.inputs) == 7
    shared = n_ary(signature[0], 3, key=getkey())
    assert stacks_of(shared.cells) == set()
    assert stacks_of(shared.inputs) == {"name", "name, payload of 1"}


@pytest.mark.parametrize("name", few(["gated", "n_ary", "tree_rnn", "child_sum"], 3))
def test_a_network_with_stacks_is_folded_as_it_is_defined(signature, name, getkey):
    import cdl
    from cdl_arch import recursive

    functor, tree = signature
    each = {} if name in ("gated", "n_ary") else {"shared": False}
    net = getattr(recursive, name)(functor, 3, key=getkey(), **each)
    forest = cdl.pack(functor, [tree, tree.left])
    total: Any = lambda values: sum(jnp.sum(x**2) for x in jax.tree.leaves(values))
    folded = eqx.filter_value_and_grad(lambda net: total(cdl.fold(net, forest)))(net)
    defined = eqx.filter_value_and_grad(lambda net: total([cdl.cata(net)(t) for t in (tree, tree.left)]))(net)
    assert eqx.tree_equal(folded, defined, rtol=1e-5, atol=1e-6)
