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
    """Where types are not checked, so that the calls are the user's."""
    import warnings

    from cdl import Base
    from cdl_arch.recursive import child_sum, gated

    class Peano: ...

    class Number(Base[Peano, X], Generic[X]):
        value: int

    class Plus(Base[Peano, X], Generic[X]):
        left: X
        right: X

    signature = Union[Number[X], Plus[X]]
    for architecture in (gated, child_sum):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            line = inspect.currentframe().f_lineno + 1
            architecture(signature, WIDTH, key=jr.key(0))
        (warning,) = caught
        assert (warning.filename, warning.lineno) == (__file__, line), (warning.filename, warning.lineno)


@pytest.mark.slow
def test_the_warning_names_the_line_that_makes_the_network():
    run_alone(a_warning_of_a_payload)


def test_a_map_of_the_users_own_reads_the_payload(getkey):
    from cdl import cata, Leaf, TreeF
    from cdl_arch.recursive import tree_rnn

    words = eqx.nn.Embedding(10, WIDTH, key=getkey())
    net = tree_rnn(TreeF, WIDTH, payload={Leaf: words}, shared=False, key=getkey())
    expected = jnp.tanh(net.cells["Leaf"].linear(words.weight[3]))
    assert jnp.allclose(cata(net)(Leaf(jnp.int32(3))), expected)


def test_a_payload_of_unknown_size_is_refused_by_name():
    from cdl import TreeF
    from cdl.errors import SignatureError
    from cdl_arch.recursive import n_ary

    with pytest.raises(SignatureError, match=r"`Leaf.label` is annotated `A`.*give `payload=\{Leaf: 3\}`"):
        n_ary(TreeF, WIDTH, key=jr.key(0))


def test_a_payload_of_texts_is_refused_with_what_reads_them():
    from dataclasses import dataclass

    from cdl.errors import SignatureError
    from cdl.trees import of_dataclasses
    from cdl_arch.recursive import gated

    @dataclass
    class Word:
        text: str

    @dataclass
    class Token:
        text: str
        place: float

    for kind, advice in (
        (Word, r"made\.constructors\.Word: eqx\.nn\.Embedding\(len\(vocabulary\), 4, key=key\)"),
        (Token, r"made\.constructors\.Token: read\}`, an `eqx.Module` of `\(text, place\)` which gives a vector of 4"),
    ):
        with pytest.raises(
            SignatureError, match=rf"`{kind.__name__}\.text` is annotated `str`.*give `payload=\{{{advice}"
        ):
            gated(of_dataclasses(kind).signature, WIDTH, key=jr.key(0))


def test_a_map_has_an_argument_for_each_field_that_is_not_a_child(getkey):
    from cdl.errors import SignatureError
    from cdl_arch.recursive import gated

    names: dict[str, Any] = {"__name__": "examples"}
    (example,) = re.findall(r"```python\n(.*?)```", inspect.getdoc(type(gated).__call__) or "", re.DOTALL)
    exec(example, names)
    signature, lit, units = names["Union"][names["Lit"], names["Add"]], names["Lit"], names["amount"].units
    assert jnp.allclose(names["net"].inputs["Lit"]("Lit", (2.0, 3)), 2 * units(3))
    for wrong, called in ((units, "an `Embedding`"), (lambda: 1.0, "the function `<lambda>`")):
        with pytest.raises(
            SignatureError, match=rf"2 arguments.* \(`value`, `unit`\), and {called} .* of `\(value, unit\)`"
        ):
            gated(signature, 8, payload={lit: wrong}, key=getkey())
    with pytest.raises(SignatureError, match=r"`payload\[Lit\]` is the class `Embedding`: make one"):
        gated(signature, 8, payload={lit: eqx.nn.Embedding}, key=getkey())


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
    assert jnp.allclose(fold(net, forest).hidden[0], cata(net)(tree).hidden, atol=1e-6)
    one, two = slopes(net), slopes(apart)
    both = two.inputs["Noun"].payload.weight + two.inputs["Verb"].payload.words.weight
    assert jnp.allclose(one.shared[0], both, atol=1e-6)
    direct = eqx.filter_grad(lambda net: cata(net)(tree).hidden.sum())(net)
    assert jnp.allclose(one.shared[0], direct.shared[0], atol=1e-6)
    stepped = eqx.apply_updates(net, jax.tree.map(lambda x: -0.1 * x, one))
    assert jnp.allclose(fold(stepped, forest).hidden[0], cata(stepped)(tree).hidden, atol=1e-6)


def test_a_map_that_fails_is_named_with_its_payload(getkey):
    from cdl import cata, CdlError, fold, Leaf, pack, TreeF
    from cdl_arch.recursive import gated

    wrong = lambda label: jnp.zeros(8) + jnp.zeros(3)
    net = gated(TreeF, 8, payload={Leaf: wrong}, key=getkey())
    for go in (lambda: fold(net, pack(TreeF, [Leaf(1.0)])), lambda: cata(net)(Leaf(1.0))):
        with pytest.raises(
            CdlError, match=r"^`payload\[Leaf\]` fails for a payload of .*\(8,\), \(3,\).*of shape \(8,\)"
        ):
            go()

    def own(label):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cata(gated(TreeF, 8, payload={Leaf: own}, key=getkey()))(Leaf(1.0))


def test_a_payload_of_what_has_none_is_refused_by_name():
    from dataclasses import dataclass

    from cdl import Fork, Leaf, Node, TreeF
    from cdl.errors import SignatureError
    from cdl.functors import constructors
    from cdl.trees import of_dataclasses
    from cdl_arch.recursive import gated
    from cdl_arch.recursive._payload import expect_payloads

    @dataclass
    class Num:
        value: float

    with pytest.raises(
        SignatureError, match=r"`payload` has `Node`, which is not a constructor .*: there are Leaf, Fo"
    ):
        gated(TreeF, WIDTH, payload={Node: 1}, key=jr.key(0))
    with pytest.raises(SignatureError, match=r"`payload` has `Fork`, which has no payload: leave it out"):
        gated(TreeF, WIDTH, payload={Fork: 1}, key=jr.key(0))
    with pytest.raises(SignatureError, match=r"`Num` is your own class: write `made.constructors.Num`"):
        gated(of_dataclasses(Num).signature, WIDTH, payload={Num: 1}, key=jr.key(0))
    with pytest.raises(SignatureError, match=r"A name is not the class: write `made.constructors.Num`, without quotes"):
        inspect.unwrap(expect_payloads)(constructors(of_dataclasses(Num).signature), {"Num": 1})
    with pytest.raises(SignatureError, match=r"`payload\[Leaf\]` is 0: give at least 1"):
        gated(TreeF, WIDTH, payload={Leaf: 0}, key=jr.key(0))


def test_a_vector_of_another_size_is_refused_by_the_constructor_that_has_it(getkey):
    from cdl import cata, fold, Leaf, pack, TreeF
    from cdl.errors import PayloadMismatch
    from cdl_arch.recursive import gated

    with pytest.raises(
        PayloadMismatch, match=r"payload of `Leaf` is 1 number.* made for 3: give `payload=\{Leaf: 1\}`"
    ):
        cata(gated(TreeF, WIDTH, payload={Leaf: 3}, key=getkey()))(Leaf(1.0))
    scalar = gated(TreeF, WIDTH, payload={Leaf: lambda x: x}, shared=True, key=getkey())
    with pytest.raises(PayloadMismatch, match=r"for `Leaf` gives an array of shape \(\), and .* shape \(4,\) belongs"):
        fold(scalar, pack(TreeF, [Leaf(1.0)]))


def test_weights_that_a_payload_function_reads_from_outside_are_warned_of():
    from cdl import Leaf, TreeF
    from cdl_arch import recursive

    names = eqx.nn.Embedding(4, 3, key=jr.key(0))
    with pytest.warns(UserWarning, match="reads `names` from outside: the network neither trains nor saves"):
        recursive.gated(TreeF, 3, payload={Leaf: lambda word: names(word)}, key=jr.key(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recursive.gated(TreeF, 3, payload={Leaf: names}, key=jr.key(1))
        recursive.gated(TreeF, 3, payload={Leaf: lambda x: jnp.full(3, x)}, key=jr.key(1))


def test_a_number_for_a_key_is_refused():
    from cdl import TreeF
    from cdl.errors import CdlError
    from cdl_arch.recursive import gated

    with pytest.raises(CdlError, match=r"`key` is `0`, and a key comes from JAX: write `key=jax.random.key\(0\)`"):
        inspect.unwrap(type(gated).__call__)(gated, TreeF, WIDTH, payload={}, key=0)


def test_a_text_that_a_linear_map_would_read_is_warned_of():
    from cdl import Base
    from cdl_arch.recursive import gated

    class Item(Base[Any, Never]):
        name: str
        grams: float

    with pytest.warns(UserWarning, match=r"`Item.name` is a text, .* as a quantity: give `payload=\{Item: read\}`"):
        gated(Union[Item], WIDTH, payload={Item: 2}, key=jr.key(0))


def test_a_payload_map_that_gives_nothing_or_branches_is_told_by_name(getkey):
    from cdl import cata, CdlError, fold, Leaf, pack, TreeF
    from cdl.errors import PayloadMismatch
    from cdl_arch.recursive import gated

    make = lambda read: gated(TreeF, WIDTH, payload={Leaf: read}, key=getkey())
    forest = pack(TreeF, [Leaf(1.0)])
    with pytest.raises(PayloadMismatch, match="that `payload` has for `Leaf` gives `None`, and a vector of shape"):
        fold(make(lambda x: None), forest)
    with pytest.raises(CdlError, match=r"`payload\[Leaf\]` asks for the value of a number at `Leaf`, .*`jnp.where"):
        fold(make(lambda x: jnp.ones(WIDTH) if x > 0 else jnp.zeros(WIDTH)), forest)
    with pytest.raises(CdlError, match=r"fails for a payload of 'so' .*encode the tree first, `words.encode\(tree\)`"):
        cata(make(eqx.nn.Embedding(3, WIDTH, key=getkey())))(Leaf("so"))


WRONG_CALLS = {
    "another option": (lambda f, **given: f(hidden_size=8, **given), "`gated` has no option `hidden_size`: it takes"),
    "no key": (lambda f, **given: f(), r"missing a required argument: 'key': write `gated\(signature, width, \*, "),
    "whole weights": (
        lambda f, **given: f(dtype=int, **given),
        "`dtype` of `gated` is .*, and weights are real",
    ),
}


@pytest.mark.parametrize("what", WRONG_CALLS)
def test_a_wrong_call_of_an_architecture_is_told_with_its_name(what, getkey):
    import functools

    from cdl import CdlError, Leaf, TreeF
    from cdl_arch.recursive import gated

    call, message = WRONG_CALLS[what]
    with pytest.raises(CdlError, match=message):
        call(functools.partial(gated, TreeF, WIDTH, payload={Leaf: 1}), key=getkey())


def test_a_network_that_is_called_on_a_forest_says_what_reads_forests(getkey):
    from cdl import fold, Leaf, pack, TreeF
    from cdl.errors import ForeignLayer
    from cdl_arch.recursive import gated

    net, forest = gated(TreeF, WIDTH, payload={Leaf: 1}, key=getkey()), pack(TreeF, [Leaf(1.0)])
    with pytest.raises(ForeignLayer, match=r"called on .*Forest.* reads one layer: .*`cdl.fold\(net, forest\)`"):
        net(forest)
    assert fold(net, forest).hidden.shape == (1, WIDTH)
