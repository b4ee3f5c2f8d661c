"""Public functions refuse what they cannot take: wrong kinds of values, and first mistakes."""

import inspect
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jaxtyping
import numpy as np
import pytest
from first_day import (
    Add,
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
    seeds,
    shown,
    sprout,
    total,
    tree,
)
from refused_calls import each, refused, table

import cdl
import cdl_arch.symmetry as arch
from cdl import (
    Algebra,
    algebra,
    Base,
    cata,
    CdlError,
    Corpus,
    fold,
    functor,
    inherit,
    likelihood,
    Many,
    pack,
    Packed,
    run,
    Seq,
    unfold,
    unroll,
)
from cdl._front_door import is_public, modules
from cdl._functors.described import described
from cdl._functors.words import short
from cdl.compiled import Levels
from cdl.trees import JSON, JSONF, of_json, to_json, Vocabulary


WRONG = (None, 3, "x", [], {}, object(), object, cdl.Leaf(1.0))


def functions() -> dict[str, Callable[..., Any]]:
    """The public functions, and those of public classes that make one, by their names."""
    found: dict[str, Callable[..., Any]] = {}
    for module in modules(cdl):
        for name, x in vars(module).items():
            if name.startswith("_") or not is_public(module, name):
                continue
            if inspect.isfunction(x):
                found[f"{module.__name__}.{name}"] = x
            elif isinstance(x, type) and x.__module__.startswith("cdl."):
                made = {n for n, of in vars(x).items() if isinstance(of, staticmethod | classmethod)}
                named = f"{module.__name__}.{name}"
                found |= {f"{named}.{n}": getattr(x, n) for n in made if n[0] != "_"}
    return found


def raw(function: Callable[..., Any]) -> list[str]:
    """The errors that are not of cdl, of a function that is given one wrong value for all."""
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    places = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in needed)
    named = [p.name for p in needed if p.kind is p.KEYWORD_ONLY]
    found = []
    for wrong in WRONG:
        try:
            function(*[wrong] * places, **dict.fromkeys(named, wrong))
        except CdlError:
            pass
        except Exception as error:
            found.append(f"{wrong!r}: {error!r}")
    return found


def test_public_functions_refuse_wrong_kinds(monkeypatch, tmp_path):
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    monkeypatch.chdir(tmp_path)  # some write files
    every = functions()
    assert len(every) > 180
    assert {
        "cdl.schemes.cata",
        "cdl.laws.monad",
        "cdl.io.save",
        "cdl.system.Port.of",
    } <= every.keys()
    assert {name: found for name, function in every.items() if (found := raw(function))} == {}


RECORDS = [of_json(value) for value in ({"a": [1, 2.5, "x"]}, {"id": 12345678901234})]
WORDS = Vocabulary.of(RECORDS)
FIRST, LARGE = map(WORDS.encode, RECORDS)
JSONS = pack(JSONF, [FIRST])


class Reads(Algebra[Any, Any]):
    """Three numbers for every value, but for what `at` gives at the constructors that it names."""

    weight: jax.Array
    at: dict[str, Any] = eqx.field(static=True)

    def __init__(self, **at: Any) -> None:
        self.weight, self.at = jnp.ones(3), at

    def __call__(self, layer: Any) -> Any:
        if type(layer).__name__ in self.at:
            return self.at[type(layer).__name__](layer)
        many = getattr(layer, "members", getattr(layer, "items", None))
        return self.weight if many is None else many.sum(jnp.zeros(3))


def sizes(layer: Any) -> Any:
    many = getattr(layer, "members", getattr(layer, "items", None))
    if many is None:
        return 1.0 if isinstance(layer, Base) else None
    return 1.0 + many.map(sizes).sum(0.0)


def along(f: Any) -> Any:
    return jax.jvp(f, (seeds,), (seeds,))


def wide(signature: Any, value: Any, alg: Any) -> Any:
    """What is packed under 64 bits, and read without."""
    with jax.enable_x64(True):
        given = pack(signature, [value])
        assert fold(alg, given).dtype.itemsize >= 8
    return fold(alg, given)


SHAPES = [cdl.Leaf(jnp.zeros(n)) for n in (3, 3, 4)]
PRODUCT = Reads(Object=lambda x: x.members.map(lambda x: jnp.ones((2, 5)) @ x).sum(jnp.zeros(2)))
DATA = (tree, [tree], corpus, [1.0, 2.0], jnp.ones((2, 3)), None)
nothing: Any = algebra(lambda layer: 0.0)
step: Any = lambda value, layer: layer
key = jax.random.key(0)
three: Any = 3
given: Any = tree


@table(
    # What is read.
    *each(DATA, lambda data: fold(net, data), CdlError, "`fold` `Forest`, `Seq`"),
    (lambda: fold(net, given), CdlError, "pack(signature, [tree])"),
    (lambda: fold(net, [given]), CdlError, "pack(signature, trees)"),
    (lambda: pack([given] * 999, ExprF), CdlError, "`pack(signature, trees)`"),
    (lambda: Corpus(BushF, []), CdlError, "one signature sort"),
    *each((JSON, cdl.Tree), functor, CdlError, "name signature"),
    (lambda: fold((net, net), forest), CdlError, "1 sort, 2 algebras"),
    (lambda: forest[0], CdlError, "`forest.trees()[i]`"),  # type: ignore[index]
    (lambda: list(packed), CdlError, "`packed.padded()`"),  # type: ignore[call-overload]
    (lambda: unfold(sprout, seeds, 9)[0], CdlError, "`grown.trees()[i]`"),  # type: ignore[index]
    *each(([7], np.array([True, False]), np.array(0)), lambda rows: corpus[rows], IndexError, ""),
    # Arguments in another order, and of another kind.
    (lambda: fold(forest, net), CdlError, "`Net` algebra `fold(alg, forest)`"),
    (lambda: inherit(forest, handed, seeds), CdlError, "`handed` step"),
    (lambda: unfold(seeds, sprout, 9), CdlError, "`unfold` coalgebra array"),
    (lambda: unroll(net, tree), CdlError, "`unroll(Para.of(alg), tree)`"),
    (lambda: inherit(handed, tree, seeds), CdlError, "inherit(step, pack"),
    (lambda: inherit(net, forest, seeds), CdlError, "algebra `cata` `fold`"),
    (lambda: run(shown, 0.0, packed), CdlError, "`inputs.padded()`"),
    (lambda: cata(Net), CdlError, "`cata` `Net`"),
    (lambda: cata((net, net)), CdlError, "`cata(a, b)`"),
    (lambda: fold(product, forest), CdlError, "`Monoid` sequences"),
    (lambda: fold(net, net, forest), CdlError, "`fold((a, b), data)`"),
    (lambda: likelihood(sprout, seeds[0], tree), CdlError, "`likelihood(coalg, seed)(…)`"),
    *each(
        (cata, lambda step: fold(step, forest)),
        lambda read: read(step),
        CdlError,
        "`<lambda>` two `inherit`",
    ),
    (lambda: arch.DeepSet(1, 2, key=three), CdlError, "`key` `3`"),
    (lambda: WORDS.id(three), CdlError, "`id` `3` `str`"),
    # Values.
    *each(
        (Seq.of, Packed.of),
        lambda make: make([[1.0, 2.0], [3.0]]),
        CdlError,
        "list 0 1.0 `Seq.of([np.array",
    ),
    (lambda: Seq.of([[]]), CdlError, "list 0 `np.zeros((0,"),
    (lambda: unfold(sprout, [1.0, 2.0], 9), CdlError, "seeds `jnp.array([…])`"),
    (
        lambda: along(lambda w: fold(Net(w), forest)),
        TypeError,
        "`fold(…, how=Levels(forward=True))`",
    ),
    (
        lambda: along(lambda w: fold(total, Seq(w[None], [2]))),
        TypeError,
        "`fold(…, how=Scan(forward=True))`",
    ),
    (lambda: along(lambda w: inherit(handed, forest, w)), TypeError, "`inherit`"),
    (
        lambda: wide(Box, Box(1.0, Many()), algebra(lambda box: box.kids.sum(box.label))),
        CdlError,
        "x64 `float64`",
    ),
    (lambda: pack(JSONF, [FIRST, LARGE]), CdlError, "1, `Number.value` 12345678901234"),
    (lambda: pack(cdl.TreeF, SHAPES), CdlError, "(3,) 0) (4,) 2)"),
    (lambda: to_json(FIRST), CdlError, "`words.decode(tree)`"),
    (lambda: fold(PRODUCT, JSONS), TypeError, "Object(members=Many(f32[3]"),
    (lambda: Reads()(FIRST), CdlError, "`cdl.cata(alg)(tree)`"),
    *each(
        (cata(algebra(sizes)), lambda x: fold(algebra(sizes), JSONS)),
        lambda f: f(FIRST),
        CdlError,
        "children values",
    ),
    (lambda: inherit(lambda value, layer: layer, JSONS, seeds[:1]), CdlError, "() child `values`"),
)
def test_cdl_refuses_first_mistakes(call, error, words):
    refused(call, error, words)


def test_inherit_notes_that_children_have_no_values():
    added = lambda value, layer: cdl.fmap(lambda child: value + child, layer)
    with pytest.raises((CdlError, AttributeError)) as error:
        inherit(lambda value, layer: layer.members.sum(0.0), JSONS, jnp.zeros(1))
    assert "`Object` are `()`" in "".join(error.value.__notes__)
    sums = jnp.ones(len(JSONS.mask))
    assert inherit(added, JSONS, jnp.zeros(1), values=sums)[JSONS.mask].tolist() == [
        0,
        1,
        2,
        3,
        3,
        3,
    ]


def test_errors_cut_what_is_given_to_a_few_words():
    for value in (
        "a" * 999,
        10**9999,
        [tree] * 999,
        {i: i for i in range(999)},
        np.zeros((99, 99)),
        Lit | Add,
    ):
        assert len(short(value)) <= 80
        assert len(described(value)) <= 90


def test_fold_takes_what_errors_tell_to_write():
    assert fold(net, corpus[[0]]).tolist() == fold(net, corpus[:]).tolist() == [[3.0, 3.0]]
    three = Corpus(ExprF, [Lit(0.0), Lit(1.0), Lit(2.0)])
    for some, values in (
        (slice(1, None), [1.0, 2.0]),
        (slice(None, None, -1), [2.0, 1.0, 0.0]),
        (slice(3, 9), []),
    ):
        assert fold(net, three[some])[:, 0].tolist() == values
    value, tangent = along(lambda w: fold(Net(w), forest, how=Levels(forward=True)))
    assert value.tolist() == tangent.tolist()
    assert cata(Reads())(FIRST).tolist() == fold(Reads(), JSONS)[0].tolist()
    assert to_json(WORDS.decode(FIRST)) == to_json(RECORDS[0])
    assert [len(f.constructors) for f in functor((Leaf, BushF))] == [
        1,
        len(functor(BushF).constructors),
    ]
