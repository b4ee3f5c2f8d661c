"""What the engine refuses: of each call, the class of its error and words that its message has."""

import types
from collections.abc import Callable
from typing import Any, Generic, Literal, Never, TypeVar, Union

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from first_day import Add, bare, corpus, ExprF, forest, KEY, Lit, net, product, seeds, seq, shown, sprout, total
from jaxtyping import Array, Bool, Float, Float16, Inexact, Int8

import cdl
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
from cdl.functors import SnocF, StreamF
from cdl.learning.layers import dense
from cdl.machines import start
from cdl.monads import Monoid
from cdl.schemes import likelihood


X = TypeVar("X", covariant=True)
Y = TypeVar("Y", covariant=True)
pack, CORPUS = bare(cdl.pack), Corpus(TreeF, [Leaf(1.0), Leaf(2.0)])
TREES = [Fork(Leaf(1.0), Leaf(2.0)), Leaf(3.0)]
FOREST = pack(TreeF, TREES)
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

    return types.SimpleNamespace(Li=Li, Ad=Ad, F=Union[Li, Ad[X]], said=said, tree=Ad(Li(1.0), Li(2.0)))


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


def from_the_start(layer: SnocF[Any, Any]) -> Any:
    return 0.0


def silent(layer):
    return 0.0


def grown(f: Callable[[Any], Any], over: Any = seeds, *, nodes: Any = 5, **options: Any) -> Callable[[], Any]:
    return lambda: bare(unfold)(f, over, nodes, **options)


def forks(seed: Any) -> Any:
    return choose(jnp.stack([0.5 - seed, seed - 0.5]), Leaf(seed), Fork(seed - 1, seed - 1))


def lists(seed: Any) -> Any:
    return choose(jnp.stack([0.5 - seed, seed - 0.5]), Nil(), Cons(seed, seed - 1))


def stream(seed: Any) -> Any:
    return StreamF(seed, lambda: seed + 1)


def weighed(seed: Any) -> Any:
    return choose(jnp.stack([(seed @ jnp.ones((3, 3))).sum(), 0.0]), Leaf(1.0), Fork(seed, seed))


def below(change: Callable[[Any], Any]) -> Any:
    return lambda s: choose(jnp.zeros(2), Leaf(s), Fork(s, change(s)))


def drawing(seed: Any, *, key: Any) -> Any:
    return choose(jnp.zeros(2), Leaf(seed + jax.random.normal(key)), Fork(seed, seed))


def halved(read: Any, payload: Any) -> Callable[[], Any]:
    """The likelihood of one tree, or of a forest."""
    coalg = lambda s: choose(jnp.zeros(2), Leaf(s), Fork(0.5 * s, 0.5 * s))
    if read is likelihood:
        return lambda: likelihood(coalg, jnp.array(4.0), payload=payload)(TREES[0])
    return lambda: follow(coalg, FOREST, jnp.ones(2), payload=payload)


def vector(mine: Any, given: Any) -> Any:
    return jnp.zeros(2)


def down(step: Any, top: Any = np.zeros(2, np.float32), over: Any = FOREST, **options: Any) -> Callable[[], Any]:
    return lambda: bare(inherit)(step, over, top, **options)


def each(change: Callable[[Any], Any]) -> Any:
    return lambda value, layer: bare(fmap)(lambda _: change(value), layer)


def delay(state: Any) -> Any:
    return MealyF(lambda x: (x, state))


def entered(what: str, enter: Callable[[Any], Any]) -> list[Any]:
    """Numbers that no type of JAX holds."""
    return [(lambda x=x: enter(x), PayloadMismatch, f"{what} {words}") for x, words in NUMBERS]


NUMBERS = [(WIDE, "1099511627779 2147483647"), (-WIDE, "-2147483648"), (np.array([1e300, 1.0]), "1e+300 infinite")]
half_down: Any = lambda x, y: (x + y) / 2
less: Any = lambda x, y: jnp.where(x == 0, y, jnp.where(y == 0, x, x - y))

PACKED: list[Any] = [
    (lambda: pack(TreeF, [Leaf(0.0), Fork(Leaf(1.0), Fork(Nil(), Leaf(2.0)))]), ForeignLayer, "Nil tree 1 Fork"),
    (lambda: pack(TreeF, [3]), ForeignLayer, "int root"),
    (lambda: pack(TreeF, "ab"), ForeignLayer, "str"),
    (lambda: pack(Row, [Row([])]), ForeignLayer, "list Many([…])"),
    (lambda: pack(Some, [Some([])]), ForeignLayer, "list (x,)"),
    (lambda: cata(algebra(lambda layer: len(layer.items)))(Some([])), ForeignLayer, "list (x,)"),
    (lambda: pack(TreeF, unfold(lambda s: Leaf(s), seeds, 1).results()), ForeignLayer, "Success result.unwrap()"),
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
    (lambda: pack([Leaf(1.0)] * 99, TreeF), SignatureError, "signature first"),
    (lambda: pack([TreeF], [Leaf(1.0)]), SignatureError, "tuple list"),
    (lambda: pack(TreeF, None), ForeignLayer, "NoneType"),
    (lambda: pack(TreeF, FOREST), ForeignLayer, "Forest fold"),
    (lambda: pack(TreeF, CORPUS), CdlError, "corpus[[0, 1]]"),
    (lambda: pack(TreeF, [Leaf(1.0)], dtype=jnp.int8), CdlError, "dtype int8"),
    (lambda: pack(TreeF, [Leaf(1.0)], dtype="big"), CdlError, "dtype 'big'"),
    (lambda: pack(TreeF, [Leaf(1.0)], dtype=jnp.float64), CdlError, "jax_enable_x64"),
    (lambda: pack(TreeF, [Leaf(1e5)], dtype=jnp.float16), PayloadMismatch, "Leaf.label 100000.0 65504"),
    (lambda: pack(TreeF, [TREES[0]] * 50, bucket=FOREST.bucket), CdlError, "150 64"),
    (lambda: pack(TreeF, TREES, bucket=pack(TreeF, TREES[1:]).bucket), CdlError, "Fork variants (Leaf)"),
    (lambda: pack(TreeF, [Leaf(np.ones(2))], bucket=FOREST.bucket), CdlError, "payload Leaf bucket"),
    (
        lambda: pack(
            RoseF, [Node(0.0, Many([Node(1.0, Many())] * 40))], bucket=pack(RoseF, [Node(0.0, Many())]).bucket
        ),
        CdlError,
        "bucket",
    ),
    (lambda: pack(AFTER.F, [BEFORE.tree]), ForeignLayer, "anew"),
    (lambda: cata(AFTER.said)(BEFORE.tree), ForeignLayer, "anew"),
    (lambda: fold(AFTER.said, pack(BEFORE.F, [BEFORE.tree])), SignatureError, "anew"),
    (lambda: functor(Union[BEFORE.Li, AFTER.Ad]), SignatureError, "anew"),
]

PAYLOADS: list[Any] = [
    (lambda: jax.jit(lambda x: pack(TreeF, [Leaf(x)]).payload)(1.0), PayloadMismatch, "Leaf.label traced"),
    (made(Any, np.zeros(2), np.zeros(3)), PayloadMismatch, "(2,) (3,)"),
    (made(Any, "one"), PayloadMismatch, "Made.field str"),
    (made(Any, np.array(["a"])), PayloadMismatch, "ndarray <U1"),
    (made(Any, np.array([None])), PayloadMismatch, "object"),
    (made(Any, KEY), PayloadMismatch, "key_data"),
    (made(Any, Many()), PayloadMismatch, "Many tree"),
    (made(Any, [Leaf(1.0)]), PayloadMismatch, "Leaf tree"),
    (made(float, 1.0, -1e39), PayloadMismatch, "-1e+39 float32 infinite"),
    (made(Float16[Array, ""], 70000.0), PayloadMismatch, "float16 65504"),
    (made(complex, 1e300j), PayloadMismatch, "1e+300j complex64"),
    (made(float, np.array([1, 2**24 + 1])), PayloadMismatch, "16777217 float32"),
    (made(float, 10**400), PayloadMismatch, "float32 changed"),
    (made(int, 2**63, -1), PayloadMismatch, "9223372036854775808 int32"),
    (made(int, np.uint64(2**63), np.int64(-1)), PayloadMismatch, "9223372036854775808 int32"),
    (made(int, -(2**40)), PayloadMismatch, "-1099511627776 -2147483648"),
    (made(Int8[Array, ""], 128), PayloadMismatch, "128 127"),
    (made(int, 1, 2.0), PayloadMismatch, "integers 2.0 float"),
    (made(int, np.zeros(0)), PayloadMismatch, "integers float64"),
    (made(int, np.True_), PayloadMismatch, "integers True bool"),
    (made(float, 1j), PayloadMismatch, "floats 1j complex"),
    (made(bool, True, 0), PayloadMismatch, "booleans 0"),
    (made(Bool[Array, ""], 1.0), PayloadMismatch, "booleans 1.0"),
    (made(Inexact[Array, ""], np.True_), PayloadMismatch, "complex True"),
    (made(Literal[1, 2], 1.5), PayloadMismatch, "integers 1.5"),
    (made(int, np.uint8(3), np.int8(-3)), PayloadMismatch, "uint8 int8"),
    (made(float, np.float16(1), np.float32(1)), PayloadMismatch, "float16 float32"),
    (made(float, None), PayloadMismatch, "None float"),
    (made(tuple[float, float], (1.0, None)), PayloadMismatch, "field[1] None"),
    (made(dict[str, int], {"x": 1, "y": 0.5}), PayloadMismatch, "field['y'] integers"),
    (made(Float[Array, "2"], [1.0, 2.0]), PayloadMismatch, "list jnp.array"),
]

CORPORA: list[Any] = [
    (lambda: CORPUS[[True]], IndexMismatch, "2 1"),
    (lambda: CORPUS[np.array([0.5])], IndexMismatch, "float64"),
    (lambda: CORPUS[[True, 0]], IndexMismatch, "mixed"),
    (lambda: CORPUS[[0, 2]], IndexMismatch, "1 2"),
    (lambda: CORPUS[[-1]], IndexMismatch, "-1"),
    (lambda: CORPUS[np.array([2**63 + 1], np.uint64)], IndexMismatch, "9223372036854775809"),
    (lambda: bare(Corpus.__getitem__)(CORPUS, 0), IndexMismatch, "int64"),
    (lambda: bare(Corpus.__getitem__)(CORPUS, None), IndexMismatch, "None"),
    (lambda: CORPUS + corpus, CdlError, "corpus float"),
    (lambda: CORPUS + Corpus(TreeF, [Leaf(np.ones(2))]), CdlError, "Leaf (2,)"),
    (lambda: bare(Corpus.__add__)(CORPUS, TREES), CdlError, "corpus Fork(Leaf(1.0),"),
    (lambda: TREES + CORPUS, CdlError, "corpus"),
    (lambda: jax.jit(lambda i: CORPUS[i])(jnp.array([0, 1])), CdlError, "host jit"),
]

FORESTS: list[Any] = [
    *((lambda n=n: getattr(stacked(FOREST), n), CdlError, "several jax.vmap") for n in ("size", "mask")),
    (lambda: stacked(FOREST).trees(), CdlError, "several jax.vmap"),
    (lambda: len(stacked(FOREST)), CdlError, "several jax.vmap"),
    (lambda: fold(NOTHING, stacked(FOREST)), CdlError, "several"),
    (lambda: fold(NOTHING, FOREST.schedule), CdlError, "payload schedule"),
    (lambda: inherit(each(lambda x: x), FOREST.schedule, seeds), CdlError, "payload schedule"),
    (lambda: fold(NOTHING, eqx.tree_at(lambda f: f.payload, FOREST, stacked(FOREST.payload))), CdlError, "(rows,)"),
    (lambda: fold(NOTHING, eqx.filter(FOREST, eqx.is_inexact_array)), CdlError, "some gradient"),
    (lambda: eqx.filter(FOREST, eqx.is_inexact_array).trees(), CdlError, "eqx.combine(gradient, forest)"),
    (lambda: fold(NOTHING, eqx.filter_eval_shape(lambda: FOREST)), CdlError, "ShapeDtypeStruct"),
    (traced(lambda f: f.depth, FOREST), CdlError, "depth traced"),
    (traced(lambda f: f.nodes(0), FOREST), CdlError, "nodes traced"),
    (traced(lambda f: f.trees(), FOREST), CdlError, "traced"),
    (lambda: FOREST.nodes(2), IndexMismatch, "1 2"),
    (lambda: FOREST.of_sort(1), CdlError, "sort 1"),
    (lambda: bare(type(FOREST).of_sort)(FOREST, 0.5), CdlError, "of_sort 0.5"),
    (lambda: bare(type(FOREST).nodes)(FOREST, True), CdlError, "nodes True"),
]

FOLDS: list[Any] = [
    (folded(either(lambda x: x.label, lambda x: jnp.int32(1))), CarrierMismatch, "Leaf f32[] i32[]"),
    (folded(either(lambda x: x.label, lambda x: (x.left, x.left))), CarrierMismatch, "Leaf f32[] structure"),
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
    (folded(either(lambda x: x.label.is_integer(), lambda x: x.left)), AttributeError, "Leaf(label=f32[])"),
    (folded(either(lambda x: x.label * 2**40, lambda x: x.left)), OverflowError, "Leaf(label=f32[])"),
    (folded(either(eqx.nn.Linear(1, 3, key=KEY), lambda x: x.left)), TypeError, "Leaf(label=f32[])"),
    (lambda: fold(Drops(), FOREST), CdlError, "Drops key"),
]

LISTS: list[Any] = [
    *((lambda f=f, a=a: f(a, seq), SignatureError, a.__name__) for f in (fold, annotate) for a in (plain, silent)),
    (lambda: fold(from_the_start, seq), SignatureError, "@cdl.algebra from_the_start"),
    (lambda: Seq(np.zeros((2, 3)), np.array([1, 4])), LengthMismatch, "list 1 4"),
    (lambda: Seq(np.zeros((2, 3)), np.array([-1, 3])), LengthMismatch, "list 0 -1"),
    (lambda: Seq(np.zeros((2, 3)), np.array([1.0, 2.0])), LengthMismatch, "float64"),
    (lambda: Seq(np.zeros((2, 3)), np.array([1, 2, 3])), LengthMismatch, "(3,) 2"),
    (lambda: Seq({"a": np.zeros((2, 3)), "b": np.zeros((2, 4))}, [1, 2]), PayloadMismatch, "['a'] ['b']"),
    (lambda: Seq(np.zeros((0, 3)), np.array([], int)), PayloadMismatch, "(0, 3)"),
    (lambda: Seq(np.zeros(3), [1, 2]), PayloadMismatch, "(3,) axes"),
    (lambda: Seq((), [1, 2]), PayloadMismatch, "array"),
    (lambda: Seq(np.array([["a", "b"]]), [1]), PayloadMismatch, "<U1"),
    (lambda: Packed.of([]), PayloadMismatch, "list"),
    (lambda: Seq.of([np.zeros((4, 2)), np.zeros((4, 3))]), PayloadMismatch, "list 0 float64[3]"),
    (lambda: Packed.of([np.zeros(4), (np.zeros(4),)]), PayloadMismatch, "structure"),
    (lambda: Seq.of([(np.zeros(4), np.zeros(3))]), LengthMismatch, "list 0 3 4"),
    (lambda: Seq.of([np.zeros(5)], time=4), LengthMismatch, "5 time 4"),
    (lambda: Packed.of([np.zeros(5)] * 3, lanes=2, steps=4), LengthMismatch, "steps 4"),
    (lambda: Packed.of([np.zeros(5)], lanes=0), LengthMismatch, "lanes 0"),
    *((lambda f=f: f(stacked(seq)), CdlError, "several") for f in (len, lambda s: s.mask, lambda s: fold(total, s))),
    (lambda: run(shown, jnp.zeros(2), stacked(seq)), CdlError, "several"),
    (lambda: fold(monoids.matrices(2), Seq(jnp.ones((1, 2, 3)), [2])), CarrierMismatch, "unit f32[2,2] f32[3]"),
    (lambda: fold(Monoid(0.5, jnp.add), Seq(jnp.ones((1, 2), jnp.int32), [2])), CarrierMismatch, "unit"),
    (lambda: fold(Monoid(2**40, jnp.add), Seq(jnp.ones((1, 2), jnp.int32), [2])), CarrierMismatch, "unit"),
    (lambda: fold(Monoid(jnp.zeros(3), jnp.dot), Seq(jnp.ones((1, 2, 3)), [2])), CarrierMismatch, "two f32[] f32[3]"),
    (lambda: annotate(product, seq, how=Bracketing("halving")), CdlError, "prefix"),
    (lambda: monoids.max_plus(2, jnp.int32), CdlError, "max_plus int32 -inf"),
    (lambda: monoids.min_plus(2, bool), CdlError, "min_plus bool inf"),
    (lambda: monoids.transitions(3).combine(jnp.array([0, 3, 1]), jnp.array([1, 2, 0])), CdlError, "3 states 2"),
    (lambda: monoids.transitions(3).combine(jnp.array([0, -1, 1]), jnp.array([1, 2, 0])), CdlError, "states -1"),
    (lambda: monoids.check_monoid(Monoid(0.0, half_down), [4.0]), LawBroken, "x = 4.0 2.0"),
    (lambda: monoids.check_monoid(Monoid(0.0, less), [5.0, 3.0]), LawBroken, "(x y) z -3.0 7.0"),
    (lambda: monoids.check_monoid(product, []), PayloadMismatch, "sample"),
]

GROWTH: list[Any] = [
    *((f, CdlError, "drawing key") for f in (grown(drawing), lambda: ana(drawing)(0.0))),
    (lambda: follow(drawing, FOREST, seeds), CdlError, "drawing key=None"),
    (lambda: likelihood(drawing, 0.0)(TREES[0]), CdlError, "drawing key=None"),
    (lambda: refold(NOTHING, drawing, seeds, 3), CdlError, "drawing key=None"),
    (grown(below(lambda s: jnp.zeros(3)), jnp.zeros((3, 2))), CarrierMismatch, "f32[2] f32[3] Fork"),
    (grown(below(lambda s: s.astype(jnp.int32)), jnp.zeros((3, 2))), CarrierMismatch, "f32[2] i32[2]"),
    (grown(below(lambda s: 0.5), jnp.array([1])), CarrierMismatch, "i32[] f32[]"),
    (grown(forks, (jnp.zeros((3, 2)), jnp.zeros(4))), CdlError, "(3, 2) (4,)"),
    (grown(forks, FOREST), CdlError, "Forest"),
    (grown(lambda s: Leaf(s) if s < 0 else Fork(s, s)), jax.errors.TracerBoolConversionError, "choose"),
    (grown(weighed, jnp.ones((4, 2))), TypeError, "weighed f32[2] seed[None]"),
    (grown(wrong), ValueError, "mine wrong seed"),
    (grown(lambda s: MealyF(lambda i: (i, s))), ForeignLayer, "MealyF run"),
    (grown(lambda s: Leaf("a")), PayloadMismatch, "str Leaf"),
    (grown(lambda s: s), ForeignLayer, "layer"),
    (grown(lambda s: choose(jnp.zeros(2), Do(s, s), Do(s, -s))), SignatureError, "Do 2 1"),
    (lambda: choose(jnp.zeros(2, jnp.complex64), Leaf(0.0), Leaf(1.0)), PayloadMismatch, "complex64"),
    (grown(lambda s: choose(jnp.stack([s, s]), Lit(s > 0), Lit(s > 1))), PayloadMismatch, "Lit.value floats bool"),
    (grown(lists, total=3), CdlError, "total lists"),
    (grown(stream, total=3), CdlError, "total streams"),
    (grown(lists, jnp.zeros(0)), CdlError, "seeds list"),
    (grown(stream, nodes=-1), CdlError, "nodes -1"),
    (grown(forks, nodes=2**31), CdlError, "2147483648 2147483647"),
    (lambda: choose(jnp.zeros(2), Cons(0.0, 0.0), Leaf(0.0)), SignatureError, "Cons Leaf"),
    (grown(lambda s: choose(jnp.zeros(2), Cons(s, s), Cons(jnp.zeros(2), s))), PayloadMismatch, "f32[] f32[2]"),
    (grown(lambda s: choose(jnp.zeros(2), Nil(), Cons(s, jnp.zeros(2)))), CarrierMismatch, "f32[] f32[2]"),
    (grown(lambda s: StreamF(s, lambda: jnp.zeros(2))), CarrierMismatch, "f32[] f32[2]"),
    (lambda: unfold(forks, seeds, 2).trees(), TreeTooLarge, "2 nodes=2"),
    (lambda: unfold(forks, seeds, 3, total=4).trees(), TreeTooLarge, "total"),
    (lambda: unfold(lists, seeds, 1).trees(), TreeTooLarge, "lists 1 nodes"),
    *((lambda c=c: stacked(unfold(c, seeds, 3)).trees(), CdlError, "several") for c in (forks, lists)),
    *((traced(lambda g: g.trees(), unfold(c, seeds, 3)), CdlError, "host jit") for c in (forks, lists)),
    (lambda: fold(NOTHING, unfold(forks, seeds, 3)), CdlError, "Grown pack"),
    (lambda: refold(NOTHING, lambda x: Fork(x, x), jnp.zeros((2, 3))), CdlError, "f32[3] choose"),
    (lambda: refold(NOTHING, forks, seeds), ForeignLayer, "nodes"),
    (lambda: refold(NOTHING, Leaf, seeds, total=9), CdlError, "total nodes"),
    (lambda: refold(NOTHING, lambda x: Leaf(jnp.eye(3) @ x), jnp.ones((2, 4))), TypeError, "f32[4]"),
    (lambda: refold(algebra(either(lambda x: 0.0, lambda x: jnp.ones(2))), forks, seeds, 5), CarrierMismatch, "Leaf"),
    (lambda: refold(NOTHING, lambda s: choose(jnp.zeros(1), Fork(s, s)), seeds, 5), CdlError, "place Fork"),
]

DESCENTS: list[Any] = [
    (lambda: follow(lambda s: choose(jnp.zeros(1), Leaf(s)), FOREST, seeds), ForeignLayer, "(Leaf) 0 Fork"),
    (lambda: likelihood(lambda s: choose(jnp.zeros(1), Leaf(s)), 0.0)(TREES[0]), ForeignLayer, "(Leaf) 0 Fork"),
    (lambda: follow(lambda s: choose(jnp.zeros(2), Leaf(s), Leaf(s)), FOREST, seeds), ForeignLayer, "2 Leaf"),
    (
        lambda: follow(lambda s: choose(jnp.zeros(1), Some((s, s))), pack(Some, [Some((Some(()),))]), jnp.zeros(1)),
        ForeignLayer,
        "Some 1 2",
    ),
    (lambda: follow(below(lambda s: jnp.stack([s, s])), FOREST, seeds), CarrierMismatch, "f32[2] f32[]"),
    (lambda: follow(below(lambda s: s), FOREST, jnp.zeros(3)), CarrierMismatch, "(3,) 2"),
    (
        lambda: follow(lambda s: Node(0.0, Many([s])), pack(RoseF, [Node(1.0, Many())]), jnp.zeros(1)),
        ForeignLayer,
        "Node Many tuple[X, ...]",
    ),
    *((halved(read, vector), CdlError, "vector (2,) .sum()") for read in (likelihood, follow)),
    *((halved(read, lambda mine, given: None), CdlError, "None 0.0") for read in (likelihood, follow)),
    (halved(follow, lambda layer: 0.0), CdlError, "payload(mine, given)"),
    (halved(follow, {Leaf: vector}), CdlError, "payload dict"),
    (halved(follow, lambda mine, given: jnp.zeros(2) @ jnp.zeros(3)), TypeError, "(3,)"),
    (down(lambda value, layer: Leaf(1.0)), CarrierMismatch, "Fork Leaf"),
    (lambda: inherited(lambda value, layer: Leaf(1.0), 0.0)(TREES[0]), CarrierMismatch, "Fork Leaf"),
    (down(each(lambda x: jnp.stack([x, x]))), CarrierMismatch, "f32[2] f32[]"),
    (down(each(lambda x: x), jnp.zeros(3)), CarrierMismatch, "at_root (3,) 2"),
    (down((each(lambda x: x),) * 2, (jnp.zeros(2),)), SignatureError, "1 2 steps"),
    (down(each(lambda x: jnp.ones((3, 3)) @ x), jnp.zeros((2, 2))), TypeError, "f32[2]"),
    (down(each(lambda x: x), values=jnp.zeros(2)), CarrierMismatch, "(2,) 64"),
    (down(lambda value, layer: bare(fmap)(lambda x: value + x, layer)), TypeError, "values"),
    (lambda: inherited(lambda v, layer: bare(fmap)(lambda x: v + x, layer), 0.0)(TREES[0]), TypeError, "decorate"),
    (down(lambda layer, value: layer), CarrierMismatch, "step(value, layer)"),
    (lambda: inherited(lambda layer, value: layer, 0.0)(TREES[0]), CarrierMismatch, "step(value, layer)"),
    (lambda: bare(inherit)(FOREST, each(lambda x: x), seeds), CdlError, "inherit(step, forest, at_root)"),
    (down(each(lambda x: x), over=TREES[0]), CdlError, "pack(signature, [tree])"),
    (down(each(lambda x: x), [0]), CarrierMismatch, "jnp.array"),
]

OPTIONS: list[Any] = [
    (lambda: fold(net, forest, hwo=1), CdlError, "fold hwo key how"),
    (lambda: cdl.pack(ExprF, [], buket=1), CdlError, "buket bucket"),
    (lambda: cdl.draw(net, tree=Lit(1.0)), CdlError, "draw tree signature"),
    (lambda: fold(net), CdlError, "data fold(alg, data,"),
    (lambda: fold(net, forest, KEY), CdlError, "positional"),
    (lambda: unfold(sprout, seeds), CdlError, "nodes unfold(coalg, seeds,"),
    *((lambda c=c: c(key=0), CdlError, "key jax.random.key(0)") for c in (
        lambda key: bare(cata)(net, key=key),
        lambda key: bare(ana)(sprout, key=key),
        lambda key: bare(fold)(net, forest, key=key),
        lambda key: bare(unfold)(sprout, seeds, 9, key=key),
        lambda key: bare(run)(shown, 0.0, seeds, key=key),
        lambda key: bare(start)(shown, 0.0, key=key),
    )),
    (lambda: Levels(forward="yes"), CdlError, "forward 'yes'"),
    (lambda: Scan(bulk=3), CdlError, "bulk None"),
    (lambda: corpus.batches(1, drop_last="no"), CdlError, "drop_last 'no'"),
    (lambda: run(shown, 0.0, seeds, states=1), CdlError, "states 1"),
    (lambda: cdl.pack(ExprF, [], max_nodes="x"), CdlError, "max_nodes int"),
    (lambda: dense("a", 3, key=KEY), CdlError, "inputs dense int"),
    (lambda: bare(fold)(net, forest, how=Scan(unroll=2)), CdlError, "fold Forest cdl.compiled.Levels"),
    (lambda: bare(annotate)(net, forest, how="all"), CdlError, "annotate 'all' Forest"),
    (lambda: bare(fold)(total, seq, how=Levels()), CdlError, "sequences Scan"),
    (lambda: bare(annotate)(product, seq, how=Scan(segment=3)), CdlError, "Monoid cdl.compiled.Bracketing"),
    (lambda: bare(fold)(product, seq, key=KEY), CdlError, "Monoid key"),
    (lambda: Bracketing("scn"), CdlError, "way 'scn' halving"),
    (lambda: Levels(remat="chep"), CdlError, "remat cheap"),
    (lambda: Levels(remta="all"), CdlError, "remta remat"),
    (lambda: Scan(segment="cheap"), CdlError, "segment 'cheap'"),
    (lambda: Scan(segment=2.5), CdlError, "segment 2.5"),
    (lambda: Scan(unroll=0), CdlError, "unroll 0"),
    (lambda: Scan(bulk=True, forward=True), CdlError, "bulk forward"),
    *((grown(sprout, nodes=size), CdlError, "nodes") for size in (2.0, True, "3", None, 0, -1)),
    (lambda: bare(refold)(net, sprout, seeds, 2.5), CdlError, "nodes 2.5"),
    (grown(sprout, lanes=0), CdlError, "lanes 0"),
    (grown(sprout, total=0), CdlError, "total 0"),
    (lambda: bare(Packed.of)([np.ones(2)], lanes=2.0), LengthMismatch, "lanes 2.0"),
    (lambda: bare(Seq.of)([np.ones(0)], time=-1), LengthMismatch, "time -1"),
    (lambda: jax.jit(lambda n: bare(unfold)(sprout, seeds, n))(9), CdlError, "nodes number"),
]  # fmt: skip

ENTRANCES: list[Any] = [
    *entered("seed", lambda x: unfold(forks, x, 3)),
    *entered("seed", lambda x: refold(NOTHING, Leaf, x)),
    *entered("seed", lambda x: refold(NOTHING, forks, x, 3)),
    *entered("input", lambda x: run(delay, 0, x)),
    *entered("state", lambda x: run(delay, x[0], np.array([1]))),
    *entered("state", lambda x: start(delay, x[0])),
    *entered("input", lambda x: start(delay, 0).step(x[0])),
    *entered("at_root", lambda x: inherit(each(lambda x: x), FOREST, x)),
    *entered("values", lambda x: inherit(each(lambda x: x), FOREST, seeds, values=np.resize(x, 64))),
    *entered("values", lambda x: Seq(x[None], [2])),
    *entered("values", lambda x: Packed.of([x])),
    *entered("seeds", lambda x: follow(forks, FOREST, x)),
    (lambda: run(delay, 2**40, np.ones(2)), PayloadMismatch, "state 1099511627776"),
    (lambda: start(delay, 2**70), PayloadMismatch, "state"),
]

ROWS = [*PACKED, *PAYLOADS, *CORPORA, *FORESTS, *FOLDS, *LISTS, *GROWTH, *DESCENTS, *OPTIONS, *ENTRANCES]


@pytest.mark.parametrize(("call", "error", "words"), ROWS, ids=[f"{e.__name__}: {w}" for _, e, w in ROWS])
def test_a_refusal_raises_its_class_with_these_words(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    found = " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert all(word in found for word in words.split()), found
