"""The baselines: what a linear model sees of a tree, and a GRU that reads it written out."""

import math
from typing import Generic, TypeAlias, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import Seq


X = TypeVar("X", covariant=True)


@pytest.fixture(scope="module")
def b():
    from definite_assignment import baselines

    return baselines


@pytest.fixture(scope="module")
def blocks():
    """Blocks of statements: the signature, its constructors, and the tree `if y { z; y } else { }; y`."""
    from typing import Never

    from cdl import Base

    class Block: ...

    class End(Base[Block, Never]): ...

    class Y(Base[Block, Never]): ...

    class Z(Base[Block, Never]): ...

    class Item(Base[Block, X], Generic[X]):
        first: X
        rest: X

    class If(Base[Block, X], Generic[X]):
        test: X
        then: X
        orelse: X

    signature: TypeAlias = Union[End, Y, Z, Item[X], If[X]]
    branch = Item(Z(), Item(Y(), End()))
    return signature, Item, Item(If(Y(), branch, End()), Item(Y(), End()))


def test_a_bag_counts_constructors(b, blocks):
    _, _, tree = blocks
    counts = {"Item": 4, "If": 1, "Y": 3, "Z": 1, "End": 3}
    assert b.bag(tree) == {name: math.log1p(n) for name, n in counts.items()}


def test_edges_count_pairs_of_a_node_and_its_child(b, blocks):
    _, _, tree = blocks
    pairs = {"Item > If": 1, "Item > Item": 2, "Item > Y": 2, "Item > Z": 1, "Item > End": 2}
    pairs |= {"If > Y": 1, "If > Item": 1, "If > End": 1}
    assert {name: n for name, n in b.edges(tree).items() if ">" in name} == {p: math.log1p(n) for p, n in pairs.items()}
    assert b.bag(tree).items() <= b.edges(tree).items()


def test_paths_say_by_which_places_a_node_is_reached(b, blocks):
    _, _, tree = blocks
    assert b.paths()(tree).keys() >= {
        "Item",
        "Item.0 If",
        "Item.0 If.1 Item.1 Item.0 Y",
        "Item.1 Item.1 End",
    }
    assert set(b.paths()(tree).values()) == {1.0}


def test_fit_linear_has_the_accuracy_of_its_predictions(b, blocks):
    _, _, tree = blocks
    plain = tree.rest
    trees, answers = [tree, plain] * 5, np.array([True, False] * 5)
    model = b.fit_linear(b.bag, trees, answers, trees[:4], answers[:4])
    assert model.predict([plain, tree, tree]).tolist() == [False, True, True]
    assert model.accuracy([plain, tree, tree, tree], np.array([True, True, True, False])) == 0.5


def symbols(alphabet, tree):
    names = {code: kind.__name__ for kind, code in alphabet.codes.items()} | {1: ")"}
    return " ".join(names[code] for code in alphabet.write(tree).tolist())


def test_a_tree_is_written_with_brackets_and_a_list_without(b, blocks):
    signature, item, tree = blocks
    assert symbols(b.Alphabet(signature), tree.rest) == "Item Y End )"
    assert symbols(b.Alphabet(signature, (item,)), tree) == "Item If Y Item Z Item Y End End ) Item Y End"
    assert len(b.Alphabet(signature)) == 7


def test_every_text_is_in_one_batch_and_batches_have_few_shapes(b):
    lengths = np.random.default_rng(0).integers(1, 60, 50)
    texts, answers = [np.full(n, i + 2, np.int32) for i, n in enumerate(lengths)], lengths % 2 == 0
    for seed in (None, 0):
        found = list(b.batches(texts, answers, 8, seed))
        assert sorted(i for batch in found for i in batch.indices[batch.real]) == list(range(50))
        assert {batch.texts.values.shape[1] for batch in found} == {32, 64}
        for batch in found:
            for row in np.flatnonzero(batch.real):
                i, n = batch.indices[row], batch.texts.lengths[row]
                assert batch.texts.values[row, :n].tolist() == texts[i].tolist()
                assert not batch.texts.values[row, n:].any()
                assert batch.answers[row] == answers[i]
            assert not batch.answers[~batch.real].any()


def test_gru_reader_is_a_gru_and_padding_changes_nothing(b, getkey):
    reader = b.GruReader(7, 5, key=getkey())
    text = jnp.array([3, 1, 4, 1, 5])
    state = jnp.zeros(5)
    for symbol in text:
        state = reader.rnn.cell(reader.embedding(symbol), state)
    padded = jnp.concatenate([text, jnp.array([6, 2, 0], text.dtype)])
    value_and_slope = eqx.filter_value_and_grad(lambda reader, text: reader(Seq(text[None], [5]))[0])
    (value, slope), (same, same_slope) = (
        value_and_slope(reader, padded),
        value_and_slope(reader, text),
    )
    assert jnp.allclose(value, reader.head(state), atol=1e-6)
    assert jnp.allclose(value, same, atol=1e-6)
    assert eqx.tree_equal(slope, same_slope, rtol=1e-5, atol=1e-6)


def test_dropout_acts_with_a_key_alone(b, getkey):
    reader, text, key = (
        b.GruReader(7, 5, dropout=0.5, key=getkey()),
        Seq.of([jnp.array([3, 1, 4])]),
        getkey(),
    )
    assert reader(text) == reader(text)
    assert reader(text, key=key) == reader(text, key=key) != reader(text)


@pytest.mark.parametrize("parameters", [500, 88_642])
def test_the_reader_has_as_many_parameters_as_it_is_to_match(b, parameters):
    reader = b.GruReader.of_size(34, parameters, key=jax.random.key(0))
    width = reader.rnn.cell.hidden_size
    smaller, here, larger = (6 * w**2 + (34 + 6) * w + 1 for w in (width - 1, width, width + 1))
    assert b.parameter_count(reader) == here
    assert abs(here - parameters) <= min(abs(smaller - parameters), abs(larger - parameters))
