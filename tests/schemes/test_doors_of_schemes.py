"""What is not an algebra, or a change of layers, is refused where it is given, and not when a tree is read."""

import pytest
from alone import run_alone
from doors import an_algebra, refused

import cdl


NOT_ALGEBRAS = {
    *("None", "a list", "an empty list", "an empty tuple", "a dictionary", "a set", "a text", "a whole number"),
    *("a negative number", "a number", "an object", "a class", "the class of a module", "an array", "a tree"),
}


def doors() -> None:
    either = {0: NOT_ALGEBRAS, 1: NOT_ALGEBRAS}
    functions = [
        f"product: {words} for `{place}` is taken"
        for place in ("first", "second")
        for words in ("a function of nothing", "a machine")
    ]
    assert refused(cdl.schemes.product, an_algebra, an_algebra, wrong=either) == functions
    assert refused(cdl.schemes.hoist, lambda layer: layer) == []
    with pytest.raises(cdl.CdlError, match=r"`product` takes two algebras, and was given `3`: give what reads one"):
        cdl.schemes.product(an_algebra, 3)
    with pytest.raises(cdl.CdlError, match=r"`transform` of `hoist` is 3, and must be a function of 1 argument"):
        cdl.schemes.hoist(3)
    with pytest.raises(
        cdl.CdlError, match=r"`product` was called with other arguments .*write `product\(first, second\)`"
    ):
        cdl.schemes.product(an_algebra)


def test_what_is_not_an_algebra_or_a_change_of_layers_is_refused():
    run_alone(doors)
