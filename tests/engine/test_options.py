"""Options, keys and sizes: one that does not fit is refused by a sentence, and `help` shows all that there are."""

import importlib
import inspect
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from first_day import (
    bare,
    corpus,
    ExprF,
    forest,
    KEY,
    Lit,
    net,
    product,
    refused,
    seeds,
    seq,
    shown,
    sprout,
    total,
    tree,
)

from cdl import (
    ana,
    annotate,
    cata,
    Corpus,
    decorate,
    draw,
    fold,
    follow,
    inherit,
    pack,
    Packed,
    refold,
    run,
    Seq,
    unfold,
)
from cdl._front_door import is_public
from cdl.compiled import Bracketing, Levels, Scan
from cdl.learning.layers import dense
from cdl.machines import start


def test_an_option_that_is_not_one_is_answered_with_those_that_are():
    refused("`fold` has no option `hwo`: it takes `key`, `how`. Did you mean `how`?", lambda: fold(net, forest, hwo=1))
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
    refused("`draw` has no option `tree`: it takes `signature`", lambda: draw(net, tree=tree))


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


def test_a_switch_is_checked_before_the_call():
    refused("`forward` is 'yes', and must be `True` or `False`", lambda: Levels(forward="yes"))
    refused("`bulk` is 3, and must be `True` or `False` or `None`", lambda: Scan(bulk=3))
    refused("`drop_last` is 'no', and must be `True` or `False`", lambda: corpus.batches(1, drop_last="no"))
    refused("`states` is 1, and must be `True` or `False`", lambda: run(shown, 0.0, seeds, states=1))
    assert Levels(forward=np.bool_(True)).forward


def test_an_argument_that_does_not_fit_is_named_where_the_call_failed():
    refused("`max_nodes` of `pack` is 'x', and must be `int`", lambda: pack(ExprF, [tree], max_nodes="x"))
    refused("`inputs` of `dense` is 'a', and must be `int`", lambda: dense("a", 3, key=KEY))


def test_an_error_inside_a_call_that_fits_is_told_of_the_case_and_not_of_the_call():
    def wrong(layer: Any) -> Any:
        return jnp.sin(layer.value, layer.value)

    words = r"^`wrong` fails for `Lit\(value=f32\[\]\)` \(sin\(\) takes 1 .*: write the case"
    refused(words, lambda: fold(wrong, forest))


@pytest.mark.parametrize(
    ("data", "how", "words"),
    [
        ("forest", Scan(unroll=2), r"`how` is Scan\(.*`fold` reads a `Forest`: .* `cdl.compiled.Levels`, as in"),
        ("forest", Bracketing("scan"), r"`how` is Bracketing\(way='scan'\), and `fold` reads a `Forest`"),
        ("forest", "all", "`how` is 'all', and `fold` reads a `Forest`"),
        ("seq", Bracketing("scan"), "`fold` reads sequences: give .* `how=Scan\\(segment=64\\)`"),
        ("seq", Levels(), "`fold` reads sequences"),
        ("monoid", Levels(forward=True), "`fold` reads a `Monoid`: .*`cdl.compiled.Bracketing`"),
        ("monoid", Scan(segment=3), "`fold` reads a `Monoid`"),
    ],
)
def test_a_strategy_that_is_not_for_the_data_is_refused(data, how, words):
    given = {"forest": (net, forest), "seq": (total, seq), "monoid": (product, seq)}[data]
    refused(words, lambda: bare(fold)(*given, how=how))
    refused(words.replace("`fold`", "`annotate`"), lambda: bare(annotate)(*given, how=how))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Bracketing("scn"), '`way` is \'scn\', .* "scan", "associative", "halving", "chunked"'),
        (lambda: Levels(remat="chep"), '`remat` is \'chep\', .* one of "cheap", "all"'),
        (lambda: Levels(remat="sqrt"), "`remat` is 'sqrt'"),
        (
            lambda: Levels(remta="all"),
            "`Levels` has no option `remta`: it takes `remat`, `forward`. Did you mean `remat`",
        ),
        (lambda: Scan(segment="cheap"), "`segment` is 'cheap': give the number of steps"),
        (lambda: Scan(segment=2.5), "`segment` is 2.5, and a size is a whole number"),
        (lambda: Scan(unroll=0), "`unroll` is 0: give at least 1"),
        (lambda: Scan(unroll=1.5), "`unroll` is 1.5, and a size is a whole number"),
        (lambda: Scan(bulk=True, forward=True), "`bulk` is a rule of the reverse pass, and `forward` leaves such"),
    ],
)
def test_a_strategy_that_cannot_be_is_refused_when_it_is_made(make, words):
    refused(words, make)


def test_a_monoid_takes_no_key():
    refused("`fold` reads a `Monoid`, whose product takes no key", lambda: bare(fold)(product, seq, key=KEY))


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


def public() -> dict[str, Any]:
    """Every function of `cdl` and its packages that is for users, and every method of their classes."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("cdl", importlib.import_module("cdl"))]
    seen: set[int] = set()
    while waiting:
        name, thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        inside = inspect.ismodule(thing) and thing.__name__.startswith("cdl")
        if inside or (inspect.isclass(thing) and thing.__module__.startswith("cdl")):
            members = {n: m for n, m in vars(thing).items() if not n.startswith("_")}
            if inside:  # without what a module imports for itself
                members = {n: m for n, m in members.items() if is_public(thing, n)}
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
    assert shown == dict(key=None, how=None)
    assert inspect.signature(annotate).parameters.keys() == inspect.signature(fold).parameters.keys()
    for name, meaning in shown.items():
        assert f"`{name}`" in fold.__doc__, (name, meaning)
