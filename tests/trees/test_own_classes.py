"""Your own classes beside the constructors that were derived from them: the one is refused where the other belongs."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import pytest

import cdl
from cdl import CdlError
from cdl.errors import CarrierMismatch, ForeignLayer, SignatureError
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
    with pytest.raises(AttributeError, match="no constructor is called `Mul`: there are Num, Add"):
        _ = made.constructors.Mul
    with pytest.raises(KeyError, match=r"no constructor was derived from .*str.*: there are Num, Add"):
        made.constructors[str]


def test_of_two_constructors_with_one_name_neither_is_found_by_it():
    @dataclass
    class Left:
        pass

    first = Left

    @dataclass
    class Left:  # type: ignore[no-redef]
        other: "first"

    twice = of_dataclasses(Left | first)
    assert len(twice.constructors) == 2
    with pytest.raises(AttributeError, match=r"2 constructors are called `Left`: write `made.constructors\[Left\]`"):
        _ = twice.constructors.Left


def by_match(layer):
    match layer:
        case Num(value=v):
            return jnp.asarray(v)
        case _:
            return jnp.asarray(0.0)


def by_base(layer):
    match layer:
        case (Expr() | None) as x:
            return x
        case _:
            return jnp.asarray(0.0)


def by_instance(layer):
    return jnp.asarray(1.0 if isinstance(layer, (Num, int)) else 0.0)


def by_union(layer):
    return jnp.asarray(1.0 if isinstance(layer, int | Num) else 0.0)


def by_type(layer):
    return jnp.asarray(1.0 if type(layer) is Num else 0.0)


class Method(cdl.Algebra[Any, Any]):
    def __call__(self, layer, *, key=None):
        match layer:
            case Num(v):
                return jnp.asarray(v)
        return jnp.asarray(0.0)


ASKING = [*map(cdl.algebra, (by_match, by_base, by_instance, by_union, by_type)), Method()]
ASKING += [cdl.algebra(lambda layer: jnp.asarray(1.0 if isinstance(layer, Num) else 0.0))]


@pytest.mark.parametrize("alg", ASKING, ids=["match", "base", "instance", "union", "type", "method", "lambda"])
@pytest.mark.parametrize("way", ["cata", "fold"])
def test_an_algebra_that_asks_for_an_own_class_is_refused_by_name(alg, way):
    said = r"asks at line \d+ whether a layer is of the class `(Num|Expr)`.*as in `case made.constructors.Num\(…\)`"
    with pytest.raises(SignatureError, match=said):
        cdl.cata(alg)(tree) if way == "cata" else cdl.fold(alg, cdl.pack(made.signature, [tree]))


def test_the_line_is_that_of_the_question():
    line = by_match.__code__.co_firstlineno + 2
    with pytest.raises(SignatureError, match=f"`by_match` asks at line {line} "):
        cdl.cata(cdl.algebra(by_match))(tree)


def test_an_algebra_may_give_and_ask_for_own_values_at_the_places_of_a_layer():
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


def test_a_variable_that_is_given_another_value_may_be_asked_for_an_own_class():
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

    with pytest.raises(SignatureError, match=r"`step` asks at line .* of the class `Add`"):
        cdl.inherited(step, 0)(tree)
    with pytest.raises(SignatureError, match=r"`step` asks at line .* of the class `Add`"):
        cdl.inherit(step, cdl.pack(made.signature, [tree]), jnp.zeros(1))


def test_a_match_whose_source_is_not_known_and_that_has_no_other_case_is_told_what_a_case_is_for():
    names = {"Num": Num}
    exec("def hidden(layer):\n    match layer:\n        case Num(v):\n            return v", names)
    with pytest.raises(
        CarrierMismatch, match=r"`hidden` gives nothing.*`case made.constructors.Num\(…\)`, and not for"
    ):
        cdl.cata(cdl.algebra(names["hidden"]))(tree)


def test_a_value_that_is_not_yet_a_tree_is_told_how_it_becomes_one():
    made_one = r"Make the `Add` a tree first: `made.to_tree\(value\)`"
    with pytest.raises(ForeignLayer, match=made_one):
        cdl.pack(made.signature, [SUM])
    with pytest.raises(ForeignLayer, match=made_one):
        cdl.Corpus(made.signature, [SUM])
    with pytest.raises(ForeignLayer, match=made_one):
        cdl.cata(cdl.algebra(lambda layer: 0))(SUM)
    with pytest.raises(CdlError, match=made_one):
        cdl.trees.Vocabulary.of([SUM])
    with pytest.raises(CdlError, match=r"`Num` is your own class: write `made.constructors.Num`"):
        cdl.trees.Vocabulary.of([tree], only=[Num])
    with pytest.raises(ForeignLayer, match=r"Make the `dict` a tree first: `cdl.trees.of_json\(value\)`"):
        cdl.pack(cdl.trees.JSONF, [{"a": 1}])
    with pytest.raises(ForeignLayer, match=r"Make the `str` a tree first: `cdl.trees.parse_brackets\(text\)`"):
        cdl.pack(cdl.trees.BracketsF, ["(S (NP it))"])


def test_an_algebra_of_json_that_asks_for_a_dict_is_refused():
    @cdl.algebra
    def entries(layer):
        match layer:
            case dict():
                return 1
            case _:
                return 0

    with pytest.raises(SignatureError, match=r"of the class `dict`.*`case Object\(…\)`"):
        cdl.cata(entries)(cdl.trees.of_json({"a": 1}))


def test_a_coalgebra_that_gives_an_own_value_is_told_the_constructor():
    own = "`Num` is your own class: write `made.constructors.Num`"
    with pytest.raises(ForeignLayer, match=own):
        cdl.ana(lambda seed: Num(1.0))(0)
    with pytest.raises(ForeignLayer, match=own):
        cdl.ana(lambda seed: cdl.choose(jnp.zeros(2), Num(1.0), Num(2.0)))(0)


def test_classes_and_what_was_derived_from_them_are_not_the_signature():
    for own in (Expr, Num):
        with pytest.raises(SignatureError, match=rf"of_dataclasses\({own.__name__}\)`, and give `made.signature`"):
            cdl.pack(own, [tree])
    with pytest.raises(SignatureError, match=r"It has the signature: give `made.signature`"):
        cdl.pack(made, [tree])
