"""Families of classes as signatures, and a network derived for what was read."""

import ast

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from test_trees_of_dataclasses import Assign, Block, Call, Lit, MADE, Sign, Signed

import cdl
from cdl import algebra, fold, Many, pack
from cdl.trees import BracketsF, of_classes, parse_brackets, Phrase, Vocabulary, Word
from cdl_arch.recursive import child_sum


class Item:
    def __init__(self, *inner):
        self.inner = inner

    def __eq__(self, other):
        return type(other) is type(self) and other.inner == self.inner


class Bag(Item):
    pass


def test_of_classes_reads_children_and_builds_values_again():
    made = of_classes([Item, Bag], lambda x: x.inner, build=lambda kind, children: kind(*children))
    value = Item(Bag(), Item(Bag()))
    tree = made.to_tree(value)
    item, bag = made.constructors[Item], made.constructors[Bag]
    assert str(cdl.functor(made.signature)) == "Many(X) + Many(X)"
    assert tree == item(Many([bag(Many()), item(Many([bag(Many())]))]))
    assert made.to_value(tree) == value


def test_the_syntax_of_python_is_a_family_of_classes():
    kinds = [kind for kind in vars(ast).values() if isinstance(kind, type) and issubclass(kind, ast.AST)]
    made, syntax = (
        of_classes(kinds, ast.iter_child_nodes),
        ast.parse("f(x, -1)\nwhile a: b = {**c}"),
    )
    todo, names = [made.to_tree(syntax)], []
    while todo:
        names.append(type(todo[-1]).__name__)
        todo.extend(todo.pop().children.items)
    assert sorted(names) == sorted(type(node).__name__ for node in ast.walk(syntax))


@algebra
def size(layer):
    """How many nodes there are, of whatever sort."""
    fields = [getattr(layer, name) for name in type(layer).__match_args__]
    terms = cdl.functor(type(layer)).summands[0].factors
    children = [x for x, term in zip(fields, terms, strict=True) if not isinstance(term, cdl.poly.Const)]
    one = jnp.array(1)
    return one + sum(x.sum(0 * one) if isinstance(x, Many) else x for x in children if x is not None)


def test_dataclasses_of_several_sorts_fold_in_one_forest():
    call = Call(name="f", args=[Lit(1.0), Signed(Sign.PLUS, Lit(2.0))], named=(("k", Lit(3.0)),))
    trees = [
        MADE.to_tree(Block((Assign("x", call, words=["a", "b"]),))),
        MADE.to_tree(Assign("y", Lit(0.5))),
    ]
    words = Vocabulary.of(trees)
    sizes = fold((size,) * 5, pack(MADE.signature, list(map(words.encode, trees))))
    assert sizes[0].tolist() == [11, 3]
    assert [x is None or x.tolist() == [] for x in sizes[1:]] == [True] * 4  # no root is of another sort


def test_child_sum_reads_brackets_as_its_definition_does():
    text = "(S (NP (DT the) (NN cat)) (VP (VBZ sits))) (S (NP (PRP it)) (VP (VBZ runs)))"
    trees = parse_brackets(text)
    words, labels = (Vocabulary.of(trees, only=[kind]) for kind in (Word, Phrase))
    numbered = [labels.encode(words.encode(tree)) for tree in trees]
    key = jr.key(0)
    payload = {
        Word: eqx.nn.Embedding(len(words), 4, key=key),
        Phrase: eqx.nn.Embedding(len(labels), 4, key=key),
    }
    net = child_sum(BracketsF, 4, payload=payload, key=key)
    states = fold(net, pack(BracketsF, numbered))
    assert states.hidden.shape == (2, 4)
    one = cdl.cata(net)(jax.tree.map(jnp.asarray, numbered[1]))
    assert jnp.allclose(states.hidden[1], one.hidden, atol=1e-6)
