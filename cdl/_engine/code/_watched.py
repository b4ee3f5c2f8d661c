"""`Watched`: surroundings that tell quickly whether all that was read is still the same.

To look at everything again takes longer than a small program runs. Most of what a function reads is a name, an
attribute or a part of a list: if the same object is found there, nothing has changed. So each place that was read is
noted, with the object that was found.

| what was read               | places                                                                  |
| --------------------------- | ----------------------------------------------------------------------- |
| a list, a dictionary        | its parts                                                               |
| an object, a module of JAX  | its attributes                                                          |
| a function                  | its code and defaults, what it closes over, the globals that it mentions |
| a class                     | its names, and what it has at those that code mentions                  |
| a module of a user          | what it has at the names that code mentions                             |

An object that may change and stay the same object, such as a NumPy array or a `ContextVar`, has no such places: where
one was read, not all is `noted`. How places are compared is in `_places`.
"""

import functools
import sys
import types
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer

from ._held import OPEN
from ._members import members
from ._outside import is_of_library, is_of_library_kind, names_of, outside, slots_of
from ._places import Places
from ._surroundings import ENVIRONMENT, Surroundings, way_of


OF_FUNCTIONS = "__code__", "__defaults__", "__kwdefaults__", "__dict__"


class Watched(Surroundings):
    """Surroundings that can be compared with what they would be now."""

    def __init__(self, value: object, data: object = None) -> None:
        self.noted = True  # whether all that was read has its places
        self._lists: list[list[Any]] = []
        self._dicts: list[Mapping[str, Any]] = []
        self._entries: list[tuple[Mapping[str, Any], list[str]]] = []
        self._attributes_read: list[tuple[object, tuple[str, ...]]] = []
        self._absent: list[tuple[Mapping[str, Any], frozenset[str]]] = []
        super().__init__(value, data)
        self._note_owners()

    def same(self) -> Callable[[], bool]:
        """A function that says whether each place has the object that it has now. Only where all that was read is
        `noted`."""
        at = Places()
        for x in self._dicts:
            at.all_of(x)
        for items in self._lists:
            at.items(items)
        for of, names in self._entries:
            at.entries(of, names)
        for owner, attributes in self._attributes_read:
            at.attributes(owner, attributes)
        for of, missing in self._absent:
            at.absent(of, missing)
        return at.same()

    def _note(self, has_places: bool) -> None:
        self.noted = self.noted and has_places

    def _note_attributes(self, of: object, *names: str) -> None:
        self._attributes_read.append((of, names))

    def _note_dict(self, x: Any) -> None:
        """All that a dictionary has."""
        self._note(all(type(key) is str for key in x))
        self._dicts.append(x)

    def _note_names(self, of: Mapping[str, object], names: frozenset[str]) -> None:
        """What a dictionary has at these names, and which of them it does not have."""
        self._entries.append((of, [*names & of.keys()]))
        self._absent.append((of, names - of.keys()))

    def _note_owners(self) -> None:
        names = frozenset(self._names[True] | self._names[False])
        self._note(not names & ENVIRONMENT)
        self._note_names(sys.modules, names)
        for owner in self._owners.values():
            held = vars(owner)
            if isinstance(owner, types.ModuleType):
                self._note_names(held, names)
            else:
                constructed = id(owner) in self._constructed
                self._entries.append((held, [*members(owner, set(names), constructed=constructed)]))
                self._dicts.append(held)
                self._note_attributes(owner, "__mro__")

    def _array(self, x: jax.Array) -> Hashable:
        self._note(not isinstance(x, Tracer))
        return super()._array(x)

    def _numpy(self, x: np.ndarray[Any, Any]) -> Hashable:
        self._note(self._open is None)  # one of the value itself is an input of the program
        return super()._numpy(x)

    def _module(self, x: eqx.Module) -> Hashable:
        self._note_dict(vars(x))
        return super()._module(x)

    def _partial(self, x: functools.partial[Any]) -> Hashable:
        self._note_attributes(x, "func", "args", "keywords")
        self._note_dict(x.keywords)
        return super()._partial(x)

    def _container(self, x: Any) -> Hashable:
        if type(x) is list:
            self._lists.append(x)
        elif type(x) is dict:
            self._note_dict(x)
        else:
            self._note(type(x) is frozenset or isinstance(x, tuple))
        return super()._container(x)

    def _tree(self, x: object) -> Hashable:
        self._note(False)
        return super()._tree(x)

    def _holder(self, x: object) -> Hashable:
        self._note(False)
        return super()._holder(x)

    def _fixed(self, x: object) -> Hashable:
        self._note(way_of(type(x)) != "_object" or is_of_library_kind(type(x)))
        return super()._fixed(x)

    def _object(self, x: object) -> Hashable:
        kind = type(x)
        if not isinstance(x, type | types.ModuleType):
            self._note(jax.tree_util.all_leaves([x]) and not slots_of(kind))
            if hasattr(x, "__dict__") and (not is_of_library_kind(kind) or issubclass(kind, OPEN)):
                self._note_attributes(x, "__class__", "__dict__")
                self._note_dict(vars(x))
        return super()._object(x)

    def _function(self, fn: types.FunctionType) -> Hashable:
        if is_of_library(fn):
            self._note(not hasattr(fn, "registry"))  # of `functools.singledispatch`
            return super()._function(fn)
        self._note_attributes(fn, *OF_FUNCTIONS)
        self._note_dict(vars(fn))
        if fn.__kwdefaults__:
            self._note_dict(fn.__kwdefaults__)
        self._note_names(fn.__globals__, names_of(fn.__code__))
        cells = fn.__closure__ or ()
        self._note(len(cells) == sum(kind == "closure" for kind, _, _ in outside(fn)))  # each name has a value
        for cell in cells:
            self._note_attributes(cell, "cell_contents")
        return super()._function(fn)
