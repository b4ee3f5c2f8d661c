"""What a user types on the first day is answered by a sentence: what was given, what is expected, what to write."""

import importlib
import inspect
from typing import Any, Generic, Never, TypeAlias, TypeVar, Union

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from cdl import (
    Algebra,
    algebra,
    ana,
    annotate,
    Base,
    cata,
    CdlError,
    choose,
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
    Lin,
    ListF,
    Many,
    MealyF,
    Monoid,
    MooreF,
    Nil,
    pack,
    Packed,
    Para,
    refold,
    run,
    Seq,
    Snoc,
    start,
    unfold,
    unroll,
)
from cdl.functor._base import rebuild
from cdl.functor._described import described
from cdl.functor._words import an, short


X = TypeVar("X", covariant=True)
Y = TypeVar("Y", covariant=True)


class Expr: ...


class Lit(Base[Expr, Never]):
    value: float


class Add(Base[Expr, X], Generic[X]):
    left: X
    right: X


ExprF: TypeAlias = Union[Lit, Add[X]]


class Bag: ...


class Box(Base[Bag, X], Generic[X]):
    label: float
    kids: Many[X]


class Bush: ...


class Twig: ...


class Branch(Base[Bush, tuple[X, Y]], Generic[X, Y]):
    twigs: Many[Y]


class Leaf(Base[Twig, Never]):
    value: float


BushF: TypeAlias = Branch[X, Y]


class Net(Algebra[ExprF[Any], Any]):
    weight: Any

    def __call__(self, layer: ExprF[Any]) -> Any:
        match layer:
            case Lit(value):
                return self.weight * value
            case Add(left, right):
                return left + right


@algebra
def total(layer: ListF[Any, Any]) -> Any:
    match layer:
        case Nil():
            return 0.0
        case Cons(head, tail):
            return head + tail


def sprout(n: Any) -> Any:
    return choose(jnp.stack([-n, n]), Lit(n), Add(n - 1, n - 1))


def spoilt(n: Any) -> Any:
    return choose(jnp.stack([jnp.log(n), n]), Lit(n), Add(n - 2, n - 2))


def listed(n: Any) -> Any:
    return choose(jnp.stack([-jnp.log(n), n]), Nil(), Cons(n, n - 2))


def handed(value: Any, layer: Any) -> Any:
    return layer if isinstance(layer, Lit) else Add(value, value)


def shown(state: Any) -> Any:
    return MooreF(state, lambda i: state + i)


def bare(fn: Any) -> Any:
    """The function without the test suite's check of types, as a user has it."""
    return inspect.unwrap(fn)


net = Net(np.ones(2, np.float32))
tree = Add(Lit(1.0), Lit(2.0))
forest = pack(ExprF, [tree, Lit(3.0)])
corpus = Corpus(ExprF, [tree])
seq = Seq.of([np.ones(2, np.float32), np.ones(1, np.float32)])
packed = Packed.of([np.ones(2, np.float32)])
product = Monoid(1.0, lambda x, y: x * y)
seeds = jnp.ones(2)
KEY = jax.random.key(0)


def refused(words: str, call: Any) -> None:
    with pytest.raises(CdlError, match=words):
        call()


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
    refused("a `tuple` was given .* `functor` reads each signature by itself", lambda: functor((Leaf, BushF)))
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


def test_an_option_that_is_not_one_is_answered_with_those_that_are():
    refused(
        "`fold` has no option `remta`: it takes `key`, .*`how`. Did you mean `remat`?",
        lambda: fold(net, forest, remta=1),
    )
    for call in (annotate, inherit, follow, unfold, refold, run, start, cata, ana):
        given = (net,) if call is cata else (sprout,) if call is ana else (sprout, forest, seeds)
        refused(f"`{call.__name__}` has no option `quickly`", lambda call=call, given=given: call(*given, quickly=True))
    refused(r"missing a required argument: 'data': write `fold\(alg, data, \*, key=None, ", lambda: fold(net))
    refused("too many positional arguments: write", lambda: fold(net, forest, KEY))
    refused(
        r"missing a required argument: 'nodes': write `unfold\(coalg, seeds, /, nodes, ", lambda: unfold(sprout, seeds)
    )


def test_every_option_that_is_misspelt_is_answered_with_those_that_there_are():
    found = [fn for fn in public().values() if not fn.__module__.startswith("cdl.laws")]
    given = {fn: inspect.signature(fn).parameters for fn in found}
    keyword = lambda fn: any(p.kind is p.KEYWORD_ONLY for p in given[fn].values())
    found = [fn for fn in found if keyword(fn) or fn.__name__ in ("save", "load", "draw")]
    found = [corpus.pack, *(fn for fn in found if "self" not in given[fn])]
    assert {"pack", "Seq.of", "explain", "gan", "tabulate", "save"} <= {fn.__qualname__ for fn in found}
    for fn in [*found, Corpus, importlib.import_module("cdl_arch.train").train]:
        refused(f"`{fn.__qualname__}` has no option `quickly`: it takes ", lambda fn=fn: fn(quickly=True))
    refused("`pack` has no option `buket`: .* Did you mean `bucket`", lambda: pack(ExprF, [tree], buket=forest.bucket))
    refused("`draw` has no option `tree`: it takes none", lambda: draw(net, tree=tree))


@pytest.mark.parametrize("given", [(1.0, 2.0), (tree,), (tree, tree)], ids=str)
def test_a_many_takes_its_children_in_a_list(given):
    many = lambda *given: bare(Many.__init__)(object.__new__(Many), *given)
    refused(r"`Many` takes its children in a list, and was given .*: write `Many\(\[x, y\]\)`", lambda: many(*given))


@pytest.mark.parametrize("key", [0, 0.5, jnp.float32(0), "a"], ids=str)
def test_a_key_is_not_a_number(key):
    words = r"`key` is .*, and a key comes from JAX: write `key=jax.random.key\(0\)`"
    for read in (cata, decorate):
        refused(words, lambda read=read: bare(read)(net, key=key))
    refused(words, lambda: bare(ana)(sprout, key=key))
    refused(words, lambda: bare(fold)(net, forest, key=key))
    refused(words, lambda: bare(unfold)(sprout, seeds, 9, key=key))
    refused(words, lambda: bare(run)(shown, 0.0, seeds, key=key))
    refused(words, lambda: bare(start)(shown, 0.0, key=key))
    train = bare(importlib.import_module("cdl_arch.train").train)
    refused(words, lambda: train(net, None, None, None, optimiser=None, epochs=1, key=key))
    assert cata(net, key=jax.random.PRNGKey(0))(Lit(1.0)).tolist() == [1.0, 1.0]


def test_an_error_inside_a_call_that_fits_stays_as_it_is():
    def wrong(layer: Any) -> Any:
        return jnp.sin(layer.value, layer.value)

    with pytest.raises(TypeError, match="sin"):
        fold(wrong, forest)


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (
            "forest",
            {"hoist": True},
            "`hoist` does not apply where `fold` reads a `Forest`: .* for sequences.*`key`, `forw",
        ),
        ("forest", {"bulk": False}, "`bulk` does not apply where `fold` reads a `Forest`"),
        ("forest", {"unroll": 2}, "`unroll` does not apply where `fold` reads a `Forest`"),
        (
            "forest",
            {"how": "scan"},
            "`how` does not apply where `fold` reads a `Forest`: it is an option for a `Monoid`",
        ),
        ("seq", {"how": "scan"}, "`how` does not apply where `fold` reads sequences"),
        ("monoid", {"forward": True}, "`forward` does not apply where `fold` reads a `Monoid`: .* here are `how`"),
        ("monoid", {"remat": 3}, "`remat` does not apply where `fold` reads a `Monoid`"),
        ("monoid", {"how": "scn"}, '`how` is \'scn\', .* "scan", "associative", "halving", "chunked"'),
        ("forest", {"remat": "chep"}, '`remat` is \'chep\', and a `Forest` is read with one of "none", "cheap", "all"'),
        ("forest", {"remat": "sqrt"}, "`remat` is 'sqrt', and a `Forest`"),
        ("seq", {"remat": "cheap"}, "`remat` is 'cheap' for sequences: give the number of steps"),
        ("seq", {"remat": 2.5}, "`remat` is 2.5, and a size is a whole number"),
        ("seq", {"unroll": 0}, "`unroll` is 0: give at least 1"),
        ("seq", {"unroll": 1.5}, "`unroll` is 1.5, and a size is a whole number"),
        ("seq", {"key": 0}, r"`key` is `0`, .* write `key=jax.random.key\(0\)`"),
    ],
)
def test_an_option_that_does_not_apply_to_the_data_is_refused(data, options, words):
    given = {"forest": (net, forest), "seq": (total, seq), "monoid": (product, seq)}[data]
    refused(words, lambda: bare(fold)(*given, **options))
    refused(words.replace("`fold`", "`annotate`"), lambda: bare(annotate)(*given, **options))


def test_a_key_is_taken_by_an_algebra_that_has_no_use_for_it():
    assert fold(net, forest, key=KEY).tolist() == fold(net, forest).tolist()


@pytest.mark.parametrize("size", [2.5, 2.0, True, "3", None, np.float32(3), 0, -1])
def test_a_size_is_a_whole_positive_number(size):
    refused("`nodes` is .*(a size is a whole number|at least)", lambda: bare(unfold)(sprout, seeds, nodes=size))
    if size is not None:
        refused("`nodes` is ", lambda: bare(refold)(net, sprout, seeds, size))
        refused("`lanes` is ", lambda: bare(unfold)(sprout, seeds, 9, lanes=size))
        refused("`total` is ", lambda: bare(unfold)(sprout, seeds, 9, total=size))
        refused("`lanes` is ", lambda: bare(Packed.of)([np.ones(2)], lanes=size))
        if size != 0:
            refused("`time` is ", lambda: bare(Seq.of)([np.ones(0)], time=size))


def test_a_size_that_is_traced_is_refused_and_one_of_numpy_is_a_number():
    refused(
        "a whole number that is known before the program runs",
        lambda: jax.jit(lambda n: bare(unfold)(sprout, seeds, n))(9),
    )
    assert len(bare(unfold)(sprout, seeds, np.int64(9))) == 2
    refused(
        "`total` and `lanes` are for trees that grow within a budget: give `nodes`",
        lambda: refold(net, Lit, seeds, total=9),
    )


MISUSES = {
    "looped over": lambda box: sum(kid for kid in box.kids),
    "unpacked": lambda box: jnp.stack([*box.kids]),
    "indexed": lambda box: box.kids[0],
    "measured": lambda box: len(box.kids) * box.label,
    "searched": lambda box: 1.0 * (3.0 in box.kids),
    "reversed": lambda box: list(reversed(box.kids)),
    "taken for true": lambda box: box.label if box.kids else 0.0 * box.label,
    "stacked": lambda box: jnp.stack(box.kids),
}


@pytest.mark.parametrize("misuse", MISUSES.values(), ids=MISUSES)
def test_a_many_that_is_taken_for_a_list_is_refused_by_fold_and_by_cata_alike(misuse):
    @algebra
    def reads(layer: Box[Any]) -> Any:
        return misuse(layer)

    box = Box(1.0, Many([Box(2.0, Many())]))
    words = r"a `Many` is not a sequence.* Use `map` and a reduction .* `count` .* annotate the field `tuple\[X, ...\]`"
    refused(words, lambda: cata(reads)(box))
    refused(words, lambda: fold(reads, pack(Box[Any], [box])))


def test_a_many_says_what_it_has_and_how_it_is_reduced():
    with pytest.raises(AttributeError, match="a `Many` has no `min`: it has `map`, `count`, and the reductions"):
        Many([1.0]).min()
    refused(r"missing a required argument: 'score': write `Many.attend\(score, zero", lambda: Many([1.0]).attend())
    assert Many([1.0]).items == (1.0,)


def test_a_division_by_the_count_of_no_child_is_told_and_the_mean_is_not_one():
    mean = algebra(lambda box: box.label + box.kids.sum(0.0) / box.kids.count)
    with pytest.raises(ZeroDivisionError):
        cata(mean)(Box(1.0, Many()))
    refused(r"divides by zero at `Box`.* `mean\(zero\)` of a `Many`", lambda: fold(mean, pack(Box, [Box(1.0, Many())])))
    read = algebra(lambda box: box.label + box.kids.mean(0.0))
    assert cata(read)(Box(1.0, Many([Box(2.0, Many())]))) == 3.0


@pytest.mark.parametrize("read", [cata, lambda alg: lambda box: fold(alg, pack(Box[Any], [box]))], ids=["cata", "fold"])
def test_a_reduction_without_a_value_for_no_child_says_which_it_takes(read):
    alone = algebra(lambda box: box.kids.sum())
    refused(r"write `sum\(zero\)`, with a `zero` of the shape of one child", lambda: read(alone)(Box(1.0, Many())))


def reading(read: Any) -> Any:
    @algebra
    def case(layer: ExprF[Any]) -> Any:
        match layer:
            case Lit(value):
                return read(value)
            case Add(left, right):
                return left + right

    return case


@pytest.mark.parametrize("wrong", [Monoid(0.0, max), lambda x, y: x + y, bare], ids=["monoid", "binary", "snoc"])
def test_many_fold_says_which_algebras_it_takes(wrong):
    @algebra
    def from_start(layer: Any) -> Any:
        match layer:
            case Lin():
                return 0.0
            case Snoc(rest, x):
                return rest + x

    wrong = from_start if wrong is bare else wrong

    @algebra
    def reads(layer: Box[Any]) -> Any:
        return bare(Many.fold)(layer.kids, wrong)

    words = r"`(Monoid|<lambda>|from_start)` gives nothing for `Nil`: `Many.fold` takes an algebra of lists .* end"
    refused(words, lambda: cata(reads)(Box(1.0, Many())))
    refused(words, lambda: fold(reads, pack(Box[Any], [Box(1.0, Many())])))


BRANCHES = {
    "if": (
        lambda x: x if x > 0 else -x,
        r"`case` asks for the value of a number at `Lit`.* `jnp.where\(x > 0, a, b\)`, or",
    ),
    "float": (lambda x: float(x), "asks for the value of a number at `Lit`"),
    "index": (lambda x: [1.0, 2.0][x.astype(int)], "asks for the value of a number at `Lit`"),
    "dict": (lambda x: {1.0: 2.0}[x], r"looks a number up in a `dict` or a `set` at `Lit`.* `jnp.array\(\[…\]\)\[x\]`"),
    "set": (lambda x: 1.0 * (x in {1.0}), "looks a number up in a `dict` or a `set` at `Lit`"),
    "mask": (lambda x: jnp.ones(3)[x > 0], r"indexes an array with a truth value at `Lit`.* `jnp.asarray\(x, int\)`"),
    "numpy": (lambda x: np.tanh(x), "gives NumPy a traced array at `Lit`.* write `jnp` for `np`"),
}


@pytest.mark.parametrize(("read", "words"), BRANCHES.values(), ids=BRANCHES)
def test_a_case_that_asks_for_a_value_is_named_with_its_constructor(read, words):
    for compiled in (fold, annotate):
        refused(words, lambda compiled=compiled: compiled(reading(read), forest))
    refused(words, lambda: refold(reading(read), sprout, seeds, 9))


def test_lists_passes_down_and_machines_that_ask_for_a_value_are_named_too():
    @algebra
    def listwise(layer: ListF[Any, Any]) -> Any:
        return 0.0 if isinstance(layer, Nil) else layer.tail if layer.head > 0 else -layer.tail

    def downwards(value: Any, layer: Any) -> Any:
        return handed(value if value > 0 else -value, layer)

    refused("`listwise` asks for the value of a number at `Cons`", lambda: fold(listwise, seq))
    refused("`downwards` asks for the value of a number at `Add`", lambda: inherit(downwards, forest, seeds))
    branches = lambda s: MooreF(s, lambda i: s if i > 0 else -s)
    refused("`<lambda>` asks for the value of a number in its step", lambda: run(branches, 0.0, seeds))
    refused("`max` asks for the value of a number in the product of", lambda: fold(Monoid(0.0, max), seq))
    refused("decides by a seed's value", lambda: unfold(lambda n: Lit([1.0, 2.0][n.astype(int)]), seeds, 9))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a", r"`case` gives `'a'` at `Lit`, and a compiled carrier is made of numbers and arrays: .* with `cata`"),
        (jnp.sin, "gives the function `sin` at `Lit`"),
        (np.array(["a"]), r"gives an array of shape \(1,\) at `Lit`"),
        (None, "`case` gives nothing for `Lit`"),
        (object(), "gives an? `object` at `Lit`"),
    ],
)
def test_a_carrier_that_is_not_made_of_numbers_is_refused(value, words):
    refused(words, lambda: fold(reading(lambda x: value), forest))
    refused(words, lambda: refold(reading(lambda x: value), sprout, seeds, 9))


def test_lists_of_numbers_are_told_to_be_arrays():
    words = r"list 0 has the lone value 1.0 where an array `\(length, …\)` belongs: give .* `Seq.of\(\[np.array"
    for make in (Seq.of, Packed.of):
        refused(words, lambda make=make: make([[1.0, 2.0], [3.0]]))
    assert Seq.of([np.array([1.0, 2.0]), np.array([3.0])]).lengths.tolist() == [2, 1]


def test_numbers_in_a_list_are_told_to_be_an_array():
    words = r"have the shapes \(\), \(\): give arrays .*; a list of numbers is not an array: write `jnp.array\(\[…\]\)`"
    refused("the seeds " + words, lambda: unfold(sprout, [1.0, 2.0], 9))
    refused("the seeds " + words, lambda: refold(net, sprout, [1.0, 2.0], 9))
    refused("the inputs " + words, lambda: run(shown, 0.0, [1.0, 2.0]))
    refused(r"elements lie along two axes.* `Seq.of\(\[np.array", lambda: Seq([[1.0, 2.0]], [2]))


def test_a_step_that_is_not_a_function_is_refused():
    words = r"`<lambda>` gives a `M.*F` whose `step` is .*: it is a function of an input, as in `MealyF\(lambda i: "
    refused(words, lambda: run(lambda s: rebuild(MealyF, {"step": (s, s)}), 0.0, seeds))
    refused(words, lambda: run(lambda s: rebuild(MooreF, {"out": s, "step": s}), 0.0, seeds))
    refused("answers with an array of shape .* gives a pair", lambda: run(lambda s: MealyF(lambda i: s), 0.0, seeds))


def test_forward_mode_through_a_reverse_rule_says_how_to_go_through():
    along = lambda f: jax.jvp(f, (seeds,), (seeds,))
    words = r"forward-mode differentiation .* goes through `fold`.* write `fold\(…, forward=True\)`"
    refused(words, lambda: along(lambda w: fold(Net(w), forest)))
    refused(words, lambda: jax.jacfwd(lambda w: fold(Net(w), forest))(seeds))
    refused(words, lambda: along(lambda w: fold(total, Seq(w[None], [2]))))
    refused(r"write `annotate\(…, forward=True\)`", lambda: along(lambda w: annotate(Net(w), forest)))
    refused("goes through `inherit`.* use reverse mode", lambda: along(lambda w: inherit(handed, forest, w)))
    refused("goes through `follow`", lambda: along(lambda w: follow(sprout, forest, w)))
    refused("goes through `unfold`", lambda: along(lambda w: unfold(sprout, w, 9).log_prob))
    refused("goes through `refold`", lambda: along(lambda w: refold(net, sprout, w, 9)[0]))
    value, tangent = along(lambda w: fold(Net(w), forest, forward=True))
    assert value.tolist() == tangent.tolist()


def test_a_choice_is_of_layers_of_one_signature():
    refused(
        "a `Lit` of `Expr` and a `Cons` of `List`: a coalgebra gives layers of one",
        lambda: choose(jnp.zeros(2), Lit(1.0), Cons(1, 2)),
    )
    refused("`choose` was given `1.0` as a layer: write `choose", lambda: choose(jnp.zeros(1), 1.0))
    refused("`choose` was given no layer", lambda: choose(jnp.zeros(0)))
    refused("another `choose` as a layer", lambda: choose(jnp.zeros(1), choose(jnp.zeros(1), Lit(1.0))))
    refused(r"a tree of `Expr` as scores for 1 layers: give an array", lambda: bare(choose)(Lit(1.0), Lit(2.0)))


@pytest.mark.parametrize("key", [None, KEY], ids=["best", "drawn"])
def test_a_score_that_is_nan_is_an_error_and_not_the_first_layer(key):
    words = "gives `choose` a score that is NaN, for one of Lit, Add.* a logarithm of 0"
    bad = jnp.array([3.0, -1.0])
    refused(words, lambda: ana(spoilt, key=key)(jnp.float32(-1)))
    refused(words, lambda: unfold(spoilt, bad, 9, key=key))
    refused("score that is NaN, for one of Nil, Cons", lambda: unfold(listed, bad, 9, key=key))
    refused(words, lambda: jax.grad(lambda s: unfold(spoilt, s, 9, key=key).log_prob.sum())(bad))
    if key is None:
        refused(words, lambda: refold(net, spoilt, bad, 9))
        with pytest.raises(Exception, match="score that is NaN"):  # JAX's own kind, when the program runs
            jax.block_until_ready(jax.jit(lambda s: refold(net, spoilt, s, 9))(bad))
    with pytest.raises(Exception, match="score that is NaN"):
        jax.block_until_ready(jax.jit(lambda s: unfold(spoilt, s, 9, key=key).count)(bad))


def test_a_nan_below_a_seed_where_no_tree_grows_is_no_error():
    never = lambda n: choose(jnp.stack([1.0 - n, jnp.sqrt(n)]), Lit(n), Add(n - 1.0, n - 1.0))
    assert unfold(never, jnp.array([0.0]), 9).count.tolist() == [1]


def public() -> dict[str, Any]:
    """Every function of `cdl` and its packages that is for users, and every method of their classes."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [
        (name, importlib.import_module(name)) for name in ("cdl", "cdl.functor.poly", "cdl.io", "cdl.parametric")
    ]
    seen: set[int] = set()
    while waiting:
        name, thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        inside = inspect.ismodule(thing) and thing.__name__.startswith("cdl")
        if inside or (inspect.isclass(thing) and thing.__module__.startswith("cdl")):
            members = {n: m for n, m in vars(thing).items() if not n.startswith("_")}
            waiting += [(f"{name}.{n}", getattr(m, "__func__", m)) for n, m in members.items()]
        elif callable(thing) and inspect.isroutine(thing) and thing.__module__.startswith("cdl"):
            found[name] = thing
    return found


def test_no_public_function_hides_its_options():
    functions = public()
    assert len(functions) > 200
    assert {"fold", "run", "Seq.of", "conv", "walk"} <= {fn.__qualname__ for fn in functions.values()}
    hiding = [
        name
        for name, fn in functions.items()
        if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())
    ]
    assert hiding == []


def test_help_shows_the_options_of_fold_with_their_defaults():
    shown = {name: p.default for name, p in inspect.signature(fold).parameters.items() if p.kind is p.KEYWORD_ONLY}
    assert shown == dict(key=None, forward=False, remat=None, unroll=1, hoist=None, bulk=None, how=None)
    assert inspect.signature(annotate).parameters.keys() == inspect.signature(fold).parameters.keys()
    for name, meaning in shown.items():
        assert f"`{name}`" in fold.__doc__, (name, meaning)


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


def test_a_layer_is_printed_inside_a_case():
    printed: list[str] = []

    def read(box: Any) -> Any:
        printed.append(repr(box))
        return box.label + box.kids.sum(0.0)

    fold(algebra(read), pack(Box, [Box(1.0, Many([Box(2.0, Many())]))]))
    assert any("Many(<edges>)" in text for text in printed)
    assert any("Many([])" in text for text in printed)
