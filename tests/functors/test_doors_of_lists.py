"""What is not a series of elements is refused where a list is made."""

from alone import run_alone
from doors import refused

import cdl


def doors() -> None:
    for door in (cdl.to_list, cdl.functors.to_snoc):
        assert refused(door, [1, 2]) == []


def test_elements_that_are_none_are_refused():
    run_alone(doors)
