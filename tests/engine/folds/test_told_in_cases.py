"""What fails in a case: JAX's errors name the algebra, the constructor and the shapes of its fields; others stay."""

from typing import Any, Generic, Never, TypeVar

import jax
import jax.numpy as jnp
import pytest

from cdl import Algebra, algebra, Base, CdlError, Cons, fold, Fork, Leaf, ListF, Many, pack, Seq, TreeF


X = TypeVar("X", covariant=True)
FOREST = pack(TreeF, [Fork(Leaf(1.0), Leaf(2.0))])


def test_an_operation_that_jax_refuses_names_the_constructor_and_its_fields():
    @algebra
    def narrow(layer: TreeF[float, Any]) -> Any:
        return jnp.zeros(4) if isinstance(layer, Leaf) else jnp.zeros((3, 3)) @ layer.left

    words = r"^`narrow` fails for `Fork\(left=f32\[4\], right=f32\[4\]\)` \(.*\(3,\) and \(4,\).*the case of `Fork`"
    with pytest.raises(CdlError, match=words):
        fold(narrow, FOREST)


def test_children_that_cannot_be_listed_are_named():
    class Bush: ...

    class Bud(Base[Bush, Never]): ...

    class Twig(Base[Bush, X], Generic[X]):
        tags: tuple[float, float]
        twigs: Many[X]

    @algebra
    def narrow(layer: Any) -> Any:
        return jnp.zeros(4) if isinstance(layer, Bud) else layer.twigs.sum(jnp.zeros(4)) + jnp.zeros(3)

    with pytest.raises(
        CdlError, match=r"^`narrow` fails for `Twig\(tags=\(f32\[\], f32\[\]\), twigs=Many\(f32\[4\], …\)\)`"
    ):
        fold(narrow, pack(Bud | Twig[X], [Twig((1.0, 2.0), Many([Bud()]))]))


def test_lists_are_told_as_trees_are():
    @algebra
    def wrong(layer: ListF[Any, Any]) -> Any:
        return layer.head + jnp.zeros(5) if isinstance(layer, Cons) else jnp.zeros(2)

    with pytest.raises(CdlError, match=r"^`wrong` fails for `Cons\(head=f32\[3\], tail=f32\[2\]\)`"):
        fold(wrong, Seq(jnp.zeros((1, 2, 3)), jnp.array([2])))


@pytest.mark.parametrize("error", [ValueError, AttributeError, TypeError])
def test_an_error_of_the_users_own_stays_with_a_note(error: type[Exception]):
    @algebra
    def own(layer: TreeF[float, Any]) -> Any:
        raise error("mine")

    with pytest.raises(error, match=r"^mine") as caught:
        fold(own, FOREST)
    assert not isinstance(caught.value, CdlError)
    assert "cdl called `own` for `Leaf(label=f32[])`." in caught.value.__notes__


def test_a_key_that_is_wanted_and_not_given_is_asked_for():
    class Drops(Algebra[TreeF[float, Any], Any]):
        def __call__(self, layer: TreeF[float, Any], key: Any) -> Any:
            return jax.random.uniform(key)

    with pytest.raises(
        CdlError, match=r"^`Drops` takes a `key`, and none is given: give one, `key=jax.random.key\(0\)`"
    ):
        fold(Drops(), FOREST)
    assert fold(Drops(), FOREST, key=jax.random.key(0)).shape == (1,)
