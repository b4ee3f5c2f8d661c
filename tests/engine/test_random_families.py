"""Families with every kind of field: packed, read and gone through as plain recursion says, sort by sort."""

import dataclasses
from typing import Any, Generic, Never, TypeVar, Union

import jax.numpy as jnp
import numpy as np
import pytest
from agreement import heads
from random_families import children, digest, flat, mixed, PRIME, random_family, random_family_trees, salt

from cdl import algebra, Base, cata, fmap, fold, inherit, inherited, Many, pack
from cdl._engine.forests._variant import describe
from cdl.errors import CarrierMismatch


def family(seed: int) -> tuple[Any, list[list[type[Any]]], list[Any], list[int]]:
    """A family as `pack` takes it, its constructors, some trees of it, and the sort of each."""
    signatures, kinds = random_family(seed)
    trees = random_family_trees(kinds, seed, 4, 4)
    roots = [next(s for s, some in enumerate(kinds) if type(tree) in some) for tree in trees]
    return signatures if len(signatures) > 1 else signatures[0], kinds, trees, roots


def packed_digest(sort: int) -> Any:
    """`digest` of one layer, whose places have the digests of the children; sorts have values of unlike structure."""

    def number(value: Any) -> Any:
        return value["digest"] if isinstance(value, dict) else value[0]

    @algebra
    def of_layer(layer: Any) -> Any:
        state = jnp.int32(salt(type(layer)))
        for i, (name, (kind, _)) in enumerate(type(layer).__kinds__.items()):
            value = getattr(layer, name)
            match kind:
                case "int" | "float":
                    state = mixed(state, jnp.asarray(2 * value).astype(jnp.int32) + 50)
                case "many":
                    squares = value.map(lambda x, i=i: number(x) * (number(x) + i) % PRIME)
                    state = mixed(state, squares.sum(jnp.int32(0)) % PRIME)
                case _:
                    some = [] if value is None else value if kind in ("pair", "tuple") else [value]
                    some = [number(x) for x in some]
                    for x in [len(some), *some]:
                        state = mixed(state, x)
        return {"digest": state} if sort % 2 else (state,)

    return of_layer


@pytest.mark.parametrize("seed", range(40))
def test_each_node_is_packed_with_its_sort_its_place_and_its_parent(seed):
    signature, _, trees, roots = family(seed)
    forest = pack(signature, trees)
    row, sort_of, above, child, owner = map(
        np.asarray, (forest.row, forest.sort, forest.above, forest.child, forest.owner)
    )
    for t, (tree, root) in enumerate(zip(trees, roots, strict=True)):
        nodes = flat(tree, root)
        rows = row[forest.nodes(t)]
        assert sort_of[rows].tolist() == [sort for sort, _ in nodes]
        number = {id(node): r for (_, node), r in zip(nodes, rows, strict=True)}
        for _, node in nodes:
            below = [number[id(x)] for _, _, x in children(node)]
            assert child[above[below]].tolist() == below
            assert set(owner[above[below]].tolist()) <= {number[id(node)]}
    assert forest.roots.tolist() == [forest.nodes(t).start for t in range(len(trees))]
    for sort, rows in enumerate(forest.stored_roots):
        assert rows.tolist() == [row[forest.nodes(t).start] for t, root in enumerate(roots) if root == sort]


@pytest.mark.parametrize("seed", [0, 3, *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 24))])
def test_a_fold_of_any_family_is_plain_recursion(seed):
    signature, kinds, trees, roots = family(seed)
    algs = tuple(map(packed_digest, range(len(kinds))))
    found = fold(algs if len(algs) > 1 else algs[0], pack(signature, trees))
    read = cata(*algs)
    for sort, (values, of) in enumerate(
        zip(found if len(algs) > 1 else (found,), read if len(algs) > 1 else (read,), strict=True)
    ):
        expected = [digest(tree) for tree, root in zip(trees, roots, strict=True) if root == sort]
        if values is not None:
            (numbers,) = values.values() if isinstance(values, dict) else values
            assert numbers.tolist() == expected
        for tree, number in zip(
            [t for t, root in zip(trees, roots, strict=True) if root == sort], expected, strict=True
        ):
            value = of(tree)
            assert next(iter(value.values() if isinstance(value, dict) else value)) == number


def handed(node: Any, number: int, order: int, value: int) -> int:
    """What a child inherits: `value` is its parent's, `order` its place among the children of one field."""
    return mixed(value, salt(type(node)) + 7 * number + order)


def inheriting(node: Any, sort: int, value: int) -> list[tuple[int, int]]:
    """What every node inherits, in pre-order, with its sort."""
    found, seen = [(sort, value)], [0] * 10
    for number, of, child in children(node):
        many = type(node).__kinds__[f"f{number}"][0] == "many"
        found += inheriting(child, of, handed(node, number, 0 if many else seen[number], value))
        seen[number] += 1
    return found


def down(value: Any, layer: Any) -> Any:
    """A step that hands down as `inheriting` does."""
    fields: dict[str, Any] = {}
    for number, (name, (kind, _)) in enumerate(type(layer).__kinds__.items()):
        to = lambda order, number=number: handed(layer, number, order, value)
        match kind, getattr(layer, name):
            case ("one", _):
                fields[name] = to(0)
            case ("optional", place):
                fields[name] = None if place is None else to(0)
            case ("pair" | "tuple", places):
                fields[name] = tuple(to(order) for order in range(len(places)))
            case ("many", places):
                fields[name] = places.map(lambda _, to=to: to(0))
            case (_, payload):
                fields[name] = payload
    return type(layer)(**fields)


@pytest.mark.parametrize("seed", [3, *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 16))])
def test_what_any_family_inherits_is_plain_recursion(seed):
    signature, kinds, trees, roots = family(seed)
    forest, count = pack(signature, trees), len(kinds)
    tops = tuple(jnp.arange(roots.count(sort), dtype=jnp.int32) for sort in range(count))
    alone = count == 1
    found = inherit(down, forest, tops[0]) if alone else inherit((down,) * count, forest, tops)
    for t, (tree, root) in enumerate(zip(trees, roots, strict=True)):
        top = roots[:t].count(root)
        expected = inheriting(tree, root, top)
        below = inherited(down, top) if alone else inherited((down,) * count, (top,) * count)[root]
        assert heads(below(tree)) == [value for _, value in expected]
        rows = range(*forest.nodes(t).indices(forest.size))
        assert [int((found if alone else found[s])[i]) for i, (s, _) in zip(rows, expected, strict=True)] == [
            value for _, value in expected
        ]


class Wide:
    """The name of a functor with more places in a constructor than a number has bits."""


X = TypeVar("X", covariant=True)


class End(Base[Wide, Never]):
    value: int


class Row(Base[Wide, X], Generic[X]):
    """Each of its 66 fields is a place, the first and the last a `Many`."""

    __annotations__ = {"before": Many[X], **{f"f{i}": X for i in range(64)}, "after": Many[X]}


@algebra
def weighed(layer: Any) -> Any:
    if isinstance(layer, End):
        return jnp.asarray(layer.value)
    middle = sum((i + 1) * getattr(layer, f"f{i}") for i in range(64))
    return 3 * layer.before.sum(jnp.int32(-1)) + middle + 7 * layer.after.sum(jnp.int32(-2))


def test_a_constructor_has_any_number_of_fields():
    ends = lambda *values: Many(map(End, values))
    rows = [Row(ends(*a), *map(End, range(64)), ends(*b)) for a in ((), (5,)) for b in ((), (10, 100))]
    middle = sum((i + 1) * i for i in range(64))
    expected = [3 * a + middle + 7 * b for a in (-1, 5) for b in (-2, 110)]
    assert [int(cata(weighed)(row)) for row in rows] == expected
    assert fold(weighed, pack(Union[End, Row], rows)).tolist() == expected


class Mixed:
    """The name of a functor with each kind of field in one constructor."""


class Stop(Base[Mixed, Never]):
    value: int


class Each(Base[Mixed, X], Generic[X]):
    maybe: X | None
    ordered: tuple[X, ...]
    many: Many[X]
    weight: float
    pair: tuple[int, int]


FULL = Each(Stop(1), (Stop(2), Stop(3)), Many([Stop(4)]), 0.5, (1, 2))


def test_a_variant_is_written_as_its_constructor_and_what_a_layer_of_it_has():
    variants = [describe(kind, layer)[0] for kind, layer in ((Each, FULL), (Stop, Stop(1)))]
    assert list(map(str, variants)) == ["Each(True, 2, (*, *), some)", "Stop"]


@pytest.mark.parametrize(
    "changed",
    [{"maybe": None}, {"ordered": ()}, {"many": Many()}, {"many": Many([1.0])}, {"maybe": None, "many": Many([1.0])}],
    ids=str,
)
def test_a_step_that_gives_to_other_places_than_there_are_is_refused(changed):
    def down(value: Any, layer: Any) -> Any:
        return dataclasses.replace(fmap(lambda _: value, layer), **(changed if isinstance(layer, Each) else {}))

    forest = pack(Union[Stop, Each], [FULL])
    with pytest.raises(CarrierMismatch, match=r"at `Each\(.*`, `.*down` gives a layer with other places"):
        inherit(down, forest, jnp.zeros(1))
