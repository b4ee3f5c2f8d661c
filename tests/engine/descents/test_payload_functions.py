"""The function that scores payloads, of `likelihood` and of `follow`: one number of two layers, or it is told so."""

from typing import Any

import jax.numpy as jnp
import pytest

from cdl import CdlError, choose, follow, Fork, Leaf, pack, TreeF
from cdl.schemes import likelihood


TREE = Fork(Leaf(1.0), Leaf(2.0))


def halves(s: Any) -> Any:
    return choose(jnp.zeros(2), Leaf(s), Fork(0.5 * s, 0.5 * s))


def both(payload: Any) -> list[Any]:
    """The two ways to the log-probability of one tree."""
    forest = pack(TreeF, [TREE])
    return [
        lambda: likelihood(halves, jnp.array(4.0), payload=payload)(TREE),
        lambda: follow(halves, forest, jnp.array([4.0]), payload=payload)[0],
    ]


def vector(mine: Any, given: Any) -> Any:
    return jnp.zeros(2)


def nothing(mine: Any, given: Any) -> Any:
    return None


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (vector, r"`vector`, the `payload` function, gives an array of shape \(2,\) at `(Leaf|Fork)`.*`\.sum\(\)`"),
        (nothing, r"`nothing`, the `payload` function, gives `None` at `(Leaf|Fork)`.*give `0.0`"),
        (lambda layer: 0.0, r"^`payload` is the function `<lambda>`, .*`def payload\(mine, given\):`"),
        ({Leaf: vector}, r"^`payload` is a `dict`, .*one function of two layers"),
    ],
)
def test_what_is_not_a_number_of_two_layers_is_refused(payload: Any, words: str):
    for way in both(payload):
        with pytest.raises(CdlError, match=words):
            way()


def test_an_operation_that_jax_refuses_names_the_payload_function():
    def unfit(mine: Any, given: Any) -> Any:
        return (jnp.zeros(2) + jnp.zeros(3)).sum()

    with pytest.raises(CdlError, match=r"^`unfit` fails for a layer `(Leaf|Fork)\(.*\)` that is proposed, .*\(3,\)"):
        both(unfit)[1]()


def test_a_python_number_is_one():
    half = lambda mine, given: -0.5 if isinstance(given, Leaf) else 0
    for way in both(half):
        assert jnp.allclose(way(), 3 * jnp.log(0.5) - 1.0)
