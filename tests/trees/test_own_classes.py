"""Your own classes beside the constructors that were derived from them: the one is refused where the other belongs."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import pytest

import cdl
from cdl.errors import SignatureError
from cdl.trees import of_dataclasses


class Expr:
    """What the classes below extend."""


@dataclass
class Num(Expr):
    value: float


@dataclass
class Add(Expr):
    left: Expr
    right: Expr


made = of_dataclasses(Expr)
SUM = Add(Num(1.0), Add(Num(2.0), Num(3.0)))
tree = made.to_tree(SUM)


def both(alg: Any) -> list[Any]:
    return [cdl.cata(alg)(tree), cdl.fold(alg, cdl.pack(made.signature, [tree]))[0]]


def test_a_pattern_names_a_constructor_with_dots():
    @cdl.algebra
    def total(layer):
        match layer:
            case made.constructors.Num(value=v):
                return jnp.asarray(v)
            case made.constructors.Add(left, right):
                return left + right

    assert both(total) == [6.0, 6.0]
    assert made.constructors.Num is made.constructors[Num]
    assert repr(made.constructors) == "Constructors(Num, Add)"
    assert "Num" in dir(made.constructors)
    assert list(made.constructors) == [Num, Add]


def by_match(layer):
    match layer:
        case Num(value=v):
            return jnp.asarray(v)
        case _:
            return jnp.asarray(0.0)


def by_instance(layer):
    return jnp.asarray(1.0 if isinstance(layer, (Num, int)) else 0.0)


def by_type(layer):
    return jnp.asarray(1.0 if type(layer) is Num else 0.0)


class Method(cdl.Algebra[Any, Any]):
    def __call__(self, layer, *, key=None):
        match layer:
            case Num(v):
                return jnp.asarray(v)
        return jnp.asarray(0.0)


ASKING = [*map(cdl.algebra, (by_match, by_instance, by_type)), Method()]


@pytest.mark.parametrize("alg", ASKING, ids=["match", "instance", "type", "method"])
@pytest.mark.parametrize("way", ["cata", "fold"])
def test_algebras_that_ask_for_an_own_class_are_refused(alg, way):
    with pytest.raises(SignatureError, match=r"line \d+ .*`Num`.*`case made.constructors.Num\("):
        cdl.cata(alg)(tree) if way == "cata" else cdl.fold(alg, cdl.pack(made.signature, [tree]))


def test_cata_tells_the_line_that_asks_for_an_own_class():
    line = by_match.__code__.co_firstlineno + 2
    with pytest.raises(SignatureError, match=f"`by_match` .* line {line} "):
        cdl.cata(cdl.algebra(by_match))(tree)


def test_cata_takes_own_values_at_the_places_of_a_layer():
    c = made.constructors

    @cdl.algebra
    def simpler(layer):
        match layer:
            case c.Num(v):
                return Num(v)
            case c.Add(Num(1.0), right):
                return right
            case c.Add(left, right):
                return Add(left, right) if isinstance(left, Num) else right

    assert cdl.cata(simpler)(tree) == Add(Num(2.0), Num(3.0))


def test_cata_takes_own_classes_of_what_is_no_layer():
    plain = {made.constructors.Num: Num, made.constructors.Add: Add}

    @cdl.algebra
    def written(layer):
        layer = plain[type(layer)](*(getattr(layer, name) for name in layer.__match_args__))
        match layer:
            case Num(v):
                return f"{v:g}"
            case Add(left, right):
                return f"({left} + {right})"

    @cdl.algebra
    def inside(layer):
        size = lambda layer: 1 if isinstance(layer, Num) else 0
        return size(Num(1.0)) if isinstance(layer, made.constructors.Num) else layer.left + layer.right

    assert cdl.cata(written)(tree) == "(1 + (2 + 3))"
    assert cdl.cata(inside)(tree) == 3


def test_a_step_down_that_asks_for_an_own_class_is_refused():
    def step(depth, layer):
        match layer:
            case Add():
                return made.constructors.Add(depth + 1, depth + 1)
            case _:
                return layer

    with pytest.raises(SignatureError, match=r"`step` .*`Add`"):
        cdl.inherited(step, 0)(tree)
    with pytest.raises(SignatureError, match=r"`step` .*`Add`"):
        cdl.inherit(step, cdl.pack(made.signature, [tree]), jnp.zeros(1))


def test_an_algebra_of_json_that_asks_for_a_dict_is_refused():
    @cdl.algebra
    def entries(layer):
        match layer:
            case dict():
                return 1
            case _:
                return 0

    with pytest.raises(SignatureError, match=r"`dict`.*`case Object\("):
        cdl.cata(entries)(cdl.trees.of_json({"a": 1}))
