"""What a user types on the second day, with trees of JSON: an error names the tree, the constructor or the shape."""

import inspect
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from first_day import refused

import cdl
from cdl import Algebra, cata, fold, inherit, Leaf, pack, TreeF
from cdl.trees import JSON, JSONF, Member, Object, of_json, to_json, Vocabulary


RECORDS = [of_json(value) for value in ({"a": [1, 2.5, "x"]}, {"id": 12345678901234, "b": {"c": 3}})]
WORDS = Vocabulary.of(RECORDS)
FIRST, LARGE = map(WORDS.encode, RECORDS)
FOREST = pack(JSONF, [FIRST])


class Reads(Algebra[Any, Any]):
    """Three numbers for every value, but for what `at` gives at the constructors that it names."""

    weight: jax.Array
    at: dict[type[Any], Any] = eqx.field(static=True)

    def __init__(self, **at: Any) -> None:
        self.weight, self.at = (
            jnp.ones(3),
            {kind: at[kind.__name__] for kind in (Object, Member) if kind.__name__ in at},
        )

    def __call__(self, layer: Any) -> Any:
        for kind, give in self.at.items():
            if isinstance(layer, kind):
                return give(layer)
        many = getattr(layer, "members", getattr(layer, "items", None))
        return self.weight if many is None else many.sum(jnp.zeros(3))


def test_a_payload_is_refused_with_the_number_of_its_tree():
    refused(r"^in tree 1, `Number.value` holds the integer 12345678901234", lambda: pack(JSONF, [FIRST, LARGE]))
    refused(r"^`Number.value` holds the integer 12345678901234", lambda: pack(JSONF, [LARGE]))
    texts = [of_json(text) for text in "abc"]
    encoded = [*map(Vocabulary.of(texts).encode, texts[:2]), texts[2]]
    refused(r"^in tree 2, `String.value` holds a `str`", lambda: pack(JSONF, encoded))
    refused(r"^in tree 2, `Number.value` holds", lambda: pack(JSONF, [*encoded[:2], LARGE]))
    shapes = [Leaf(jnp.zeros(n)) for n in (3, 3, 4)]
    refused(r"shape \(3,\) in one node \(of tree 0\) and \(4,\) in another \(of tree 2\)", lambda: pack(TreeF, shapes))
    as_floats = Vocabulary.of(RECORDS).encode(of_json({"id": float(12345678901234)}))
    assert pack(JSONF, [FIRST, as_floats]).size == 9


def test_the_name_of_a_functor_is_told_from_its_signature():
    refused("^`JSON` is the name of a functor, and not its signature: give `JSONF`", lambda: pack(JSON, [FIRST]))
    refused("^`Tree` is the name of a functor, and not its signature: give `TreeF`", lambda: cdl.functor(cdl.Tree))


def test_an_encoded_tree_is_decoded_before_it_is_written():
    refused(r"a text of JSON is np.int32\(\d\), .* encoded: give `words.decode\(tree\)`", lambda: to_json(FIRST))
    assert to_json(WORDS.decode(FIRST)) == to_json(RECORDS[0])


def test_the_shapes_of_children_are_told():
    wrong = Reads(Object=lambda layer: layer.members.map(lambda x: jnp.ones((2, 5)) @ x).sum(jnp.zeros(2)))
    refused(r"fails for `Object\(members=Many\(f32\[3\], …\)\)` \(dot_general", lambda: fold(wrong, FOREST))


def test_a_number_that_is_too_large_is_told_with_its_constructor():
    large = Reads(Member=lambda layer: 1e40)
    refused(r"`Reads` gives the number 1e\+40 at `Member`, which `float32` does not hold", lambda: fold(large, FOREST))


def test_an_algebra_that_is_called_on_a_tree_says_what_reads_trees():
    words = r"reduced by `sum`, and its children are trees: .*`cdl.cata\(alg\)\(tree\)`"
    refused(words, lambda: Reads()(FIRST))
    assert cata(Reads())(FIRST).tolist() == fold(Reads(), FOREST)[0].tolist()


RATES = (0.5, 0.25)


def test_a_step_down_that_reads_children_needs_their_values():
    def reduces(value: Any, layer: Any) -> Any:
        more = layer.members.sum(0.0) if isinstance(layer, Object) else 0.0
        return cdl.fmap(lambda child: value + more, layer)

    steps = {
        "added": lambda value, layer: cdl.fmap(lambda child: value + child, layer),
        "indexed": lambda value, layer: cdl.fmap(lambda child: value + child[0], layer),
        "a method": lambda value, layer: cdl.fmap(lambda child: value + child.sum(), layer),
        "reduced": reduces,
        "its own mistake": lambda value, layer: cdl.fmap(lambda child: value * RATES[2], layer),
    }
    for name, step in steps.items():
        with pytest.raises((cdl.CdlError, AttributeError, IndexError)) as error:
            inherit(step, FOREST, jnp.zeros(1))
        notes = "".join(getattr(error.value, "__notes__", []))
        assert "the children at `Object` are `()`, since `inherit` was given no `values`" in notes, name
    refused(
        r"hands \(\) to a child.*`values` were not given",
        lambda: inherit(lambda value, layer: cdl.fmap(lambda child: child * 2, layer), FOREST, jnp.zeros(1)),
    )
    sums = jnp.ones(len(FOREST.mask))
    assert inherit(steps["added"], FOREST, jnp.zeros(1), values=sums)[FOREST.mask].tolist() == [0, 1, 2, 3, 3, 3]


def test_a_vocabulary_is_of_texts():
    refused("the trees have no text, and np.int32.*: they are encoded", lambda: Vocabulary.of([FIRST]))
    word: Any = 3
    refused("`id` is of a word, and was given `3`: give a `str`", lambda: inspect.unwrap(Vocabulary.id)(WORDS, word))
    assert Vocabulary.of([of_json([1, 2])]).words == ("<unknown>",)


def test_an_algebra_that_calls_itself_on_the_children_is_told_that_they_are_values():
    def size(layer: Any) -> Any:
        many = getattr(layer, "members", getattr(layer, "items", None))
        if many is not None:
            return 1.0 + many.map(size).sum(0.0)
        return 1.0 if isinstance(layer, cdl.Base) else None

    words = "what it is mapped by gives nothing. In an algebra the children are values already"
    refused(words, lambda: cata(cdl.algebra(size))(of_json([1, 2])))
    refused(words, lambda: fold(cdl.algebra(size), FOREST))


def test_numbers_of_trees_that_there_are_not_are_errors_of_the_family():
    corpus = cdl.Corpus(JSONF, [FIRST])
    refused("trees are numbered from 0 to 0; 7 was asked for", lambda: FOREST.nodes(7))
    for rows in ([7], np.array([True, False]), np.array(0)):
        refused("trees are numbered|a mask has a truth value|a corpus is indexed", lambda rows=rows: corpus[rows])
        with pytest.raises(IndexError):
            corpus[rows]
