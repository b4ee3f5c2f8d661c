"""What reads the payloads of a tree network: maps that are derived, or given, and what they may not be."""

import inspect
import re
import warnings
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from alone import run_alone


X = TypeVar("X", covariant=True)


WIDTH = 4


def a_warning_of_a_payload() -> None:
    """Where types are not checked, so that the call is the user's."""
    from cdl import Base
    from cdl_arch.recursive import gated

    class Number(Base[Any, Never]):
        value: int

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gated(Union[Number], WIDTH, key=jr.key(0))
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.slow
def test_the_warning_names_the_file_that_makes_the_network():
    run_alone(a_warning_of_a_payload)


def test_a_map_of_the_users_own_reads_the_payload(getkey):
    from cdl import cata, Leaf, TreeF
    from cdl_arch.recursive import tree_rnn

    words = eqx.nn.Embedding(10, WIDTH, key=getkey())
    net = tree_rnn(TreeF, WIDTH, payload={Leaf: words}, shared=False, key=getkey())
    expected = jnp.tanh(net.cells["Leaf"].linear(words.weight[3]))
    assert jnp.allclose(cata(net)(Leaf(jnp.int32(3))), expected)


def test_a_map_has_an_argument_for_each_field_that_is_not_a_child(getkey):
    from cdl_arch.recursive import gated

    names: dict[str, Any] = {"__name__": "examples"}
    (example,) = re.findall(r"```python\n(.*?)```", inspect.getdoc(type(gated).__call__) or "", re.DOTALL)
    exec(example, names)
    units = names["amount"].units
    assert jnp.allclose(names["net"].inputs["Lit"]("Lit", (2.0, 3)), 2 * units(3))


@pytest.mark.slow
def test_weights_that_several_payload_maps_have_are_held_once(getkey):
    from cdl import Base, cata, fold, Many, pack
    from cdl_arch.recursive import gated

    class Words: ...

    class Noun(Base[Words, Never]):
        word: int

    class Verb(Base[Words, X], Generic[X]):
        word: int
        weight: float
        of: Many[X]

    class Weighted(eqx.Module):
        words: eqx.nn.Embedding

        def __call__(self, word, weight):
            return weight * self.words(word)

    words = eqx.nn.Embedding(5, 8, key=getkey())
    copy = jax.tree.map(lambda x: x + 0, words)
    signature, key = Noun | Verb[X], getkey()
    net = gated(signature, 8, payload={Noun: words, Verb: Weighted(words)}, key=key)
    apart = gated(signature, 8, payload={Noun: words, Verb: Weighted(copy)}, key=key)
    assert len(jax.tree.leaves(apart)) == len(jax.tree.leaves(net)) + 1
    tree = Verb(1, 2.0, Many([Noun(3), Verb(3, 0.5, Many([Noun(1)]))]))
    forest = pack(signature, [tree])
    slopes = lambda of: eqx.filter_grad(lambda net: fold(net, forest).hidden.sum())(of)
    assert jnp.array_equal(fold(net, forest).hidden, fold(apart, forest).hidden)
    one, two = slopes(net), slopes(apart)
    both = two.inputs["Noun"].payload.weight + two.inputs["Verb"].payload.words.weight
    assert jnp.allclose(one.shared[0], both, atol=1e-6)
    direct = eqx.filter_grad(lambda net: cata(net)(tree).hidden.sum())(net)
    assert jnp.allclose(one.shared[0], direct.shared[0], atol=1e-6)


def test_weights_that_a_payload_function_reads_from_outside_are_warned_of():
    from cdl import Leaf, TreeF
    from cdl_arch import recursive

    names = eqx.nn.Embedding(4, 3, key=jr.key(0))
    with pytest.warns(UserWarning, match="`names`"):
        recursive.gated(TreeF, 3, payload={Leaf: lambda word: names(word)}, key=jr.key(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recursive.gated(TreeF, 3, payload={Leaf: names}, key=jr.key(1))
        recursive.gated(TreeF, 3, payload={Leaf: lambda x: jnp.full(3, x)}, key=jr.key(1))


def test_a_text_that_a_linear_map_would_read_is_warned_of():
    from cdl import Base
    from cdl_arch.recursive import gated

    class Item(Base[Any, Never]):
        name: str
        grams: float

    with pytest.warns(UserWarning, match="Item.name"):
        gated(Union[Item], WIDTH, payload={Item: 2}, key=jr.key(0))
