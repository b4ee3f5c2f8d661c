"""What the engine refuses: of each call, the class of its error and words that its message has."""

import functools
import types
from collections.abc import Callable
from typing import Any, Generic, Never, TypeVar, Union

import equinox as eqx
import families
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from first_day import (
    Add,
    bare,
    corpus,
    forest,
    KEY,
    Lit,
    net,
    product,
    seeds,
    seq,
    shown,
    sprout,
    total,
)
from jax.errors import TracerBoolConversionError
from jaxtyping import Array, Float, Int8

import cdl
from cdl import (
    Algebra,
    algebra,
    annotate,
    Base,
    cata,
    CdlError,
    choose,
    Cons,
    Corpus,
    fmap,
    fold,
    follow,
    Fork,
    functor,
    inherit,
    inherited,
    Leaf,
    ListF,
    Many,
    MealyF,
    monoids,
    MooreF,
    Nil,
    Node,
    Packed,
    refold,
    RoseF,
    run,
    Seq,
    TreeF,
    unfold,
)
from cdl.compiled import Bracketing, Levels, Scan
from cdl.errors import (
    CarrierMismatch,
    ForeignLayer,
    IndexMismatch,
    LawBroken,
    LengthMismatch,
    PayloadMismatch,
    SignatureError,
    TreeTooLarge,
)
from cdl.functors import StreamF
from cdl.machines import start
from cdl.monads import Monoid
from cdl.schemes import likelihood


X = TypeVar("X", covariant=True)
Y = TypeVar("Y", covariant=True)
pack, CORPUS = bare(cdl.pack), Corpus(TreeF, [Leaf(1.0), Leaf(2.0)])
TREES = [Fork(Leaf(1.0), Leaf(2.0)), Leaf(3.0)]
FOREST = pack(TreeF, TREES)
ROSES = pack(RoseF, [Node(1.0, Many([Node(1.0, Many())]))])
WIDER = [Node(0.0, Many([Node(1.0, Many())] * 40))]
WIDE = np.array([2**40 + 3, 5])
NOTHING = algebra(lambda layer: jnp.zeros(()))


class Tag:
    """The name of the functors here."""


class Of(Base[Tag, X], Generic[X]):
    rest: X


class Row(Base[Tag, X], Generic[X]):
    rows: Many[X]


class Some(Base[Tag, X], Generic[X]):
    items: tuple[X, ...]


class Do(Base[Tag, tuple[X, Y]], Generic[X, Y]):
    what: Y
    after: X


def made(annotation: Any, *values: Any) -> Callable[[], Any]:
    """Packs the values, each in a constructor of one field."""
    body = {"__annotations__": {"field": annotation}}
    kind = types.new_class("Made", (Base[Tag, Never],), exec_body=lambda ns: ns.update(body))
    return lambda: pack(kind, [kind(value) for value in values])


def cell() -> Any:
    """A cell of a notebook."""

    class Ex: ...

    class Li(Base[Ex, Never]):
        value: float

    class Ad(Base[Ex, X], Generic[X]):
        left: X
        right: X

    @algebra
    def said(layer: Union[Li, Ad[X]]) -> Any:
        return layer.value if isinstance(layer, Li) else layer.left + layer.right

    tree = Ad(Li(1.0), Li(2.0))
    return types.SimpleNamespace(Li=Li, Ad=Ad, F=Union[Li, Ad[X]], said=said, tree=tree)


BEFORE, AFTER = cell(), cell()


def cyclic() -> Any:
    tree = Fork(Leaf(1.0), Leaf(2.0))
    object.__setattr__(tree, "right", tree)
    return tree


def stacked(x: Any) -> Any:
    return jax.tree.map(lambda leaf: jnp.stack([leaf, leaf]), x)


def traced(read: Callable[[Any], Any], given: Any) -> Callable[[], Any]:
    return lambda: jax.eval_shape(lambda x: read(x) and 0, given)


def folded(case: Callable[[Any], Any], over: Any = FOREST) -> Callable[[], Any]:
    return lambda: fold(algebra(case), over)


def either(leaf: Any, fork: Any) -> Any:
    return lambda layer: leaf(layer) if isinstance(layer, Leaf) else fork(layer)


def narrow(layer: TreeF[float, Any]) -> Any:
    return jnp.zeros(4) if isinstance(layer, Leaf) else jnp.zeros((3, 3)) @ layer.left


mixed = either(lambda x: 0.0, lambda x: jnp.ones(2))


def leaves(layer: Any) -> Any:
    match layer:
        case Leaf(label):
            return label


@algebra
def of_leaves(layer: Leaf[float]) -> Any:
    return layer.label


class Drops(Algebra[TreeF[float, Any], Any]):
    def __call__(self, layer: TreeF[float, Any], key: Any) -> Any:
        return jax.random.uniform(key)


def wrong(layer: Any) -> Any:
    raise ValueError("mine")


def plain(layer: ListF[Any, Any]) -> Any:
    return 0.0


def silent(layer):
    return 0.0


def grown(f: Any, over: Any = seeds, *, nodes: Any = 5, **options: Any) -> Callable[[], Any]:
    return lambda: bare(unfold)(f, over, nodes, **options)


def forks(seed: Any) -> Any:
    return choose(jnp.stack([0.5 - seed, seed - 0.5]), Leaf(seed), Fork(seed - 1, seed - 1))


def lists(seed: Any) -> Any:
    return choose(jnp.stack([0.5 - seed, seed - 0.5]), Nil(), Cons(seed, seed - 1))


def stream(seed: Any) -> Any:
    return StreamF(seed, lambda: seed + 1)


def two(a: Any, b: Any) -> Any:
    return choose(jnp.zeros(2), a, b)


def below(change: Callable[[Any], Any]) -> Any:
    return lambda s: two(Leaf(s), Fork(s, change(s)))


def drawing(seed: Any, *, key: Any) -> Any:
    return two(Leaf(seed + jax.random.normal(key)), Fork(seed, seed))


def halved(read: Any, payload: Any) -> Callable[[], Any]:
    """The likelihood of one tree, or of a forest."""
    coalg = lambda s: two(Leaf(s), Fork(0.5 * s, 0.5 * s))
    if read is likelihood:
        return lambda: likelihood(coalg, jnp.array(4.0), payload=payload)(TREES[0])
    return lambda: follow(coalg, FOREST, jnp.ones(2), payload=payload)


def vector(mine: Any, given: Any) -> Any:
    return jnp.zeros(2)


def down(step: Any, top: Any = seeds, over: Any = FOREST, **options: Any) -> Callable[[], Any]:
    return lambda: bare(inherit)(step, over, top, **options)


def each(change: Callable[[Any], Any]) -> Any:
    return lambda value, layer: bare(fmap)(lambda _: change(value), layer)


def adds(value: Any, layer: Any) -> Any:
    return bare(fmap)(lambda x: value + x, layer)


def delay(state: Any) -> Any:
    return MealyF(lambda x: (x, state))


@functools.cache
def family() -> Any:
    """Coalgebras and algebras of two sorts, seeds of each, and a forest of one tree."""
    coalgs, algs = families.coalgebras(jnp.float32, many=False), families.algebras(jnp.float32)
    forest = pack(families.BLOCKS, [families.Lit(1.0)])
    return coalgs, algs, families.seeds(jnp.float32, 2, 2), forest


def unborn() -> Any:
    """Of the second sort one seed, and of the first none, in the wrong order."""
    return families.seeds(jnp.float32, 0, 1)[::-1]


def of_sorts(call: Callable[..., Any]) -> Callable[[], Any]:
    return lambda: call(*family())


half_down: Any = lambda x, y: (x + y) / 2
less: Any = lambda x, y: jnp.where(x == 0, y, jnp.where(y == 0, x, x - y))

PACKED: list[Any] = [
    (lambda: pack(TreeF, [Leaf(0.0), Fork(Leaf(1.0), Nil())]), ForeignLayer, "Nil tree 1 Fork"),
    (lambda: pack(TreeF, [3]), ForeignLayer, "int root"),
    (lambda: pack(Row, [Row([])]), ForeignLayer, "list Many([…])"),
    (lambda: pack(Some, [Some([])]), ForeignLayer, "list (x,)"),
    (lambda: pack(TreeF, unfold(Leaf, seeds, 1).results()), ForeignLayer, "result.unwrap()"),
    (lambda: pack(Of, []), SignatureError, "finite"),
    (lambda: pack(MooreF, []), ForeignLayer, "MooreF function"),
    (lambda: pack(Do, []), SignatureError, "Do 2 sorts"),
    (lambda: pack((Of, Do), []), SignatureError, "Of Never"),
    (lambda: pack((Lit, Add[X]), []), SignatureError, "Union[Lit, Add[X]]"),
    (lambda: cdl.pack(Lit, Add, []), CdlError, "Lit | Add"),
    (lambda: functor(Fork(Leaf(1.0), Leaf(2.0))), SignatureError, "Fork signature"),
    (lambda: pack(TreeF, [Leaf(0.0), cyclic()], max_nodes=1_000), TreeTooLarge, "tree 1 cyclic"),
    (lambda: pack(TreeF, Leaf(1.0)), ForeignLayer, "Leaf [tree]"),
    (lambda: pack(Leaf(1.0), TreeF), SignatureError, "signature first"),
    (lambda: pack(TreeF, FOREST), ForeignLayer, "Forest fold"),
    (lambda: pack(TreeF, [Leaf(1.0)], dtype=jnp.int8), CdlError, "dtype int8"),
    (lambda: pack(TreeF, [Leaf(1.0)], dtype=jnp.float64), CdlError, "jax_enable_x64"),
    (lambda: pack(TreeF, [Leaf(1e5)], dtype=jnp.float16), PayloadMismatch, "100000.0 65504"),
    (lambda: pack(TreeF, [TREES[0]] * 50, bucket=FOREST.bucket), CdlError, "150 64"),
    (lambda: pack(TreeF, TREES, bucket=pack(TreeF, TREES[1:]).bucket), CdlError, "Fork (Leaf)"),
    (lambda: pack(TreeF, [Leaf(np.ones(2))], bucket=FOREST.bucket), CdlError, "payload Leaf"),
    (lambda: pack(RoseF, WIDER, bucket=ROSES.bucket), CdlError, "bucket"),
    (lambda: pack(AFTER.F, [BEFORE.tree]), ForeignLayer, "anew"),
    (lambda: cata(AFTER.said)(BEFORE.tree), ForeignLayer, "anew"),
    (lambda: fold(AFTER.said, pack(BEFORE.F, [BEFORE.tree])), SignatureError, "anew"),
    (lambda: functor(Union[BEFORE.Li, AFTER.Ad]), SignatureError, "anew"),
]

PAYLOADS: list[Any] = [
    (lambda: jax.jit(lambda x: pack(TreeF, [Leaf(x)]).payload)(1.0), PayloadMismatch, "traced"),
    (made(Any, np.zeros(2), np.zeros(3)), PayloadMismatch, "(2,) (3,)"),
    (made(Any, "one"), PayloadMismatch, "Made.field str"),
    (made(Any, np.array(["a"])), PayloadMismatch, "ndarray <U1"),
    (made(Any, KEY), PayloadMismatch, "key_data"),
    (made(Any, Many()), PayloadMismatch, "Many tree"),
    (made(float, np.array([1, 2**24 + 1])), PayloadMismatch, "16777217 float32"),
    (made(Int8[Array, ""], 128), PayloadMismatch, "128 127"),
    (made(int, 1, 2.0), PayloadMismatch, "integers 2.0 float"),
    (made(int, np.True_), PayloadMismatch, "integers True bool"),
    (made(float, 1j), PayloadMismatch, "floats 1j complex"),
    (made(int, np.uint8(3), np.int8(-3)), PayloadMismatch, "uint8 int8"),
    (made(float, None), PayloadMismatch, "None float"),
    (made(tuple[float, float], (1.0, None)), PayloadMismatch, "field[1] None"),
    (made(dict[str, int], {"x": 1, "y": 0.5}), PayloadMismatch, "field['y'] integers"),
    (made(Float[Array, "2"], [1.0, 2.0]), PayloadMismatch, "list jnp.array"),
]

CORPORA: list[Any] = [
    (lambda: CORPUS[[True]], IndexMismatch, "2 1"),
    (lambda: CORPUS[np.array([0.5])], IndexMismatch, "float64"),
    (lambda: CORPUS[[0, 2]], IndexMismatch, "1 2"),
    (lambda: CORPUS + corpus, CdlError, "corpus float"),
    (lambda: CORPUS + Corpus(TreeF, [Leaf(np.ones(2))]), CdlError, "Leaf (2,)"),
    (lambda: bare(Corpus.__add__)(CORPUS, TREES), CdlError, "corpus Fork(Leaf(1.0),"),
    (lambda: jax.jit(lambda i: CORPUS[i])(jnp.array([0, 1])), CdlError, "host jit"),
]

FORESTS: list[Any] = [
    (lambda: stacked(FOREST).size, CdlError, "several jax.vmap"),
    (lambda: stacked(FOREST).trees(), CdlError, "several jax.vmap"),
    (lambda: fold(NOTHING, stacked(FOREST)), CdlError, "several"),
    (lambda: fold(NOTHING, FOREST.schedule), CdlError, "payload schedule"),
    (lambda: fold(NOTHING, eqx.filter(FOREST, eqx.is_inexact_array)), CdlError, "some gradient"),
    (lambda: eqx.filter(FOREST, eqx.is_inexact_array).trees(), CdlError, "eqx.combine(gradient,"),
    (traced(lambda f: f.trees(), FOREST), CdlError, "traced"),
    (lambda: FOREST.nodes(2), IndexMismatch, "1 2"),
    (lambda: FOREST.of_sort(1), CdlError, "sort 1"),
]

FOLDS: list[Any] = [
    (folded(either(lambda x: x.label, lambda x: jnp.int32(1))), CarrierMismatch, "f32[] i32[]"),
    (folded(leaves), CarrierMismatch, "leaves Fork"),
    (lambda: fold(of_leaves, FOREST), ForeignLayer, "Fork (Leaf)"),
    (lambda: cata(of_leaves)(TREES[0]), ForeignLayer, "Fork (Leaf)"),
    (lambda: fold(NOTHING, pack(TreeF, [])), CdlError, "empty bucket"),
    (
        folded(
            lambda x: x.label + x.kids.map(lambda x: jnp.ones(2) * x).sum(0.0),
            pack(RoseF, [Node(1.0, Many([Node(1.0, Many())]))]),
        ),
        CarrierMismatch,
        "Many f32[2] zero",
    ),
    (folded(narrow), TypeError, "narrow Fork(left=f32[4], right=f32[4])"),
    (folded(wrong), ValueError, "mine wrong Leaf(label=f32[])"),
    (folded(either(lambda x: x.label * 2**40, lambda x: x.left)), OverflowError, "Leaf"),
    (folded(either(eqx.nn.Linear(1, 3, key=KEY), lambda x: x.left)), TypeError, "Leaf"),
    (lambda: fold(Drops(), FOREST), CdlError, "Drops key"),
]

LISTS: list[Any] = [
    (lambda: fold(plain, seq), SignatureError, "@cdl.algebra plain"),
    (lambda: annotate(silent, seq), SignatureError, "@cdl.algebra silent"),
    (lambda: Seq(np.zeros((2, 3)), np.array([1, 4])), LengthMismatch, "list 1 4"),
    (lambda: Seq(np.zeros((2, 3)), np.array([1.0, 2.0])), LengthMismatch, "float64"),
    (lambda: Seq(np.zeros((2, 3)), np.array([1, 2, 3])), LengthMismatch, "(3,) 2"),
    (lambda: Seq({"a": np.zeros((2, 3)), "b": np.zeros((2, 4))}, [1, 2]), PayloadMismatch, "'b'"),
    (lambda: Seq(np.array([["a", "b"]]), [1]), PayloadMismatch, "<U1"),
    (lambda: Packed.of([]), PayloadMismatch, "list"),
    (lambda: Packed.of([np.zeros(4), (np.zeros(4),)]), PayloadMismatch, "structure"),
    (lambda: Seq.of([(np.zeros(4), np.zeros(3))]), LengthMismatch, "list 0 3 4"),
    (lambda: Seq.of([np.zeros(5)], time=4), LengthMismatch, "5 time 4"),
    (lambda: Packed.of([np.zeros(5)] * 3, lanes=2, steps=4), LengthMismatch, "steps 4"),
    *((lambda f=f: f(stacked(seq)), CdlError, "several") for f in (len, lambda s: fold(total, s))),
    (lambda: run(shown, jnp.zeros(2), stacked(seq)), CdlError, "several"),
    (lambda: fold(monoids.matrices(2), Seq(jnp.ones((1, 2, 3)), [2])), CarrierMismatch, "f32[2,2]"),
    (lambda: annotate(product, seq, how=Bracketing("halving")), CdlError, "prefix"),
    (lambda: monoids.max_plus(2, jnp.int32), CdlError, "max_plus int32 -inf"),
    (lambda: monoids.transitions(2).combine(jnp.arange(1, 3), jnp.arange(2)), CdlError, "states"),
    (lambda: monoids.check_monoid(Monoid(0.0, half_down), [4.0]), LawBroken, "x = 4.0 2.0"),
    (lambda: monoids.check_monoid(Monoid(0.0, less), [5.0, 3.0]), LawBroken, "(x y) z -3.0 7.0"),
]

GROWTH: list[Any] = [
    (grown(drawing), CdlError, "drawing key"),
    (lambda: refold(NOTHING, drawing, seeds, 3), CdlError, "drawing key=None"),
    (grown(below(lambda s: s.astype(jnp.int32)), jnp.zeros((3, 2))), CarrierMismatch, "i32[2]"),
    (grown(below(lambda s: 0.5), jnp.array([1])), CarrierMismatch, "i32[] f32[]"),
    (grown(forks, (jnp.zeros((3, 2)), jnp.zeros(4))), CdlError, "(3, 2) (4,)"),
    (grown(forks, FOREST), CdlError, "Forest"),
    (grown(lambda s: Leaf(s) if s < 0 else Fork(s, s)), TracerBoolConversionError, "choose"),
    (grown(wrong), ValueError, "mine wrong seed"),
    (grown(lambda s: MealyF(lambda i: (i, s))), ForeignLayer, "MealyF run"),
    (grown(lambda s: s), ForeignLayer, "layer"),
    (grown(lambda s: two(Do(s, s), Do(s, -s))), SignatureError, "Do 2 1"),
    (lambda: choose(jnp.zeros(1, jnp.complex64), Leaf(0.0)), PayloadMismatch, "complex64"),
    (grown(lambda s: two(Lit(s > 0), Lit(s > 1))), PayloadMismatch, "Lit.value floats bool"),
    (grown(lists, total=3), CdlError, "total lists"),
    (grown(forks, nodes=2**31), CdlError, "2147483648 2147483647"),
    (lambda: two(Cons(0.0, 0.0), Leaf(0.0)), SignatureError, "Cons Leaf"),
    (grown(lambda s: two(Cons(s, s), Cons(jnp.zeros(2), s))), PayloadMismatch, "f32[] f32[2]"),
    (grown(lambda s: two(Nil(), Cons(s, jnp.zeros(2)))), CarrierMismatch, "f32[] f32[2]"),
    (lambda: unfold(forks, seeds, 2).trees(), TreeTooLarge, "2 nodes=2"),
    (lambda: unfold(forks, seeds, 3, total=4).trees(), TreeTooLarge, "total"),
    (lambda: unfold(lists, seeds, 1).trees(), TreeTooLarge, "lists 1 nodes"),
    (lambda: stacked(unfold(forks, seeds, 3)).trees(), CdlError, "several"),
    (traced(lambda g: g.trees(), unfold(forks, seeds, 3)), CdlError, "host jit"),
    (traced(lambda g: g.trees(), unfold(lists, seeds, 3)), CdlError, "host jit"),
    (lambda: fold(NOTHING, unfold(forks, seeds, 3)), CdlError, "Grown pack"),
    (lambda: refold(NOTHING, lambda x: Fork(x, x), jnp.zeros((2, 3))), CdlError, "f32[3] choose"),
    (lambda: refold(NOTHING, forks, seeds), ForeignLayer, "nodes"),
    (lambda: refold(NOTHING, Leaf, seeds, total=9), CdlError, "total nodes"),
    (lambda: refold(algebra(mixed), forks, seeds, 5), CarrierMismatch, "Leaf"),
    (lambda: refold(NOTHING, lambda s: two(Fork(s, s), Fork(s, s)), seeds, 5), CdlError, "place"),
]

SORTS: list[Any] = [
    (of_sorts(lambda c, a, s, f: unfold(c[::-1], s[::-1], 40)), SignatureError, "GrowStmt Return"),
    (of_sorts(lambda c, a, s, f: follow(c[::-1], f, unborn())), SignatureError, "GrowStmt Lit"),
    (of_sorts(lambda c, a, s, f: unfold(c, s[:1], 40)), SignatureError, "2 coalgebras 1"),
    (of_sorts(lambda c, a, s, f: follow(c, f, s)), CarrierMismatch, "(2, 3) sort 0"),
    (of_sorts(lambda c, a, s, f: refold(a, c, s)), SignatureError, "2 coalgebras nodes"),
    (of_sorts(lambda c, a, s, f: refold(a[::-1], c, s, 40)), SignatureError, "Expr OfStmt Stmt"),
]

DESCENTS: list[Any] = [
    (lambda: follow(lambda s: choose(jnp.ones(1), Leaf(s)), FOREST, seeds), ForeignLayer, "Fork"),
    (lambda: follow(lambda s: two(Leaf(s), Leaf(s)), FOREST, seeds), ForeignLayer, "2 Leaf"),
    (lambda: follow(below(lambda s: jnp.stack([s, s])), FOREST, seeds), CarrierMismatch, "f32[2]"),
    (lambda: follow(lambda s: Node(0.0, Many([s])), ROSES, jnp.ones(1)), ForeignLayer, "Many"),
    *((halved(read, vector), CdlError, "vector (2,) .sum()") for read in (likelihood, follow)),
    (halved(follow, lambda mine, given: None), CdlError, "None 0.0"),
    (halved(follow, lambda layer: 0.0), CdlError, "payload(mine, given)"),
    (down(lambda value, layer: Leaf(1.0)), CarrierMismatch, "Fork Leaf"),
    (down(each(lambda x: jnp.stack([x, x]))), CarrierMismatch, "f32[2] f32[]"),
    (down(each(lambda x: x), jnp.zeros(3)), CarrierMismatch, "at_root (3,) 2"),
    (down(each(lambda x: jnp.ones((3, 3)) @ x), jnp.zeros((2, 2))), TypeError, "f32[2]"),
    (down(each(lambda x: x), values=jnp.zeros(2)), CarrierMismatch, "(2,) 64"),
    (down(adds), TypeError, "values"),
    (lambda: inherited(adds, 0.0)(TREES[0]), TypeError, "decorate"),
    (down(lambda layer, value: layer), CarrierMismatch, "step(value, layer)"),
    (lambda: bare(inherit)(FOREST, each(lambda x: x), seeds), CdlError, "inherit(step, forest,"),
    (down(each(lambda x: x), over=TREES[0]), CdlError, "pack(signature, [tree])"),
    (down(each(lambda x: x), [0]), CarrierMismatch, "jnp.array"),
]

OPTIONS: list[Any] = [
    (lambda: fold(net, forest, hwo=1), CdlError, "fold hwo key how"),
    (lambda: fold(net), CdlError, "data fold(alg, data,"),
    *((lambda c=c: c(key=0), CdlError, "key jax.random.key(0)") for c in (
        lambda key: bare(cata)(net, key=key),
        lambda key: bare(fold)(net, forest, key=key),
        lambda key: bare(start)(shown, 0.0, key=key),
    )),
    (lambda: Levels(forward="yes"), CdlError, "forward 'yes'"),
    (lambda: bare(fold)(net, forest, how=Scan(unroll=2)), CdlError, "Forest cdl.compiled.Levels"),
    (lambda: bare(fold)(total, seq, how=Levels()), CdlError, "sequences Scan"),
    (lambda: bare(annotate)(product, seq, how=Scan(segment=3)), CdlError, "compiled.Bracketing"),
    (lambda: bare(fold)(product, seq, key=KEY), CdlError, "Monoid key"),
    (lambda: Bracketing("scn"), CdlError, "way 'scn' halving"),
    (lambda: Scan(segment=2.5), CdlError, "segment 2.5"),
    (lambda: Scan(bulk=True, forward=True), CdlError, "bulk forward"),
    *((grown(sprout, nodes=size), CdlError, "nodes") for size in (2.0, 0)),
]  # fmt: skip

ENTRANCES: list[Any] = [
    (lambda: unfold(forks, WIDE, 3), PayloadMismatch, "seed"),
    (lambda: refold(NOTHING, forks, WIDE, 3), PayloadMismatch, "seed"),
    (lambda: run(delay, 0, WIDE), PayloadMismatch, "input"),
    (lambda: start(delay, WIDE[0]), PayloadMismatch, "state"),
    (lambda: inherit(each(lambda x: x), FOREST, WIDE), PayloadMismatch, "at_root"),
    (lambda: Seq(WIDE[None], [2]), PayloadMismatch, "values"),
    (lambda: follow(forks, FOREST, WIDE), PayloadMismatch, "seeds"),
    (lambda: unfold(forks, -WIDE, 3), PayloadMismatch, "-2147483648"),
    (lambda: unfold(forks, np.array([1e300]), 3), PayloadMismatch, "1e+300 infinite"),
    (lambda: start(delay, 2**70), PayloadMismatch, "state"),
]

ROWS = PACKED + PAYLOADS + CORPORA + FORESTS + FOLDS + LISTS + GROWTH + SORTS + DESCENTS
ROWS += OPTIONS + ENTRANCES


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[row[2] for row in ROWS])
def test_a_refusal_raises_its_class_with_these_words(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    found = " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert all(word in found for word in words.split()), found
