"""Every architecture of `cdl_arch`, and a family of sorts, small: what it is explained and drawn at."""

from typing import Any, NamedTuple

import families
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np


class Case(NamedTuple):
    """An architecture with samples to run its laws on, the options of `explain`, and what it is drawn at."""

    arch: Any
    samples: Any
    options: dict[str, Any]
    at: Any
    functor: str


def case(name: str) -> Case:
    """The architecture of a name."""
    from cdl import Cons, Fork, Leaf, Many, Nil, Node, RoseF, to_list, TreeF
    from cdl.functors import to_snoc
    from cdl_arch import folding, recursive, unfolding
    from cdl_arch.mealy import FullRNN
    from cdl_arch.moore import Recogniser
    from definite_assignment.baselines import GruReader

    key = jr.key(0)
    v = lambda i, *shape: jnp.asarray(np.random.default_rng(i).normal(size=shape), jnp.float32)
    words = [to_snoc([v(i, 2) for i in range(2)]), to_snoc([])]
    trees = [Leaf(0.5), Fork(Leaf(1.0), Fork(Leaf(0.5), Leaf(2.0)))]
    roses = [Node(1.0, Many()), Node(0.5, Many([Node(2.0, Many()), Node(1.0, Many())]))]
    of_trees = {"width": 3, "payload": {Leaf: 1}, "key": key}
    state = v(3, 3)

    def of_tree(net: Any) -> Case:
        return Case(net, trees, {"signature": TreeF}, trees[1], "A + X²")

    def of_words(alg: Any) -> Case:
        return Case(alg, words, {}, words[0], "1 + X × A")

    match name:
        case "tree_rnn":
            return of_tree(recursive.tree_rnn(TreeF, **of_trees))
        case "n_ary":
            return of_tree(recursive.n_ary(TreeF, **of_trees))
        case "gated":
            return of_tree(recursive.gated(TreeF, **of_trees))
        case "child_sum":
            net = recursive.child_sum(RoseF, 3, payload={Node: 1}, key=key)
            return Case(net, roses, {"signature": RoseF}, roses[1], "A × Many(X)")
        case "elman":
            return of_words(folding.elman(2, 3, key=key))
        case "gru":
            return of_words(folding.gru(2, 3, key=key))
        case "lstm":
            return of_words(folding.lstm(2, 3, key=key))
        case "bidirectional":
            lists = [Nil(), to_list([v(1, 2), v(2, 2)]), Cons(v(4, 2), Nil())]
            return Case(folding.bidirectional(2, 3, key=key).back, lists, {}, lists[1], "1 + A × X")
        case "seq2seq":
            reader = unfolding.Seq2Seq(2, 3, key=key).reader
            return Case(reader, [to_snoc([v(1, 3)])], {}, to_snoc([v(1, 3)]), "1 + X × A")
        case "gru_reader":
            reader = GruReader(4, 3, key=key).rnn
            return Case(reader, [to_snoc([v(1, 3)])], {}, to_snoc([v(1, 3)]), "1 + X × A")
        case "decoder":
            seed = state, jnp.int32(2)
            return Case(unfolding.Decoder(2, 3, key=key), None, {"state": seed}, seed, "1 + A × X")
        case "generator":
            return Case(unfolding.generator(3, key=key), None, {"state": state}, state, "O × [1, X]")
        case "family":
            return Case(families.algebras(jnp.float32), families.TREES, {}, families.LAM, OF_SORTS)
        case "growing":
            seeds = jax.tree.map(lambda x: x[0], families.seeds(jnp.float32, 1, 1))
            grows = families.coalgebras(jnp.float32, many=False)
            return Case(grows, None, {"state": seeds}, seeds, "(float + X₀ + List(X₁) × X₀, X₀ + X₁ × X₀)")
        case "mealy":
            return Case(FullRNN(2, 3, 1, key=key), v(5, 3, 2), {"state": state}, state, "[I, O × X]")
        case _:
            word = jax.random.randint(key, (3,), 0, 2)
            return Case(Recogniser(2, 3, key=key), word, {"state": state}, state, "O × [I, X]")


def symmetric(name: str) -> tuple[Any, Any]:
    """A network that commutes with an action, and an input of it."""
    from cdl.symmetry import groups
    from cdl_arch import symmetry as arch

    key = jr.key(0)
    match name:
        case "convolution":
            return arch.Convolution((5,), 2, 3, (3,), key=key), jr.normal(key, (2, 5))
        case "causal":
            return arch.Convolution((5,), 2, 3, (3,), causal=True, key=key), jr.normal(key, (2, 5))
        case "group convolution":
            return arch.GroupConvolution(3, 1, 2, 3, key=key), jr.normal(key, (1, 4, 3, 3))
        case "gcnn":
            return arch.gcnn(3, (1, 2, 2), 2, key=key), jr.normal(key, (1, 3, 3))
        case "deep sets":
            return arch.deep_sets((2, 3), 1, key=key).at(3), jr.normal(key, (2, 3))
        case "spherical":
            return arch.Spherical(arch.FACES, (1, 2, 2), 2, key=key).body, jr.normal(key, (1, 6))
        case "tensors":
            return arch.Tensors(2, 1, 2, 3, key=key).at(3), jr.normal(key, (2, 3, 3))
        case "vectors":
            return arch.VectorLayer(groups.so(3), (1, 2), (1, 2), 3, key=key).into, jr.normal(key, (2, 3))
        case "foresight":
            return arch.futures.foresight(arch.counter.counts(4), key=key), jr.normal(key, (4,))
        case _:
            net, (a, b) = arch.GraphNetwork((2, 3, 1), key=key), jr.split(key)
            return net.cokleisli.para(jr.normal(a, (4, 4))), jr.normal(b, (2, 4))


OF_SORTS = "(float + X₀ + Many(X₁), X₀ + X₀ × Many(X₁) + X₁ × X₀)"

# Two of a kind are compiled alike: the suite has one of each, and `make test-slow` the others.
FEW = ["gru", "decoder", "mealy"]
REST = ["tree_rnn", "child_sum", "n_ary", "gated", "elman", "lstm", "bidirectional", "seq2seq", "gru_reader"]
REST += ["generator", "moore", "family", "growing"]
EXPLAINED = ["convolution", "causal", "group convolution", "gcnn", "deep sets", "spherical"]
DRAWN = ["tensors", "vectors", "foresight", "graph network"]  # and explained: they are a `Para` as well
