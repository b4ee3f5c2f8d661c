"""A second derivative: forward mode over reverse mode is right, and reverse over reverse is refused by a sentence."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from smooth_forms import cell, halves, net, W

from cdl import (
    annotate,
    cata,
    CdlError,
    fmap,
    fold,
    follow,
    Fork,
    inherit,
    Leaf,
    pack,
    refold,
    Seq,
    to_list,
    TreeF,
    unfold,
)
from cdl.compiled import Levels


TREES = [Fork(Leaf(1.0), Fork(Leaf(0.5), Leaf(2.0))), Leaf(3.0)]
FOREST = pack(TreeF, TREES)


def below(w: Any) -> Any:
    return lambda depth, layer: fmap(lambda _: jnp.sin(depth * w), layer)


SEEDS = jnp.array([3.0, 1.0])
FORMS = {
    "fold": lambda w: fold(net(w), FOREST).sum(),
    "annotate": lambda w: jnp.square(annotate(net(w), FOREST)).sum(),
    "inherit": lambda w: inherit(below(w), FOREST, jnp.ones(2)).sum(),
    "follow": lambda w: follow(halves(w), FOREST, SEEDS).sum(),
    "unfold": lambda w: unfold(halves(w), SEEDS, 7).log_prob.sum(),
    "refold": lambda w: refold(net(w), halves(w), SEEDS, nodes=7)[0].sum(),
}
SECOND = r"^reverse mode goes a second time through `{}`.*as in `jax.grad` of .*Write `jax.jacfwd\(jax.grad\(f\)\)`"
NAMES = {"inherit": "inherit` or `follow", "follow": "inherit` or `follow"}


@pytest.mark.parametrize("form", FORMS)
def test_reverse_over_reverse_is_refused_with_what_to_write(form):
    loss = FORMS[form]
    with pytest.raises(CdlError, match=SECOND.format(NAMES.get(form, form))):
        jax.jit(jax.grad(jax.grad(loss)))(W)
    assert jnp.isfinite(jax.jit(jax.hessian(loss))(W))


def test_the_second_derivative_in_forward_mode_is_the_definition_s():
    second = jax.grad(jax.grad(lambda w: sum(cata(net(w))(tree) for tree in TREES)))
    found = jax.jacfwd(jax.grad(FORMS["fold"]))
    assert jnp.allclose(found(W), second(W), rtol=1e-5)
    assert jnp.allclose(jax.jacfwd(found)(W), jax.grad(second)(W), rtol=1e-4)


def test_a_value_beside_the_gradient_is_refused_as_well():
    with pytest.raises(CdlError, match=SECOND.format("fold")):
        jax.grad(lambda w: jax.value_and_grad(FORMS["fold"])(w)[0])(W)


@pytest.mark.parametrize("form", ["fold", "annotate"])
def test_reverse_mode_without_the_rule_is_refused(form):
    run = {"fold": fold, "annotate": annotate}[form]
    with pytest.raises(
        CdlError, match=rf"^reverse mode goes through `{form}` with `forward=True`.*leave `forward=True`"
    ):
        jax.grad(lambda w: run(net(w), FOREST, how=Levels(forward=True)).sum())(W)


def test_two_gradients_of_lists_are_those_of_the_definition():
    seq = Seq(jnp.array([[0.1, 0.2, 0.3], [0.4, 0, 0]]), jnp.array([3, 1]))
    lists = [to_list([0.1, 0.2, 0.3]), to_list([0.4])]
    want = jax.grad(jax.grad(lambda w: sum(cata(cell(w))(xs) for xs in lists)))(W)
    assert jnp.allclose(jax.grad(jax.grad(lambda w: fold(cell(w), seq).sum()))(W), want, rtol=1e-5)
