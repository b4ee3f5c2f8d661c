"""What derived networks hold in stacks: the same numbers, found by name, and folded as they are defined."""

from typing import Any, Generic, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
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
    assert len(jax.tree.leaves(net)) == len(jax.tree.leaves(net.cells["Neg"])) + 2 + 2 + 2 + 2
    with pytest.raises(KeyError):
        net.cells["Div"]
    shared = n_ary(signature[0], 3, key=getkey())
    assert [name for name, held in shared.cells.held.items() if isinstance(held, Stacked)] == []
    assert {name for name, held in shared.inputs.held.items() if isinstance(held, Stacked)} == {
        "name",
        "name, payload of 1",
    }


def test_each_constructor_has_the_weights_of_its_own_key(signature):
    from cdl_arch.recursive import gated, n_ary
    from cdl_arch.recursive._n_ary import NAryCell

    net, shared = (make(signature[0], 3, key=jr.key(4)) for make in (gated, n_ary))
    for i, (kind, arity) in enumerate([("Add", 2), ("Mul", 2), ("Neg", 1)]):
        for_vector, _, for_cell = jr.split(jr.fold_in(jr.key(4), i), 3)
        assert eqx.tree_equal(net.cells[kind], NAryCell(arity_of(arity), 0, 3, key=for_cell))
        assert jnp.allclose(shared.inputs[kind].vector, jr.normal(for_vector, (3,)) / 3**0.5)


def arity_of(places: int) -> Any:
    from cdl_arch.recursive import Arity

    return Arity(places, 0)


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


@pytest.mark.slow
def test_a_network_with_stacks_is_explained_and_saved(signature, getkey, tmp_path):
    import cdl
    from cdl.io import load, save
    from cdl_arch.recursive import gated

    functor, tree = signature
    net = gated(functor, 3, key=getkey())
    page = cdl.explain(net, [tree], signature=functor)
    assert page.holds
    assert any(line.endswith("at 2 × Mul, 2 × Add") and "cells['2 places, 0 groups']" in line for line in page.tying)
    assert page.size == sum(x.size for x in jax.tree.leaves(cdl.Para.of(net).params))
    save(tmp_path / "net", net)
    assert eqx.tree_equal(load(tmp_path / "net", gated(functor, 3, key=getkey())), net)
