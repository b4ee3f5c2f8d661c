"""What a user types on the first day is answered by a sentence: what was given, what is expected, what to write."""

from typing import Any, Never, Union

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from first_day import (
    Add,
    bare,
    Box,
    BushF,
    corpus,
    ExprF,
    forest,
    handed,
    Leaf,
    Lit,
    Net,
    net,
    packed,
    product,
    refused,
    seeds,
    seq,
    shown,
    sprout,
    total,
    tree,
    Twig,
)

from cdl import (
    algebra,
    ana,
    annotate,
    Base,
    cata,
    Cons,
    Corpus,
    decorate,
    draw,
    fold,
    follow,
    functor,
    hylo,
    inherit,
    inherited,
    likelihood,
    ListF,
    Many,
    Nil,
    pack,
    Packed,
    Para,
    refold,
    run,
    Seq,
    unfold,
    unroll,
)
from cdl._functors.described import described
from cdl._functors.words import an, short
from cdl.compiled import Levels
from cdl.machines import start


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            tree,
            r"was given a tree of `Expr`: pack the tree, `fold\(alg, pack\(signature, \[tree\]\)\)`, or read it alone",
        ),
        ([tree], r"was given a `list` of trees: pack the trees, `fold\(alg, pack\(signature, trees\)\)`"),
        (corpus, r"was given a `Corpus`: choose some of its trees, as in `fold\(alg, corpus\[\[0, 1\]\]\)`"),
        ([1.0, 2.0], r"was given a `list` of `float`: make .* a `Seq` of lists with `Seq.of`"),
        (jnp.ones((2, 3)), r"was given an array of shape \(2, 3\): make a `Forest` of trees with `pack`"),
        (None, r"was given `None`: make a `Forest`"),
    ],
)
def test_fold_says_how_to_come_by_a_forest(data, words):
    refused("`fold` reads a `Forest`, a `Seq` or a `Packed`, and " + words, lambda: fold(net, data))
    refused(words.split(":")[0], lambda: annotate(net, data))


def test_what_it_says_to_write_works():
    assert fold(net, corpus[[0]]).tolist() == fold(net, corpus[:]).tolist() == [[3.0, 3.0]]


def test_a_corpus_is_sliced_as_a_list_is():
    three = Corpus(ExprF, [Lit(0.0), Lit(1.0), Lit(2.0)])
    for some, values in ((slice(1, None), [1.0, 2.0]), (slice(None, None, -1), [2.0, 1.0, 0.0]), (slice(3, 9), [])):
        assert fold(net, three[some])[:, 0].tolist() == values


def test_a_signature_is_told_from_trees_and_from_several():
    for make in (bare(pack), lambda *given: bare(Corpus.__init__)(object.__new__(Corpus), *given)):
        swapped = r"takes the signature first, and was given a .* of .*: write `(pack|Corpus)\(signature, trees\)`"
        refused(rf"^.{{0,20}}{swapped}.{{0,80}}$", lambda make=make: make([tree] * 999, ExprF))
        refused(swapped, lambda make=make: make(tree, ExprF))
        refused("the signatures of a family in a tuple, and was given a `list`", lambda make=make: make([Leaf], []))
    refused("`Corpus` was given one signature: give one for each sort", lambda: Corpus(BushF, []))
    refused("a `list` of trees was given where a signature belongs", lambda: functor([tree]))
    assert [len(f.constructors) for f in functor((Leaf, BushF))] == [1, len(functor(BushF).constructors)]
    refused("a `tuple` of trees was given where a signature belongs", lambda: functor((tree, tree)))
    refused("place of sort 1, and the number of signatures is 1: give one for each sort", lambda: draw(BushF))
    assert "X₁" in str(draw((BushF, Leaf)))


def test_what_is_given_is_cut_to_a_few_words():
    for given in ("a" * 999, 10**9999, [tree] * 999, {i: i for i in range(999)}, np.zeros((99, 99)), Union[Lit, Add]):
        assert len(short(given)) <= 80
        assert len(described(given)) <= 90
    assert short([1, "a"]) == "[1, 'a']"
    assert [an(name) for name in ("Obj", "int", "Net", "UnionF", "Undo")] == [
        "an `Obj`",
        "an `int`",
        "a `Net`",
        "a `UnionF`",
        "an `Undo`",
    ]


def test_one_thing_is_not_said_to_be_several():
    assert str(pack(ExprF, [Lit(1.0)])).startswith("Forest of float + X²: 1 tree, 1 node, 1 level, ")
    assert str(Seq.of([np.ones(1)])).startswith("Seq: 1 list, ")
    refused("the forest has 1 sort, and `fold` was given 2 algebras", lambda: fold((net, net), forest))


def test_arguments_in_the_other_order_are_said_to_be():
    refused(r"given a `Net`: the algebra comes first, `fold\(alg, forest\)`", lambda: fold(forest, net))
    refused(r"the algebra comes first, `annotate\(alg, forest\)`", lambda: annotate(forest, net))
    refused("function `handed`: the step comes first", lambda: bare(inherit)(forest, handed, seeds))
    refused("function `sprout`: the coalgebra comes first", lambda: bare(follow)(forest, sprout, seeds))
    refused("`unfold` takes a coalgebra, and was given an array of shape", lambda: unfold(seeds, sprout, 9))
    refused("`refold` takes a coalgebra, and was given a `Net`", lambda: refold(sprout, net, seeds, 9))
    refused("`run` takes a machine, and was given `0.0`", lambda: run(0.0, shown, seeds))
    refused("`start` takes a machine, and was given `0.0`", lambda: bare(start)(0.0, shown))
    refused("a tree of `Expr`: the algebra comes first, `unroll", lambda: bare(unroll)(tree, Para.of(net)))
    refused("`inherited` takes a step, and was given `0.0`", lambda: inherited(0.0, handed))


def test_passes_down_and_machines_say_what_they_read():
    refused(r"pack the tree, `inherit\(step, pack", lambda: bare(inherit)(handed, tree, seeds))
    refused("`inherit` reads a `Forest`, and was given a `Seq`", lambda: bare(inherit)(handed, seq, seeds))
    refused(r"pack the trees, `follow\(coalg, pack", lambda: bare(follow)(sprout, [tree], seeds))
    refused("an algebra reads layers, for `cata` and `fold`", lambda: inherit(net, forest, seeds))
    refused("an algebra reads layers, for `cata` and `fold`", lambda: follow(net, forest, seeds))
    refused("`likelihood` takes a coalgebra, and was given a `Net`", lambda: likelihood(net, 1.0))
    refused("tree of `Expr` as the inputs, and reads them in time", lambda: run(shown, 0.0, tree))
    refused(r"a `Packed` as the inputs, .* give `inputs.padded\(\)`", lambda: run(shown, 0.0, packed))


def test_an_algebra_is_told_from_its_class_from_several_and_from_a_tree():
    for read in (cata, decorate):
        refused(
            rf"`{read.__name__}` takes an algebra, and was given the class `Net`: make one",
            lambda read=read: bare(read)(Net),
        )
    refused("given the class `Net`: make one", lambda: fold(Net, forest))
    refused(
        r"a `tuple` of `Net`: for a family of sorts, give one for each, as in `cata\(a, b\)`", lambda: cata((net, net))
    )
    refused(r"a `tuple` of `function`: .* as in `ana\(a, b\)`", lambda: ana((sprout, sprout)))
    refused("a `list` of `Net`: for a family of sorts, give one for each, in a tuple", lambda: fold([net], forest))
    refused(r"as in `cata\(alg\)\(tree\)`", lambda: cata(net, tree))
    refused("`hylo` takes an algebra, and was given a `tuple`", lambda: bare(hylo)((net,), sprout))
    refused("a `Monoid`, which reads sequences", lambda: fold(product, forest))
    refused(
        r"`unroll` takes .* a `Para`, and was given a `Net`: write `unroll\(Para.of\(alg\), tree\)`",
        lambda: bare(unroll)(net, tree),
    )
    refused(
        "makes the network of one tree, and was given a `list` of trees", lambda: bare(unroll)(Para.of(net), [tree])
    )
    refused("a `Forest` stands where a tree belongs of `Expr`", lambda: cata(net)(forest))


def test_two_algebras_that_are_not_in_a_tuple_are_told_to_be():
    words = r"too many positional arguments: .* For a family of sorts, give a tuple: `{}\(\(a, b\){}\)`"
    refused(words.format("fold", ", data"), lambda: fold(net, net, forest))
    refused(words.format("unfold", ", seeds, nodes"), lambda: unfold(sprout, sprout, seeds, seeds, 9))


def test_the_arguments_of_a_function_that_is_given_are_told_to_come_after():
    words = r"too many positional arguments: .* It gives a function, which takes the rest: `{}\({}\)\(…\)`"
    refused(words.format("likelihood", "coalg, seed"), lambda: likelihood(sprout, seeds[0], tree))
    refused(words.format("hylo", "alg, coalg"), lambda: hylo(net, sprout, seeds[0]))
    refused(r"the seed comes first, `likelihood\(coalg, seed\)\(tree\)`", lambda: likelihood(sprout, tree)(seeds[0]))


def test_a_step_is_not_an_algebra():
    step = lambda value, layer: layer
    words = "`{}` takes an algebra, a function of one layer, and the function `<lambda>` takes two .* is for `inherit`"
    refused(words.format("cata"), lambda: cata(step))
    refused(words.format("fold"), lambda: fold(step, forest))


def test_payloads_of_two_types_at_one_constructor_are_told_apart():
    class Any1(Base[Twig, Never]):
        value: Any

    same = algebra(lambda layer: layer.value)
    refused(
        "at `Any1` its value is f16.., and at another `Any1`, whose payload is of another type, i32",
        lambda: fold(same, pack(Any1, [Any1(1), Any1(np.float16(2))])),
    )


def test_a_bucket_of_a_cell_that_was_run_again_is_told_to_be():
    def cell() -> Any:
        class Again(Base[Twig, Never]):
            value: float

        return Again

    one, two = cell(), cell()
    words = r"`Again` is not among the variants of the bucket \(Again\).* There are two classes `Again`"
    refused(words, lambda: pack(two, [two(1.0)], bucket=pack(one, [one(1.0)]).bucket))


def test_lists_of_numbers_are_told_to_be_arrays():
    words = r"list 0 has the lone value 1.0 where an array `\(length, …\)` belongs: give .* `Seq.of\(\[np.array"
    for make in (Seq.of, Packed.of):
        refused(words, lambda make=make: make([[1.0, 2.0], [3.0]]))
        refused(r"list 0 is \[\], which has no array, .* `np.zeros\(\(0, 3\)", lambda make=make: make([[]]))
    assert Seq.of([np.array([1.0, 2.0]), np.array([3.0])]).lengths.tolist() == [2, 1]


def test_numbers_in_a_list_are_told_to_be_an_array():
    words = r"have the shapes \(\), \(\): give arrays .*; a list is not an array: write `jnp.array\(\[…\]\)`"
    refused("the seeds " + words, lambda: unfold(sprout, [1.0, 2.0], 9))
    refused("the seeds " + words, lambda: refold(net, sprout, [1.0, 2.0], 9))
    refused("the inputs " + words, lambda: run(shown, 0.0, [1.0, 2.0]))
    refused(r"elements lie along two axes.* `Seq.of\(\[np.array", lambda: Seq([[1.0, 2.0]], [2]))


def test_forward_mode_through_a_reverse_rule_says_how_to_go_through():
    along = lambda f: jax.jvp(f, (seeds,), (seeds,))
    words = r"forward-mode differentiation .* goes through `fold`.* write `fold\(…, how=Levels\(forward=True\)\)`"
    refused(words, lambda: along(lambda w: fold(Net(w), forest)))
    refused(words, lambda: jax.jacfwd(lambda w: fold(Net(w), forest))(seeds))
    refused(r"write `fold\(…, how=Scan\(forward=True\)\)`", lambda: along(lambda w: fold(total, Seq(w[None], [2]))))
    refused(r"write `annotate\(…, how=Levels\(forward=True\)\)`", lambda: along(lambda w: annotate(Net(w), forest)))
    refused("goes through `inherit`.* use reverse mode", lambda: along(lambda w: inherit(handed, forest, w)))
    refused("goes through `follow`", lambda: along(lambda w: follow(sprout, forest, w)))
    refused("goes through `unfold`", lambda: along(lambda w: unfold(sprout, w, 9).log_prob))
    refused("goes through `refold`", lambda: along(lambda w: refold(net, sprout, w, 9)[0]))
    value, tangent = along(lambda w: fold(Net(w), forest, how=Levels(forward=True)))
    assert value.tolist() == tangent.tolist()


def test_a_forest_of_64_bits_is_read_where_they_are_on():
    twice = algebra(lambda box: 2.0 * box.label + box.kids.sum(0.0))
    with jax.enable_x64(True):
        forest = pack(Box, [Box(1.0, Many())])
        assert fold(twice, forest).tolist() == [2.0]
    refused(r"packed while `jax_enable_x64` was on, with a payload of `float64`", lambda: fold(twice, forest))


def test_a_forest_of_complex_numbers_of_128_bits_is_read_where_they_are_on():
    first = algebra(lambda layer: layer.head if isinstance(layer, Cons) else 0j)
    with jax.enable_x64(True):
        forest = pack(ListF, [Cons(1.0 + 2.0j, Nil())])
        assert fold(first, forest).tolist() == [1.0 + 2.0j]
    refused(r"packed while `jax_enable_x64` was on, with a payload of `complex128`", lambda: fold(first, forest))
