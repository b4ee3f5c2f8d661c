"""What the slides and the paper print about folds, unfolds and cells: as it holds, also where they have a slip.

| the source      | what is printed                       | what holds                                                |
| --------------- | ------------------------------------- | --------------------------------------------------------- |
| slides, trees   | `A + X²` has labels at its nodes      | at its leaves; at the nodes it is `1 + A × X²`            |
| slides, `fold`  | not which end of a list is read first | of `1 + A × X` the last element                           |
| slides, Mealy   | the set of machines is the coalgebra  | each machine is one; the final one is functions `I⁺ → O`  |
| paper, I.2      | `P × (A + S²) ≅ P + P × A × S²`       | `P × A + P × S²`                                          |
| paper, J.4      | an algebra of `Para([I, O × −])`      | a coalgebra                                               |
| paper, H.8      | Moore machines, coalgebras of `O × −` | of `O × [I, −]`; those of `O × −` are streams             |

(Gavranović et al., *Categorical Deep Learning*, 2024. H.1 and H.3, about matrices by rows and by columns, are about
symmetry.)
"""

import functools

import jax.numpy as jnp
import jax.random as jr
from hypothesis import given, settings, strategies as st

from cdl import (
    algebra,
    ana,
    Automaton,
    cata,
    Fork,
    functor,
    laws,
    Leaf,
    ListF,
    Nil,
    run,
    to_list,
    TreeF,
)
from cdl.functors import Branch, embed, LabelledTreeF, Lin, SnocF, to_snoc
from cdl.machines import bisimilar, respond
from cdl_arch.mealy import FullRNN
from cdl_arch.recursive import gated


words = st.lists(st.sampled_from("abc"), max_size=5)
trees = st.recursive(st.integers(-9, 9).map(Leaf), lambda inner: st.builds(Fork, inner, inner), max_leaves=8)


def bracketed(head: str, rest: str) -> str:
    """A product that neither commutes nor associates."""
    return f"({head}{rest})"


@algebra
def from_the_end(layer: ListF[str, str]) -> str:
    return "." if isinstance(layer, Nil) else bracketed(layer.head, layer.tail)


@algebra
def from_the_start(layer: SnocF[str, str]) -> str:
    return "." if isinstance(layer, Lin) else bracketed(layer.last, layer.init)


@settings(max_examples=25)
@given(words)
def test_cata_of_a_list_is_foldr(word):
    foldr = functools.reduce(lambda rest, head: bracketed(head, rest), reversed(word), ".")
    foldl = functools.reduce(lambda before, last: bracketed(last, before), word, ".")
    assert cata(from_the_end)(to_list(word)) == foldr
    assert cata(from_the_start)(to_snoc(word)) == foldl
    assert (foldr == foldl) == (word == word[::-1])  # whatever reads palindromes alone cannot tell the two apart


@settings(max_examples=25)
@given(words, trees)
def test_cata_is_the_map_out_of_an_initial_algebra(word, tree):
    size = algebra(lambda layer: 1 if isinstance(layer, Leaf) else 2 * layer.left - layer.right)
    for value, alg in ((to_list(word), from_the_end), (tree, size)):
        laws.lambek(value)
        laws.reflection(value)
        laws.algebra_map(cata(alg), embed, alg, value)


def test_gated_reads_labels_at_leaves_or_at_nodes():
    assert (str(functor(TreeF)), str(functor(LabelledTreeF))) == ("A + X²", "1 + A × X²")
    of_leaves = gated(TreeF, 4, payload={Leaf: 1}, key=jr.key(0))
    of_nodes = gated(LabelledTreeF, 4, payload={Branch: 1}, key=jr.key(0))
    reads = lambda net: {name for name, given in net.inputs.items() if given.payload is not None}
    assert (reads(of_leaves), reads(of_nodes)) == ({"Leaf"}, {"Branch"})
    # `P × A + P × S²`: at a leaf the label alone, at a fork two states alone; and at a branch both.
    inputs = lambda net, name: net.cells[name].gates.in_features
    assert (inputs(of_leaves, "Leaf"), inputs(of_leaves, "Fork"), inputs(of_nodes, "Branch")) == (
        4,
        2 * 4,
        4 + 2 * 4,
    )
    assert of_nodes.cells["Tip"].state.hidden.shape == (4,)


def test_machine_is_a_coalgebra_and_behaves_causally():
    net = FullRNN(2, 3, "scalar", key=jr.key(0))
    word = jr.normal(jr.key(1), (5, 2))
    answers = net.answers(word)
    changed = net.answers(word.at[3:].set(7.0))
    assert jnp.array_equal(answers[:3], changed[:3])  # what comes later is not known yet
    assert not jnp.array_equal(answers[3:], changed[3:])
    parity = Automaton([[0, 1], [1, 0]], [False, True])
    doubled = Automaton([[0, 1], [3, 2], [2, 1], [1, 2]], [False, True, False, True])
    assert bisimilar(parity, doubled)  # another machine, another coalgebra, and no input tells them apart
    letters = jnp.array([1, 0, 1, 1, 0])
    assert jnp.array_equal(run(parity, 0, letters)[0], run(doubled, 0, letters)[0])
    assert respond(ana(parity)(0), letters) == respond(ana(doubled)(0), letters)
