"""Tree networks of any signature: each the same function, with the same gradient, as its twin in plain Equinox."""

import doctest
import inspect
import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest


X = TypeVar("X", covariant=True)
WIDTH = 4


@pytest.fixture
def cases(getkey) -> dict[str, tuple[Any, Any, dict[Any, int]]]:
    """For each signature a tree and the sizes of its payloads."""
    from cdl import Many, Node, RoseF
    from cdl.functors import Branch, LabelledTreeF, Tip

    v = lambda: jr.normal(getkey(), (3,))
    leaf = lambda: Node(v(), Many())
    return {
        "labelled": (LabelledTreeF, Branch(v(), Branch(v(), Tip(), Tip()), Tip()), {Branch: 3}),
        "rose": (RoseF, Node(v(), Many([leaf(), Node(v(), Many([leaf(), leaf()])), leaf()])), {Node: 3}),
    }


# The twins: plain recursion over the tree, on the arrays of the network, without `cata`, `Many` or a cell of ours.


def children(tree: Any) -> tuple[list[Any], list[list[Any]]]:
    """What stands at the places of a node, and its groups."""
    from cdl import Base, Many

    fields = [getattr(tree, name) for name in tree.__match_args__]
    return [x for x in fields if isinstance(x, Base)], [list(x.items) for x in fields if isinstance(x, Many)]


def at_node(net: Any, tree: Any) -> list[Any]:
    """The vector of what is at a node, if there is one."""
    inputs = net.inputs[type(tree).__name__]
    payload = [getattr(tree, name) for name in tree.__match_args__ if isinstance(getattr(tree, name), jax.Array)]
    parts = [] if inputs.vector is None else [inputs.vector]
    parts += [inputs.payload.linear.weight @ p + inputs.payload.linear.bias for p in payload]
    return [sum(parts[1:], parts[0])] if parts else []


def affine(linear: Any, parts: list[Any]) -> Any:
    return linear.weight @ jnp.concatenate(parts) + linear.bias


def twin_rnn(net: Any, cell: Any, tree: Any, read: Callable[[Any], Any]) -> Any:
    places, groups = children(tree)
    sums = [sum(map(read, group), jnp.zeros(WIDTH)) for group in groups]
    return jnp.tanh(affine(cell.linear, [*at_node(net, tree), *map(read, places), *sums]))


def twin_n_ary(net: Any, cell: Any, tree: Any, read: Callable[[Any], Any]) -> Any:
    places, groups = children(tree)
    x, hs, cs = at_node(net, tree), [read(p)[0] for p in places], [read(p)[1] for p in places]
    sums = [sum((read(child)[0] for child in group), jnp.zeros(WIDTH)) for group in groups]
    i, o, u, *fs = jnp.split(affine(cell.gates, [*x, *hs, *sums]), 3 + len(places))
    memory = jax.nn.sigmoid(i) * jnp.tanh(u) + sum(
        (jax.nn.sigmoid(f) * c for f, c in zip(fs, cs, strict=True)), jnp.zeros(WIDTH)
    )
    for forget, group in zip(cell.forget, groups, strict=True):
        for h, c in map(read, group):
            memory = memory + jax.nn.sigmoid(affine(forget, [*x, h])) * c
    return jax.nn.sigmoid(o) * jnp.tanh(memory), memory


def twin_child_sum(net: Any, cell: Any, tree: Any, read: Callable[[Any], Any]) -> Any:
    places, groups = children(tree)
    x, states = (
        at_node(net, tree),
        [read(child) for child in [*places, *(child for group in groups for child in group)]],
    )
    i, o, u = jnp.split(affine(cell.gates, [*x, sum((h for h, _ in states), jnp.zeros(WIDTH))]), 3)
    kept = [jax.nn.sigmoid(affine(cell.forget, [*x, h])) * c for h, c in states]
    memory = sum(kept, jax.nn.sigmoid(i) * jnp.tanh(u))
    return jax.nn.sigmoid(o) * jnp.tanh(memory), memory


def read_by(twin: Any, net: Any, tree: Any) -> Any:
    """The twin at a tree; a node that has nothing but its name is its learned state."""
    cell = net.cells[dict(net.cell_of)[type(tree).__name__]]
    if hasattr(cell, "state"):
        return cell.state
    return twin(net, cell, tree, lambda child: read_by(twin, net, child))


NETS = {
    "tree_rnn": (twin_rnn, {}),
    "tree_rnn of constructors": (twin_rnn, {"shared": False}),
    "n_ary": (twin_n_ary, {"embed": 5}),
    "gated": (twin_n_ary, {}),
    "child_sum": (twin_child_sum, {}),
    "child_sum of constructors": (twin_child_sum, {"shared": False}),
}


def make(name: str, signature: Any, payload: Any, key: Any, **more: Any) -> Any:
    from cdl_arch import recursive

    return getattr(recursive, name.split()[0])(signature, WIDTH, payload=payload, key=key, **NETS[name][1], **more)


def total(states: Any) -> Any:
    """A number in which every part of the states has a weight of its own."""
    return sum(jnp.sum(jnp.sin(jnp.arange(1.0, x.size + 1).reshape(x.shape)) * x) for x in jax.tree.leaves(states))


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("signature", ["labelled", "rose"])
def test_a_network_is_the_same_function_with_the_same_gradient_as_its_plain_twin(getkey, cases, signature, name):
    from cdl import cata

    functor, tree, payload = cases[signature]
    net, twin = make(name, functor, payload, getkey()), NETS[name][0]
    ours, slope = eqx.filter_value_and_grad(lambda net: total(cata(net)(tree)))(net)
    theirs, expected = eqx.filter_value_and_grad(lambda net: total(read_by(twin, net, tree)))(net)
    assert jnp.allclose(ours, theirs, rtol=1e-5)
    assert eqx.tree_equal(slope, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("signature", "name"),
    [("labelled", "tree_rnn"), ("rose", "gated"), ("rose", "child_sum")],
)
def test_a_network_is_folded_as_it_is_defined_with_dropout_too(getkey, cases, signature, name):
    from cdl import cata, fold, pack

    functor, tree, payload = cases[signature]
    net, key = make(name, functor, payload, getkey(), dropout=0.5), getkey()
    forest = pack(functor, [tree])
    both = lambda net, key: (
        fold(net, forest, key=key),
        cata(net, key=key if key is None else jr.fold_in(key, 0))(tree),
    )
    folded, defined = both(net, None)
    assert eqx.tree_equal(jax.tree.map(lambda x: x[0], folded), defined, rtol=1e-5, atol=1e-6)
    dropped, by_definition = both(net, key)
    assert eqx.tree_equal(jax.tree.map(lambda x: x[0], dropped), by_definition, rtol=1e-5, atol=1e-6)
    assert not eqx.tree_equal(dropped, folded, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "at"),
    [("gated", jnp.bfloat16), ("child_sum", jnp.float16), ("tree_rnn", jnp.bfloat16)],
)
def test_a_network_that_is_cast_stays_so_with_dropout_and_without_a_child(getkey, name, at):
    from cdl import Base, cata, fold, pack

    class Chain(Base[Any, X], Generic[X]):
        value: float
        rest: X | None

    net, key = make(name, Chain[X], {}, getkey(), dropout=0.5), getkey()
    net = jax.tree.map(lambda x: x.astype(at) if eqx.is_inexact_array(x) else x, net)
    narrow = lambda x: jnp.asarray(x, at)
    trees = [Chain(narrow(1.0), Chain(narrow(2.0), None)), Chain(narrow(3.0), None)]
    folded = fold(net, pack(Chain[X], trees), key=key)
    defined = [cata(net, key=jr.fold_in(key, i))(tree) for i, tree in enumerate(trees)]
    assert eqx.tree_equal(folded, jax.tree.map(lambda *xs: jnp.stack(xs), *defined), rtol=1e-2, atol=1e-2)
    assert {x.dtype for x in jax.tree.leaves(folded)} == {jnp.dtype(at)}


def test_dropout_keeps_the_mean_and_leaves_the_memory_alone(getkey):
    from cdl import Fork, Leaf, TreeF
    from cdl_arch.recursive import n_ary, State

    net = n_ary(TreeF, WIDTH, payload={Leaf: 1}, dropout=0.25, key=getkey())
    seen = []
    net = eqx.tree_at(
        lambda n: n.cells["2 places, 0 groups"], net, lambda x, places, groups: seen.append(places) or places[0]
    )
    child = State(jnp.ones(WIDTH), jnp.full(WIDTH, 7.0))
    for key in jr.split(getkey(), 200):
        net(Fork(child, child), key=key)
    hidden = jnp.stack([state.hidden for places in seen for state in places])
    assert set(jnp.unique(hidden).tolist()) == {0.0, jnp.float32(4 / 3).item()}
    assert abs(hidden.mean() - 1) < 0.05
    assert all((state.memory == 7).all() for places in seen for state in places)


def test_cells_are_shared_by_arity_or_belong_to_one_constructor(getkey, cases):
    from cdl.functors import constructors
    from cdl_arch.recursive import child_sum, gated, n_ary
    from definite_assignment import DefiniteF

    by_arity = n_ary(DefiniteF, WIDTH, key=getkey())
    assert sorted(by_arity.cells) == [f"{n} places, 0 groups" for n in range(5)]
    assert len(child_sum(DefiniteF, WIDTH, key=getkey()).cells) == 1
    each = gated(DefiniteF, WIDTH, key=getkey())
    assert set(each.cells) == {kind.__name__ for kind in constructors(DefiniteF)}
    assert each.cells["If"].gates.weight.shape == ((3 + 3) * WIDTH, 3 * WIDTH)
    assert each.cells["Try"].gates.weight.shape == ((3 + 4) * WIDTH, 4 * WIDTH)
    assert each.cells["Bind"].state.hidden.shape == (WIDTH,)


def test_an_empty_place_holds_zeros_and_a_tuple_is_a_group(getkey):
    from typing import TypeVar

    from jaxtyping import Array, Float

    from cdl import Base, cata
    from cdl_arch.recursive import Arity, arity_of, gated

    X = TypeVar("X", covariant=True)

    class Call: ...

    class Many2(Base[Call, X], Generic[X]):
        name: Float[Array, "2 3"]
        line: int
        target: X | None
        arguments: tuple[X, ...]

    assert arity_of(Many2) == Arity(1, 1, ("name", "line"))
    with pytest.warns(UserWarning, match="Many2.line"):
        gated(Union[Many2[X]], WIDTH, key=getkey())
    net = gated(Union[Many2[X]], WIDTH, payload={Many2: 7}, key=getkey())
    assert net.inputs["Many2"].payload.linear.weight.shape == (WIDTH, 7)
    leaf = Many2(jnp.ones((2, 3)), 1, None, ())
    state = cata(net)(leaf)
    zero = jax.tree.map(jnp.zeros_like, state)
    assert eqx.tree_equal(state, net(Many2(jnp.ones((2, 3)), 1, zero, ())))
    twice = net(Many2(jnp.ones((2, 3)), 1, None, (state, state)))
    assert not eqx.tree_equal(twice, net(Many2(jnp.ones((2, 3)), 1, None, (state,))))


@pytest.mark.parametrize("architecture", ["tree_rnn", "child_sum", "n_ary", "gated"])
def test_a_cell_is_found_by_its_constructor(architecture):
    from cdl import Fork, Leaf, TreeF
    from cdl_arch import recursive

    net = getattr(recursive, architecture)(TreeF, WIDTH, payload={Leaf: 1}, key=jr.key(0))
    for kind in (Leaf, Fork):
        expected = net.cells[dict(net.cell_of)[kind.__name__]]
        assert eqx.tree_equal(net.cell(kind), expected)
        assert eqx.tree_equal(net.cell(kind.__name__), expected)


@pytest.mark.parametrize("name", ["child_sum", "gated"])
def test_help_says_how_a_network_is_made(name):
    import pydoc

    import cdl
    from cdl_arch import recursive

    text = pydoc.render_doc(getattr(recursive, name), renderer=pydoc.plaintext)
    assert f"{name}(signature, width, *, embed=None, payload=None" in text
    assert text.splitlines()[3].strip() == getattr(recursive, name).about
    assert "__setattr__" not in text
    assert all(f"`{x}`" in text for x in inspect.signature(getattr(recursive, name)).parameters)
    assert len(text.splitlines()) < 32
    known = {"cdl": cdl, "jax": jax}
    example = doctest.DocTestParser().get_doctest(getattr(recursive, name).__doc__, known, name, None, 0)
    assert doctest.DocTestRunner(verbose=False).run(example, out=lambda words: None) == (0, 4)


def test_the_examples_of_the_docstring_run():
    from cdl_arch import recursive

    names: dict[str, Any] = {"__name__": "examples"}
    fences = re.findall(r"```python\n(.*?)```", inspect.getdoc(recursive) or "", re.DOTALL)
    for fence in fences:
        exec(fence, names)
        cell = re.search(r"^class .*?(?=^\S)", fence.split("\n\n", 1)[-1] + "\nend", re.DOTALL | re.MULTILINE)
        assert cell is None or len([line for line in cell[0].splitlines() if line.strip()]) <= 11
    assert len(fences) == 3
