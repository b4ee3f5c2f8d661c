"""Explanations: what is said of an architecture is so, and a law that does not hold is told."""

import math
from typing import Any, Generic, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import pytest
from any_algebra import any_algebra
from architectures import case, FEW, REST
from few import few
from jax.core import Tracer
from random_signatures import random_signature, random_trees
from refused_calls import refused, table
from well_drawn import well_drawn

import cdl
from cdl import Algebra, algebra, draw, explain, Fork, Leaf, MooreF, Para, TreeF, unroll
from cdl.machines import delay
from cdl.para import two_cells
from cdl_arch.moore import Recogniser


def numbers(arch: Any) -> int:
    return sum(x.size for x in jax.tree.leaves(eqx.filter(arch, eqx.is_inexact_array)))


def explained(name: str) -> None:
    it = case(name)
    page = explain(it.arch, it.samples, **it.options)
    assert page.holds, str(page)
    assert page.functor == it.functor
    assert len(page.functors) == (len(it.arch) if isinstance(it.arch, tuple) else 1)
    assert page.size == numbers(it.arch)
    assert len(page.laws) >= (1 if name == "decoder" else 3)
    assert any(law.law.startswith(("∇", "unfold γ = ana")) for law in page.laws)
    text = str(page)
    assert len(text.splitlines()) <= 50
    assert all(law.law in text and law.law in page.markdown for law in page.laws)
    assert all(f" = {formula}`" in page.markdown for formula in page.functors)


@pytest.mark.parametrize("name", FEW)
def test_explain_holds_for_every_kind_of_architecture(name):
    explained(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", REST)
def test_every_other_architecture_is_explained_and_its_laws_hold(name):
    explained(name)


@pytest.mark.parametrize("name", [*FEW, *REST])
def test_every_architecture_is_drawn(name):
    it = case(name)
    drawing = draw(it.arch, it.at)
    well_drawn(drawing.diagram)
    assert drawing.text
    assert drawing.mermaid
    assert "</svg>" in drawing.svg
    whole = draw(it.arch, it.options.get("signature", it.options.get("state")))
    well_drawn(whole.diagram)
    assert whole.diagram.count("parameter") == (len(it.arch) if isinstance(it.arch, tuple) else 1)


class Net(Algebra[TreeF[float, jax.Array], jax.Array]):
    leaf: jax.Array
    fork: jax.Array
    idle: jax.Array

    def __call__(self, layer: TreeF[float, jax.Array]) -> jax.Array:
        match layer:
            case Leaf(label):
                return self.leaf * label
            case Fork(left, right):
                return jnp.tanh(self.fork * left - right)


TREES = [Leaf(1.0), Fork(Leaf(1.0), Fork(Leaf(0.5), Leaf(2.0)))]


def test_explain_tells_functor_type_weights_and_their_uses():
    with jax.enable_x64(True):
        page = explain(Net(jnp.ones(2), jnp.full(2, 0.5), jnp.ones(3)), TREES)
    assert str(page).startswith(
        """\
Net, an algebra

Functor
  F X = A + X²

Type
  α : P × F S → S
  P = ℝ⁷
  S = f64[2]
  F has Leaf(label: A), Fork(left: X, right: X)

Parameters, P = ℝ⁷
  leaf  f64[2]  2
  fork  f64[2]  2
  idle  f64[3]  3

Tying
  on a tree of 5 nodes, Δ : P → P⁵; what the nodes use of each copy:
  p₀  leaf  ℝ²  at 3 × Leaf
  p₁  fork  ℝ²  at 2 × Fork
  no node uses idle

Laws, run
  F id = id, F g ∘ F f = F (g ∘ f)            holds exactly
  cata in = id                                holds exactly
  fold α = cata α, on 2 trees                 holds: """
    )
    assert page.holds
    assert {law.tolerance for law in page.laws} == {0.0, 1e-9}
    assert page.execution[-2:] == ("  Leaf", "  Fork")
    assert "| leaf | f64[2] | 2 |" in page.markdown


def test_a_family_is_explained_sort_by_sort():
    page = explain(case("family").arch)
    assert str(page).startswith(
        """\
(OfExpr, OfStmt), a family of algebras

Functors
  F₀(X₀, X₁) = float + X₀ + Many(X₁)
  F₁(X₀, X₁) = X₀ + X₀ × Many(X₁) + X₁ × X₀

Type
  α₀ : P₀ × F₀(S₀, S₁) → S₀, α₁ : P₁ × F₁(S₀, S₁) → S₁
  P = P₀ × P₁, P₀ = ℝ⁹, P₁ = ℝ⁹
  S₀ = f32[3], S₁ = (f32[3], f32[2])
  F₀, of Expr, has Lit(value: float), Neg(arg: X₀), Lam(body: Many(X₁))
  F₁, of Stmt, has Return(value: X₀), While(test: X₀, body: Many(X₁)), Then(first: X₁, last: X₀)

Parameters, P = ℝ¹⁸
  [0].w  f32[3,3]  9
  [1].u  f32[3,3]  9

Tying
  on a tree of 9 nodes, Δ : P → P⁹; what the nodes use of each copy:
  p₀  [0]  ℝ⁹  at 3 × Lit, 1 × Lam, 1 × Neg
  p₁  [1]  ℝ⁹  at 1 × Then, 2 × While, 1 × Return
"""
    )
    assert page.holds


@pytest.mark.parametrize("seed", [3, 5])
def test_no_weight_with_a_gradient_is_said_to_be_idle(seed):
    from cdl._para.uses import at_nodes, parts

    signature, _ = random_signature(seed)
    (tree,) = random_trees(signature, seed, 1, 9)
    para = Para.of(any_algebra(signature, jr.key(seed), jnp.float32))
    untied = unroll(para, tree)
    slopes = eqx.filter_grad(lambda params: jnp.sum(untied.at(params)))(untied.params)
    moving = [frozenset(i for i, g in enumerate(jax.tree.leaves(copy)) if jnp.any(g != 0)) for copy in slopes]
    used = at_nodes(para, tree)
    assert all(m <= u for m, u in zip(moving, used, strict=True))
    assert any(len(u) < len(jax.tree.leaves(para.params)) for u in used)
    found = parts(para, tree)
    assert sorted(i for part in found for i in part.leaves) == list(range(len(jax.tree.leaves(para.params))))
    assert all(part.nodes == tuple(n for n, u in enumerate(used) if i in u) for part in found for i in part.leaves)


class Seen(Algebra[TreeF[float, jax.Array], jax.Array]):
    """Not an algebra of JAX: it gives another value where it is traced."""

    scale: float = eqx.field(static=True)

    def __call__(self, layer: TreeF[float, jax.Array]) -> jax.Array:
        match layer:
            case Leaf(label):
                return self.scale * label + (1.0 if isinstance(label, Tracer) else 0.0)
            case Fork(left, right):
                return left * right


def test_a_law_that_fails_is_told_with_the_difference():
    page = explain(Seen(0.25), TREES)
    assert not page.holds
    (fold_is_cata,) = [law for law in page.laws if law.law.startswith("fold α")]
    assert not fold_is_cata.holds
    assert fold_is_cata.difference == pytest.approx(1.25 * 1.125 * 1.5 - 0.25 * 0.125 * 0.5)
    assert "FAILS: 2.1e+00" in str(page)
    assert explain(Seen(0.25), TREES, tolerance=9.0).holds


def test_explain_tells_a_machine_that_runs_otherwise():
    def twice(state):
        return MooreF(state, lambda i: state + (i if isinstance(state, Tracer) else 2 * i))

    page = explain(twice, jnp.arange(1.0, 4.0), state=jnp.array(0.0))
    assert [law.holds for law in page.laws] == [False, True, True]


@algebra
def depth(layer: TreeF[float, int]) -> int:
    return 0 if isinstance(layer, Leaf) else 1 + max(layer.left, layer.right)


def test_explain_takes_an_algebra_of_plain_python():
    page = explain(depth, TREES)
    assert page.holds
    assert (page.name, page.type, page.parameters, page.tying) == ("depth", "α : F S → S", (), ())
    assert page.where[0] == "S = int"
    assert "boolean" in page.execution[1]


def test_a_parametric_map_is_explained_as_its_term():
    f = Para((jnp.ones((3, 3)), jnp.ones(3)), lambda p, x: p[0] @ x + p[1]).named("f")
    page = explain((f >> f).reparametrise(two_cells.delta(2), at=f.params) >> f, jnp.ones(3))
    assert page.holds
    assert page.name == "(f >> f).reparametrise(Δ) >> f"
    assert (page.type, page.where) == ("f : P × X → Y", ("P = ℝ²⁴", "X = f32[3]", "Y = f32[3]"))
    assert page.tying == ("Δ : ℝ¹² → ℝ²⁴",)
    assert page.execution[0] == "boxes: f of ℝ¹², f of ℝ¹², f of ℝ¹²"
    assert "Functor" not in str(page)
    pair = explain(cdl.para.fanout(f, cdl.para.identity()) >> cdl.para.swap() >> (f @ f), jnp.ones(3))
    assert pair.name == "fanout(f, identity()) >> swap() >> (f @ f)"


def test_a_tree_grower_is_held_to_its_likelihood():
    def grower(weights):
        def coalg(seed):
            return cdl.choose(weights * seed, Leaf(seed), Fork(seed - 1.0, seed - 2.0))

        return coalg

    page = explain(grower(jnp.array([1.0, 0.4])), state=jnp.array(2.0))
    assert page.holds
    assert page.kind == "a coalgebra that chooses"
    assert [law.law.partition(",")[0] for law in page.laws] == [
        "unfold γ = ana γ",
        "the trees of unfold γ are as likely as it says",
        "follow γ = likelihood γ",
    ]


@pytest.mark.parametrize("seed", range(4))
def test_explain_makes_up_small_trees_of_a_signature(seed):
    from cdl.explanation._samples import samples
    from cdl.functors import holes

    signature, kinds = random_signature(seed)
    trees = samples((tuple(kinds),), 6)
    alg = any_algebra(signature, jr.key(seed), jnp.float32)
    for tree in trees:
        jax.eval_shape(lambda tree=tree: cdl.cata(alg)(tree))
    nodes = list(trees)
    for node in nodes:
        nodes += holes(node)
    assert {type(node) for node in nodes} == set(kinds)
    assert len(nodes) < 200


X = TypeVar("X", covariant=True)


class Endless(cdl.Base["Endless", X], Generic[X]):
    next: X


def test_values_of_another_form_are_infinitely_far_apart():
    from cdl.explanation._measure import apart

    one = jnp.ones(2)
    assert apart((one, one), [one, one]) == math.inf
    assert apart(one, jnp.ones(3)) == math.inf
    assert math.isnan(apart(jnp.array(jnp.nan), jnp.array(1.0)))
    assert apart("a", "b") == math.inf
    assert apart(("a", 1), ("a", 1)) == 0.0
    assert apart(jnp.array([9.0, 20.0]), jnp.array([10.0, 20.0])) == pytest.approx(0.05)
    assert apart(jnp.array(1 + 1j), jnp.array(1 + 0j)) == 1


@pytest.mark.parametrize("name", few(["child_sum", "gated", "n_ary", "tree_rnn"], 1))
def test_a_network_made_for_a_signature_is_explained_without_it(name, getkey):
    import cdl_arch.recursive
    from cdl.functors import NatF

    net = getattr(cdl_arch.recursive, name)(NatF, 2, key=getkey())
    found = explain(net)
    assert found.holds
    assert found.functor == explain(net, signature=NatF).functor
    assert draw(net).text == draw(net, NatF).text


class OfStack(Algebra[TreeF[float, jax.Array], jax.Array]):
    """A cell for each constructor, their weights in stacks."""

    cells: cdl.schemes.Stacked[eqx.nn.Linear]

    def __call__(self, layer: TreeF[Any, jax.Array]) -> jax.Array:
        cell = self.cells[type(layer)]
        match layer:
            case Leaf(x):
                return cell(jnp.stack([x, x]))
            case Fork(left, right):
                return cell(left + right)


def test_weights_in_stacks_are_explained_and_drawn_and_untied():
    alg = OfStack(cdl.stacked(TreeF, lambda key: eqx.nn.Linear(2, 2, key=key), key=jr.key(0)))
    tree = Fork(Leaf(1.0), Leaf(2.0))
    page = explain(alg, [tree, Leaf(3.0)])
    assert page.holds, str(page)
    assert page.size == 12
    assert {law.law for law in page.laws} >= {
        "fold α = cata α, on 2 trees",
        "∇ (fold α) = Σ ∇ (untied α)",
    }
    assert "cells.cells.weight  f32[2,2,2]  8" in str(page)
    assert "ℝ¹²" in str(draw(alg))
    parametric = Para(alg, lambda alg, layer: alg(layer))
    assert jnp.allclose(unroll(parametric, tree)(), cdl.cata(alg)(tree))


def explained_as(arch: Any, *given: Any, **options: Any) -> Any:
    return lambda: explain(arch, *given, **options)


RECOGNISER, GROWS = Recogniser(2, 3, key=jr.key(0)), case("growing").arch
READS_NOTHING: Any = algebra(lambda layer: 0)


@table(
    (lambda: explain(case("family").arch[::-1]), cdl.CdlError, "tree order"),
    (
        lambda: explain(case("family").arch[::-1], case("family").samples),
        cdl.CdlError,
        "`Stmt` 1, `Expr`",
    ),
    (lambda: explain(case("family").arch, signature=(TreeF,)), cdl.CdlError, "2 algebras 1"),
    (explained_as(GROWS), cdl.CdlError, "(GrowExpr, `state=…`"),
    (explained_as(3), cdl.CdlError, "`int`"),
    (explained_as(RECOGNISER, jnp.zeros(3, jnp.int32)), cdl.CdlError, "`Recogniser` `state=…`"),
    (explained_as(RECOGNISER, state=jnp.zeros(3)), cdl.CdlError, "`Recogniser` inputs: `sam"),
    (explained_as(Para((), lambda p, x: x)), cdl.CdlError, "`Para` input"),
    (explained_as(READS_NOTHING), cdl.CdlError, "`algebra` signature"),
    (explained_as(READS_NOTHING, signature=Endless), cdl.CdlError, "child"),
    (explained_as(depth, signature=3), cdl.CdlError, "3"),
    (explained_as(delay, "word", state=0.0), cdl.CdlError, "`samples` arrays"),
    (lambda: draw(3), cdl.CdlError, "3"),
)
def test_explain_refuses(call, error, words):
    refused(call, error, words)
