"""Base change, other actions than the product, and the square that weight tying comes from."""

from typing import Any

import jax
import jax.numpy as jnp
import jax.random as jr
from agreement import close

from cdl import Nil, Para
from cdl.para import change, discard, power, square, TANGENT
from cdl.para.actegory import Acted, POWER, PRODUCT
from cdl.para.two_cells import associator, horizontal, same


def affine(seed: int) -> Para[Any, Any, Any]:
    w, b = jr.normal(jr.key(seed), (3, 3)), jr.normal(jr.key(seed + 50), (3,))
    return Para((w, b), lambda p, x: jnp.tanh(p[0] @ x + p[1]))


F, G = map(affine, range(2))
AT, TO = jnp.array([0.3, -1.0, 0.7]), jnp.array([1.0, 0.5, -2.0])


def test_forward_differentiation_is_a_base_change_and_a_functor():
    moving = jax.tree.map(lambda p: 0.1 + p, (F.params, G.params))
    both = change(TANGENT, F) >> change(TANGENT, G)
    params = tuple(zip((F.params, G.params), moving, strict=True))
    chained = jax.jvp(lambda p, q, x: G.fn(q, F.fn(p, x)), (F.params, G.params, AT), (*moving, TO))
    close(both.fn(params, (AT, TO)), chained, 1e-6)
    regrouped = ((F.params, G.params), moving)
    close(change(TANGENT, F >> G).fn(regrouped, (AT, TO)), chained, 1e-6)
    close(both((AT, TO)), jax.jvp(F >> G, (AT,), (TO,)), 1e-6)  # where the parameters stand still


def test_weights_shared_in_a_batch_are_a_power_along_the_diagonal():
    batch = jnp.stack([AT, TO, AT + TO, -AT])
    each = change(power(4), F)
    shared = each.reparametrise(power(4).point, at=F.params)
    close(shared(batch), jax.vmap(F)(batch), 1e-6)
    total = lambda para: jax.grad(lambda params: jnp.sum(para.fn(params, batch) ** 2))(para.params)
    close(total(shared), jax.tree.map(lambda x: x.sum(0), total(each)), 1e-5)
    close((change(power(4), F) >> change(power(4), G))(batch), change(power(4), F >> G)(batch), 1e-6)


def test_para_over_the_product_is_para():
    f, g = (Acted(PRODUCT, name, lambda pair, para=para: para.fn(*pair)) for name, para in (("P", F), ("Q", G)))
    both = f >> g
    assert both.params == ("Q", "P")
    close(both(((G.params, F.params), AT)), (F >> G)(AT), 1e-6)
    close((PRODUCT.identity() >> f)(((F.params, ()), AT)), F(AT), 1e-6)
    close((f >> PRODUCT.identity())((((), F.params), AT)), F(AT), 1e-6)


def test_maps_of_windows_compose_to_maps_of_wider_windows():
    pairs = Acted(POWER, 2, lambda x: x[0] * x[1])
    threes = Acted(POWER, 3, lambda x: x[0] + 2 * x[1] + 3 * x[2])
    word = jnp.arange(1.0, 13.0)
    by_hand = lambda w: w[0] * w[1] + 2 * w[2] * w[3] + 3 * w[4] * w[5]
    assert ((pairs >> threes).params, (pairs >> threes >> pairs).params) == (6, 12)
    assert (pairs >> threes)(word[:6]) == by_hand(word[:6])
    left, right = (pairs >> threes) >> pairs, pairs >> (threes >> pairs)
    assert left(word) == right(word) == by_hand(word[:6]) * by_hand(word[6:])
    one = POWER.identity()
    assert (one >> pairs)(word[:2]) == (pairs >> one)(word[:2]) == pairs(word[:2])


CELL: Para[Any, Any, Any] = Para(
    F.params, lambda p, layer: jnp.zeros(3) if isinstance(layer, Nil) else jnp.tanh(p[0] @ layer.tail + layer.head)
)


def test_the_cell_of_the_square_is_a_comonoid():
    """Coassociative, with `discard` as its counit on either side, and cocommutative: exactly."""
    copy, p = square(CELL).cell, "p"
    assert associator(horizontal(same, copy)(copy(p))) == horizontal(copy, same)(copy(p))
    assert horizontal(discard, same)(copy(p)) == ((), p)
    assert horizontal(same, discard)(copy(p)) == (p, ())
    assert copy(p) == tuple(reversed(copy(p)))
