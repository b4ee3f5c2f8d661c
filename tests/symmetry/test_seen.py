"""Layers, tyings and actions as they are drawn and explained."""

import equinox as eqx
import jax
import jax.random as jr
import numpy as np
import pytest

import cdl
from cdl.symmetry import Action, chain, Equivariant, hom, NormGate
from cdl.symmetry.groups import cyclic, permutations, so, truncated_translations
from cdl.symmetry.monoids import idempotent


S = permutations(3)


def test_a_tying_is_drawn_with_a_letter_and_a_colour_for_each_number():
    X = truncated_translations(3)
    drawing = cdl.draw(hom(X, X))
    assert drawing.text.splitlines() == [
        " a  ·  ·",
        " b  a  ·",
        " c  b  a",
        "",
        "weights: 3 × a, 2 × b, 1 × c, 3 of zero",
    ]
    fills = [line.split('fill="')[1].split('"')[0] for line in drawing.svg.splitlines() if line.startswith("<rect x=")]
    labels = [(node.lines[0], node.tint) for node in drawing.diagram.nodes]
    assert len(fills) == 9
    assert len(set(zip(labels, fills, strict=True))) == len(set(labels)) == len(set(fills)) == 4
    assert drawing.mermaid.count('["a"]') == 3


def test_signs_and_sums_are_written():
    negacyclic = Action(2).signed([1, 0], [1, -1])
    assert hom(negacyclic, negacyclic).rows == [" a  b", "-b  a"]
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    plane = idempotent(turned @ np.diag([1, 1, 0]) @ turned.T)
    assert "+" in "".join(hom(plane, plane).rows)


def test_the_cross_product_is_found():
    assert hom(so(3).power(2), so(3)).rows == [
        " ·  ·  ·  ·  ·  a  · -a  ·",
        " ·  · -a  ·  ·  ·  a  ·  ·",
        " ·  a  · -a  ·  ·  ·  ·  ·",
    ]


def test_a_large_matrix_is_cut_and_says_so():
    X = cyclic(60)
    text = cdl.draw(hom(X, X)).text
    assert "the first 48 rows and 48 columns of 60 × 60" in text
    assert ", 48 more" in text


def test_an_action_is_drawn_as_its_matrices(tmp_path):
    drawing = cdl.draw(S)
    assert drawing.text.splitlines()[:2] == ["cycle       swap", " ·  ·  1     ·  1  ·"]
    assert drawing.save(tmp_path / "s.png").stat().st_size > 1_000


NETWORKS = {
    "edges to nodes": lambda key: Equivariant(S.power(2), S, 2, 2, key=key),
    "without channels": lambda key: Equivariant(S, S, key=key),
    "several": lambda key: chain(Equivariant(S, S, key=key), jax.nn.relu, Equivariant(S, S.trivial(), key=key)),
    "vectors": lambda key: chain(Equivariant(so(3), so(3), 1, 2, key=key), NormGate(so(3), 2, key=key)),
    "no generators": lambda key: Equivariant(Action(2), Action(3), key=key),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_explained_and_its_laws_hold(name):
    net = NETWORKS[name](jr.key(0))
    page = cdl.explain(net)
    assert page.holds
    assert page.functor == "M × X"
    assert page.size == sum(x.size for x in jax.tree.leaves(eqx.filter(net, eqx.is_inexact_array)))
    laws = [law for law in page.laws if law.law.startswith(("f(", "D f("))]
    assert len(laws) == sum(3 if x.lie else 1 for x in net.source.generators)


class Crooked(Equivariant):
    """A layer one of whose weights does not follow its orbit."""

    def weights(self, own):
        weight, bias = Equivariant.weights(self, own)
        return weight.at[0, 0].add(1.0), bias


def test_a_layer_that_does_not_commute_is_seen():
    page = cdl.explain(Crooked(S, S, key=jr.key(0)))
    failed = {law.law for law in page.laws if not law.holds}
    assert failed == {
        f"{a}({g}{b}" for g in S.names for a, b in (("W ρ_X", f") = ρ_Y({g}) W"), ("f", f" · x) = {g} · f(x)"))
    }


def test_the_page_names_what_is_tied():
    page = str(cdl.explain(Equivariant(S.power(2), S, 2, 2, key=jr.key(0))))
    assert "tying : ℝ⁵ → ℝ²⁷, by orbits" in page
    assert " a  b  b  c  d  e  c  e  d" in page
    assert "weights: 3 × a, 6 × b, 6 × c, 6 × d, 6 × e" in page
    assert "a map of algebras of M × −" in page


def test_weights_with_other_factors_look_different():
    X = Action(2).matrix([[0, 0], [1, 0]])
    Y = Action(2).matrix([[0, 0], [-0.25, 0]])
    assert hom(X, Y).rows == [" a  ·", " b -0.25a"]
    assert "-0.25a" in cdl.draw(hom(X, Y)).text


def test_a_convolution_says_that_it_is_one():
    from cdl_arch.symmetry import Convolution, GroupConvolution

    grid = Convolution((5, 5), 1, 2, (3, 3), key=jr.key(0))
    assert "Convolution: one convolution, by a kernel of 3 × 3" in cdl.explain(grid).execution
    group = GroupConvolution(4, 1, 1, 3, lifting=True, key=jr.key(0))
    assert (
        "GroupConvolution: one convolution of 4 planes for each channel that comes out" in cdl.explain(group).execution
    )
